//! The engines and commands of a world, and their processes.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::{World, crew, path_variable, until};
use crate::wait::{self, within};

/// What a command came to.
pub struct Said {
    /// Its exit code; none while it runs, and of one that a signal ended.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

/// An engine in the background. It does not outlive its test.
pub struct Engine {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl World {
    /// Runs crew to its end.
    pub fn crew(&self, args: &[&str]) -> Said {
        self.crew_at(&self.path("project"), args)
    }

    /// Runs crew to its end in another folder.
    pub fn crew_at(&self, folder: &Path, args: &[&str]) -> Said {
        let mut engine = self.start_at(folder, args);
        engine.end()
    }

    /// Runs crew; it must accept.
    pub fn must(&self, args: &[&str]) -> Said {
        let said = self.crew(args);
        assert_eq!(said.code, Some(0), "crew {args:?}: {said}");
        said
    }

    /// Runs crew with `--json`; it must accept. The document it prints.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let said = self.must(&[args, &["--json"]].concat());
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// `crew run --until-idle`, with what must hold whenever an engine has come to rest.
    pub fn drain(&self) -> Said {
        let said = self.crew(&["run", "--until-idle"]);
        self.assert_at_rest();
        said
    }

    /// Drains the queue; all must be done.
    pub fn drain_all(&self) -> Said {
        let said = self.drain();
        assert_eq!(said.code, Some(0), "{said}");
        said
    }

    /// Drains the queue; something must be left to a person.
    pub fn drain_held(&self) -> Said {
        let said = self.drain();
        assert_eq!(said.code, Some(3), "{said}");
        said
    }

    /// Runs an engine until a ticket is held, and stops it: with `--until-idle` it would wait for the next
    /// try, where the cause may pass without a person.
    pub fn run_until_held(&self, id: &str) -> Said {
        let mut engine = self.engine();
        self.wait("it is held", || {
            self.try_state(id).is_some_and(|ticket| ticket.held.is_some())
        });
        self.must(&["stop", "--wait"]);
        let said = engine.end();
        self.assert_at_rest();
        said
    }

    /// An engine in the background.
    pub fn engine(&self) -> Engine {
        self.start_at(&self.path("project"), &["run"])
    }

    /// Runs crew to its end, with something to read.
    pub fn crew_fed(&self, args: &[&str], text: &str) -> Said {
        let path = self.path("fed");
        fs::write(&path, text).unwrap();
        let mut engine =
            self.start_reading(&self.path("project"), args, fs::File::open(path).unwrap().into());
        engine.end()
    }

    /// Starts crew in a folder, in the background.
    pub fn start_at(&self, folder: &Path, args: &[&str]) -> Engine {
        self.start_reading(folder, args, Stdio::null())
    }

    fn start_reading(&self, folder: &Path, args: &[&str], stdin: Stdio) -> Engine {
        let n = self.written.get();
        self.written.set(n + 1);
        let (out, err) = (self.path(&format!("out.{n}")), self.path(&format!("err.{n}")));
        let anyway = (args.first() == Some(&"run") && self.is_anyway.get()).then_some("--anyway");
        let child = self
            .program(&crew())
            .envs(self.around.borrow().iter().map(|(name, value)| (name, value)))
            .current_dir(folder)
            .args(args)
            .args(anyway)
            .stdin(stdin)
            .stdout(fs::File::create(&out).unwrap())
            .stderr(fs::File::create(&err).unwrap())
            .spawn()
            .unwrap();
        Engine { child, out, err }
    }

    /// Sets a variable around every crew from now on.
    pub fn around(&self, name: &str, value: impl AsRef<OsStr>) {
        let mut around = self.around.borrow_mut();
        around.push((name.to_owned(), value.as_ref().to_owned()));
    }

    /// Has every program started by another from now on, as by one that takes another user's part; crew is
    /// there then.
    pub fn run_as(&self, by: &[&str], crew: &Path) {
        let by = by.iter().map(|word| (*word).to_owned()).collect();
        self.by.replace(Some((by, crew.to_owned())));
    }

    /// A program as the person starts it.
    pub fn program(&self, name: &str) -> Command {
        let by = self.by.borrow();
        let line: Vec<&OsStr> = match &*by {
            Some((by, at)) => {
                let name = if name == crew() {
                    at.as_os_str()
                } else {
                    OsStr::new(name)
                };
                by.iter().map(OsStr::new).chain([name]).collect()
            }
            None => vec![OsStr::new(name)],
        };
        #[expect(clippy::disallowed_methods, reason = "a test plays the user")]
        let mut command = Command::new(line[0]);
        command.args(&line[1..]);
        command
            .env_clear()
            .env("PATH", path_variable())
            .env("TZ", "UTC")
            .env("HOME", self.path("home"));
        command
    }

