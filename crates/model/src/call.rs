//! Calls: what an agent asks of crew by a tool, in the middle of its step.
//!
//! The comments of [`Call`] and its fields are what agents read: each tool is described to them by these.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use text::sanitise;

use crate::attempt::{Mode, Signal};
use crate::commitment::Promise;
use crate::settings::duration;
use crate::ticket::{CheckCommand, Verdict};
use crate::{TicketId, Time};

/// The most bytes of a text in a call.
pub const MOST_TEXT: usize = 4 * 1024;
/// The most calls of a step.
pub const MOST_CALLS: usize = 100;
/// The most words of a command.
const MOST_WORDS: usize = 100;
/// The most tickets that a step may create.
pub const MOST_TICKETS: u32 = 10;
/// The most bytes of a title.
const LONGEST_TITLE: usize = 1000;
/// The longest time that an agent may sleep. A longer one is a slip, and people would lose sight of its
/// ticket.
const LONGEST_SLEEP: Duration = Duration::from_hours(24 * 30);

/// A call of a tool, with its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "tool",
    content = "arguments",
    rename_all = "snake_case",
    deny_unknown_fields
)]
pub enum Call {
    /// Show the ticket as its file says it now: the task, its acceptance criteria, and the notes on it.
    TicketShow {},
    /// Leave a note for people on the ticket. It changes nothing about the task, and nobody answers it.
    TeamComment {
        /// The note.
        text: String,
    },
    /// Tell people in one line what you are at. Your step goes on.
    ReportProgress {
        /// What you have done, and what comes next.
        text: String,
    },
    /// Submit your work: it is finished, and committed on your branch. It is merged with the target and
    /// checked. Your first result stands: end your turn after this.
    SubmitWork {
        /// What you did, in a few sentences. It goes into the merge commit.
        summary: String,
        /// What your work came to beside the commits, such as the answer to a question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<String>,
        /// How you tested the work against what the ticket asks for, and how that went.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        acceptance_test_result: Option<String>,
    },
    /// Give the ticket back to people, since you cannot go on. End your turn after this.
    ReportBlocked {
        /// What is in the way.
        why: String,
    },
    /// Ask a person a question. The answer opens your next step: end your turn after this.
    Ask {
        /// The question, with all that is needed to answer it.
        question: String,
    },
    /// Be started again later. End your turn after this.
    SleepUntil {
        /// When: a wait such as `90s`, `10m` or `1h30m`, or a time such as `2026-01-31T12:00:00Z`. Thirty
        /// days are the most.
        until: String,
        /// What you wait for.
        why: String,
    },
    /// Promise something about your work that a command proves. crew runs the command on the merged result,
    /// and the work does not land before it passes.
    AddCommitment {
        /// The promise in words.
        says: String,
        /// The program and its arguments, each a text of its own. No shell reads them.
        run: Vec<String>,
    },
    /// Say how you go about the ticket: do it yourself (`execute`), plan first (`plan`), split it into
    /// tickets (`break_up`), hand it to others (`delegate`), or bring parts together (`unify`).
    SetMode {
        /// The mode.
        mode: Mode,
    },
    /// Create a ticket for work that your own does not ask for. Anybody may take it; it is reviewed where
    /// yours is.
    CreateTicket {
        /// The title, in one line.
        title: String,
        /// The task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// How one sees that it is done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        acceptance: Option<String>,
        /// Tags.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        tags: BTreeSet<String>,
        /// The ids of the tickets that must be done before.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        deps: BTreeSet<TicketId>,
        /// The priority, from 0 (first) to 4; 2 where it is left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(max = 4))]
        priority: Option<u8>,
    },
    /// Approve the work that you review. Your first verdict stands: end your turn after this.
    ApproveWork {
        /// How you tested the work.
        acceptance_test: String,
        /// The numbers of the commitments without a command that the work meets.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        met: Vec<u32>,
        /// Your advice.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        feedback: String,
    },
    /// Send the work that you review back: another attempt is made. Your first verdict stands: end your turn
    /// after this.
    RejectWork {
        /// What is wrong with it.
        reason: String,
        /// Your advice for the next attempt.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        feedback: String,
    },
    /// Say that the ticket cannot be done at all. Your first verdict stands: end your turn after this.
    FailWork {
        /// Why no attempt at it can succeed.
        reason: String,
    },
    /// Give parts of your task to other agents. Each gets a ticket of its own and works in your folder, on
    /// your branch, one after the other, once your step is over. What they came to opens your next step: end
    /// your turn after this.
    Delegate {
        /// The tasks, in the order in which they are done. All are delegated, or none.
        tasks: Vec<Task>,
    },
    /// List the tasks that you have delegated on this ticket, with how each stands.
    TeamList {},
    /// Take a task back that you have delegated and that has not begun.
    TeamKill {
        /// The id of its ticket.
        ticket: String,
        /// Why it is not wanted any more.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
}

/// A task that an agent delegates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The task in one line, at most 200 bytes.
    pub title: String,
    /// The task in full, with all that its agent needs to know: it does not see what you have read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task: String,
    /// What the work must meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// The agent that is to do it, by name; without it, crew finds one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether its agent may delegate in its turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leader: bool,
    /// Whether its agent works in your folder, which is the only way there is.
    #[serde(default = "shares", skip_serializing_if = "Clone::clone")]
    pub share: bool,
}

