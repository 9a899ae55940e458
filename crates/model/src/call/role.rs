//! Roles of the agents that call, and the tools that each has.

/// The role of the agent that calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It works on a ticket.
    Worker,
    /// It reviews work.
    Gatekeeper,
    /// It works on a ticket, and may delegate: it has a worker's tools and more.
    Leader,
}

/// All tools by name, with the roles that have them.
const TOOLS: &[(&str, &[Role])] = &[
    ("ticket_show", &[Role::Worker, Role::Gatekeeper]),
    ("team_comment", &[Role::Worker]),
    ("report_progress", &[Role::Worker]),
    ("submit_work", &[Role::Worker]),
    ("report_blocked", &[Role::Worker]),
    ("ask", &[Role::Worker, Role::Gatekeeper]),
    ("sleep_until", &[Role::Worker]),
    ("add_commitment", &[Role::Worker]),
    ("set_mode", &[Role::Worker]),
    ("create_ticket", &[Role::Worker]),
    ("approve_work", &[Role::Gatekeeper]),
    ("reject_work", &[Role::Gatekeeper]),
    ("fail_work", &[Role::Gatekeeper]),
    ("delegate", &[Role::Leader]),
    ("team_list", &[Role::Leader]),
    ("team_kill", &[Role::Leader]),
];

impl Role {
    /// The role of an agent whose step has these values of `CREW_ROLE` and `CREW_HAS_TOOLS`.
    #[must_use]
    pub fn of_step(role: &str, has_tools: Option<&str>) -> Self {
        match (role, has_tools) {
            ("gatekeeper", _) => Role::Gatekeeper,
            (_, Some("1")) => Role::Leader,
            _ => Role::Worker,
        }
    }

    /// The role in words, for a message.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            // A leader is a worker to its environment too (`CREW_ROLE`).
            Role::Worker | Role::Leader => "worker",
            Role::Gatekeeper => "gatekeeper",
        }
    }

    /// The names of its tools, in the order of the table.
    pub(super) fn tools(self) -> impl Iterator<Item = &'static str> {
        let of_role = TOOLS.iter().filter(move |(_, roles)| self.has(roles));
        of_role.map(|(name, _)| *name)
    }

    /// Why an agent of this role may not call a tool, for the agent; none where it may. The name of the tool
    /// is untrusted.
    #[must_use]
    pub fn refusal(self, tool: &str) -> Option<String> {
        let tools = || self.tools().collect::<Vec<_>>().join(", ");
        match TOOLS.iter().find(|(name, _)| *name == tool) {
            None => Some(format!(
                "there is no tool {}: you have {}",
                text::quoted(tool),
                tools()
            )),
            Some((_, roles)) if self.has(roles) => None,
            Some((name, [Role::Leader])) if self == Role::Worker => Some(format!(
                "{name} is for agents that may delegate, and on this ticket you may not: do the work yourself. A person lets you \
                 by `[agents] leaders` in crew.toml, or by the tag `{}` of the ticket",
                crate::policy::delegation::LEADER_TAG
            )),
            Some((name, _)) => Some(format!(
                "{name} is not for a {}: you have {}",
                self.name(),
                tools()
            )),
        }
    }

    /// Whether it has a tool that these roles have.
    fn has(self, roles: &[Self]) -> bool {
        roles.contains(&self) || self == Role::Leader && roles.contains(&Role::Worker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leader_has_a_workers_tools_and_its_own() {
        let tools = |role: Role| role.tools().collect::<Vec<_>>();
        let (worker, leader) = (tools(Role::Worker), tools(Role::Leader));
        assert_eq!(
            leader,
            [worker.as_slice(), &["delegate", "team_list", "team_kill"]].concat()
        );
        let gatekeeper = tools(Role::Gatekeeper);
        assert_eq!(
            gatekeeper,
            ["ticket_show", "ask", "approve_work", "reject_work", "fail_work"]
        );
        for (role, tools) in [
            (Role::Worker, worker),
            (Role::Leader, leader),
            (Role::Gatekeeper, gatekeeper),
        ] {
            for (name, _) in TOOLS {
                let is_refused = role.refusal(name).is_some();
                assert_eq!(is_refused, !tools.contains(name), "{role:?} {name}");
            }
        }
        let words = Role::Worker.refusal("team_kill").unwrap();
        assert!(
            words.contains("`[agents] leaders`") && words.contains("tag `leader`"),
            "{words}"
        );
    }

    #[test]
    fn a_step_has_the_role_that_its_variables_say() {
        for (role, has_tools, expected) in [
            ("worker", Some("0"), Role::Worker),
            ("worker", None, Role::Worker),
            ("resolver", Some("1"), Role::Leader),
            ("gatekeeper", Some("1"), Role::Gatekeeper),
        ] {
            assert_eq!(Role::of_step(role, has_tools), expected);
        }
    }
}
