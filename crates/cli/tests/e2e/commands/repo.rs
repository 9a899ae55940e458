//! A repository in a folder of its own, with an empty home, and the binary run in it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::commands::schema;
use testkit::normal;
use testkit::pty::Pty;
pub(crate) use testkit::wait::until;

/// What a command came to.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// What must have gone well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self}");
        self
    }

    /// Its standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self}"))
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit {}\n{}", self.code, self.out)?;
        if !self.err.is_empty() {
            write!(f, "-- stderr\n{}", self.err)?;
        }
        Ok(())
    }
}

/// A folder with a repository and a home. Gone when dropped.
pub(crate) struct Repo {
    dir: TempDir,
    pub(crate) root: PathBuf,
}

impl Repo {
    /// A folder that is no repository.
    pub(crate) fn none() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("repo");
        for folder in [&root, &dir.path().join("home")] {
            std::fs::create_dir(folder).unwrap();
        }
        Self { dir, root }
    }

    /// A repository without a commit.
    pub(crate) fn empty() -> Self {
        let repo = Self::none();
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo
    }

    /// A repository with a commit.
    pub(crate) fn new() -> Self {
        let repo = Self::empty();
        repo.write("README", "hello\n");
        repo.commit("first");
        repo
    }

    /// A repository with a crew whose agents run this shell script, and nothing that guards the target.
    pub(crate) fn with_agent(script: &str) -> Self {
        let repo = Self::new();
        repo.script(script);
        repo.crew(&["init", "--yes", "--agent", "./agent.sh"]).ok();
        repo.commit("crew");
        repo
    }

    /// The agents' program: this shell script, in which a command that fails ends it.
    pub(crate) fn script(&self, script: &str) {
        self.write(
            "agent.sh",
            &format!("#!/bin/sh\nset -eu\ncat > /dev/null\n{script}\n"),
        );
        let mut mode = self.root.join("agent.sh").metadata().unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
        std::fs::set_permissions(self.root.join("agent.sh"), mode).unwrap();
    }

    /// A crew that is never run.
    pub(crate) fn with_crew() -> Self {
        Self::with_agent("echo DONE")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap()
    }

    /// A ticket's file, unchanged for long enough to be given out.
    pub(crate) fn ticket(&self, id: &str, title: &str, more: &str) {
        let more = if more.is_empty() {
            String::new()
        } else {
            format!("{more}\n")
        };
        let text = format!(
            "---\nid: {id}\nstatus: open\ndeps: []\nlinks: []\ncreated: 2026-01-02T03:04:05Z\ntype: task\npriority: 2\n\
             {more}---\n# {title}\n"
        );
        self.write(&format!(".tickets/{id}.md"), &text);
        let file = std::fs::File::options()
            .write(true)
            .open(self.root.join(format!(".tickets/{id}.md")))
            .unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_767_323_045))
            .unwrap();
    }

    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let said = self.run(&self.command(Path::new("git"), &self.root), args);
        assert_eq!(said.code, 0, "git {args:?}: {said}");
        said.out
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all", "--", ":!.tickets"]);
        self.git(&[
            "-c",
            "user.name=u",
            "-c",
            "user.email=u@example.invalid",
            "commit",
            "--quiet",
            "-m",
            message,
        ]);
    }

    /// `crew` in the repository. What it prints with `--json` is held against the schema.
    pub(crate) fn crew(&self, args: &[&str]) -> Said {
        self.crew_in(&self.root, args)
    }

    pub(crate) fn crew_in(&self, dir: &Path, args: &[&str]) -> Said {
        let said = self.run(&self.program(dir), args);
        let is_refused = said.out.is_empty() && !said.err.is_empty();
        if args.contains(&"--json")
            && !is_refused
            && let Some(command) = schema::command(args)
        {
            schema::check_output(&command, &said.out);
        }
        said
    }

    /// The binary, to be run here with the environment that every test has.
    pub(crate) fn program(&self, dir: &Path) -> Vec<String> {
        self.command(Path::new(env!("CARGO_BIN_EXE_crew")), dir)
    }

    /// A command line that begins with `env`: nothing of the caller's environment but PATH.
    fn command(&self, program: &Path, dir: &Path) -> Vec<String> {
        #[expect(
            clippy::disallowed_methods,
            reason = "tests find the system's programs on PATH"
        )]
        let path = std::env::var("PATH").unwrap();
        // What `crew init` finds must not depend on what the developer has installed.
        let path: Vec<&str> = path
            .split(':')
            .filter(|dir| !Path::new(dir).join("claude").exists())
            .collect();
        let path = path.join(":");
        let home = self.home();
        vec![
            "--ignore-environment".to_owned(),
            format!("--chdir={}", dir.display()),
            format!("PATH={path}"),
            format!("HOME={}", home.display()),
            "USER=grace".to_owned(),
            "GIT_CONFIG_NOSYSTEM=1".to_owned(),
            program.display().to_string(),
        ]
    }

    /// `crew` in the repository, on a terminal of so many columns and lines.
    pub(crate) fn terminal(&self, args: &[&str], size: (u16, u16)) -> Pty {
        let mut command = env();
        command.args(["setsid", "--ctty", "env"]);
        command.args(self.program(&self.root)).args(args);
        Pty::start(command.env("TERM", "xterm-256color"), size)
    }

    /// A shell in the repository, on a terminal, that has `crew` on its PATH.
    pub(crate) fn shell(&self, words: &[&str], size: (u16, u16)) -> Pty {
        let crew = Path::new(env!("CARGO_BIN_EXE_crew"));
        let on_path = "PATH=$1:$PATH; export PATH; shift; exec \"$@\"";
        let mut command = env();
        command.args(["setsid", "--ctty", "env"]);
        command.args(self.command(Path::new("env"), &self.root));
        command.args(["TERM=xterm-256color", "LC_ALL=C.UTF-8", "sh", "-c", on_path, "sh"]);
        command.arg(crew.parent().unwrap()).args(words);
        Pty::start(&mut command, size)
    }

    pub(crate) fn run(&self, command: &[String], args: &[&str]) -> Said {
        let output = env()
            .args(command)
            .args(args)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Said {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Output without what differs from run to run: paths, times, commits, process ids, the width of columns.
    pub(crate) fn normal(&self, text: &str) -> String {
        let text = text.replace(
            &*self.dir.path().canonicalize().unwrap().to_string_lossy(),
            "[dir]",
        );
        let text = text.replace(&*self.dir.path().to_string_lossy(), "[dir]");
        normal::lines(&text)
    }

    /// A snapshot's text: exit code and output, normal.
    pub(crate) fn seen(&self, args: &[&str]) -> String {
        let said = self.crew(args);
        format!("$ crew {}\n{}", args.join(" "), self.normal(&said.to_string()))
    }
}

/// `env`, which every program of a test is started through.
#[expect(
    clippy::disallowed_methods,
    reason = "tests start the programs they are about"
)]
pub(crate) fn env() -> Command {
    Command::new("env")
}
