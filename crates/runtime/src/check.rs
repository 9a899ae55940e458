//! The checks: run on the merged result, in a clean checkout that no agent can write, each under a shim.
//!
//! A run is found again by what it is about (tree, command, environment) and by the effect that asked for it;
//! so an engine that takes over goes on with a check that runs, and a tree that passed is not checked again.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::{Report, Verdict};
use git::CheckCheckout;
use model::policy::stall::{self, ShimWatch};
use model::ticket::Candidate;
use process::{Exit, Reason, Run, Spec, Status, Stream, Tail};

use crate::executor::perform::git_oid;
use crate::executor::{Executor, give_up, private_dir};
use crate::{Error, clock};

/// How much of a failed check's output its agent gets to see.
const OUTPUT: usize = 8 * 1024;
/// How often a check is started that somebody else ends.
const TRIES: u32 = 3;
/// How often a check that runs is looked at, whether anybody still waits for it.
const LOOK: Duration = Duration::from_millis(100);
/// The beat of its shim is read at every such look: each five seconds.
const LOOKS_A_PULSE: u32 = 50;
/// How long a check that is called off may take to end before its shim is taken for frozen.
const GIVE_UP: Duration = Duration::from_secs(15);
/// The exit codes of a shell for a command that it cannot find or execute.
const NOT_A_COMMAND: [i32; 2] = [126, 127];
/// Signals that a program brings on itself, as an `assert` or a bad address does: ILL, TRAP, ABRT, BUS, FPE,
/// SEGV, SYS. Of any other, somebody else ended it.
const OWN_FAULT: [i32; 7] = [4, 5, 6, 7, 8, 11, 31];

/// One order to check a candidate: it can be called off at any time, whatever its check is doing.
#[derive(Clone, Debug)]
pub(crate) struct CheckOrder {
    /// The effect that ordered it, which names its runs.
    key: String,
    called_off: Arc<AtomicBool>,
}

impl CheckOrder {
    /// An order of the effect called `key`.
    pub(crate) fn new(key: String) -> Self {
        Self {
            key,
            called_off: Arc::default(),
        }
    }

    /// Ends the check that runs for this order, and lets none begin for it.
    pub(crate) fn call_off(&self) {
        self.called_off.store(true, Ordering::SeqCst);
    }

    fn is_called_off(&self) -> bool {
        self.called_off.load(Ordering::SeqCst)
    }

    /// Nothing more is begun for an order that is called off.
    fn go_on(&self) -> Result<(), Trouble> {
        if self.is_called_off() {
            return Err(Trouble::lasting("nobody waits for this check any more"));
        }
        Ok(())
    }

    /// The name of its n-th run of a command.
    fn run(&self, n: u32) -> String {
        match n {
            1 => self.key.clone(),
            n => format!("{}-{n}", self.key),
        }
    }

    /// Whether a run was begun for this order: a check, or what set up the checkout for it.
    fn owns(&self, run_dir: &Path) -> bool {
        let name = run_dir
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let name = name.strip_prefix(SET_UP).unwrap_or(name);
        let rest = name.strip_prefix(self.key.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }
}

/// The names of runs that set up the checkout begin with this.
const SET_UP: &str = "set-up-";

/// The result of one command on one tree.
enum Said {
    Passed,
    Failed(String),
}

/// Why a check has no verdict.
struct Trouble {
    why: String,
    /// Whether it is the machine's moment: the check is run as soon as it can be, and nothing is held
    /// meanwhile.
    passing: bool,
}

impl<E: Into<Error>> From<E> for Trouble {
    fn from(error: E) -> Self {
        let error = error.into();
        Self {
            why: text::with_causes(&error),
            passing: error.is_passing(),
        }
    }
}

impl Trouble {
    fn lasting(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            passing: false,
        }
    }
}

/// Writes one of the small files beside the checks.
fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    std::fs::write(path, bytes).map_err(|source| Error::Io {
        doing: "write",
        path: path.to_owned(),
        source,
    })
}

impl Executor {
    /// The verdict on a candidate; blocks for as long as the checks take, or until the order is called off.
    pub(crate) fn check(&self, candidate: &Candidate, order: &CheckOrder) -> Report {
        let commands = &self.settings.checks.commands;
        if commands.is_empty() {
            return Report::Checked(Verdict::Passed { commands: Vec::new() });
        }
        // Its record would wait for room, and nobody would know.
        if let Some(why) = self.refuses_work() {
            return Report::Hindered { why };
        }
        // One checkout for all of them: whoever waits here is next.
        let _turn = self
            .checking
            .turn
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let judged = self.judge(candidate, order);
        if order.is_called_off() {
            return self.end_check_of(order);
        }
        match judged {
            Ok(verdict) => Report::Checked(verdict),
            Err(Trouble { why, passing: true }) => Report::Hindered { why },
            Err(Trouble { passing: false, .. }) if self.is_gone(candidate) => Report::TargetMoved,
            Err(Trouble { why, passing: false }) => Report::Checked(Verdict::CouldNotRun { why }),
        }
    }

