//! A step: its prompt, and the signal that it ends with.

use serde::{Deserialize, Serialize};

use super::ChildResult;
use crate::ticket::{Listed, Part};
use crate::{Oid, Time};

/// The prompt of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prompt {
    /// The task, to an agent that has not begun.
    Init,
    /// The task, to a new session about work already begun.
    Resume,
    /// The agent goes on.
    Step,
    /// The submitted work did not pass.
    ChecksFailed {
        /// The command that failed.
        which: String,
        /// The end of its output.
        output: String,
        /// Whether it did not run on the target since: that it had passed there before was remembered.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        remembered: bool,
    },
    /// The submitted work passed its checks and does not meet a commitment.
    CommitmentUnmet {
        /// The promise in words.
        says: String,
        /// The command that verifies it.
        command: String,
        /// The end of its output.
        output: String,
    },
    /// The agent reported that it was done and had committed nothing.
    NothingCommitted,
    /// Its branch does not merge.
    MergeConflict {
        /// The paths in conflict.
        paths: Vec<String>,
        /// The target's commit that it was asked to merge before and that is not in its branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<Oid>,
    },
    /// A person sent the submitted work back.
    Returned {
        /// The person, by name.
        by: String,
        /// The reason, in the person's words.
        why: String,
    },
    /// The limit is reached; submit now or the work goes back.
    LastChance,
    /// A person's answer to its question.
    Answer {
        /// The answer.
        text: String,
    },
    /// The wakeup it asked for.
    Wakeup {
        /// The reason, in words.
        why: String,
    },
    /// Nobody answered its question in time.
    Unanswered {
        /// The question.
        question: String,
    },
    /// Its children are over.
    Unify {
        /// What each of them came to.
        results: Vec<ChildResult>,
    },
    /// It changed files after it had submitted, and was stopped while it did.
    ChangedAfter {
        /// The paths.
        paths: Listed,
    },
}

impl Prompt {
    /// Names, in the place of a check, that the branch itself was refused and nothing was checked.
    pub const TAKING_OVER: &str = "taking the branch over";

    /// Whether it says why submitted work came back: that stands until the work is submitted again.
    #[must_use]
    pub fn says_why_it_came_back(&self) -> bool {
        match self {
            Prompt::ChecksFailed { .. }
            | Prompt::CommitmentUnmet { .. }
            | Prompt::NothingCommitted
            | Prompt::MergeConflict { .. }
            | Prompt::Returned { .. } => true,
            Prompt::Init
            | Prompt::Resume
            | Prompt::Step
            | Prompt::LastChance
            | Prompt::Answer { .. }
            | Prompt::Wakeup { .. }
            | Prompt::Unify { .. }
            | Prompt::Unanswered { .. }
            | Prompt::ChangedAfter { .. } => false,
        }
    }

    /// Its kind, as the program of the step gets it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Prompt::Init => "init",
            Prompt::Resume => "resume",
            Prompt::Step => "step",
            Prompt::ChecksFailed { .. } => "checks_failed",
            Prompt::CommitmentUnmet { .. } => "commitment_unmet",
            Prompt::NothingCommitted => "nothing_committed",
            Prompt::MergeConflict { .. } => "merge_conflict",
            Prompt::Returned { .. } => "returned",
            Prompt::LastChance => "last_chance",
            Prompt::Answer { .. } => "answer",
            Prompt::Wakeup { .. } => "wakeup",
            Prompt::Unanswered { .. } => "unanswered",
            Prompt::Unify { .. } => "unify",
            Prompt::ChangedAfter { .. } => "changed_after",
        }
    }

    /// Makes the prompt fit for a session that knows nothing of the work so far: a plain task or "go on"
    /// becomes the task with the story so far, and every other prompt stays as it is.
    pub(super) fn fit_new_session(&mut self) {
        if let Prompt::Init | Prompt::Step = self {
            *self = Prompt::Resume;
        }
    }
}

/// A word for crew that an agent has said and that its mode did not allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The beginning of its line: `DONE`, `MODE: plan`.
    pub word: String,
    /// The reason, as a sentence without a full stop.
    pub why: String,
}

impl super::Attempt {
    /// The lines of its last step that did not count, each in a message for the agent.
    #[must_use]
    pub fn lines_not_used(&self) -> Vec<String> {
        let refused = self
            .refused
            .iter()
            .map(|one| format!("{}: {}", one.word, one.why));
        self.unusable.iter().cloned().chain(refused).collect()
    }
}

/// The lines of a step that crew could not use, as a part of a sentence; none where there are none.
#[must_use]
pub fn unusable_words(lines: &[String]) -> Option<String> {
    (!lines.is_empty()).then(|| {
        format!(
            "lines that it printed for crew could not be used: {}",
            lines.join("; ")
        )
    })
}

/// The files that a step changed after it had submitted, in a sentence.
#[must_use]
pub fn changed_after_words(paths: &Listed) -> String {
    format!("it changed files after it had submitted, until it was stopped: {paths}")
}

/// The end of a step that ended well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// The agent gave no signal: it is stepped again.
    None,
    /// It asks to be verified.
    Done,
    /// It cannot go on.
    Blocked {
        /// The reason, in the agent's words.
        why: String,
    },
    /// It asks a person.
    Asked {
        /// The question.
        question: String,
    },
    /// It asks to be woken.
    WakeupSet {
        /// The time at which the agent wants to go on.
        at: Time,
        /// The reason, in the agent's words.
        why: String,
    },
    /// It has made tickets for the parts of its work, which is to wait for them.
    BrokenUp {
        /// The parts.
        parts: Vec<Part>,
    },
}
