//! The reason for which a ticket is not dispatched.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::policy::budget::{Budget, Pause};
use crate::{AgentName, Moment, TicketId, Time, moment};

/// The reason for which a ticket is not dispatched: a sentence for people, and fields for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Refusal {
    /// Neither a file nor the journal knows it.
    Unknown,
    /// It is over.
    Done {
        /// The name of the outcome.
        outcome: String,
    },
    /// An agent has it.
    InProgress {
        /// The name of the agent.
        agent: AgentName,
    },
    /// It is submitted.
    Submitted {
        /// The stage's name.
        stage: String,
    },
    /// It is held.
    Held {
        /// The reason in words.
        note: String,
        /// The time at which crew tries again by itself.
        #[serde(serialize_with = "moment::some")]
        #[schemars(with = "Option<Moment>")]
        retry_at: Option<Time>,
    },
    /// Its file is gone.
    NoFile,
    /// Its file cannot be read.
    Unreadable,
    /// Its file's status is closed, and the journal has not recorded that yet.
    FileClosed,
    /// Its file's status is `in_progress` and no agent has it.
    TakenByPerson,
    /// Its file was changed, and not by a person's word: nothing is decided on that.
    FileUnheeded {
        /// The change, in words.
        change: String,
        /// True if a person is asked about it.
        asks: bool,
    },
    /// Its file changed a moment ago.
    Debouncing {
        /// The time at which it will have been still for long enough.
        #[serde(serialize_with = "moment::one")]
        #[schemars(with = "Moment")]
        until: Time,
    },
    /// An epic is worked on through its parts.
    Epic,
    /// Its backoff is not over.
    NotDue {
        /// The time at which it may be dispatched again.
        #[serde(serialize_with = "moment::one")]
        #[schemars(with = "Moment")]
        until: Time,
    },
    /// It depends on a ticket that does not exist.
    MissingDependency {
        /// The id, as written.
        id: TicketId,
    },
    /// It recovers a ticket that does not exist.
    MissingRecovered {
        /// The id, as written.
        recovers: TicketId,
    },
    /// It waits for itself.
    Cycle {
        // A long cycle has only its beginning here.
        /// The way round, beginning and ending with the ticket.
        path: Vec<TicketId>,
        /// The tickets of the path that do not depend on the one after them, but recover it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        recovering: Vec<TicketId>,
        /// The tickets of the path that do not depend on the one after them, but wait for it by delegation: a
        /// leader for its children, a child for those before it, or for its leader to land.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        waiting: Vec<TicketId>,
    },
    /// It depends on a ticket that is over and has not done what this one needs.
    DependencyFailed {
        /// The ticket that it depends on.
        id: TicketId,
        /// The name of that ticket's outcome.
        outcome: String,
        /// Since when it waits for that.
        #[serde(serialize_with = "moment::one")]
        #[schemars(with = "Moment")]
        since: Time,
    },
    /// Tickets that must be done before are not.
    WaitsFor {
        /// The ids of the tickets that it waits for.
        ids: Vec<TicketId>,
    },
    /// The ticket that it recovers has not failed.
    RecoveryNotNeededYet {
        /// The ticket that it recovers.
        recovers: TicketId,
    },
    /// The ticket that it recovers is done: so will this one be.
    RecoveryNotNeeded {
        /// The ticket that it recovers.
        recovers: TicketId,
    },
    /// The day's budget is spent.
    DayBudget {
        /// The amount spent, its limit, and the time until which nothing is dispatched.
        #[serde(flatten, serialize_with = "paused")]
        #[schemars(with = "Paused")]
        pause: Pause,
    },
    /// The checks run on the bare target first.
    TargetUnchecked {
        /// The command that runs; none before the first one.
        command: Option<String>,
    },
    /// The bare target does not pass its checks, or they cannot be run on it, or nothing can land on it.
    TargetRed {
        /// The fault in words: a command's, one line.
        fault: String,
        /// Whether nothing can land on it.
        out_of_reach: bool,
    },
    /// No workspace can be set up, for a cause that is every ticket's.
    NotSetUp {
        /// The ticket whose workspace showed that: it is held for it.
        id: TicketId,
    },
    /// It is meant for an agent who has another ticket.
    AssigneeBusy {
        /// The name of the agent.
        agent: AgentName,
    },
    /// It is eligible, and no agent is free.
    NoAgentFree {
        /// Eligible tickets before it.
        ahead: usize,
    },
    /// It is a child of another ticket, whose agent has delegated it and waits for it.
    Delegated {
        /// Its parent.
        by: TicketId,
    },
}

