//! The states, events, guards and effects of Tavern's machines, each with its counterpart here.

use std::fmt::Write as _;

/// One of Tavern's machines.
struct Table {
    /// Its title.
    title: &'static str,
    rows: &'static [Row],
}

/// A name in one of Tavern's machines.
struct Row {
    /// The name there, with its kind.
    there: &'static str,
    /// The names here: a test finds each of them in its machine.
    here: &'static [Here],
    /// What is different, and the guide that has more.
    told: &'static str,
}

/// A name in a machine here.
enum Here {
    /// A state, with its machine before it.
    State(&'static str, &'static str),
    /// An event, with its machine before it.
    Event(&'static str, &'static str),
}

use Here::{Event, State};

const fn row(there: &'static str, here: &'static [Here], told: &'static str) -> Row {
    Row { there, here, told }
}

const TABLES: [Table; 7] = [
    Table {
        title: "The agent's life",
        rows: &[
            row(
                "state `Idle`",
                &[],
                "An agent without a ticket has no attempt: `crew ps` shows it as idle.",
            ),
            row(
                "state `Working`",
                &[State("attempt", "working")],
                "`preparing` and `ready` come before it: the workspace is made first.",
            ),
            row(
                "state `WaitingForInput`",
                &[State("attempt", "waiting_for_input")],
                "[Questions](../agents.md).",
            ),
            row(
                "state `WaitingForWakeup`",
                &[State("attempt", "waiting_for_wakeup")],
                "",
            ),
            row(
                "state `Verifying`",
                &[State("attempt", "verifying"), State("ticket", "verify/checking")],
                "The agent waits, and the ticket goes through its stages.",
            ),
            row(
                "state `Done`",
                &[State("attempt", "done"), State("ticket", "done/landed")],
                "`done` in the attempt means that the checks have passed; the ticket is over when its work is on the target.",
            ),
            row(
                "state `Reaped`",
                &[Event("project", "agent_retired"), State("ticket", "open (held)")],
                "The agent's name is retired, and its ticket waits for a person. [people.md](../people.md#stopping-and-giving-an-agent-up).",
            ),
            row(
                "state `Failed`",
                &[State("attempt", "stuck"), State("ticket", "done/failed")],
                "`stuck` is left by recovery or by a person. [recovery.md](../recovery.md#a-step-failed).",
            ),
            row(
                "event `send`",
                &[Event("attempt", "step_started"), Event("attempt", "said")],
                "Each step is a message to the client; `crew say` adds a person's words to the next one.",
            ),
            row(
                "event `responseReceived`",
                &[
                    Event("attempt", "step_finished"),
                    Event("attempt", "step_failed"),
                    Event("attempt", "called"),
                ],
                "The signals are fields of `step_finished`; a call of a tool can take their place.",
            ),
            row(
                "event `inputProvided`",
                &[Event("attempt", "answered")],
                "`crew answer`.",
            ),
            row(
                "event `wakeupTriggered`",
                &[Event("attempt", "woken"), Event("attempt", "woken_early")],
                "The second one is `crew wake`.",
            ),
            row(
                "event `verificationComplete`",
                &[
                    Event("ticket", "checks_passed"),
                    Event("ticket", "checks_failed"),
                    Event("ticket", "commitment_unmet"),
                ],
                "In the attempt these are `checks_passed` and `returned`.",
            ),
            row(
                "event `timeout`",
                &[
                    Event("attempt", "wait_timed_out"),
                    Event("attempt", "stop_ordered"),
                ],
                "The first one ends a wait, the second one a step that takes too long or is silent.",
            ),
            row(
                "event `budgetExceeded`",
                &[
                    Event("ticket", "budget_spent"),
                    Event("project", "day_budget_spent"),
                ],
                "[cost.md](../cost.md#budgets).",
            ),
            row(
                "event `dismissed`",
                &[Event("ticket", "released"), Event("project", "agent_retired")],
                "`crew kill` and `crew reap`.",
            ),
            row(
                "event `fishOrCutBait`",
                &[Event("attempt", "baited")],
                "`crew bait`. [people.md](../people.md#coming-to-an-end).",
            ),
            row(
                "guard `hasCommitments`",
                &[Event("ticket", "commitment_added")],
                "A ticket without commitments needs only its checks.",
            ),
            row(
                "guard `commitmentsAllPassed`",
                &[
                    Event("ticket", "commitment_unmet"),
                    Event("ticket", "commitments_held"),
                ],
                "Work lands only when every commitment is met or waived. [commitments.md](../commitments.md).",
            ),
            row(
                "guard `withinBudget`",
                &[Event("attempt", "step_started")],
                "No step is ordered beyond the budget; one that is low is a field of the event.",
            ),
            row(
                "guard `responseContainsSignal`",
                &[Event("attempt", "step_finished")],
                "A signal is a line by itself, and the last one counts. [agents.md](../agents.md).",
            ),
            row(
                "effect `logTransition`",
                &[],
                "Each event is stored with the state after it: `crew history`.",
            ),
            row(
                "effect `persistState`",
                &[],
                "The same row. An effect is performed only after its event is stored.",
            ),
            row(
                "effect `notifyUI`",
                &[],
                "Every surface folds the same rows; [notices](../events.md) are for leaders.",
            ),
            row(
                "effects `scheduleWakeup`, `cancelWakeup`",
                &[State("attempt", "waiting_for_wakeup")],
                "Timers follow from the state: leaving it cancels them. [derived.md](../design/derived.md).",
            ),
            row(
                "effect `runVerification`",
                &[Event("ticket", "check_started"), Event("ticket", "check_ordered")],
                "In a checkout that no agent writes to. [checks.md](../checks.md).",
            ),
        ],
    },
    Table {
        title: "Task modes",
        rows: &[
            row("`Execute`", &[State("task_mode", "execute")], ""),
            row(
                "`Delegate`",
                &[
                    State("task_mode", "delegate"),
                    State("attempt", "waiting_for_children"),
                ],
                "It begins with the first task that is handed out. [delegation.md](../delegation.md).",
            ),
            row("`Plan`", &[State("task_mode", "plan")], ""),
            row(
                "`BreakUp`",
                &[State("task_mode", "break_up"), Event("ticket", "parts_over")],
                "[modes.md](../modes.md#breaking-a-ticket-up).",
            ),
            row(
                "`Unify`",
                &[State("task_mode", "unify"), Event("attempt", "children_over")],
                "",
            ),
            row(
                "the agent reports its mode",
                &[Event("attempt", "mode_announced")],
                "`MODE: plan` in its output.",
            ),
            row(
                "the parent directs it",
                &[Event("attempt", "mode_set")],
                "`crew mode`, by a person.",
            ),
            row(
                "it follows from what happens",
                &[
                    Event("task_mode", "delegated"),
                    Event("task_mode", "children_over"),
                    Event("task_mode", "returned"),
                ],
                "",
            ),
        ],
    },
    Table {
        title: "Commitments",
        rows: &[
            row("state `Pending`", &[State("commitment", "pending")], ""),
            row("state `Verifying`", &[State("commitment", "verifying")], ""),
            row(
                "state `Passed`",
                &[State("commitment", "passed")],
                "It holds for one commit: other work is verified anew.",
            ),
            row("state `Failed`", &[State("commitment", "failed")], ""),
            row("event `startVerification`", &[Event("commitment", "started")], ""),
            row("event `assertionSucceeded`", &[Event("commitment", "passed")], ""),
            row(
                "event `assertionFailed`",
                &[Event("commitment", "failed")],
                "Its message is in the ticket's `commitment_unmet`.",
            ),
            row(
                "event `reset`",
                &[Event("commitment", "reset")],
                "`interrupted` is for a run that ended without a verdict.",
            ),
        ],
    },
    Table {
        title: "Sessions",
        rows: &[
            row("state `New`", &[State("session", "new")], ""),
            row(
                "state `Active`",
                &[State("session", "active")],
                "While a step runs.",
            ),
            row(
                "state `Suspended`",
                &[State("session", "suspended")],
                "Between two steps.",
            ),
            row(
                "state `Corrupt`",
                &[State("session", "corrupt")],
                "A new session takes its place.",
            ),
            row(
                "state `Closed`",
                &[],
                "A session ends with its attempt, or with its review: there is no event of its own.",
            ),
            row(
                "event `firstMessage`",
                &[Event("session", "first_message_sent")],
                "",
            ),
            row(
                "event `messageExchange`",
                &[Event("session", "resumed"), Event("session", "suspended")],
                "One step is one exchange.",
            ),
            row("event `suspend`", &[Event("session", "suspended")], ""),
            row("event `resume`", &[Event("session", "resumed")], ""),
            row("event `errorDetected`", &[Event("session", "error_detected")], ""),
            row(
                "event `clearSession`",
                &[Event("attempt", "recovered"), Event("attempt", "retried")],
                "Both name the session that takes the place of the old one.",
            ),
            row(
                "event `projectClosed`",
                &[Event("project", "closed")],
                "A session outlives the engine: the next one resumes it.",
            ),
        ],
    },
    Table {
        title: "The project",
        rows: &[
            row("state `Uninitialized`", &[State("project", "uninitialized")], ""),
            row("state `Initializing`", &[State("project", "initializing")], ""),
            row("state `Ready`", &[State("project", "ready")], ""),
            row("state `Busy`", &[State("project", "busy")], ""),
            row("state `ShuttingDown`", &[State("project", "shutting_down")], ""),
            row("state `Closed`", &[State("project", "closed")], ""),
            row("event `projectOpened`", &[Event("project", "opened")], ""),
            row(
                "event `claudeClientCreated`",
                &[State("worker", "spawning"), Event("worker", "spawned")],
                "There is no client that all agents share: each step starts its own process.",
            ),
            row(
                "event `jakeSpawned`",
                &[Event("project", "agent_spawned")],
                "A leader is an agent like any other, with the right to delegate.",
            ),
            row("event `coordinatorReady`", &[Event("project", "initialized")], ""),
            row("event `agentSpawned`", &[Event("project", "agent_spawned")], ""),
            row("event `allAgentsIdle`", &[Event("project", "agents_idle")], ""),
            row("event `projectClosing`", &[Event("project", "closing")], ""),
            row("event `cleanupComplete`", &[Event("project", "closed")], ""),
        ],
    },
    Table {
        title: "Parents and children",
        rows: &[
            row(
                "events bubble up",
                &[Event("attempt", "children_over"), Event("ticket", "released")],
                "A child inside a machine raises its end to its parent in the same transition; a delegated ticket's end is found in its state.",
            ),
            row(
                "leaving a state leaves its sub-state",
                &[State("attempt", "working")],
                "A child is a field of its parent's state. The task mode alone outlives waits. [modes.md](../design/modes.md).",
            ),
            row(
                "supervision: `Restarting`",
                &[State("attempt", "stuck"), Event("attempt", "recovered")],
                "[recovery.md](../recovery.md).",
            ),
            row(
                "supervision: `Escalating`",
                &[
                    State("ticket", "in_progress/stuck (held)"),
                    State("ticket", "open (held)"),
                ],
                "Held tickets are in the [inbox](../inbox.md).",
            ),
        ],
    },
    Table {
        title: "History",
        rows: &[
            row(
                "`TransitionRecord`",
                &[],
                "A row of the journal: time, cause, event, state after, effects. `crew history`.",
            ),
            row(
                "the states before",
                &[],
                "`crew history <ticket> --at <number>` shows the ticket as it was.",
            ),
            row("all transitions to a state", &[], "`crew history --to <state>`."),
            row(
                "rewind",
                &[Event("ticket", "rewound")],
                "`crew rewind`. [people.md](../people.md#going-back).",
            ),
            row(
                "an event that a state does not accept",
                &[],
                "It is refused with a reason, which is shown; the state stays. Each page here lists them.",
            ),
            row(
                "diagrams from the definition",
                &[],
                "These pages, and `crew diagram`.",
            ),
        ],
    },
];