fn shares() -> bool {
    true
}

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

impl Role {
    /// The role in words, for a message.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            // A leader is a worker to its environment too (`CREW_ROLE`).
            Role::Worker | Role::Leader => "worker",
            Role::Gatekeeper => "gatekeeper",
        }
    }

    /// Whether it has a tool that these roles have.
    fn has(self, roles: &[Self]) -> bool {
        roles.contains(&self) || self == Role::Leader && roles.contains(&Role::Worker)
    }
}

/// All tools by name, with the roles that have them.
pub const TOOLS: &[(&str, &[Role])] = &[
    ("ticket_show", &[Role::Worker, Role::Gatekeeper]),
    ("team_comment", &[Role::Worker]),
    ("report_progress", &[Role::Worker]),
    ("submit_work", &[Role::Worker]),
    ("report_blocked", &[Role::Worker]),
    ("ask", &[Role::Worker]),
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

/// A tool as an agent is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub describes: String,
    /// The JSON schema of its arguments, which is one of an object.
    pub schema: Map<String, Value>,
}

/// The tools of a role, in the order of the table.
#[must_use]
pub fn tools(role: Role) -> Vec<Tool> {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let whole = settings
        .into_generator()
        .into_root_schema_for::<Call>()
        .to_value();
    let of_each = whole.get("oneOf").and_then(Value::as_array);
    let variants: Vec<&Value> = of_each.into_iter().flatten().collect();
    let of = |name: &&'static str| -> Option<Tool> {
        let is_it = |variant: &&&Value| variant.pointer("/properties/tool/const") == Some(&json!(name));
        let variant = variants.iter().find(is_it)?;
        let mut schema = variant.pointer("/properties/arguments")?.as_object()?.clone();
        schema.entry("properties").or_insert_with(|| json!({}));
        schema.insert("additionalProperties".to_owned(), json!(false));
        let describes = variant.get("description").and_then(Value::as_str);
        Some(Tool {
            name,
            describes: describes.unwrap_or_default().to_owned(),
            schema,
        })
    };
    let of_role = TOOLS.iter().filter(|(_, roles)| role.has(roles));
    of_role.filter_map(|(name, _)| of(name)).collect()
}

impl Call {
    /// Reads a call that an agent of this role has written: untrusted text. Its texts are sanitised.
    ///
    /// # Errors
    /// What is wrong with it and what to do, for the agent that wrote it.
    pub fn read(role: Role, tool: &str, mut arguments: Value) -> Result<Self, String> {
        let Some((name, roles)) = TOOLS.iter().find(|(name, _)| *name == tool) else {
            return Err(format!(
                "there is no tool {}: you have {}",
                text::quoted(tool),
                names(role)
            ));
        };
        if !role.has(roles) {
            return Err(format!(
                "{name} is not for a {}: you have {}",
                role.name(),
                names(role)
            ));
        }
        clean(&mut arguments).map_err(|why| format!("{name} was not called: {why}"))?;
        let whole = json!({ "tool": name, "arguments": arguments });
        let call: Self = serde_json::from_value(whole)
            .map_err(|error| format!("{name} was not called: {error}. {}", takes(role, name)))?;
        match call.fault() {
            Some(why) => Err(format!("{name} was not called: {why}")),
            None => Ok(call),
        }
    }

