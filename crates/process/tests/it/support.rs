//! A directory for runs, the shim of the examples, and waiting for facts.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use process::{Exit, Run, Shim, Spec, Status, Stream, Tail};
use rustix::process::Signal;
use tempfile::TempDir;

/// Longer than anything here takes on the slowest machine: passing it is a failure.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A directory for runs. What a test leaves running is swept at its end, however that comes.
pub(crate) struct World {
    pub(crate) root: TempDir,
    runs: std::cell::RefCell<Vec<Run>>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            root: tempfile::tempdir().unwrap(),
            runs: Default::default(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// An id no other test and no other run of the tests uses.
    pub(crate) fn spec(&self, program: &str, args: &[&str]) -> Spec {
        let count = self.runs.borrow().len();
        let unique = self
            .root
            .path()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .trim_start_matches('.')
            .to_owned();
        let mut spec = Spec::new(format!("{unique}-{count}"), program, self.root.path());
        spec.args = args.iter().map(OsString::from).collect();
        spec.env.insert("PATH".into(), std::env::var_os("PATH").unwrap());
        spec.grace_ms = 300;
        spec.beat_ms = 50;
        spec
    }

    pub(crate) fn sh(&self, script: &str) -> Spec {
        self.spec("sh", &["-c", script])
    }

    pub(crate) fn create(&self, spec: &Spec) -> Run {
        self.create_with(spec, None)
    }

    pub(crate) fn create_with(&self, spec: &Spec, stdin: Option<&[u8]>) -> Run {
        let run = Run::create(self.path(&format!("runs/{}", spec.run_id)), spec, stdin).unwrap();
        self.runs.borrow_mut().push(run.clone());
        run
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, spec: &Spec) -> (Run, Exit) {
        let run = self.create(spec);
        let watch = run.start(&shim()).unwrap();
        let status = watch.wait(LONG).unwrap().expect("the run ends");
        (run, exit(status))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for run in self.runs.borrow().iter() {
            let _ = run.end();
        }
    }
}

pub(crate) fn exit(status: Status) -> Exit {
    match status {
        Status::Ended(exit) => exit,
        other => panic!("it has not ended: {other:?}"),
    }
}

/// `examples/shim.rs`, which cargo builds with the tests.
pub(crate) fn shim() -> Shim {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/shim");
    assert!(program.exists(), "build it: cargo build -p process --examples");
    Shim {
        program,
        args: Vec::new(),
    }
}

pub(crate) fn text(run: &Run, stream: Stream) -> String {
    Tail::new(run, stream, 0).read_ended_text(1 << 20).unwrap()
}

/// Waits for a fact; fails when it does not come.
pub(crate) fn until<T>(what: &str, mut fact: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LONG;
    loop {
        if let Some(fact) = fact() {
            return fact;
        }
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The process id that a script wrote into a file.
pub(crate) fn pid_in(path: &std::path::Path) -> u32 {
    until("a process id is written", || {
        fs::read_to_string(path)
            .ok()
            .filter(|text| text.ends_with('\n'))?
            .trim()
            .parse()
            .ok()
    })
}

/// Alive, and not a zombie.
pub(crate) fn lives(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap()
            .trim_start()
            .starts_with(['Z', 'X'])
    })
}

pub(crate) fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// The process id of the shim of a run that runs.
pub(crate) fn shim_of(run: &Run) -> u32 {
    match run.status().unwrap() {
        Status::Running {
            started: Some(started),
        } => started.shim.pid,
        other => panic!("{other:?}"),
    }
}

/// A shim started by hand for a run, as an engine that did not look before would.
pub(crate) fn bare_shim(run: &Run) -> std::process::Command {
    let mut command = std::process::Command::new(shim().program);
    command
        .env(process::RUN_DIR, run.dir())
        .stdout(std::process::Stdio::null());
    command
}
