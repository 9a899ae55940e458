//! The executor, which performs the effects.

mod apart;
mod candidate;
mod children;
mod description;
mod keep;
mod landing;
mod parts;
pub(crate) mod perform;
mod pins;
mod prepare;
mod propose;
mod remote;
mod review;
mod reviews;
mod save;
mod sensitive;
mod step;
mod turns;

pub use propose::pull_request_client;
pub(crate) use step::is_for;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use git::{Branch, Lock, Repository};
use harness::{Harness, Reader};
use model::attempt::HarnessId;
use model::journal::EffectId;
use model::settings::{ReviewWhen, Settings};
use model::ticket::CheckSlot;
use process::{Run, Shim};

use crate::blocking::Threads;
use crate::check::{CheckEnvironment, Toolchain};
use crate::log::{Log, Writer};
use crate::prompt::Prompts;
use crate::start::{Options, chosen_client, client_of};
use crate::{Error, Place, Result};

/// Pooled checkouts of workspaces that were removed, for the next workspaces. More would only take disk
/// space: two agents at work have at most so many workspaces between them.
const POOLED_CHECKOUTS: usize = 4;

/// The last order to start a check, by its checkout.
type LastChecks = Arc<Mutex<BTreeMap<CheckSlot, EffectId>>>;

/// The effects to be performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Every effect that the core orders.
    All,
    /// A command, which starts no step.
    Command,
}

/// Everything an effect needs. Shared by all that are performed at once; each call blocks.
#[derive(Debug)]
pub(crate) struct Executor {
    /// Whose the processes are. On one machine, many repositories may have tickets of the same names.
    pub(crate) owner: Owner,
    pub(crate) place: Place,
    /// The repository, worked on as the holder of its lock.
    pub(crate) repository: Repository,
    pub(crate) settings: Settings,
    /// The branch that the main checkout showed when the engine started: its `crew.toml` is in force.
    pub(crate) settings_branch: Option<Branch>,
    pub(crate) target: Branch,
    /// The purpose of this executor.
    pub(crate) work: Work,
    /// The clients of the settings by name, with the reason why one cannot be used. Empty while only a
    /// command is carried out, which starts no step.
    pub(crate) harnesses: BTreeMap<String, Result<Box<dyn Harness>>>,
    pub(crate) shim: Shim,
    /// The program with which agents call crew's tools; none where its path is not known.
    pub(crate) program: Option<PathBuf>,
    pub(crate) workspaces: PathBuf,
    pub(crate) prompts: Prompts,
    /// The caller's environment.
    pub(crate) callers_env: harness::environment::Environment,
    /// The part of it that checks get.
    pub(crate) check_env: CheckEnvironment,
    /// What verdicts of checks depend on beside it.
    pub(crate) toolchain: Toolchain,
    /// The order to start a check that was carried out last in each checkout. Held while one is.
    pub(crate) last_check: LastChecks,
    /// Held while the local target moves: following the remote and landing may come at once.
    pub(crate) moving: Arc<Mutex<()>>,
    /// Held while a child's turn in its parent's workspace begins or ends.
    pub(crate) turns: Arc<Mutex<()>>,
    /// Whether the target branch was not there when it was needed last.
    pub(crate) is_target_away: Arc<AtomicBool>,
    /// Whether nothing could land on the target when its remote was asked last.
    pub(crate) is_out_of_reach: Arc<AtomicBool>,
    /// The tree, and all else it depends on, whose canaries are known to have been run.
    pub(crate) known_canaries: Arc<Mutex<Option<String>>>,
    /// What they are performed on.
    pub(crate) threads: Arc<Threads>,
    /// The parts of workspaces that may not be deleted, and of which a person was warned.
    pub(crate) told_undeletable: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// Held for the engine's life, and by every git child.
    lock: Lock,
}

