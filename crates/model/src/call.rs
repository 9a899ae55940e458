//! Calls: what an agent asks of crew by a tool, in the middle of its step.
//!
//! The comments of [`Call`] and its fields are what agents read: each tool is described to them by these.

mod read;
mod role;
mod tool;

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::role::Role;
pub use self::tool::{Tool, tools};
use crate::attempt::{Mode, Signal};
use crate::commitment::Promise;
use crate::settings::duration;
use crate::ticket::{CheckCommand, Verdict};
use crate::{TicketId, Time};

/// The most bytes of a text in a call.
pub const MOST_TEXT: usize = 4 * 1024;
/// The most calls of a step.
pub const MOST_CALLS: usize = 100;
/// How often an agent may state a result beyond [`MOST_CALLS`]: no step is kept from coming to its end by
/// what it has called before.
const MORE_RESULTS: usize = 20;
/// The most words of a command.
const MOST_WORDS: usize = 100;
/// The most tickets that a step may create.
pub const MOST_TICKETS: u32 = 10;
/// The most tickets that the agents of one ticket may make.
pub const MOST_TICKETS_OF_ONE: u32 = 50;
/// The most tickets in a row of which each was made by the agent of the one before.
pub const MOST_GENERATIONS: u32 = 3;
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
    /// Say how you go about the ticket: do it yourself (`execute`), plan first (`plan`), or, after you have
    /// planned, split it into tickets (`break_up`).
    SetMode {
        /// The mode.
        mode: ChosenMode,
    },
    /// Create a ticket for work that your own does not ask for. Anybody may take it; it is reviewed where
    /// yours is.
    CreateTicket {
        /// The title, in one line.
        title: String,
        /// The task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// How it is to be done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        design: Option<String>,
        /// How one sees that it is done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        acceptance: Option<String>,
        /// `bug`, `feature`, `task`, `epic` or `chore`; `task` where it is left out.
        #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
        /// The id of the ticket that it is a part of, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<TicketId>,
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
    /// Whether its agent works in your folder, with all that is there. `false`: in a folder of its own, which
    /// begins with what is in yours then, at the same time as the others beside it that have one;
    /// its work is merged into yours when it is done.
    #[serde(default = "shares", skip_serializing_if = "Clone::clone")]
    pub share: bool,
}

fn shares() -> bool {
    true
}

/// A mode that an agent chooses by its name. The other modes begin by what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChosenMode {
    /// It does the work itself.
    Execute,
    /// It thinks first.
    Plan,
    /// It splits the work into tickets.
    BreakUp,
}

impl From<ChosenMode> for Mode {
    fn from(chosen: ChosenMode) -> Self {
        match chosen {
            ChosenMode::Execute => Mode::Execute,
            ChosenMode::Plan => Mode::Plan,
            ChosenMode::BreakUp => Mode::BreakUp,
        }
    }
}

/// The result of a step, as a call states it.
enum Stated {
    /// An agent's at work, or a gatekeeper's question.
    Signal(Signal),
    /// A gatekeeper's.
    Verdict(Verdict),
}

impl Call {
    /// The one table of all calls: the name of each, and the result of the step that it states if it is
    /// called at `at`.
    fn row(&self, at: Time) -> (&'static str, Option<Stated>) {
        let ends = |signal| Some(Stated::Signal(signal));
        match self {
            Call::TicketShow {} => ("ticket_show", None),
            Call::TeamComment { .. } => ("team_comment", None),
            Call::ReportProgress { .. } => ("report_progress", None),
            Call::SubmitWork { .. } => ("submit_work", ends(Signal::Done)),
            Call::ReportBlocked { why } => ("report_blocked", ends(Signal::Blocked { why: why.clone() })),
            Call::Ask { question } => {
                let question = question.clone();
                ("ask", ends(Signal::Asked { question }))
            }
            Call::SleepUntil { why, .. } => {
                let signal = match self.wake_at(at) {
                    Ok(Some(at)) => Signal::WakeupSet { at, why: why.clone() },
                    Ok(None) | Err(_) => Signal::None,
                };
                ("sleep_until", ends(signal))
            }
            Call::AddCommitment { .. } => ("add_commitment", None),
            Call::SetMode { .. } => ("set_mode", None),
            Call::CreateTicket { .. } => ("create_ticket", None),
            Call::ApproveWork {
                acceptance_test,
                met,
                feedback,
            } => {
                let verdict = Verdict::Approve {
                    acceptance_test: acceptance_test.clone(),
                    met: met.clone(),
                    feedback: feedback.clone(),
                };
                ("approve_work", Some(Stated::Verdict(verdict)))
            }
            Call::RejectWork { reason, feedback } => {
                let verdict = Verdict::Reject {
                    reason: reason.clone(),
                    feedback: feedback.clone(),
                };
                ("reject_work", Some(Stated::Verdict(verdict)))
            }
            Call::FailWork { reason } => {
                let reason = reason.clone();
                ("fail_work", Some(Stated::Verdict(Verdict::Fail { reason })))
            }
            Call::Delegate { .. } => ("delegate", None),
            Call::TeamList {} => ("team_list", None),
            Call::TeamKill { .. } => ("team_kill", None),
        }
    }