    /// Ends every process of a check that nobody waits for any more: one that was called off, or one that an
    /// engine before this one began.
    pub(crate) fn end_check_of(&self, order: &CheckOrder) -> Report {
        let ended = match self.current_run() {
            Ok(Some(run)) if order.owns(run.dir()) => crate::end_run(&run).map_err(Trouble::from),
            Ok(_) => Ok(()),
            Err(trouble) => Err(trouble),
        };
        match ended {
            Ok(()) => Report::Done,
            Err(Trouble { why, passing: true }) => Report::Hindered { why },
            Err(Trouble { why, passing: false }) => Report::CouldNotRun { why },
        }
    }

    fn judge(&self, candidate: &Candidate, order: &CheckOrder) -> Result<Verdict, Trouble> {
        let commands = &self.settings.checks.commands;
        for command in commands {
            if let Said::Failed(output) = self.say(command, &candidate.commit, &candidate.tree, order)? {
                // Only the target's own run proves whose fault it is.
                let target = git_oid(&candidate.target)?;
                let tree = self.repository.tree_of(&target)?.0;
                let tree = crate::executor::perform::model_oid(&tree).map_err(Trouble::lasting)?;
                let which = command.clone();
                return Ok(match self.say(command, &candidate.target, &tree, order)? {
                    Said::Passed => Verdict::Failed { which, output },
                    Said::Failed(_) => Verdict::TargetRed { which },
                });
            }
        }
        Ok(Verdict::Passed {
            commands: commands.clone(),
        })
    }

    fn say(
        &self,
        command: &str,
        commit: &model::Oid,
        tree: &model::Oid,
        order: &CheckOrder,
    ) -> Result<Said, Trouble> {
        let about = self.about(command, tree);
        let dir = self.place.check_runs_dir().join(&about);
        private_dir(&dir)?;
        let passed = dir.join(crate::outputs::PASSED);
        if passed.exists() {
            return Ok(Said::Passed);
        }
        let (run_dir, exit) = self.run(command, commit, &about, &dir, order)?;
        failpoint::hit("check.ended");
        let said = verdict(command, &exit, &run_dir).map_err(Trouble::lasting)?;
        if let Said::Passed = said {
            write(&passed, &order.key)?;
        }
        Ok(said)
    }

    /// Ends the check that runs, since the engine ends what runs. It has no verdict then, and the next engine
    /// runs it again.
    pub(crate) fn end_check(&self) -> Result<(), String> {
        self.checking.closed.store(true, Ordering::SeqCst);
        self.clear_current().map_err(|trouble| trouble.why)
    }

    /// Runs a check to its end. One that was killed, alone or with its shim or its engine, has said nothing:
    /// it is run again, at once.
    fn run(
        &self,
        command: &str,
        commit: &model::Oid,
        about: &str,
        dir: &Path,
        order: &CheckOrder,
    ) -> Result<(PathBuf, Exit), Trouble> {
        let mut n = 1;
        loop {
            if self.checking.closed.load(Ordering::SeqCst) {
                return Err(Trouble::lasting("the engine has ended"));
            }
            order.go_on()?;
            let name = order.run(n);
            let run_dir = dir.join(&name);
            // The checkout is held for as long as the check runs in it.
            let (run, _checkout) = match Run::open(&run_dir) {
                // An engine before this one asked; its run goes on, or has ended.
                Ok(run) => (run, None),
                Err(_) => {
                    let checkout = self.checkout(commit, &name, order)?;
                    let spec = self.spec_of(command, about, &name, &checkout);
                    failpoint::hit("check.ready");
                    let run = Run::create(&run_dir, &spec, None)?;
                    failpoint::hit("check.made");
                    self.note_current(&run_dir)?;
                    (run, Some(checkout))
                }
            };
            let ended = self.finish(&run, order);
            if matches!(&ended, Err(trouble) if trouble.passing) && run.status()? == Status::NotStarted {
                // It is begun anew, in a checkout that is clean by then.
                drop(std::fs::remove_dir_all(&run_dir));
                return ended.map(|exit| (run_dir, exit));
            }
            order.go_on()?;
            let said_nothing = match &ended {
                Ok(exit) => {
                    matches!(exit.reason, Reason::Lost | Reason::Stopped) || killed_by(exit).is_some()
                }
                Err(_) => give_up(&run).is_ok(),
            };
            if !said_nothing || n == TRIES {
                return ended.map(|exit| (run_dir, exit));
            }
            n += 1;
        }
    }

