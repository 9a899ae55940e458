//! The place where everything of one repository stands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use git::{Git, Holder, Repository, Surroundings};
use model::settings::{self, Settings};
use process::Life;
use store::{Ledger, Location};

use crate::settings_file::{self, Refused};
use crate::{Error, Result};

/// How long a dead engine's git may hold the repository, and a command without a word.
const ORPHANS: Duration = Duration::from_secs(2);
/// How often it is looked whether that has ended: of a lock that is given back nobody is told.
const LOOK: Duration = Duration::from_millis(20);
/// crew's own folder, in the root.
pub const CREW_DIR: &str = ".crew";
/// Where the queue is, unless `TICKETS_DIR` says otherwise.
const TICKETS_DIR: &str = ".tickets";

/// crew's own folder, and its own files in the ticket folder, as git's patterns name them.
const PATTERNS: [&str; 4] = [
    "/.crew/",
    "/.tickets/.lock",
    "/.tickets/.crew.tmp",
    "/.tickets/.crew.was",
];

/// One repository, and where crew keeps what belongs to it.
#[derive(Clone, Debug)]
pub struct Place {
    /// The repository, as git sees it.
    pub repository: Repository,
    /// The root of the checkout in which crew's own files stand.
    pub root: PathBuf,
    /// `.crew`: journal, runs and checks; readable by its owner only.
    pub crew_dir: PathBuf,
    /// The journal.
    pub journal: Location,
    /// A directory for each step's run.
    pub runs_dir: PathBuf,
    /// Checkouts and runs of checks.
    pub checks_dir: PathBuf,
    /// The queue.
    pub tickets_dir: PathBuf,
    /// `crew.toml`.
    pub settings_path: PathBuf,
    /// The caller's environment.
    pub env: BTreeMap<String, String>,
}

impl Place {
    /// The folders of the submodules of a commit that crew cannot fill, since the user does not have them.
    #[must_use]
    pub fn empty_submodules(&self, commit: &str) -> Vec<String> {
        let all = self.submodules(commit).into_iter();
        let empty = all.filter(|one| one.source.is_none());
        empty.map(|one| one.path.to_string_lossy().into_owned()).collect()
    }

    pub(crate) fn submodules(&self, commit: &str) -> Vec<git::Submodule> {
        let commit = self.repository.resolve(commit);
        let all = commit.and_then(|commit| self.repository.submodules(&commit));
        all.unwrap_or_default()
    }

    /// The place of the repository that `dir` (absolute) is in: its root, a folder of it, or a linked
    /// worktree.
    ///
    /// # Errors
    /// No git, git too old, no repository, or one that crew cannot work on; a `.crew` that is no folder; each
    /// distinct, nothing written.
    pub fn find(dir: &Path, env: &BTreeMap<String, String>) -> Result<Self> {
        Self::of(repository_of(dir, env)?, dir, env)
    }

