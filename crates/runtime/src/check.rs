//! The checks: each a run of a command in a clean checkout that no agent can write, under a shim.
//!
//! The core decides what runs when. This is what it takes to start a run once, to know that a tree has passed
//! a command before, and to read how a run has ended.

mod canary;
mod count;
mod tests_ran;

pub use canary::is_canary;
mod environment;
mod missing;
mod outcome;
mod paths;
mod slot;
mod toolchain;

use environment::CHECK_BASE;
pub use environment::CHECK_MARK;
pub(crate) use environment::CheckEnvironment;
pub use missing::{MissingProgram, missing_programs};
pub(crate) use missing::{missing_in, missing_of, missing_of_promise, missing_program};
pub(crate) use outcome::outcome;
use outcome::tail;
pub use paths::{idle_hold_paths, idle_paths, idle_review_paths};
pub use slot::forget_set_up;
pub use tests_ran::tests_on_target;
pub(crate) use toolchain::Toolchain;
pub use toolchain::{Tool, toolchain};

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use engine::{CheckEnd, Report};
use model::journal::EffectId;
use model::ticket::{self, CheckCommand, CheckOutcome, CheckPlan, CheckSlot, CheckTask, KEPT_SET_UP, Ticket};
use model::{Oid, RunId};
use process::{Exit, Run, Spec, Status};

use crate::executor::perform::{could_not, git_oid};
use crate::executor::{Executor, give_up, private_dir};
use crate::{Error, Place, Result};

/// The file in a run's folder that says that the check failed in a kept set-up.
const KEPT: &str = "kept-set-up";
/// The file in the folder of a run that was made although the same had passed before: the name of that pass.
const REMEMBERED: &str = "remembered";
/// The shell that runs the commands of the settings.
const SHELL: &str = "/bin/sh";

/// A run of the checks that is to be started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check<'a> {
    pub(crate) run: &'a RunId,
    pub(crate) task: CheckTask,
    pub(crate) slot: CheckSlot,
    pub(crate) commit: &'a Oid,
    /// The target that the commit is merged onto; none for a check of the bare target.
    pub(crate) base: Option<&'a Oid>,
    /// Whether a person has let the work pass with fewer tests.
    pub(crate) may_run_fewer_tests: bool,
    pub(crate) command: &'a ticket::Check,
    pub(crate) plan: &'a CheckPlan,
    pub(crate) set_up: u32,
    pub(crate) passed: u32,
    /// Whether it runs although the same has passed on the same tree before.
    pub(crate) anew: bool,
}

/// Whether a check has failed in a checkout whose set-up was made for another commit, by the folder of its
/// run.
#[must_use]
pub fn had_kept_set_up(run_dir: &Path) -> bool {
    run_dir.join(KEPT).exists()
}

impl Executor {
    /// Starts a run, unless it was started, or need not be. `order`: the effect that asks for it.
    pub(crate) fn start_check(&self, ticket: &Ticket, order: EffectId, check: &Check<'_>) -> Report {
        // Its record would wait for room, and nobody would know.
        if let Some(why) = self.refuses_work() {
            return Report::Hindered { why };
        }
        let mut last = self.last_check.lock().unwrap_or_else(PoisonError::into_inner);
        if last.get(&check.slot).is_some_and(|last| *last > order) {
            // Nobody waits for it any more: the checkout is another candidate's by now.
            return Report::Done;
        }
        last.insert(check.slot, order);
        match self.try_start_check(check) {
            Ok(report) => report,
            Err(error) if error.is_passing() => could_not(error),
            Err(_) if ticket.candidate().is_some_and(|it| self.is_gone(it)) => Report::TargetMoved,
            Err(error) => could_not(error),
        }
    }

    /// As [`Executor::start_check`], of the bare target.
    pub(crate) fn start_check_of_target(&self, check: &Check<'_>) -> Report {
        if let Some(why) = self.refuses_work() {
            return Report::Hindered { why };
        }
        let _last = self.last_check.lock().unwrap_or_else(PoisonError::into_inner);
        self.try_start_check(check).unwrap_or_else(could_not)
    }