    /// Names a verdict by what it depends on.
    fn about(&self, command: &str, tree: &model::Oid) -> String {
        let mut text = format!("{tree}\0{command}\0{}\0", self.settings.checks.setup.join("\0")).into_bytes();
        for (name, value) in &self.check_env {
            text.extend(name.as_bytes());
            text.push(b'=');
            text.extend(value.as_bytes());
            text.push(0);
        }
        uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, &text)
            .simple()
            .to_string()
    }

    fn spec_of(&self, command: &str, about: &str, key: &str, checkout: &CheckCheckout) -> Spec {
        // The one shell: the command is the user's own setting, whole.
        let mut spec = Spec::new(
            self.owner.run_id(&format!("check-{about}-{key}")),
            "/bin/sh",
            checkout.path(),
        );
        spec.args = vec![OsString::from("-c"), OsString::from(command)];
        spec.env = self.check_env.clone();
        spec.timeout_ms = u64::try_from(self.settings.checks.timeout.as_millis()).ok();
        spec
    }

    /// A clean checkout of the commit, set up, with nothing of an earlier check running in it; for the check
    /// called `name`.
    fn checkout(
        &self,
        commit: &model::Oid,
        name: &str,
        order: &CheckOrder,
    ) -> Result<CheckCheckout, Trouble> {
        self.clear_current()?;
        let commit = git_oid(commit)?;
        let folder = self.place.checks_dir.join("checkout");
        let checkout = self.repository.check_checkout(&folder, &commit)?;
        let done = folder.join("set-up");
        let wanted = self.settings.checks.setup.join("\n");
        let is_set_up = std::fs::read_to_string(&done).is_ok_and(|text| text == wanted);
        if wanted.is_empty() || (is_set_up && !checkout.is_fresh()) {
            return Ok(checkout);
        }
        drop(std::fs::remove_file(&done));
        for (n, command) in self.settings.checks.setup.iter().enumerate() {
            // A set-up that was cut short is done again, from its first command: by a run of another name.
            let runs = self.place.check_runs_dir();
            let key = (1..)
                .map(|again| format!("{SET_UP}{name}-{n}-{again}"))
                .find(|key| runs.join(key).symlink_metadata().is_err())
                .unwrap_or_default();
            let run_dir = runs.join(&key);
            let spec = self.spec_of(command, "set-up", &key, &checkout);
            let run = Run::create(&run_dir, &spec, None)?;
            self.note_current(&run_dir)?;
            run.start(&self.shim)?;
            let exit = self.finish(&run, order)?;
            if !exit.is_success() {
                return Err(Trouble::lasting(format!(
                    "the set-up command `{command}` failed:\n{}",
                    tail(&run_dir)
                )));
            }
        }
        write(&done, wanted)?;
        Ok(checkout)
    }

    /// Which run uses the checkout, so that a later engine does not change it underneath.
    fn note_current(&self, run_dir: &Path) -> Result<(), Trouble> {
        Ok(write(&self.current(), run_dir.as_os_str().as_bytes())?)
    }

    fn current(&self) -> PathBuf {
        self.place.checks_dir.join("current")
    }

    /// Ends whatever an earlier engine left in the checkout and nobody waits for, running or not yet, and
    /// what a dead shim left of it.
    fn clear_current(&self) -> Result<(), Trouble> {
        match self.current_run()? {
            Some(run) => Ok(crate::end_run(&run)?),
            None => Ok(()),
        }
    }

    /// The run that has the checkout, or had it last.
    fn current_run(&self) -> Result<Option<Run>, Trouble> {
        let path = self.current();
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                return Err(Trouble::from(Error::Io {
                    doing: "read",
                    path,
                    source,
                }));
            }
        };
        match Run::open(PathBuf::from(std::ffi::OsStr::from_bytes(&text))) {
            Err(process::Error::NoRun { .. }) => Ok(None),
            run => Ok(Some(run?)),
        }
    }

    /// Waits for a run's end and leaves nothing of it behind. A run that was never started is started. One
    /// whose order is called off is ended: with its grace, then with force, then every straggler. One whose
    /// shim is frozen is ended as a step is, and has said nothing.
    fn finish(&self, run: &Run, order: &CheckOrder) -> Result<Exit, Trouble> {
        let watch = run.start(&self.shim)?;
        crate::log::check_started(run);
        let (mut shim, stall_after) = (ShimWatch::default(), self.settings.run.stall_after);
        let mut looks = 0_u32;
        while watch.wait(LOOK)?.is_none() {
            if order.is_called_off() {
                run.stop()?;
                if watch.wait(GIVE_UP)?.is_none() {
                    crate::end_run(run)?;
                }
                break;
            }
            looks = looks.wrapping_add(1);
            if !looks.is_multiple_of(LOOKS_A_PULSE) {
                continue;
            }
            let Some(pulse) = run.pulse()? else { continue };
            match shim.look(clock::now(), pulse.count, stall_after) {
                stall::Verdict::Frozen { silent } => tracing::warn!(
                    "the check waits: process {0}, which holds it, has not run for {1}: is it suspended?\n  `kill -CONT {0}` \
                     lets it go on; otherwise crew runs the check anew after as long again",
                    pulse.shim,
                    model::view::span(silent)
                ),
                stall::Verdict::Stalled => {
                    crate::end_run(run)?;
                    break;
                }
                stall::Verdict::Alive | stall::Verdict::Stuck { .. } | stall::Verdict::TimedOut => {}
            }
        }
        let exit = run.sweep()?.exit;
        crate::log::check_ended(run, &exit);
        Ok(exit)
    }
}