/// The section of the index.
pub(super) fn section() -> String {
    let mut out = String::from(
        "## Where Tavern's machines are\n\n\
         The states and events of Tavern's state machines, and what stands for them here.\n",
    );
    for Table { title, rows } in &TABLES {
        let _ = writeln!(out, "\n### {title}\n\n| in Tavern | here | |\n|---|---|---|");
        for Row { there, here, told } in *rows {
            let here: Vec<String> = here.iter().map(Here::link).collect();
            let _ = writeln!(out, "| {there} | {} | {told} |", here.join(", "));
        }
    }
    out
}

impl Here {
    fn link(&self) -> String {
        match self {
            State(machine, name) => format!("[{machine}]({machine}.md): `{name}`"),
            Event(machine, name) => format!("[{machine}]({machine}.md): event `{name}`"),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::samples::Picture;

    /// Every name that the tables have is one of the machine that they say.
    pub(crate) fn names_are_of_the_machines(pictures: &[Picture]) {
        for row in TABLES.iter().flat_map(|table| table.rows) {
            for here in row.here {
                let (State(machine, name) | Event(machine, name)) = here;
                let mut found = pictures.iter().filter(|picture| picture.name == *machine);
                let explored = &found
                    .next()
                    .unwrap_or_else(|| panic!("no machine {machine}"))
                    .explored;
                let is_there = match here {
                    State(..) => explored.states.contains(*name),
                    Event(..) => explored.accepted.keys().any(|(_, event, _)| event == name),
                };
                assert!(is_there, "{}: {machine} has no {name}", row.there);
            }
        }
    }
}