    /// The same place with its root at the checkout that was asked for, for a repository in which no crew is
    /// yet.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn rooted_here(self, dir: &Path) -> Result<Self> {
        Self::of(self.repository.rooted_here(), dir, &self.env)
    }

    fn of(repository: Repository, dir: &Path, env: &BTreeMap<String, String>) -> Result<Self> {
        let root = repository.root().to_owned();
        let crew_dir = root.join(CREW_DIR);
        its_own_folder(&crew_dir)?;
        let tickets_dir = match env.get("TICKETS_DIR").filter(|value| !value.is_empty()) {
            Some(given) => dir.join(given),
            None => root.join(TICKETS_DIR),
        };
        Ok(Self {
            journal: Location::file(crew_dir.join("journal.db")),
            runs_dir: crew_dir.join("runs"),
            checks_dir: crew_dir.join("checks"),
            settings_path: root.join(settings::FILE_NAME),
            repository,
            root,
            crew_dir,
            tickets_dir,
            env: env.clone(),
        })
    }

    /// Has git ignore crew's own folder, and crew's own files in the ticket folder, without editing a file of
    /// the user's.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn exclude(&self) -> Result<()> {
        self.repository.exclude(&PATTERNS)?;
        Ok(())
    }

    /// Whether git ignores crew's own folder, whoever wrote that down and where.
    ///
    /// # Errors
    /// git cannot say.
    pub fn is_excluded(&self) -> Result<bool> {
        // As a folder.
        Ok(self.repository.is_ignored(&self.crew_dir.join(""))?)
    }

    /// The settings.
    ///
    /// # Errors
    /// [`Error::NotInitialised`]; [`Error::Settings`] with every diagnostic; [`Error::SettingsFile`];
    /// [`Error::SettingsOpenToAll`] and [`Error::SettingsForeign`] where others could have written them.
    pub fn settings(&self) -> Result<Settings> {
        let path = self.settings_path.clone();
        let bytes = settings_file::read(&path, &self.root).map_err(|refused| match refused {
            Refused::Unreadable(source) if source.kind() == std::io::ErrorKind::NotFound => {
                Error::NotInitialised {
                    root: self.root.clone(),
                    has_begun: self.journal.exists(),
                }
            }
            Refused::Unreadable(source) => Error::SettingsFile { path, source },
            Refused::OpenToAll => Error::SettingsOpenToAll { path },
            Refused::Foreign { owner } => Error::SettingsForeign { path, owner },
        })?;
        Settings::parse_bytes(&bytes, settings::FILE_NAME).map_err(Error::Settings)
    }

    /// The holder of the repository, if there is one.
    ///
    /// # Errors
    /// When the lock cannot be looked at.
    pub fn holder(&self) -> Result<Option<Holder>> {
        Ok(git::Lock::holder(&self.repository.lock_path())?)
    }

    /// The engine that holds the repository, if one does, and no command that is carried out without one.
    ///
    /// # Errors
    /// As [`holder`](Self::holder).
    pub fn engine(&self) -> Result<Option<Holder>> {
        Ok(self.holder()?.filter(|holder| !holder.is_command))
    }

    /// The holder of the repository, once the git processes of a dead holder have had a moment to end, and a
    /// command that is carried out without an engine has ended. `tell` is called once that takes its time,
    /// with the reason of the wait in words.
    ///
    /// # Errors
    /// As [`holder`](Self::holder).
    pub async fn lasting_holder(&self, tell: impl Fn(&str)) -> Result<Option<Holder>> {
        let mut waited = Waited::default();
        while let Some(by) = self.holder()? {
            if !waited.goes_on(&by, life_of(&by), &tell) {
                return Ok(Some(by));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(None)
    }

    /// The locks of checkouts' indexes that remain of an engine which was killed while the checkouts followed
    /// a landing: they keep the person's git out until an engine ends that landing. None while somebody holds
    /// the repository.
    ///
    /// # Errors
    /// When the repository's lock or the checkouts cannot be looked at.
    pub fn left_index_locks(&self) -> Result<Vec<PathBuf>> {
        let before = self.repository.own_index_locks()?;
        // One that works now, or has worked until now, was not killed: its locks are its own, or gone.
        if before.is_empty() || self.holder()?.is_some() {
            return Ok(Vec::new());
        }
        let mut left = self.repository.own_index_locks()?;
        left.retain(|lock| before.contains(lock));
        Ok(left)
    }

    /// The checkouts with files that are older than their branch, because crew could not write them when the
    /// branch moved.
    ///
    /// # Errors
    /// When the checkouts cannot be looked at.
    pub fn behind(&self) -> Result<Vec<model::view::Behind>> {
        let shown = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect();
        let behind = self.repository.behind()?.into_iter();
        Ok(behind
            .map(|one| model::view::Behind {
                checkout: one.checkout.display().to_string(),
                index: one.index,
                old: shown(&one.old),
                deleted: shown(&one.deleted),
            })
            .collect())
    }

    /// Makes `.tickets/`, since git keeps no empty folder and a fresh clone has none. Only with the journal:
    /// later on a folder that is gone stays gone, for an empty one would mean that every ticket was deleted.
    fn make_tickets_dir(&self) -> Result<()> {
        if self.tickets_dir != self.root.join(TICKETS_DIR) || self.tickets_dir.exists() {
            return Ok(());
        }
        std::fs::create_dir(&self.tickets_dir).map_err(|source| Error::Io {
            doing: "make",
            path: self.tickets_dir.clone(),
            source,
        })
    }

    /// Opens the journal to write to it, making it if there is none.
    ///
    /// # Errors
    /// [`store::Error`]: damaged, of a newer crew, missing beside what belongs to it.
    pub async fn open_journal(&self) -> Result<Ledger> {
        match store::open(&self.journal).await {
            Err(store::Error::Missing { .. }) => {}
            opened => return Ok(opened?),
        }
        self.make_tickets_dir()?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the journal's id is minted here, once in its life"
        )]
        let id = uuid::Uuid::now_v7().to_string();
        Ok(store::create(&self.journal, &id).await?)
    }

    /// Opens the journal to read it.
    ///
    /// # Errors
    /// [`store::Error`]: missing, damaged, of a newer crew.
    pub async fn read_journal(&self) -> Result<Ledger> {
        Ok(store::open_to_read(&self.journal).await?)
    }
}

/// How long each holder was waited for: several may hold a repository one after the other, and none takes
/// away from the next one's time.
#[derive(Debug, Default)]
struct Waited {
    /// For the git of who is dead.
    orphans: Duration,
    /// For commands.
    commands: Duration,
}

