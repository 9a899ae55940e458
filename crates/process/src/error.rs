//! Errors of runs, each with a hint where a person can do something about it.

use std::io;
use std::path::{Path, PathBuf};

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done with a run.
///
/// That the *program* failed is not an error here: it is the run's [`Exit`](crate::Exit).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of the run's directory could not be read or written.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// The action that failed, as a verb: "read", "write", "create".
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A file of the run's directory holds something that crew did not write.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the text stops to make sense.
        source: serde_json::Error,
    },
    /// A specification that no run can be made from.
    #[error("a run cannot be made with {what}: {why}")]
    BadSpec {
        /// The part that is wrong, quoted: "the argument …".
        what: String,
        /// The rule it breaks.
        why: &'static str,
    },
    /// There is no run in this directory.
    #[error("{} holds no run", dir.display())]
    NoRun {
        /// The directory.
        dir: PathBuf,
    },
    /// The shim's executable could not be started.
    #[error("cannot start the shim {}", program.display())]
    SpawnShim {
        /// The executable.
        program: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The shim started and gave up before the run began. Nothing runs; the run may be started again.
    #[error("the shim of {} gave up: {why}", dir.display())]
    ShimGaveUp {
        /// The run's directory.
        dir: PathBuf,
        /// The shim's reason, in a sentence.
        why: String,
        /// The number of the system's error, where the system refused: by it an error passes or not.
        errno: Option<i32>,
    },
    /// The shim neither began nor gave up in time, and was killed. It may have begun just before that: look
    /// at the run's status before anything else.
    #[error("the shim of {} has not reported for {waited_ms} ms", dir.display())]
    ShimSilent {
        /// The run's directory.
        dir: PathBuf,
        /// How long it was waited for.
        waited_ms: u64,
    },
    /// A call to the system about processes failed.
    #[error("cannot {doing}")]
    System {
        /// The action that failed, as a verb with its object.
        doing: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// The run still runs: it is stopped first, swept afterwards.
    #[error("{} still runs", dir.display())]
    StillRunning {
        /// The run's directory.
        dir: PathBuf,
    },
    /// Processes of an ended run could not be killed.
    #[error("{} of {} outlive it: {pids:?}", text::counted(pids.len(), "process"), dir.display())]
    Survivors {
        /// The run's directory.
        dir: PathBuf,
        /// Those that are left.
        pids: Vec<u32>,
    },
}

impl Error {
    /// Advice for a person, where there is any.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Some("free some disk space: crew goes on by itself")
            }
            Self::Survivors { .. } => {
                Some("they belong to another user or hang in the kernel: look with `ps`, kill them by hand")
            }
            Self::SpawnShim { .. } => {
                Some("crew starts its own executable again: is it still there and executable?")
            }
            Self::Damaged { .. } => Some("the file was edited or half written: the run cannot be adopted"),
            _ => None,
        }
    }

    /// Whether the machine lacked something for a moment: nothing runs, and the same call works later, when
    /// the machine has disk space, a descriptor or a process to give again.
    pub fn is_passing(&self) -> bool {
        self.errno().is_some_and(is_exhausted)
    }

    /// The number of the system's error, where the system refused.
    pub(crate) fn errno(&self) -> Option<i32> {
        match self {
            Self::File { source, .. } | Self::SpawnShim { source, .. } | Self::System { source, .. } => {
                source.raw_os_error()
            }
            Self::ShimGaveUp { errno, .. } => *errno,
            Self::Damaged { .. }
            | Self::BadSpec { .. }
            | Self::NoRun { .. }
            | Self::ShimSilent { .. }
            | Self::StillRunning { .. }
            | Self::Survivors { .. } => None,
        }
    }

    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { doing, path, source }
    }

    pub(crate) fn system(doing: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| Self::System {
            doing,
            source: errno.into(),
        }
    }
}

/// Whether the error number means that the machine has no more of something for now.
pub(crate) fn is_exhausted(errno: i32) -> bool {
    text::is_exhausted(&io::Error::from_raw_os_error(errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shim_that_gave_up_passes_by_its_error_number_and_not_by_its_words() {
        let gave_up = |why: &str, errno: Option<rustix::io::Errno>| Error::ShimGaveUp {
            dir: "/w/run".into(),
            why: why.to_owned(),
            errno: errno.map(rustix::io::Errno::raw_os_error),
        };
        let (lacking, missing) = (rustix::io::Errno::NOSPC, rustix::io::Errno::NOENT);
        assert!(gave_up("cannot start /bin/true", Some(lacking)).is_passing());
        for why in ["No space left on device", "x (os error 28)"] {
            assert!(!gave_up(why, Some(missing)).is_passing());
            assert!(!gave_up(why, None).is_passing());
        }
    }
}
