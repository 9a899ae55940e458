//! The reasons for which a ticket waits for a person, in the words that every surface uses.

use std::fmt;

use crate::attempt::Class;
use crate::policy::route::Refusal;
use crate::project::HarnessPause;
use crate::ticket::{Held, InTheWay, Obstacle, Proposal, PullRequest, Waiting, in_words};
use crate::{AgentName, Time};

/// The reason for which a ticket waits for a person. Displayed, it is the end of a sentence that began with
/// the ticket, with the reason's name where the words alone do not show it; partly text of agents and
/// tickets, not sanitised.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason<'a> {
    /// The ticket is held.
    Held(&'a Held),
    /// Its agent, or its gatekeeper, asks something.
    Question {
        /// The agent.
        agent: &'a AgentName,
        /// The question.
        question: &'a str,
        /// The time at which it goes on without an answer.
        until: Option<Time>,
    },
    /// A person's edits are in the way of landing it.
    Edits(&'a Waiting),
    /// Its pull request waits for people.
    Proposal {
        /// The pull request.
        request: &'a PullRequest,
        /// Its state, as it was seen last.
        proposal: &'a Proposal,
    },
    /// crew cannot do what it has to for the ticket's work.
    Failure(&'a str),
    /// A gatekeeper found that it cannot be done, for this reason.
    Impossible(&'a str),
    /// Its harness refuses steps until a person has mended that.
    Harness {
        /// The harness's name.
        harness: &'a str,
        /// The pause, with the service's message.
        pause: &'a HarnessPause,
    },
    /// It waits for itself, for a ticket that does not exist, or for one that is over and has failed.
    Dependency(&'a Refusal),
    /// Its file cannot be read.
    File(&'a Refusal),
    /// The bare target does not pass its checks.
    Target(&'a Refusal),
}

impl Reason<'_> {
    /// The reason's name on every surface.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Reason::Held(held) => held.why.name(),
            Reason::Question { .. } => "question",
            Reason::Edits(_) => "checkout",
            Reason::Proposal { .. } => "pull_request",
            Reason::Failure(_) => "failing",
            Reason::Impossible(_) => "impossible",
            Reason::Harness { .. } => "harness",
            Reason::Dependency(Refusal::DependencyFailed { .. }) => "dependency_failed",
            Reason::Dependency(_) => "dependency",
            Reason::File(_) => "file",
            Reason::Target(_) => "target",
        }
    }

    /// The reason in words, to stand next to its name and, for a question, its agent.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Reason::Held(held) => held.note.clone(),
            Reason::Question { question, .. } => (*question).to_owned(),
            Reason::Edits(waiting) => edits(&waiting.paths),
            Reason::Proposal { request, proposal } => {
                let number = request.number;
                format!("its pull request #{number} {}: {}", proposal.words(), request.url)
            }
            Reason::Failure(why) => (*why).to_owned(),
            Reason::Impossible(why) => format!("a gatekeeper found that it cannot be done: {why}"),
            Reason::Harness { harness, pause } => refused(harness, pause),
            Reason::Dependency(refusal) | Reason::File(refusal) | Reason::Target(refusal) => {
                refusal.to_string()
            }
        }
    }

    /// True if the ticket goes on in the end if nobody does anything: its agent gets no answer then. To try
    /// again by itself is not enough, since nothing may have changed.
    #[must_use]
    pub fn ends_by_itself(&self) -> bool {
        matches!(self, Reason::Question { until: Some(_), .. })
    }

    /// The time at which crew tries again by itself, or at which the agent goes on without an answer. Landing
    /// is tried again every few seconds, which is no news.
    #[must_use]
    pub fn until(&self) -> Option<Time> {
        match self {
            Reason::Held(held) => held.retry_at,
            Reason::Question { until, .. } => *until,
            Reason::Proposal { proposal, .. } => proposal.due,
            Reason::Edits(_)
            | Reason::Failure(_)
            | Reason::Impossible(_)
            | Reason::Harness { .. }
            | Reason::Dependency(_)
            | Reason::File(_)
            | Reason::Target(_) => None,
        }
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.words();
        match self {
            Reason::Held(_) => write!(f, "{}: {words}", self.name()),
            Reason::Question { agent, .. } => write!(f, "{agent} asks: {words}"),
            Reason::Edits(_)
            | Reason::Proposal { .. }
            | Reason::Failure(_)
            | Reason::Impossible(_)
            | Reason::Harness { .. }
            | Reason::Dependency(_)
            | Reason::File(_)
            | Reason::Target(_) => f.write_str(&words),
        }
    }
}

/// A person's edits that are in the way of a landing. Paths are not sanitised.
#[must_use]
pub fn edits(paths: &[InTheWay]) -> String {
    let are_unwritable = paths.iter().all(|one| one.what == Obstacle::Unwritable);
    let whose = match are_unwritable && !paths.is_empty() {
        true => "files that crew may not write",
        false => "your edits",
    };
    format!("{whose} are in the way of landing it: {}", in_words(paths))
}

/// A harness on which no step is started until a person has mended something.
#[must_use]
pub fn refused(harness: &str, pause: &HarnessPause) -> String {
    if pause.class == Class::NoProgram {
        return format!("{harness} {}", pause.message);
    }
    format!(
        "{harness} refuses ({}): {}; `crew retry {}` once that is mended",
        pause.class.name(),
        pause.message,
        pause.ticket
    )
}
