//! Status of a git that has ended: its exit code or its signal.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// The way in which a git ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It exited with this code.
    Exit(i32),
    /// A signal of this number ended it.
    Signal(i32),
    /// The system reported neither.
    Unknown,
}

/// Signals by which another process ends a git: HUP, INT, KILL, TERM.
const KILLS: [i32; 4] = [1, 2, 9, 15];

impl Status {
    /// Whether another process ended the git.
    pub(crate) fn is_killed(self) -> bool {
        matches!(self, Self::Signal(signal) if KILLS.contains(&signal))
    }
}

impl From<ExitStatus> for Status {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exit(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Unknown,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("unknown end"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_that_crashed_was_not_killed_by_another_process() {
        // Wait statuses: the lower byte is the signal, the upper one the exit code.
        let of = |raw| Status::from(ExitStatus::from_raw(raw));
        for signal in KILLS {
            assert!(of(signal).is_killed());
            assert!(!of(signal << 8).is_killed());
        }
        let crashed = of(11);
        assert!(!crashed.is_killed());
        assert_eq!(
            (crashed.to_string(), of(128 << 8).to_string()),
            ("signal 11".into(), "exit 128".into())
        );
    }
}
