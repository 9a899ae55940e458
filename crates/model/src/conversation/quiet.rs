//! The silence of a step that runs: a fact that is recorded when it begins and when it ends.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Time;

/// A step that has shown no sign of life for as long as the settings allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quiet {
    /// The time since which it has shown none.
    pub since: Time,
    /// What is seen of it.
    pub how: Silence,
}

/// What is seen of a silent step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Silence {
    /// It prints nothing, and no process below its client is busy.
    Idle {
        /// The program that runs below its client all the same, with its first argument: the agent's text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        child: Option<String>,
    },
    /// The process that holds the step has not run at all, so that nothing is seen of its agent.
    Frozen {
        /// The id of that process.
        shim: u32,
    },
}

impl Quiet {
    /// The silence in words, with its length at `now`: partly the agent's text, not sanitised.
    #[must_use]
    pub fn words(&self, now: Time) -> String {
        let remedy = self.how.remedy().map(|remedy| format!(" {remedy}"));
        let (span, how) = (crate::view::span(now.since(self.since)), &self.how);
        format!("silent for {span}: {how}{}", remedy.unwrap_or_default())
    }
}

impl Silence {
    /// What a person can do about it, in words; none where nothing but waiting or ending the step helps.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Silence::Idle { .. } => None,
            Silence::Frozen { shim } => Some(format!("`kill -CONT {shim}` lets it go on")),
        }
    }
}

/// In words, as a sentence without its subject or its time. The program's name is not sanitised.
impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Silence::Idle { child: None } => f.write_str("neither output nor a busy process"),
            Silence::Idle { child: Some(child) } => {
                write!(f, "no output, and `{child}` runs but does nothing")
            }
            Silence::Frozen { shim } => {
                write!(
                    f,
                    "process {shim}, which holds the step, does not run: is it suspended?"
                )
            }
        }
    }
}