/// The signal by which somebody else ended it, as the system does when memory runs out.
fn killed_by(exit: &Exit) -> Option<i32> {
    let signal = exit.signal.filter(|signal| !OWN_FAULT.contains(signal));
    signal.filter(|_| exit.reason == Reason::Exited)
}

/// The verdict of a command's end on the tree; an error where the end means nothing.
fn verdict(command: &str, exit: &Exit, run_dir: &Path) -> Result<Said, String> {
    match (&exit.reason, exit.code) {
        (Reason::Exited, Some(0)) => Ok(Said::Passed),
        (Reason::Exited, Some(code)) if NOT_A_COMMAND.contains(&code) => Err(format!(
            "`{command}` cannot be run (exit code {code}):\n{}",
            tail(run_dir)
        )),
        (Reason::Exited, Some(code)) => Ok(Said::Failed(format!("{}\n(exit code {code})", tail(run_dir)))),
        (Reason::TimedOut, _) => Ok(Said::Failed(format!(
            "{}\n(it took longer than checks.timeout)",
            tail(run_dir)
        ))),
        (Reason::Exited, None) => {
            if let Some(signal) = killed_by(exit) {
                return Err(format!(
                    "`{command}` was ended by signal {signal}, {TRIES} times: did it run out of memory?"
                ));
            }
            let signal = exit.signal.unwrap_or_default();
            Ok(Said::Failed(format!(
                "{}\n(ended by signal {signal})",
                tail(run_dir)
            )))
        }
        (Reason::Stopped, _) => Err(format!("`{command}` was stopped")),
        (Reason::Lost, _) => Err(format!("`{command}` vanished: its shim was killed")),
        (Reason::SpawnFailed { error, .. }, _) => Err(format!("`{command}` could not be started: {error}")),
    }
}

/// The end of what a run printed, fit to be shown.
fn tail(run_dir: &Path) -> String {
    let Ok(run) = Run::open(run_dir) else {
        return String::new();
    };
    let mut text = String::new();
    for stream in [Stream::Out, Stream::Err] {
        let path = run_dir.join(stream.file());
        let length = std::fs::metadata(path).map_or(0, |m| m.len());
        let from = length.saturating_sub(OUTPUT as u64);
        let said = Tail::new(&run, stream, from)
            .read_ended_text(OUTPUT)
            .unwrap_or_default();
        if !text.is_empty() && !said.is_empty() {
            text.push('\n');
        }
        text.push_str(said.trim_end());
    }
    text::sanitise::text(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_knows_its_own_runs_from_those_of_any_other() {
        let order = CheckOrder::new("12-0".to_owned());
        let owns = |name: &str| order.owns(&Path::new("/checks").join(name));
        for own in ["12-0", "12-0-2", "set-up-12-0-0-1", "set-up-12-0-2-0-1"] {
            assert!(owns(own), "{own}");
        }
        for other in ["12-01", "12-1", "2-0", "112-0", "set-up-12-1-0-1"] {
            assert!(!owns(other), "{other}");
        }
    }
}