    /// The tool's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Call::TicketShow {} => "ticket_show",
            Call::TeamComment { .. } => "team_comment",
            Call::ReportProgress { .. } => "report_progress",
            Call::SubmitWork { .. } => "submit_work",
            Call::ReportBlocked { .. } => "report_blocked",
            Call::Ask { .. } => "ask",
            Call::SleepUntil { .. } => "sleep_until",
            Call::AddCommitment { .. } => "add_commitment",
            Call::SetMode { .. } => "set_mode",
            Call::CreateTicket { .. } => "create_ticket",
            Call::ApproveWork { .. } => "approve_work",
            Call::RejectWork { .. } => "reject_work",
            Call::FailWork { .. } => "fail_work",
            Call::Delegate { .. } => "delegate",
            Call::TeamList {} => "team_list",
            Call::TeamKill { .. } => "team_kill",
        }
    }

    /// Whether an agent of this role has the tool.
    #[must_use]
    pub fn is_of(&self, role: Role) -> bool {
        let mut tools = TOOLS.iter();
        tools.any(|(name, roles)| *name == self.name() && role.has(roles))
    }

    /// Whether it states the result of the step: the first one of a step stands.
    #[must_use]
    pub fn is_result(&self) -> bool {
        match self {
            Call::SubmitWork { .. }
            | Call::ReportBlocked { .. }
            | Call::Ask { .. }
            | Call::SleepUntil { .. }
            | Call::ApproveWork { .. }
            | Call::RejectWork { .. }
            | Call::FailWork { .. } => true,
            Call::TicketShow {}
            | Call::TeamComment { .. }
            | Call::ReportProgress { .. }
            | Call::Delegate { .. }
            | Call::TeamList {}
            | Call::TeamKill { .. }
            | Call::AddCommitment { .. }
            | Call::SetMode { .. }
            | Call::CreateTicket { .. } => false,
        }
    }

    /// The signal with which a step ends whose agent has called this at `at`; none for a call that states no
    /// result. A verdict ends its step with no signal beside it.
    #[must_use]
    pub fn signal(&self, at: Time) -> Option<Signal> {
        match self {
            Call::SubmitWork { .. } => Some(Signal::Done),
            Call::ReportBlocked { why } => Some(Signal::Blocked { why: why.clone() }),
            Call::Ask { question } => Some(Signal::Asked {
                question: question.clone(),
            }),
            Call::SleepUntil { why, .. } => Some(match self.wake_at(at) {
                Ok(Some(at)) => Signal::WakeupSet { at, why: why.clone() },
                Ok(None) | Err(_) => Signal::None,
            }),
            Call::ApproveWork { .. } | Call::RejectWork { .. } | Call::FailWork { .. } => Some(Signal::None),
            Call::TicketShow {}
            | Call::TeamComment { .. }
            | Call::ReportProgress { .. }
            | Call::Delegate { .. }
            | Call::TeamList {}
            | Call::TeamKill { .. }
            | Call::AddCommitment { .. }
            | Call::SetMode { .. }
            | Call::CreateTicket { .. } => None,
        }
    }

    /// The agent's record of its work, with what it says about its test of it.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        let Call::SubmitWork {
            summary,
            output,
            acceptance_test_result,
        } = self
        else {
            return None;
        };
        let output = output.as_ref().map(|output| format!("\n\nOutput: {output}"));
        let test = acceptance_test_result
            .as_ref()
            .map(|test| format!("\n\nAcceptance test: {test}"));
        Some(format!(
            "{summary}{}{}",
            output.unwrap_or_default(),
            test.unwrap_or_default()
        ))
    }

    /// The verdict of a gatekeeper.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Call::ApproveWork {
                acceptance_test,
                met,
                feedback,
            } => Some(Verdict::Approve {
                acceptance_test: acceptance_test.clone(),
                met: met.clone(),
                feedback: feedback.clone(),
            }),
            Call::RejectWork { reason, feedback } => Some(Verdict::Reject {
                reason: reason.clone(),
                feedback: feedback.clone(),
            }),
            Call::FailWork { reason } => Some(Verdict::Fail {
                reason: reason.clone(),
            }),
            Call::TicketShow {}
            | Call::TeamComment { .. }
            | Call::ReportProgress { .. }
            | Call::SubmitWork { .. }
            | Call::ReportBlocked { .. }
            | Call::Ask { .. }
            | Call::SleepUntil { .. }
            | Call::Delegate { .. }
            | Call::TeamList {}
            | Call::TeamKill { .. }
            | Call::AddCommitment { .. }
            | Call::SetMode { .. }
            | Call::CreateTicket { .. } => None,
        }
    }

    /// The promise that it makes.
    #[must_use]
    pub fn promise(&self) -> Option<Promise> {
        let Call::AddCommitment { says, run } = self else {
            return None;
        };
        Some(Promise {
            says: says.clone(),
            run: Some(CheckCommand::Argv(run.clone())),
        })
    }

    /// When an agent that calls this at `now` is started again; none where it does not ask for that.
    ///
    /// # Errors
    /// Why that is no time, for the agent.
    pub fn wake_at(&self, now: Time) -> Result<Option<Time>, String> {
        let Call::SleepUntil { until, .. } = self else {
            return Ok(None);
        };
        wake_at(until, now)
            .map(Some)
            .map_err(|why| format!("`until` {why}"))
    }

    /// What is wrong with its texts.
    fn fault(&self) -> Option<String> {
        let (field, text) = match self {
            Call::TicketShow {} | Call::TeamList {} | Call::SetMode { .. } => return None,
            Call::Delegate { tasks } => match tasks.first() {
                Some(task) => ("title", &task.title),
                None => return Some("`tasks` is empty".to_owned()),
            },
            Call::TeamKill { ticket, .. } => ("ticket", ticket),
            Call::TeamComment { text } | Call::ReportProgress { text } => ("text", text),
            Call::SubmitWork { summary, .. } => ("summary", summary),
            Call::ReportBlocked { why } => ("why", why),
            Call::Ask { question } => ("question", question),
            Call::SleepUntil { why, .. } => ("why", why),
            Call::AddCommitment { says, run } => {
                if run.first().is_none_or(String::is_empty) {
                    return Some("`run` names no program".to_owned());
                }
                if run.len() > MOST_WORDS {
                    return Some(format!("`run` has more than {MOST_WORDS} words"));
                }
                ("says", says)
            }
            Call::CreateTicket {
                title,
                tags,
                priority,
                ..
            } => {
                if title.contains('\n') || title.len() > LONGEST_TITLE {
                    return Some(format!("`title` is one line of at most {LONGEST_TITLE} bytes"));
                }
                if let Some(tag) = tags.iter().find(|tag| !is_tag(tag)) {
                    return Some(format!(
                        "{} is no tag: letters, digits, `-`, `_`, `.` and `:`",
                        text::quoted(tag)
                    ));
                }
                if priority.is_some_and(|priority| priority > 4) {
                    return Some("`priority` is 0 to 4".to_owned());
                }
                ("title", title)
            }
            Call::ApproveWork { acceptance_test, .. } => ("acceptance_test", acceptance_test),
            Call::RejectWork { reason, .. } | Call::FailWork { reason } => ("reason", reason),
        };
        text.trim().is_empty().then(|| format!("`{field}` is empty"))
    }
}