    /// A digest of everything that a verdict of the checks depends on beside the tree and the commands.
    pub(crate) fn check_environment(&self) -> String {
        let checks = &self.settings.checks;
        let variables = self.check_env.lasting();
        let mut parts: Vec<Vec<u8>> = variables
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
            .collect();
        parts.push(format!("{:?}", checks.blind).into_bytes());
        // Without answers no check starts, and the reason is told there.
        parts.extend(self.toolchain.key());
        for list in [&checks.setup_inputs, &checks.keep] {
            parts.push(list.len().to_string().into_bytes());
            parts.extend(list.iter().map(|text| text.clone().into_bytes()));
        }
        digest(&parts)
    }

    fn try_start_check(&self, check: &Check<'_>) -> Result<Report> {
        let commit = git_oid(check.commit)?;
        let tree = self.repository.tree_of(&commit)?.0;
        self.toolchain.key()?;
        let base = self.base_of(check)?;
        let about = self.about(check, &tree, &base, check.passed as usize);
        // One command may need what those before it have made: all of them have passed, or all of them run.
        let last = check.plan.commands.len().saturating_sub(1);
        let last = self.about(check, &tree, &base, last);
        let is_of_commands = matches!(check.task, CheckTask::Candidate | CheckTask::Target);
        if is_of_commands && !check.anew && self.place.passed_check(&last).exists() {
            return Ok(Report::PassedBefore);
        }
        let dir = self.place.run_dir(check.run);
        let owned = self.owner.run_id(check.run.as_str());
        if let Ok(run) = Run::open(&dir)
            && crate::executor::is_for(&run, &owned, Some(&about))?
        {
            // An engine before this one made it.
            self.note_current(check.slot, &dir)?;
            self.note_counted(check, &tree, &dir);
            return Ok(self.begin_check(&run));
        }
        self.clear_current(check.slot)?;
        let Some(checkout) = self.checkout_for(check, &commit, &tree)? else {
            return Ok(Report::NotSetUp);
        };
        failpoint::hit("check.ready");
        let id = format!("{owned}-{about}");
        let run = self.make_in(checkout.path(), check, &dir, id, &base)?;
        if check.anew && is_of_commands {
            write(&dir.join(REMEMBERED), last.as_bytes())?;
        }
        self.note_counted(check, &tree, &dir);
        Ok(self.begin_check(&run))
    }

    /// The commit of the target with which the commit of a run is compared: the one that it, or the first
    /// entry ahead of it in the train, is merged onto. A commit of the target is compared with itself.
    fn base_of(&self, check: &Check<'_>) -> Result<git::Oid> {
        let merged_onto = match check.task {
            CheckTask::Candidate | CheckTask::Commitment => check.base.unwrap_or(check.commit),
            CheckTask::Target | CheckTask::SetUp => check.commit,
        };
        let merged_onto = git_oid(merged_onto)?;
        // The checks of what was merged go on while the branch is away.
        let Ok(target) = self.repository.target(&self.target) else {
            return Ok(merged_onto);
        };
        let base = self.repository.begins_at(&merged_onto, &target)?;
        Ok(base.unwrap_or(merged_onto))
    }

    /// Makes a run in a checkout.
    fn make_in(
        &self,
        checkout: &Path,
        check: &Check<'_>,
        dir: &Path,
        id: String,
        base: &git::Oid,
    ) -> Result<Run> {
        let mut spec = match &check.command.command {
            // The one shell: the command is the user's own setting, whole.
            CheckCommand::Shell(line) => {
                let mut spec = Spec::new(id, SHELL, checkout);
                spec.args = vec![OsString::from("-c"), OsString::from(line)];
                spec
            }
            CheckCommand::Argv(argv) => {
                let mut words = argv.iter();
                let program = words.next().map(String::as_str).unwrap_or_default();
                let mut spec = Spec::new(id, program, checkout);
                spec.args = words.map(OsString::from).collect();
                spec
            }
        };
        spec.env = self.check_env.variables.clone();
        spec.env.insert(CHECK_MARK.into(), "1".into());
        // What the set-up makes stays for work on another base.
        if check.task != CheckTask::SetUp {
            spec.env.insert(CHECK_BASE.into(), base.as_str().into());
        }
        spec.timeout_ms = Some(check.command.timeout_ms);
        private_dir(&self.place.check_runs_dir())?;
        let run = Run::create(dir, &spec, None)?;
        failpoint::hit("check.made");
        self.note_current(check.slot, dir)?;
        Ok(run)
    }