/// How a ticket waits for another one that it does not depend on.
pub const BY_DELEGATION: &str =
    "an agent that has delegated waits for its children, they begin in order, and land with its ticket";

/// A pause as programs outside read it.
#[derive(Serialize, JsonSchema)]
struct Paused {
    /// The amount spent, and its limit.
    budget: Budget,
    /// The beginning of the next day.
    until: Moment,
}

fn paused<S: Serializer>(pause: &Pause, serializer: S) -> Result<S::Ok, S::Error> {
    let Pause { budget, until } = *pause;
    let until = Moment(until);
    Paused { budget, until }.serialize(serializer)
}

impl Refusal {
    /// Whether a person may give the ticket to an agent all the same, out of turn: as
    /// [`assignable`](super::assignable) has it, as far as this refusal says. It is the first of the queue's,
    /// so that another one may stand behind what a person passes over.
    #[must_use]
    pub fn yields_to_a_person(&self) -> bool {
        match self {
            Refusal::TakenByPerson
            | Refusal::Debouncing { .. }
            | Refusal::AssigneeBusy { .. }
            | Refusal::NoAgentFree { .. } => true,
            Refusal::Unknown
            | Refusal::Done { .. }
            | Refusal::InProgress { .. }
            | Refusal::Submitted { .. }
            | Refusal::Held { .. }
            | Refusal::NoFile
            | Refusal::Unreadable
            | Refusal::FileClosed
            | Refusal::FileUnheeded { .. }
            | Refusal::Epic
            | Refusal::NotDue { .. }
            | Refusal::MissingDependency { .. }
            | Refusal::MissingRecovered { .. }
            | Refusal::DependencyFailed { .. }
            | Refusal::Cycle { .. }
            | Refusal::WaitsFor { .. }
            | Refusal::RecoveryNotNeededYet { .. }
            | Refusal::RecoveryNotNeeded { .. }
            | Refusal::DayBudget { .. }
            | Refusal::TargetUnchecked { .. }
            | Refusal::TargetRed { .. }
            | Refusal::NotSetUp { .. }
            | Refusal::Delegated { .. } => false,
        }
    }