/// When an agent wants to be woken that says this at `now`.
fn wake_at(until: &str, now: Time) -> Result<Time, String> {
    let until = until.trim();
    let at = match until.parse::<Timestamp>() {
        Ok(at) => Time(at.as_millisecond()).max(now),
        Err(_) => match duration::parse(until) {
            Ok(wait) => now + wait,
            Err(why) => {
                return Err(format!(
                    "{why} like 90s, 10m or 1h30m, and no time like 2026-01-31T12:00:00Z"
                ));
            }
        },
    };
    match at.since(now) {
        long if long > LONGEST_SLEEP => Err("is too far away: thirty days are the most".to_owned()),
        _ => Ok(at),
    }
}

fn is_tag(tag: &str) -> bool {
    let is_fine = |one: char| one.is_alphanumeric() || "-_.:".contains(one);
    !tag.is_empty() && tag.len() <= 100 && tag.chars().all(is_fine)
}

/// The tools of a role, by name.
fn names(role: Role) -> String {
    let of_role = TOOLS.iter().filter(|(_, roles)| role.has(roles));
    let names: Vec<&str> = of_role.map(|(name, _)| *name).collect();
    names.join(", ")
}

/// What a tool takes, in a sentence.
fn takes(role: Role, name: &str) -> String {
    let tool = tools(role).into_iter().find(|tool| tool.name == name);
    let Some(Tool { schema, .. }) = tool else {
        return String::new();
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields = schema.get("properties").and_then(Value::as_object);
    let fields: Vec<String> = fields
        .into_iter()
        .flatten()
        .map(|(field, _)| match required.contains(&field.as_str()) {
            true => format!("`{field}`"),
            false => format!("`{field}` (may be left out)"),
        })
        .collect();
    match fields.as_slice() {
        [] => "It takes no arguments".to_owned(),
        fields => format!("It takes {}", fields.join(", ")),
    }
}

/// Sanitises every text of a value, and refuses one that is too long.
fn clean(value: &mut Value) -> Result<(), String> {
    match value {
        Value::String(text) if text.len() > MOST_TEXT => Err(format!(
            "a text of {} bytes is too long, {MOST_TEXT} are the most: say it shorter",
            text.len()
        )),
        Value::String(text) => {
            *text = sanitise::text(text);
            Ok(())
        }
        Value::Array(values) => values.iter_mut().try_for_each(clean),
        Value::Object(fields) => fields.values_mut().try_for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(role: Role, tool: &str, arguments: Value) -> Result<Call, String> {
        Call::read(role, tool, arguments)
    }

    #[test]
    fn every_tool_is_described_with_its_arguments_to_the_roles_that_have_it() {
        for role in [Role::Worker, Role::Gatekeeper] {
            let tools = tools(role);
            let of_role = TOOLS.iter().filter(|(_, roles)| role.has(roles));
            assert_eq!(tools.len(), of_role.count());
            for tool in tools {
                assert!(tool.describes.len() > 20, "{tool:?}");
                assert_eq!(tool.schema["type"], "object", "{tool:?}");
                assert_eq!(tool.schema["additionalProperties"], false, "{tool:?}");
                for (field, schema) in tool.schema["properties"].as_object().unwrap() {
                    assert!(schema["description"].is_string(), "{}: {field}", tool.name);
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_in_words_that_help() {
        let words = |role, tool, arguments| read(role, tool, arguments).unwrap_err();
        let missing = words(Role::Worker, "submit_work", json!({ "output": "x" }));
        assert!(missing.contains("missing field `summary`"), "{missing}");
        assert!(
            missing.contains(
                "It takes `acceptance_test_result` (may be left out), `output` (may be left out), `summary`"
            ),
            "{missing}"
        );
        let unknown = words(Role::Worker, "ask", json!({ "question": "x", "to": "y" }));
        assert!(unknown.contains("unknown field `to`"), "{unknown}");
        let other = words(Role::Gatekeeper, "submit_work", json!({ "summary": "x" }));
        assert!(
            other.starts_with("submit_work is not for a gatekeeper: you have ticket_show, approve_work"),
            "{other}"
        );
        let none = words(Role::Worker, "fly\u{1b}", json!({}));
        assert!(none.starts_with("there is no tool"), "{none}");
        let long = words(
            Role::Worker,
            "team_comment",
            json!({ "text": "x".repeat(MOST_TEXT + 1) }),
        );
        assert!(long.contains("4097 bytes is too long"), "{long}");
        let empty = words(Role::Worker, "team_comment", json!({ "text": " \n" }));
        assert!(empty.contains("`text` is empty"), "{empty}");
        let soon = read(
            Role::Worker,
            "sleep_until",
            json!({ "until": "soon", "why": "x" }),
        )
        .unwrap();
        let soon = soon.wake_at(Time(0)).unwrap_err();
        assert!(soon.starts_with("`until` is not a duration like 90s"), "{soon}");
        assert!(read(Role::Worker, "submit_work", json!("DONE")).is_err());
    }

    #[test]
    fn texts_are_sanitised_and_a_call_is_stored_as_it_is_read() {
        let read = read(Role::Worker, "team_comment", json!({ "text": "a\u{1b}[31mb\nc" })).unwrap();
        assert_eq!(
            read,
            Call::TeamComment {
                text: "ab\nc".to_owned()
            }
        );
        let stored = serde_json::to_value(&read).unwrap();
        assert_eq!(serde_json::from_value::<Call>(stored).unwrap(), read);
    }

    #[test]
    fn a_sleep_ends_at_a_time_or_after_a_wait() {
        let signal = |until: &str| {
            let call = Call::SleepUntil {
                until: until.to_owned(),
                why: "it".to_owned(),
            };
            match call.signal(Time(1_000)) {
                Some(Signal::WakeupSet { at, .. }) => Some(Some(at)),
                Some(Signal::None) => Some(None),
                _ => None,
            }
        };
        assert_eq!(signal("10m"), Some(Some(Time(601_000))));
        assert_eq!(signal("1970-01-01T00:01:00Z"), Some(Some(Time(60_000))));
        assert_eq!(signal("1970-01-01T00:00:00Z"), Some(Some(Time(1_000))));
        assert_eq!(signal("2970-01-01T00:00:00Z"), Some(None));
        assert_eq!(signal("31d"), Some(None));
    }

    #[test]
    fn what_was_tested_stands_below_the_summary() {
        let call = Call::SubmitWork {
            summary: "It is done".to_owned(),
            output: None,
            acceptance_test_result: Some("all pass".to_owned()),
        };
        assert_eq!(call.summary().unwrap(), "It is done\n\nAcceptance test: all pass");
    }
}