impl Waited {
    /// Whether the holder is waited for until the next look.
    fn goes_on(&mut self, by: &Holder, life: Life, tell: impl Fn(&str)) -> bool {
        match life {
            Life::Gone if self.orphans < ORPHANS => self.orphans += LOOK,
            Life::Runs if by.is_command => {
                if self.commands == ORPHANS {
                    tell(&format!("waiting for a command that holds this repository: {by}"));
                }
                self.commands += LOOK;
            }
            Life::Gone | Life::Runs | Life::Stopped => return false,
        }
        true
    }
}

/// How the process of who holds a repository is; one on another host is taken for one that runs.
#[must_use]
pub fn life_of(holder: &Holder) -> Life {
    let uname = rustix::system::uname();
    let is_here = holder.host.is_empty() || uname.nodename().to_string_lossy() == holder.host.as_str();
    match holder.pid {
        Some(pid) if is_here => process::life(pid),
        Some(_) | None => Life::Runs,
    }
}

/// The process of who holds a repository, where a signal has stopped it: only a person lets it go on.
#[must_use]
pub fn stopped(holder: &Holder) -> Option<u32> {
    holder.pid.filter(|_| life_of(holder) == Life::Stopped)
}

/// What who holds a repository does, as an error says it.
pub(crate) fn holds(holder: &Holder) -> String {
    let (a, the) = if holder.is_command {
        ("a command", "the command")
    } else {
        ("an engine", "the engine")
    };
    match life_of(holder) {
        Life::Gone => {
            format!("{the} that held this repository is dead ({holder}), and a git of its has not ended yet")
        }
        Life::Stopped | Life::Runs => format!("{a} holds this repository: {holder}"),
    }
}

/// The repository that `dir` is in.
pub(crate) fn repository_of(dir: &Path, env: &BTreeMap<String, String>) -> Result<Repository> {
    let git = Git::find(Surroundings::of(|name| env.get(name).map(Into::into)))?;
    Ok(Repository::open(&git, &crate::own_repository::outside(dir))?)
}

/// Refuses a `.crew` that leads elsewhere: two repositories would share a journal, or other users could read
/// its folder.
pub(crate) fn its_own_folder(dir: &Path) -> Result<()> {
    let Ok(meta) = dir.symlink_metadata() else {
        return Ok(());
    };
    if meta.is_dir() {
        return Ok(());
    }
    Err(Error::CrewDir {
        path: dir.to_owned(),
        is_link: meta.is_symlink(),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;

    /// A repository with settings, in a folder.
    pub(crate) fn place_in(folder: &Path) -> Place {
        let git = |args: &[&str]| {
            #[expect(clippy::disallowed_methods, reason = "a repository to stand in")]
            let status = std::process::Command::new("git")
                .args(["-c", "user.name=x", "-c", "user.email=x@x"])
                .args(args)
                .current_dir(folder)
                .status();
            assert!(status.unwrap().success());
        };
        git(&["init", "-q", "-b", "main"]);
        git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        let text = "[agents]\nharness = \"x\"\n[harness.x]\nkind = \"command\"\ncommand = [\"true\"]\n";
        std::fs::write(folder.join("crew.toml"), text).unwrap();
        #[expect(clippy::disallowed_methods, reason = "where git is")]
        let path = std::env::var("PATH").unwrap();
        let env = [("PATH", path), ("HOME", folder.display().to_string())];
        let env = env.map(|(name, value)| (name.to_owned(), value));
        Place::find(folder, &BTreeMap::from(env)).unwrap()
    }

    fn command() -> Holder {
        Holder {
            pid: Some(1),
            host: String::new(),
            started: None,
            is_command: true,
        }
    }

    #[test]
    fn who_waits_for_a_command_waits_for_a_dead_ones_git_all_the_same() {
        let (told, mut waited) = (Cell::new(0), Waited::default());
        let mut look = |life| waited.goes_on(&command(), life, |_| told.set(told.get() + 1));
        let looks = 2 * ORPHANS.as_millis() / LOOK.as_millis();
        assert!((0..looks).all(|_| look(Life::Runs)));
        assert_eq!(told.get(), 1);
        assert!(look(Life::Gone));
        assert!(
            !(0..looks).all(|_| look(Life::Gone)),
            "for a moment, and not for ever"
        );
        assert!(look(Life::Runs), "a command after it");
        assert!(!look(Life::Stopped));
    }

    #[test]
    fn a_command_after_a_dead_ones_git_is_told_of() {
        let (told, mut waited) = (Cell::new(0), Waited::default());
        let mut look = |life| waited.goes_on(&command(), life, |_| told.set(told.get() + 1));
        while look(Life::Gone) {}
        let looks = 2 * ORPHANS.as_millis() / LOOK.as_millis();
        assert!((0..looks).all(|_| look(Life::Runs)));
        assert_eq!(told.get(), 1);
    }
}