    /// Starts a run that was made. A run that cannot be started never will be; one that only the machine
    /// hinders is made anew, in a checkout that is clean by then.
    fn begin_check(&self, run: &Run) -> Report {
        let Err(error) = run.start(&self.shim) else {
            crate::log::check_started(run);
            return Report::CheckSpawned;
        };
        if error.is_passing() {
            if let Ok(Status::NotStarted) = run.status() {
                drop(std::fs::remove_dir_all(run.dir()));
            }
            return could_not(error);
        }
        match give_up(run) {
            Ok(()) => Report::CheckNotSpawned {
                why: text::with_causes(&error),
            },
            Err(error) => could_not(error),
        }
    }

    /// Ends a run of checks with everything that it has started. Blocks for as long as that takes.
    pub(crate) fn stop_check(&self, run: &RunId) -> Report {
        let ended = match Run::open(self.place.run_dir(run)) {
            Ok(run) => crate::end_run(&run),
            Err(process::Error::NoRun { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        };
        match ended {
            Ok(()) => Report::Stopped,
            Err(error) => could_not(error),
        }
    }

    /// Reads how a run of checks has ended, and notes that its command has passed. `task`: what the ticket
    /// that waits for it had it do.
    pub(crate) fn check_end(
        &self,
        run: &Run,
        id: &RunId,
        task: Option<CheckTask>,
        exit: &Exit,
    ) -> process::Result<CheckEnd> {
        failpoint::hit("check.ended");
        let spec = run.spec()?;
        let command = command_of(&spec);
        let limit = spec.timeout_ms.map(Duration::from_millis);
        let left_out = self.check_env.left_out();
        // The agent has nothing to do with the surroundings of its check.
        let hint = left_out.filter(|_| !matches!(task, Some(CheckTask::Candidate | CheckTask::Commitment)));
        let missing = missing_of(&command, &self.check_env.variables);
        let mut outcome = outcome(
            &command.to_string(),
            exit,
            run.dir(),
            limit,
            (missing.as_deref(), hint),
        );
        let is_of_commands = matches!(task, Some(CheckTask::Candidate | CheckTask::Target));
        let mut tests = None;
        if is_of_commands && outcome == CheckOutcome::Passed {
            (outcome, tests) = self.passed_with_tests(run);
        }
        if let CheckOutcome::Failed { output } = &mut outcome
            && is_of_commands
            && self.is_set_up_kept(&spec.cwd)
        {
            output.push('\n');
            output.push_str(KEPT_SET_UP);
            if let Err(error) = write(&run.dir().join(KEPT), []) {
                tracing::warn!("{}", text::with_causes(&error));
            }
        }
        if let (CheckOutcome::Failed { .. }, Ok(last)) =
            (&outcome, std::fs::read_to_string(run.dir().join(REMEMBERED)))
        {
            // What passed once does not pass now: nothing is proven by it any more.
            drop(std::fs::remove_file(self.place.passed_check(&last)));
        }
        let about = spec.run_id.rsplit('-').next().unwrap_or_default();
        if is_of_commands
            && outcome == CheckOutcome::Passed
            && let Err(error) = self.note_passed(about, id)
        {
            // It only means that the same tree may be checked once more.
            tracing::warn!("{}", text::with_causes(&error));
        }
        let printed = if outcome == CheckOutcome::Passed {
            tail(run.dir())
        } else {
            String::new()
        };
        Ok(CheckEnd {
            run: id.clone(),
            outcome,
            printed,
            tests,
        })
    }

    fn note_passed(&self, about: &str, id: &RunId) -> Result<()> {
        private_dir(&self.place.passed_checks_dir())?;
        write(&self.place.passed_check(about), id.as_str())
    }

    /// Names the verdict of the n-th command by everything that it depends on. The base counts only for
    /// commands that name it: each landing changes it.
    fn about(&self, check: &Check<'_>, tree: &git::Oid, base: &git::Oid, command: usize) -> String {
        let mut parts = vec![tree.to_string().into_bytes(), command.to_string().into_bytes()];
        if check.plan.commands.iter().chain([check.command]).any(names_base) {
            parts.push(format!("{CHECK_BASE}={base}").into_bytes());
        }
        if check.task == CheckTask::Commitment {
            parts.push(b"commitment".to_vec());
            parts.push(facts(check.command).into_bytes());
        }
        let settings = &self.settings.checks;
        for list in [&check.plan.commands, &check.plan.setup] {
            parts.push(list.len().to_string().into_bytes());
            parts.extend(list.iter().map(|check| facts(check).into_bytes()));
        }
        for list in [&settings.setup_inputs, &settings.keep] {
            parts.push(list.len().to_string().into_bytes());
            parts.extend(list.iter().map(|text| text.clone().into_bytes()));
        }
        for (name, value) in &self.check_env.variables {
            parts.push([name.as_bytes(), b"=", value.as_bytes()].concat());
        }
        parts.extend(self.toolchain.key());
        digest(&parts)
    }

    /// Notes which run uses the checkout, so that a later check does not change it underneath. By its name
    /// alone: a path would lead from a copy of the repository to the runs of the original.
    fn note_current(&self, slot: CheckSlot, run_dir: &Path) -> Result<()> {
        let name = run_dir.file_name().unwrap_or_default();
        write(&self.current(slot), name.as_bytes())
    }

    fn current(&self, slot: CheckSlot) -> PathBuf {
        self.place.checks_dir.join(format!("current.{}", slot.0))
    }

    /// Ends the run that had the checkout last, be it running or not yet, and whatever a dead shim left of
    /// it.
    fn clear_current(&self, slot: CheckSlot) -> Result<()> {
        let path = self.current(slot);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(source) => {
                return Err(Error::Io {
                    doing: "read",
                    path,
                    source,
                });
            }
        };
        let Some(name) = Path::new(OsStr::from_bytes(&text)).file_name() else {
            return Ok(());
        };
        match Run::open(self.place.check_runs_dir().join(name)) {
            Err(process::Error::NoRun { .. }) => Ok(()),
            run => crate::end_run(&run?),
        }
    }
}

/// Forgets which checks have passed on which trees: each runs the next time. Gives how many verdicts there
/// were.
///
/// # Errors
/// The notes cannot be removed.
pub fn forget_verdicts(place: &Place) -> Result<usize> {
    let path = place.passed_checks_dir();
    let noted = std::fs::read_dir(&path).map_or(0, |entries| entries.flatten().count());
    match std::fs::remove_dir_all(&path) {
        Ok(()) => Ok(noted),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(source) => Err(Error::Io {
            doing: "remove",
            path,
            source,
        }),
    }
}

/// Whether a check names the variable with its base. What a script reads that it calls, nobody can see.
fn names_base(check: &ticket::Check) -> bool {
    match &check.command {
        CheckCommand::Shell(line) => line.contains(CHECK_BASE),
        CheckCommand::Argv(argv) => argv.iter().any(|word| word.contains(CHECK_BASE)),
    }
}

/// Everything about a check on which its verdict depends, as text.
fn facts(check: &ticket::Check) -> String {
    format!("{:?} {} {:?}", check.command, check.timeout_ms, check.tests)
}

/// The command of a run of the checks.
#[must_use]
pub fn command_of(spec: &Spec) -> CheckCommand {
    let words = spec.args.iter().map(|word| word.to_string_lossy().into_owned());
    let mut words: Vec<String> = words.collect();
    match words.pop() {
        Some(line) if spec.program == Path::new(SHELL) && words == ["-c"] => CheckCommand::Shell(line),
        last => {
            let program = spec.program.to_string_lossy().into_owned();
            CheckCommand::Argv(std::iter::once(program).chain(words).chain(last).collect())
        }
    }
}

/// A name for a list of texts.
fn digest(parts: &[Vec<u8>]) -> String {
    uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, &parts.join(&0))
        .simple()
        .to_string()
}

/// Writes one of the small files beside the checks.
fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    std::fs::write(path, bytes).map_err(|source| Error::Io {
        doing: "write",
        path: path.to_owned(),
        source,
    })
}
