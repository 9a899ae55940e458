//! The task modes of an agent.

use serde::{Deserialize, Serialize};

/// The task mode of an agent: the kind of work it does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It does the work itself.
    Execute,
    /// It gives the work to others.
    Delegate,
    /// It plans the work.
    Plan,
    /// It breaks the work up into parts.
    BreakUp,
    /// It brings the parts together.
    Unify,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 5] = [
        Self::Execute,
        Self::Delegate,
        Self::Plan,
        Self::BreakUp,
        Self::Unify,
    ];

    /// The name of the mode, as agents write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Execute => "execute",
            Self::Delegate => "delegate",
            Self::Plan => "plan",
            Self::BreakUp => "break_up",
            Self::Unify => "unify",
        }
    }

    /// The mode of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// The changes of mode that an agent announces in one step, in order: what is read anew comes to the same.
#[derive(Debug, Default)]
pub(crate) struct Announced(Vec<Mode>);

impl Announced {
    /// Of one step; those beyond it do not count.
    const MOST: usize = 50;

    /// Notes an announcement. Returns false for one that repeats the last one, or is one too many.
    pub(crate) fn note(&mut self, mode: Mode) -> bool {
        let counts = self.0.last() != Some(&mode) && self.0.len() < Self::MOST;
        if counts {
            self.0.push(mode);
        }
        counts
    }

    /// All of them.
    pub(crate) fn take(&mut self) -> Vec<Mode> {
        std::mem::take(&mut self.0)
    }
}