impl Executor {
    /// Takes the repository and looks at everything that could keep the engine from working.
    ///
    /// # Errors
    /// [`Error::Held`]; a target branch that is missing; a harness that cannot be started.
    pub(crate) fn new(place: &Place, settings: &Settings, options: &Options, work: Work) -> Result<Self> {
        let target = Branch::parse(&settings.project.target)?;
        place.repository.target(&target)?;
        crate::preflight::temporary_folder()?;
        if work == Work::All {
            place.repository.expect_room_for_agents()?;
        }
        let lock = match work {
            Work::All => Lock::take(&place.repository.lock_path()),
            Work::Command => Lock::take_for_command(&place.repository.lock_path()),
        };
        let lock = lock.map_err(|error| {
            if let git::Error::Held { by, .. } = error {
                Error::Held { by }
            } else {
                Error::Git(error)
            }
        })?;
        let threads = Threads::new().map_err(|source| Error::Io {
            doing: "start a thread for",
            path: place.root.clone(),
            source,
        })?;
        place.repository.read_file_settings()?;
        let shared = (Arc::default(), Arc::new(threads));
        let mut executor = Self::holding(lock, shared, place, settings, options, work)?;
        executor.settings_branch = executor.repository.branch_of_root()?;
        private_dir(&place.crew_dir)?;
        crate::own_repository::make(&place.crew_dir).map_err(|source| Error::Io {
            doing: "make a repository in",
            path: place.crew_dir.clone(),
            source,
        })?;
        private_dir(&place.runs_dir)?;
        private_dir(&place.checks_dir)?;
        place.exclude()?;
        place.repository.note_main()?;
        place.repository.lock_root()?;
        if let (Work::All, Some(left_out)) = (work, executor.check_env.left_out()) {
            tracing::warn!("{left_out}");
        }
        Ok(executor)
    }

    /// The same executor under other settings; what is under way goes on under the old ones.
    ///
    /// # Errors
    /// A harness or a template that cannot be used.
    pub(crate) fn renewed(&self, settings: &Settings, options: &Options) -> Result<Self> {
        let lock = self.lock.clone();
        let shared = (Arc::clone(&self.last_check), Arc::clone(&self.threads));
        let executor = Self::holding(lock, shared, &self.place, settings, options, self.work)?;
        Ok(Self {
            owner: self.owner.clone(),
            is_target_away: Arc::clone(&self.is_target_away),
            is_out_of_reach: Arc::clone(&self.is_out_of_reach),
            moving: Arc::clone(&self.moving),
            turns: Arc::clone(&self.turns),
            settings_branch: self.settings_branch.clone(),
            told_undeletable: Arc::clone(&self.told_undeletable),
            // Work that is under way goes on where it is.
            workspaces: self.workspaces.clone(),
            ..executor
        })
    }

    /// Writes the log from now on, as the holder of the repository.
    pub(crate) fn open_log(&self, log: &Log) -> Writer {
        log.open(&self.place.crew_dir, self.lock.clone())
    }

    /// The folder of the team's prompt templates.
    pub(crate) fn prompts_dir(&self) -> Option<PathBuf> {
        prompts_dir(&self.place, &self.settings)
    }

    /// Whether the prompt templates are still what was read of them.
    ///
    /// # Errors
    /// They cannot be used as they are now.
    pub(crate) fn are_prompts_same(&self) -> Result<bool> {
        match self.prompts_dir() {
            Some(dir) => self.prompts.is_as(&dir),
            None => Ok(true),
        }
    }

    /// The reader for the output of a run that was started with this harness, whatever the settings say now.
    /// The client of the settings knows more, such as the price of tokens; without the client, the kind is
    /// enough.
    pub(crate) fn reader(&self, harness: &HarnessId, session: &harness::Session) -> Option<Box<dyn Reader>> {
        if self.work == Work::Command {
            return None;
        }
        match self.harnesses.get(&harness.name) {
            Some(Ok(client)) if client.kind() == harness.kind.name() => Some(client.reader(session)),
            Some(Ok(_) | Err(_)) | None => {
                harness::kind(harness.kind.name()).map(|kind| kind.reader(session, None))
            }
        }
    }

    fn holding(
        lock: Lock,
        (last_check, threads): (LastChecks, Arc<Threads>),
        place: &Place,
        settings: &Settings,
        options: &Options,
        work: Work,
    ) -> Result<Self> {
        let harnesses = match work {
            Work::All => clients(place, settings, options)?,
            Work::Command => BTreeMap::new(),
        };
        if let Some(remote) = settings.land.pushes_to() {
            place
                .repository
                .require_remote(&remote.parse().map_err(git::Error::from)?)?;
        }
        if work == Work::All && settings.has_checks() {
            place.check_slots_dir()?;
        }
        let prompts_dir = prompts_dir(place, settings);
        let check_env = CheckEnvironment::of(place, &options.env, &settings.checks)?;
        let toolchain = Toolchain::of(&settings.checks.toolchain, &check_env.variables, place);
        // A command asks only where it runs checks.
        if work == Work::All {
            toolchain.key()?;
        }
        let this_program = || Shim::this_executable(["shim"]);
        Ok(Self {
            owner: Owner::default(),
            repository: place
                .repository
                .clone()
                .locked(&lock)
                .pooling_checkouts(POOLED_CHECKOUTS),
            workspaces: place.workspaces_dir(settings)?,
            place: place.clone(),
            settings: settings.clone(),
            settings_branch: None,
            target: place
                .repository
                .followed(&Branch::parse(&settings.project.target)?)?,
            work,
            harnesses,
            shim: options.shim.clone().unwrap_or_else(this_program),
            program: process::this_program(),
            prompts: Prompts::load(prompts_dir.as_deref())?,
            callers_env: options.env.clone(),
            check_env,
            toolchain,
            last_check,
            moving: Arc::default(),
            turns: Arc::default(),
            is_target_away: Arc::default(),
            is_out_of_reach: Arc::default(),
            known_canaries: Arc::default(),
            threads,
            told_undeletable: Arc::default(),
            lock,
        })
    }
}

