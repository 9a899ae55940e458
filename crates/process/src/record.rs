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

    /// The process that does the program's work: of the youngest process and those above it, the topmost that
    /// no shell stands between. A compiler that a build has started is the build's; a build that a shell has
    /// started is not the shell's.
    pub fn work(&self) -> Option<&Child> {
        let mut work = self.children.last()?;
        // Parents are older than their children, so this ends.
        for above in self.children.iter().rev() {
            if above.pid == work.parent && (work.is_shell() || !above.is_shell()) {
                work = above;
            }
        }
        Some(work)
    }
}

/// A process below the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    /// Its process id.
    pub pid: u32,
    /// The process id of its parent.
    #[serde(default)]
    pub parent: u32,
    /// When it was started, in milliseconds since 1970; 0 when that is not known.
    #[serde(default)]
    pub started_at: u64,
    /// Its CPU time in milliseconds.
    pub cpu_ms: u64,
    /// Its command line, joined by spaces, at most 200 characters: untrusted text, to be sanitised before it
    /// is shown.
    pub command: String,
}

/// Programs that run what others write: they are busy with what they have started.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "fish"];

impl Child {
    /// The program's name and its first argument, where that is a plain word or the name of a file: an option
    /// or any later argument may hold a secret. Fit to be shown, at most 80 columns.
    pub fn name(&self) -> String {
        short(&self.command)
    }

    fn is_shell(&self) -> bool {
        let program = self.command.split(' ').next().unwrap_or_default();
        SHELLS.contains(&base(program).trim_start_matches('-'))
    }
}

/// The last part of a path.
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A command line without what may hold a secret: the program's name, and its first argument where that is a
/// plain word or the name of a file. Fit to be shown, at most 80 columns.
pub fn short(command: &str) -> String {
    let mut words = command.split(' ').filter(|word| !word.is_empty());
    let program = words.next().map(base).unwrap_or_default();
    let is_plain = |word: &&str| {
        let plain = |character: char| character.is_alphanumeric() || "._-+".contains(character);
        !word.is_empty() && !word.starts_with('-') && word.chars().all(plain)
    };
    let argument = words.next().filter(|word| !word.contains("://")).map(base);
    let shown = match argument.filter(is_plain) {
        Some(argument) => format!("{program} {argument}"),
        None => program.to_owned(),
    };
    text::sanitise::fit(&text::sanitise::line(&shown), 80)
}

/// The last that the program itself said of its work, as the engine read it in the program's output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// When it was read, in milliseconds since 1970.
    pub at: u64,
    /// The tool that the program uses, fit to be shown; none between two tools.
    pub tool: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn child(pid: u32, parent: u32, command: &str) -> Child {
        Child {
            pid,
            parent,
            started_at: 0,
            cpu_ms: 0,
            command: command.to_owned(),
        }
    }

    #[test]
    fn the_work_is_the_topmost_process_below_the_last_shell() {
        let work = |children: &[(u32, u32, &str)]| {
            let children = children
                .iter()
                .map(|(pid, parent, command)| child(*pid, *parent, command));
            let beat = Beat {
                children: children.collect(),
                ..Beat::default()
            };
            beat.work().map(Child::name)
        };
        assert_eq!(work(&[]), None);
        let server = (10, 1, "node /opt/tools/server.js");
        assert_eq!(work(&[server]).as_deref(), Some("node server.js"));
        let shell = (11, 1, "/bin/bash -c eval 'cargo build'");
        assert_eq!(work(&[server, shell]).as_deref(), Some("bash"));
        let build = [
            server,
            shell,
            (12, 11, "cargo build"),
            (13, 12, "rustc --crate-name a"),
        ];
        assert_eq!(work(&build).as_deref(), Some("cargo build"));
        let script = [shell, (12, 11, "sh ./run.sh"), (13, 12, "sleep 600")];
        assert_eq!(work(&script).as_deref(), Some("sleep 600"));
    }

    #[test]
    fn a_command_is_shown_without_what_may_be_a_secret() {
        let cases = [
            ("/usr/bin/cargo build --release", "cargo build"),
            ("python3 /home/ada/tools/build.py --token x", "python3 build.py"),
            ("curl https://ada:secret@host/x", "curl"),
            ("mysql -psecret", "mysql"),
            ("env TOKEN=secret make", "env"),
            ("git\u{1b}[2J push", "git push"),
            ("", ""),
        ];
        for (command, shown) in cases {
            assert_eq!(short(command), shown, "{command}");
        }
    }
}