    /// Waits until something is so.
    pub fn wait(&self, what: &str, so: impl Fn() -> bool) {
        wait::until(what, || so().then_some(()));
    }

    /// Every process that belongs to this test's crew, with its command line.
    pub fn processes(&self) -> Vec<String> {
        let mark = self.folder.path().as_os_str().as_encoded_bytes();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let name = entry.file_name();
            if !name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            let read = |file: &str| fs::read(entry.path().join(file)).unwrap_or_default();
            let (line, env) = (read("cmdline"), read("environ"));
            let shows = |bytes: &[u8]| bytes.windows(mark.len()).any(|window| window == mark);
            // One that has ended and was not yet waited for has neither.
            if shows(&line) || shows(&env) {
                // A shim has the folder of its run in the environment.
                let mut variables = env.split(|byte| *byte == 0);
                let run = variables.find_map(|one| one.strip_prefix(b"CREW_SHIM_RUN="));
                found.push(format!(
                    "{}: {}{}",
                    name.display(),
                    String::from_utf8_lossy(&line).replace('\0', " "),
                    String::from_utf8_lossy(run.unwrap_or_default())
                ));
            }
        }
        found
    }

    /// Kills the engine, its shims and all they run, as a machine that loses its power does.
    pub fn kill_everything(&self) {
        let so = || {
            let found = self.processes();
            for process in &found {
                let pid = process.split(':').next().unwrap();
                // It may have ended in between.
                drop(
                    self.program("sh")
                        .args(["-c", "kill -KILL \"$1\" 2>/dev/null", "sh", pid])
                        .status(),
                );
            }
            found.is_empty()
        };
        self.wait("nothing is left alive", so);
    }

    /// A check's wait for a file in its HOME, not for ever.
    pub fn until_home(name: &str) -> String {
        format!(
            "n=0; until [ -e \"$HOME/{name}\" ]; do n=$((n+1)); [ $n -lt 6000 ] || exit 9; sleep 0.1; done"
        )
    }

    /// What holds whenever the engine has come to rest: no process of it is left, its state file is whole, no
    /// workspace is left of what is done, and git finds nothing wrong.
    pub fn assert_at_rest(&self) {
        let left = || self.processes();
        assert!(
            until(&mut || left().is_empty()),
            "left running: {:#?}\n{}",
            left(),
            self.story()
        );
        self.assert_state_file();
        self.git(&["fsck", "--connectivity-only", "--no-dangling"]);
    }

    /// state.json is JSON in the seed's shape.
    pub fn assert_state_file(&self) {
        let path = self.project(".crew/state.json");
        if !path.exists() {
            return;
        }
        let text = fs::read_to_string(path).unwrap();
        let state: serde_json::Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        for agent in state["agents"].as_array().unwrap() {
            let agent = agent.as_object().unwrap();
            for key in [
                "name",
                "session",
                "worktree",
                "branch",
                "task",
                "task_assigned_at",
                "status",
                "step_count",
                "last_step_at",
                "total_input_tokens",
                "total_output_tokens",
                "total_cost_usd",
            ] {
                assert!(agent.contains_key(key), "no {key} in {text}");
            }
        }
    }
}

impl Engine {
    /// Waits for its end.
    pub fn end(&mut self) -> Said {
        let status = within(|| self.child.try_wait().unwrap());
        let said = self.said();
        let status = status.unwrap_or_else(|| panic!("crew did not end; it said {said}"));
        Said {
            code: status.code(),
            signal: std::os::unix::process::ExitStatusExt::signal(&status),
            ..said
        }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has not ended.
    pub fn is_up(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// What it has said so far.
    pub fn said(&self) -> Said {
        let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        Said {
            code: None,
            signal: None,
            out: read(&self.out),
            err: read(&self.err),
        }
    }

    /// Sends it a signal, as a terminal does.
    pub fn signal(&self, signal: &str) {
        #[expect(clippy::disallowed_methods, reason = "a test plays the terminal")]
        let mut kill = Command::new("sh");
        let pid = self.child.id().to_string();
        let status = kill
            .args(["-c", "kill -s \"$1\" \"$2\"", "sh", signal, &pid])
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A test that fails half-way must not leave an engine behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Said {
    /// Everything it said.
    pub fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    /// Whether both are told, of the ticket and why.
    pub fn tells_of(&self, id: &str, why: &str) -> bool {
        let all = self.all();
        all.contains(id) && all.contains(why)
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "exit {:?}, signal {:?}\n----- out\n{}\n----- err\n{}\n-----\n",
            self.code, self.signal, self.out, self.err
        )
    }
}