/// The clients of the settings by name. The client that new attempts work with must be usable; another one
/// may be needed by an attempt that was begun with it, and that attempt fails then.
fn clients(
    place: &Place,
    settings: &Settings,
    options: &Options,
) -> Result<BTreeMap<String, Result<Box<dyn Harness>>>> {
    let (chosen, client) = chosen_client(place, settings, options)?;
    client.check()?;
    if let (true, Some(reviewer)) = (
        settings.review.when != ReviewWhen::Never,
        settings
            .harness_of_new_reviews()
            .filter(|reviewer| reviewer.name != chosen),
    ) && let Some(table) = settings.harness.get(&reviewer.name)
    {
        client_of(place, options, &reviewer.name, table)?.check()?;
    }
    let mut clients: BTreeMap<_, _> = settings
        .harness
        .iter()
        .map(|(name, table)| (name.clone(), client_of(place, options, name, table)))
        .collect();
    clients.insert(chosen, Ok(client));
    Ok(clients)
}

/// Where the team's own templates are.
pub(crate) fn prompts_dir(place: &Place, settings: &Settings) -> Option<PathBuf> {
    settings.prompts_dir.as_ref().map(|dir| place.root.join(dir))
}

/// Makes sure that a run that could not be started never starts, and that nothing of it stays: its shim may
/// only have been slow, and its environment may hold secrets.
pub(crate) fn give_up(run: &Run) -> process::Result<()> {
    match run.sweep() {
        Err(process::Error::StillRunning { .. }) => run.end().map(drop),
        swept => swept.map(drop),
    }
}

/// The mark that separates this journal's runs from those of every other journal on the machine: a process
/// that carries the id of a run that has ended is killed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owner(uuid::Uuid);

impl Owner {
    /// A copy of a repository has its journal's id too, so the place counts as well.
    pub(crate) fn new(journal: uuid::Uuid, crew_dir: &Path) -> Self {
        use std::os::unix::ffi::OsStrExt as _;
        Self(uuid::Uuid::new_v5(&journal, crew_dir.as_os_str().as_bytes()))
    }

    /// The id of a run, as its processes carry it.
    pub(crate) fn run_id(&self, run: &str) -> String {
        format!("{run}.{}", self.0.simple())
    }
}

/// A folder that only its owner can enter.
pub(crate) fn private_dir(path: &Path) -> Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    let io = |doing| {
        move |source| Error::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    };
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(io("make"))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).map_err(io("protect"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_given_up_never_starts_and_keeps_no_secret() {
        let dir = tempfile::tempdir().unwrap();
        let mut spec = process::Spec::new("given-up", "/bin/sh", dir.path());
        spec.args = vec!["-c".into(), "echo it ran >ran".into()];
        spec.env.insert("TOKEN".into(), "canary".into());
        let run = Run::create(dir.path().join("run"), &spec, None).unwrap();
        let silent = Shim {
            program: "/bin/true".into(),
            args: Vec::new(),
        };
        run.start(&silent).unwrap_err();
        assert_eq!(run.status().unwrap(), process::Status::NotStarted);

        give_up(&run).unwrap();
        give_up(&run).unwrap();
        assert!(run.status().unwrap().is_over());
        assert!(run.spec().unwrap().env.is_empty());
        run.start(&Shim {
            program: "/nowhere".into(),
            args: Vec::new(),
        })
        .unwrap();
        assert!(!dir.path().join("ran").exists());
    }

    #[test]
    fn runs_of_the_same_name_in_two_repositories_are_two() {
        let (one, other) = (uuid::Uuid::from_u128(1), uuid::Uuid::from_u128(2));
        let id = |journal, dir: &str| Owner::new(journal, Path::new(dir)).run_id("k-1.1.1");
        assert_eq!(id(one, "/a/.crew"), id(one, "/a/.crew"));
        assert_ne!(id(one, "/a/.crew"), id(other, "/a/.crew"));
        assert_ne!(id(one, "/a/.crew"), id(one, "/a copy/.crew"));
    }
}