    /// The dependencies of a ticket that waits for itself, each with the ticket that has it: without one of
    /// them it does not. Of a long way round only its beginning's.
    #[must_use]
    pub fn dependencies_of_cycle(&self) -> Vec<(&TicketId, &TicketId)> {
        let Refusal::Cycle {
            path,
            recovering,
            waiting,
        } = self
        else {
            return Vec::new();
        };
        let steps = path.iter().zip(path.iter().skip(1));
        steps
            .filter(|(of, _)| !recovering.contains(of) && !waiting.contains(of))
            .collect()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Unknown => f.write_str("there is no such ticket"),
            Refusal::Done { outcome } => write!(f, "it is done ({})", outcome.replace('_', " ")),
            Refusal::InProgress { agent } => write!(f, "{agent} works on it"),
            Refusal::Submitted { stage } => write!(f, "it is submitted: {stage}"),
            Refusal::Held { note, retry_at: None } => write!(f, "it is held: {note}"),
            Refusal::Held {
                note,
                retry_at: Some(at),
            } => write!(f, "it is held until {at}: {note}"),
            Refusal::NoFile => f.write_str("its file is gone"),
            Refusal::Unreadable => {
                f.write_str("its file cannot be read as a ticket; mend it, and it goes on")
            }
            Refusal::FileClosed => f.write_str("its file's status is closed"),
            Refusal::TakenByPerson => f.write_str(
                "a person has taken it: its file's status is in_progress; set it to open to give it to an agent",
            ),
            Refusal::FileUnheeded { change, .. } => f.write_str(change),
            Refusal::Debouncing { until } => {
                write!(
                    f,
                    "its file changed a moment ago; crew waits until {until}, in case it changes again"
                )
            }
            Refusal::Epic => f.write_str("it is an epic; agents work on its parts"),
            Refusal::NotDue { until } => write!(f, "it came back and is not dispatched again before {until}"),
            Refusal::MissingDependency { id } => {
                write!(
                    f,
                    "it depends on {id}, and there is no such ticket; write it, or remove the dependency"
                )
            }
            Refusal::MissingRecovered { recovers } => write!(
                f,
                "it recovers {recovers}, and there is no such ticket; write it, or remove `recovers`"
            ),
            Refusal::DependencyFailed { id, outcome, .. } => {
                let outcome = match outcome.as_str() {
                    "dropped" => "was dropped",
                    _ => "has failed",
                };
                write!(f, "it depends on {id}, which {outcome}")
            }
            Refusal::Cycle {
                path,
                recovering,
                waiting,
            } => {
                let waits = match recovering.is_empty() && waiting.is_empty() {
                    true => "depends on",
                    false => "waits for",
                };
                let goes_on = if path.first() == path.last() {
                    ""
                } else {
                    " → …"
                };
                let way: Vec<&str> = path.iter().map(TicketId::as_str).collect();
                write!(f, "it {waits} itself: {}{goes_on}; ", way.join(" → "))?;
                match self.dependencies_of_cycle().as_slice() {
                    [(of, on)] if !waiting.is_empty() => write!(f, "remove the dependency of {of} on {on}")?,
                    _ => f.write_str("remove one of these dependencies")?,
                }
                if !recovering.is_empty() {
                    f.write_str(" or `recovers`")?;
                }
                match waiting.is_empty() {
                    true => Ok(()),
                    false => write!(f, " ({BY_DELEGATION})"),
                }
            }
            Refusal::WaitsFor { ids } => {
                let ids: Vec<&str> = ids.iter().map(TicketId::as_str).collect();
                write!(f, "it waits for {}", ids.join(", "))
            }
            Refusal::RecoveryNotNeededYet { recovers } => {
                write!(f, "it recovers {recovers}, which has not failed")
            }
            Refusal::RecoveryNotNeeded { recovers } => {
                write!(f, "it recovers {recovers}, which is done: not needed")
            }
            Refusal::DayBudget { pause } => write!(f, "{pause}"),
            Refusal::TargetUnchecked { command: None } => {
                f.write_str("no agent is started yet: the checks run on the bare target first")
            }
            Refusal::TargetUnchecked {
                command: Some(command),
            } => write!(
                f,
                "no agent is started yet: `{command}` runs on the bare target first"
            ),
            Refusal::TargetRed { fault, .. } => write!(f, "no agent is started: {fault}"),
            Refusal::NotSetUp { id } => write!(f, "no workspace can be set up, as {id} shows"),
            Refusal::AssigneeBusy { agent } => write!(f, "it is meant for {agent}, who has another ticket"),
            Refusal::Delegated { by } => write!(f, "it is a part of {by}, and begins in its turn"),
            Refusal::NoAgentFree { ahead: 0 } => f.write_str("no agent is free; it is the next"),
            Refusal::NoAgentFree { ahead } => write!(f, "no agent is free, and {ahead} are before it"),
        }
    }
}