    /// The tool's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.row(Time::default()).0
    }

    /// Whether a step that has called `before` times may call this too.
    ///
    /// # Errors
    /// The reason against it, for the agent.
    pub fn expect_room(&self, before: usize) -> Result<(), String> {
        let most = match self.is_result() {
            true => MOST_CALLS + MORE_RESULTS,
            false => MOST_CALLS,
        };
        if before < most {
            return Ok(());
        }
        Err(format!(
            "this step has called {before} times, and {MOST_CALLS} are the most: say how it ended, by a tool or by a word alone \
             on a line, and end your turn"
        ))
    }

    /// Whether it states the result of the step: the first one of a step stands.
    #[must_use]
    pub fn is_result(&self) -> bool {
        self.row(Time::default()).1.is_some()
    }

    /// The signal with which a step ends whose agent has called this at `at`; none for a call that states no
    /// result. A verdict ends its step with no signal beside it.
    #[must_use]
    pub fn signal(&self, at: Time) -> Option<Signal> {
        match self.row(at).1? {
            Stated::Signal(signal) => Some(signal),
            Stated::Verdict(_) => Some(Signal::None),
        }
    }

    /// The verdict of a gatekeeper.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        match self.row(Time::default()).1? {
            Stated::Signal(_) => None,
            Stated::Verdict(verdict) => Some(verdict),
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
        let at = time_of(until, now).map_err(|why| format!("`until` {why}"))?;
        Ok(Some(at.max(now)))
    }

    /// What is wrong with the time that an agent names which calls this at `now`. A call that is taken late
    /// may well name a time that has passed by then.
    #[must_use]
    pub fn fault_at(&self, now: Time) -> Option<String> {
        let Call::SleepUntil { until, .. } = self else {
            return None;
        };
        match time_of(until, now) {
            Ok(at) if at < now => Some(format!("`until` has passed: it is {now} now")),
            Ok(_) => None,
            Err(why) => Some(format!("`until` {why}")),
        }
    }
}

/// The answer to an agent that makes a ticket. `before`: it has made it already, and no other one is made.
#[must_use]
pub fn says_made(id: &TicketId, before: bool) -> String {
    match before {
        true => format!("made {id} before: it has this title, and no other one is made"),
        false => format!("made {id}"),
    }
}

/// The ticket for which an agent or a hook made another one, whose id says so: `t-1` for `t-1-n2`, of an
/// agent, and for `t-1-h1`, of a hook. A person may name a ticket like that, too.
#[must_use]
pub fn maker_of(id: &TicketId) -> Option<TicketId> {
    let (maker, last) = id.as_str().rsplit_once('-')?;
    let number = last.strip_prefix(['n', 'h'])?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| TicketId::new(maker).ok())?
}

/// The ticket that such an answer names, and whether its agent has made it before; none in any other answer.
#[must_use]
pub fn made_of(says: &str) -> Option<(TicketId, bool)> {
    let (id, rest) = match says.strip_prefix("made ")?.split_once(' ') {
        Some((id, rest)) => (id, Some(rest)),
        None => (says.strip_prefix("made ")?, None),
    };
    let is_before = rest.is_some_and(|rest| rest.starts_with("before: "));
    let is_whole = rest.is_none() || is_before;
    TicketId::new(id)
        .ok()
        .filter(|_| is_whole)
        .map(|id| (id, is_before))
}

/// The time that an agent means which says this at `now`; it may have passed.
fn time_of(until: &str, now: Time) -> Result<Time, String> {
    let until = until.trim();
    let at = match until.parse::<Timestamp>() {
        Ok(at) => Time(at.as_millisecond()),
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(role: Role, tool: &str, arguments: Value) -> Result<Call, String> {
        Call::read(role, tool, arguments)
    }

    #[test]
    fn every_tool_is_described_with_its_arguments_to_the_roles_that_have_it() {
        for role in [Role::Worker, Role::Gatekeeper, Role::Leader] {
            let tools = tools(role);
            assert_eq!(
                tools.iter().map(|tool| tool.name).collect::<Vec<_>>(),
                role.tools().collect::<Vec<_>>()
            );
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
            other.starts_with("submit_work is not for a gatekeeper: you have ticket_show, ask, approve_work"),
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
        let text = words(Role::Worker, "submit_work", json!("DONE"));
        assert!(
            text.starts_with("submit_work was not called: its arguments are no object. It takes"),
            "{text}"
        );
        let mode = words(Role::Worker, "set_mode", json!({ "mode": "unify" }));
        assert!(
            mode.contains("expected one of `execute`, `plan`, `break_up`"),
            "{mode}"
        );
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
        let until =
            |until: &str| read(Role::Worker, "sleep_until", json!({ "until": until, "why": "x" })).unwrap();
        assert_eq!(until("1s").fault_at(Time(1_000)), None);
        assert_eq!(
            until("1970-01-01T00:00:00Z").fault_at(Time(1_000)).unwrap(),
            "`until` has passed: it is 1970-01-01T00:00:01Z now"
        );
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
