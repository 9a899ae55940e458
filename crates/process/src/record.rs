//! Records of a run: its processes, its heartbeats, its end.

use serde::{Deserialize, Serialize};

use crate::linux::Identity;

/// The processes of a run. Written before the program starts (without `child`) and once more when it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The shim.
    pub shim: Identity,
    /// The program, once it was started.
    pub child: Option<Identity>,
    /// Milliseconds since 1970.
    pub started_at: u64,
}

/// How a run ended. Written last, when nothing of the run is left that could be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Why it ended.
    pub reason: Reason,
    /// The exit code, when the program exited by itself.
    pub code: Option<i32>,
    /// The number of the signal, when one ended the program.
    pub signal: Option<i32>,
    /// Milliseconds since 1970; 0 when the start is not known.
    pub started_at: u64,
    /// Milliseconds since 1970.
    pub ended_at: u64,
    /// The program's standard output.
    pub out: Captured,
    /// The program's standard error.
    pub err: Captured,
    /// Processes that were still there when the program had ended, and were killed.
    pub survivors: u32,
}

impl Exit {
    /// The program ran, was not stopped, and exited 0.
    pub fn is_success(&self) -> bool {
        self.reason == Reason::Exited && self.code == Some(0)
    }
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// The program ended by itself: see the code or the signal.
    Exited,
    /// It was asked to stop, before or while it ran, by crew or by a signal to the shim (TERM, INT, HUP,
    /// QUIT). The code or the signal shows how the program reacted.
    Stopped,
    /// Its hard timeout passed.
    TimedOut,
    /// The program could not be started.
    SpawnFailed {
        /// The kind of fault.
        fault: Fault,
        /// The fault in a sentence, for people.
        error: String,
    },
    /// The shim died without a record (or never began); a sweep has written this one.
    Lost,
}

/// A reason why a program cannot be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// There is no such program.
    Missing,
    /// It is there and cannot be executed.
    NotExecutable,
    /// The working directory is missing or closed.
    WorkingDirectory,
    /// The run's own directory is damaged.
    Record,
    /// The system refused: no processes, memory or descriptors left.
    System,
}

/// The extent of an output stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// Bytes the program printed.
    pub bytes: u64,
    /// Bytes of these that were left out of the file; a line in it says where.
    pub dropped: u64,
}

/// A heartbeat: the run as its shim sees it now. Each heartbeat replaces the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// Bytes printed to standard output so far, left-out ones too.
    pub out_bytes: u64,
    /// Bytes printed to standard error so far, left-out ones too.
    pub err_bytes: u64,
    /// When something was printed last, in milliseconds since 1970; 0: never.
    pub output_at: u64,
    /// CPU time of the program itself, in milliseconds.
    pub cpu_ms: u64,
    /// The processes below the program, oldest first, at most 32.
    pub children: Vec<Child>,
    /// How many there are.
    pub children_count: u32,
    /// CPU time of all of them, and of the children each has waited for, in milliseconds. It can fall when
    /// one ends: *changed* is what counts as active.
    pub children_cpu_ms: u64,
}

impl Beat {
    /// The command line of the youngest process below the program: most likely what the program is busy with.
    pub fn command(&self) -> Option<&str> {
        self.children.last().map(|child| child.command.as_str())
    }
}

/// A process below the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    /// Its process id.
    pub pid: u32,
    /// Its CPU time in milliseconds.
    pub cpu_ms: u64,
    /// Its command line, joined by spaces, at most 200 characters: untrusted text, to be sanitised before it
    /// is shown.
    pub command: String,
}
