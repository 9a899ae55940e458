//! A folder for one agent's work on one ticket, with a git directory of its own.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::beneath;
use crate::delete::open_unlocked;
use crate::error::{Error, IoContext, Result};
use crate::id::{Branch, Id};
use crate::identity::Identity;
use crate::oid::{Format, Oid};
use crate::quote;
use crate::repository::Repository;

/// A file in a workspace's git directory: who finds it is not in a repository of the user's.
pub(crate) const MARKER: &str = "crew-workspace";
/// The record beside a workspace that says whose it is, and that it is whole.
pub(crate) const MADE: &str = "made";
/// What a git directory borrows objects from.
pub(crate) const ALTERNATES: &str = "objects/info/alternates";
/// The instructions' file in a workspace's git directory.
const INSTRUCTIONS: &str = "crew-instructions.md";

/// What a workspace is to be.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The folder under which workspaces stand (absolute; made, 0700, if need be).
    pub root: PathBuf,
    /// Whose it is.
    pub agent: Id,
    /// For which ticket.
    pub ticket: Id,
    /// The number of the attempt: `refs/crew/base/<ticket>/<attempt>` pins the base.
    pub attempt: u32,
    /// The target's commit that the work is compared with; also imports bring only what is not in it.
    pub base: Oid,
    /// Where the work starts: the base, or an earlier attempt's kept tip.
    pub start: Oid,
    /// Who the agent's commits are by.
    pub identity: Identity,
    /// Ignore patterns beyond the repository's own (`.crew/`, an agent client's folders …).
    pub excludes: Vec<String>,
    /// The text that `CREW_INSTRUCTIONS` points at.
    pub instructions: Vec<u8>,
}

/// A workspace, as crew knows it: nothing here is read from where an agent can write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
    agent: Id,
    ticket: Id,
    attempt: u32,
    base: Oid,
    start: Oid,
    identity: Identity,
    excludes: Vec<String>,
}

/// The ref that pins an attempt's base.
pub(crate) fn base_ref(ticket: &Id, attempt: u32) -> String {
    format!("refs/crew/base/{ticket}/{attempt}")
}

impl Workspace {
    /// The workspace of a spec, whether it stands or not.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        Self {
            root: spec.root.clone(),
            agent: spec.agent.clone(),
            ticket: spec.ticket.clone(),
            attempt: spec.attempt,
            base: spec.base.clone(),
            start: spec.start.clone(),
            identity: spec.identity.clone(),
            excludes: spec.excludes.clone(),
        }
    }

    /// Whether what stands below `root` for an agent's work on a ticket is a workspace: by the record that was made beside it. Anybody
    /// can give a folder of their own such a name.
    ///
    /// # Errors
    /// [`Error::Io`] when the record cannot be read.
    pub fn is_made(root: &Path, agent: &Id, ticket: &Id) -> Result<bool> {
        let record = root.join(format!(".{agent}-{ticket}")).join(MADE);
        match std::fs::read_to_string(&record) {
            Ok(says) => Ok(says.starts_with(&format!("agent={agent}\nticket={ticket}\n"))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io("read", record, error)),
        }
    }

    /// What tells it from one that stood here before or comes after, where there is a record of it; compared for equality alone.
    #[must_use]
    pub fn birth(&self) -> Option<String> {
        let record = self.beside().join(MADE).metadata().ok()?;
        Some(format!(
            "{:x}-{:x}-{:x}",
            record.ino(),
            record.mtime(),
            record.mtime_nsec()
        ))
    }

    /// `<agent>-<ticket>`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}-{}", self.agent, self.ticket)
    }

    /// The folder the agent works in.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.root.join(self.name())
    }

    /// Whether the folder stands.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path().symlink_metadata().is_ok_and(|meta| meta.is_dir())
    }

    /// The instructions' file, in the workspace's git directory.
    #[must_use]
    pub fn instructions(&self) -> PathBuf {
        self.path().join(".git").join(INSTRUCTIONS)
    }

    /// `agent/<agent>-<ticket>`, in the workspace and in the user's repository.
    #[must_use]
    pub fn branch(&self) -> Branch {
        Branch::of_agent(&self.agent, &self.ticket)
    }

    /// The ref that keeps the base from the user's gc.
    #[must_use]
    pub fn base_ref(&self) -> String {
        base_ref(&self.ticket, self.attempt)
    }

    /// The folder in which git stops to look for a repository: the agent's processes get it as
    /// `GIT_CEILING_DIRECTORIES`, so that a lost `.git` does not resolve to the user's.
    #[must_use]
    pub fn ceiling(&self) -> &Path {
        &self.root
    }

    /// The commit the work is compared with.
    #[must_use]
    pub fn base(&self) -> &Oid {
        &self.base
    }

    /// The commit the work started from.
    #[must_use]
    pub fn start(&self) -> &Oid {
        &self.start
    }

    /// The ticket.
    #[must_use]
    pub fn ticket(&self) -> &Id {
        &self.ticket
    }

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &Id {
        &self.agent
    }

    /// Writes the instructions anew. Nothing the agent did to its git directory can lead the write elsewhere.
    ///
    /// # Errors
    /// [`Error::Io`], also when a part of the path is a symlink; [`Error::WorkspaceMissing`].
    pub fn write_instructions(&self, text: &[u8]) -> Result<()> {
        let root = self.open()?;
        let file = Path::new(".git").join(INSTRUCTIONS);
        beneath::replace(&root, &file, text).doing("write", self.instructions())
    }

    /// Takes away the locks that a git of the agent's left in its git directory when it was killed: until they are gone no
    /// other git can commit there. Nothing the agent did to its git directory can lead this elsewhere; what cannot be
    /// taken away stays.
    ///
    /// No process of the agent may be running.
    ///
    /// # Errors
    /// [`Error::WorkspaceMissing`].
    pub fn clear_locks(&self) -> Result<()> {
        let root = self.open()?;
        for folder in [".git", ".git/refs", ".git/refs/heads", ".git/refs/heads/agent"] {
            let Ok(folder) = beneath::folder(&root, Path::new(folder)) else {
                continue;
            };
            let entries = rustix::fs::Dir::read_from(&folder)
                .into_iter()
                .flatten()
                .flatten();
            for entry in entries.filter(|entry| entry.file_name().to_bytes().ends_with(b".lock")) {
                rustix::fs::unlinkat(&folder, entry.file_name(), rustix::fs::AtFlags::empty()).ok();
            }
        }
        Ok(())
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn excludes(&self) -> &[String] {
        &self.excludes
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn open(&self) -> Result<std::os::fd::OwnedFd> {
        beneath::root(&self.path()).map_err(|error| {
            if beneath::is_by_its_writer(&error) {
                Error::WorkspaceMissing { path: self.path() }
            } else {
                Error::io("open", self.path(), error)
            }
        })
    }

    /// Crew's own folder about this workspace, beside it: an agent has no business in it.
    pub(crate) fn beside(&self) -> PathBuf {
        self.root.join(format!(".{}", self.name()))
    }

    /// The index as it was when the workspace was last looked at: its file times save reading every file again.
    pub(crate) fn index(&self) -> PathBuf {
        self.beside().join("index")
    }

    /// Only one hand at a time makes, saves or removes a workspace.
    pub(crate) fn claim(&self) -> Result<File> {
        let beside = self.beside();
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&beside)
            .doing("make", &beside)?;
        let path = beside.join("lock");
        loop {
            let opened = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path);
            let file = match opened {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    std::fs::create_dir_all(&beside).doing("make", &beside)?;
                    continue;
                }
                Err(error) => return Err(Error::io("open", &path, error)),
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => file.lock().doing("lock", &path)?,
                Err(TryLockError::Error(source)) => return Err(Error::io("lock", &path, source)),
            }
            if file.metadata().doing("look at", &path)?.nlink() > 0 {
                // An agent may have shut its own folder; whoever it is crew's may open it.
                drop(open_unlocked(rustix::fs::CWD, self.path().as_os_str()));
                return Ok(file);
            }
        }
    }

    fn record(&self) -> String {
        format!(
            "agent={}\nticket={}\nattempt={}\nbase={}\nstart={}\n",
            self.agent, self.ticket, self.attempt, self.base, self.start
        )
    }
}

impl Repository {
    /// Makes the workspace, or finds it as it was made; its branch is checked out at the start and exists in the
    /// user's repository too, and the base is pinned there. Safe to repeat after a kill anywhere: the folder appears by
    /// one rename, whole. Any number may be made at once.
    ///
    /// # Errors
    /// [`Error::WorkspaceTaken`] if the folder is of another attempt; [`Error::BranchTaken`] if the branch exists
    /// somewhere else than the start; [`Error::BranchShown`] if a person has it checked out; [`Error::NoSuchCommit`];
    /// [`Error::Io`].
    pub fn prepare(&self, spec: &Spec) -> Result<Workspace> {
        let workspace = Workspace::of(spec);
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&spec.root)
            .doing("make", &spec.root)?;
        let _claim = workspace.claim()?;
        let record = workspace.beside().join(MADE);
        let branch = workspace.branch();
        let stands = workspace.path().symlink_metadata().is_ok();
        if stands && std::fs::read_to_string(&record).ok().as_deref() != Some(&workspace.record()) {
            return Err(Error::WorkspaceTaken {
                path: workspace.path(),
            });
        }
        if !stands && self.begin(&workspace)? {
            return self.put_in_place(workspace, spec);
        }
        // Even where it stands at the start, the agent's commits would show there as edits.
        if !stands
            && self.branch_tip(&branch)?.is_some()
            && let Some(checkout) = self.checkouts_of(&branch)?.pop()
        {
            return Err(Error::BranchShown {
                branch: branch.short().to_owned(),
                checkout: checkout.root,
            });
        }
        self.require_commits(&[&spec.base, &spec.start])?;
        self.pin(&workspace.base_ref(), &spec.base)?;
        match self.move_ref(&branch.full(), None, Some(&spec.start), "crew: workspace") {
            Ok(()) => {}
            // The work has gone on since it was made.
            Err(Error::RefMoved { now: Some(_), .. }) if stands => {}
            Err(Error::RefMoved { now: Some(now), .. }) => {
                return Err(Error::BranchTaken {
                    branch: branch.short().to_owned(),
                    now,
                });
            }
            Err(other) => return Err(other),
        }
        if stands {
            return Ok(workspace);
        }
        self.put_in_place(workspace, spec)
    }

    /// Pin and branch in one go, where neither is there yet; git sees to it that both are commits' names. The pin is first: a
    /// branch without it would be of an unknown base.
    fn begin(&self, workspace: &Workspace) -> Result<bool> {
        let (pin, branch) = (workspace.base_ref(), workspace.branch().full());
        let (base, start) = (Some(&workspace.base), Some(&workspace.start));
        let is_new = |name: &str| self.stored(name) == Some(None);
        Ok(is_new(&pin)
            && is_new(&branch)
            && self.move_refs(&[(&pin, None, base), (&branch, None, start)], "crew: workspace")?)
    }

    fn put_in_place(&self, workspace: Workspace, spec: &Spec) -> Result<Workspace> {
        let record = workspace.beside().join(MADE);
        failpoint::hit("prepare.refs");
        let tree = workspace.beside().join("tree");
        self.delete_or_part(workspace.root(), &tree, &workspace.name())?;
        self.build(&workspace, &tree, &spec.instructions)?;
        failpoint::hit("prepare.built");
        crate::plain::replace(&record, workspace.record().as_bytes())?;
        failpoint::hit("prepare.recorded");
        std::fs::rename(&tree, workspace.path()).doing("put in place", workspace.path())?;
        failpoint::hit("prepare.renamed");
        Ok(workspace)
    }

    fn build(&self, workspace: &Workspace, tree: &Path, instructions: &[u8]) -> Result<()> {
        let git_dir = tree.join(".git");
        let layout = Layout {
            head: format!("ref: {}", workspace.branch().full()),
            refs: vec![(workspace.branch().full(), workspace.start.clone())],
            identity: &workspace.identity,
            excludes: &workspace.excludes,
        };
        self.write_git_dir(&git_dir, &layout)?;
        write(&git_dir.join(INSTRUCTIONS), instructions)?;
        failpoint::hit("prepare.gitdir");
        let index = git_dir.join("index");
        let fill = |how: &str| {
            self.call_without_attributes("read-tree")
                .work_tree(tree)
                .throwaway_index(&index)
                .deadline(std::time::Duration::from_secs(600))
                .args([how, "-u", "--no-sparse-checkout", "--end-of-options"])
                .arg(workspace.start.as_str())
                .ok()
        };
        match self.take_spare(workspace, tree) {
            Some(kept) => {
                std::fs::rename(&kept, &index).doing("take", &kept)?;
                failpoint::hit("prepare.spare");
                fill("--reset")?;
            }
            None => {
                fill("-m")?;
            }
        }
        let spare = workspace.beside().join("spare");
        self.delete_or_part(workspace.root(), &spare, &workspace.name())?;
        crate::index::copy(&index, &workspace.index())
    }

    /// Writes a git directory of plain files, without running git: no template or setting of anybody's gets in.
    pub(crate) fn write_git_dir(&self, git_dir: &Path, layout: &Layout<'_>) -> Result<()> {
        for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"] {
            let folder = git_dir.join(folder);
            std::fs::create_dir_all(&folder).doing("make", &folder)?;
        }
        let (version, extensions) = match self.format() {
            Format::Sha1 => (0, ""),
            Format::Sha256 => (1, "[extensions]\n\tobjectFormat = sha256\n"),
        };
        let config = format!(
            "[core]\n\trepositoryFormatVersion = {version}\n\tfileMode = true\n\tbare = false\n\tlogAllRefUpdates = true\n\
             {extensions}\
             [user]\n\tname = {}\n\temail = {}\n\
             [commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n",
            quote::config_value(&layout.identity.name),
            quote::config_value(&layout.identity.email),
        );
        let mut exclude = layout.excludes.join("\n");
        exclude.push('\n');
        for (name, oid) in &layout.refs {
            let file = git_dir.join(name);
            let folder = file.parent().unwrap_or(git_dir);
            std::fs::create_dir_all(folder).doing("make", folder)?;
            write(&file, format!("{oid}\n").as_bytes())?;
        }
        write(&git_dir.join("config"), config.as_bytes())?;
        write(&git_dir.join(ALTERNATES), &self.alternates())?;
        write(&git_dir.join("info/exclude"), exclude.as_bytes())?;
        write(&git_dir.join(MARKER), b"made by crew\n")?;
        write(&git_dir.join("HEAD"), format!("{}\n", layout.head).as_bytes())
    }

    /// What tells a workspace's git where the user's objects are.
    pub(crate) fn alternates(&self) -> Vec<u8> {
        let objects = self.objects();
        let plain = !objects.as_os_str().as_bytes().contains(&b'\n');
        let mut alternates = if plain {
            objects.into_os_string().into_encoded_bytes()
        } else {
            quote::c_style(&objects)
        };
        alternates.push(b'\n');
        alternates
    }

    /// Makes a ref that only pins a commit; an old pin of the same name gives way.
    fn pin(&self, name: &str, commit: &Oid) -> Result<()> {
        match self.move_ref(name, None, Some(commit), "crew: base") {
            Err(Error::RefMoved { now: Some(now), .. }) => {
                self.move_ref(name, Some(&now), Some(commit), "crew: base")
            }
            other => other,
        }
    }
}

/// What differs between the git directories that crew writes.
pub(crate) struct Layout<'a> {
    pub(crate) head: String,
    pub(crate) refs: Vec<(String, Oid)>,
    pub(crate) identity: &'a Identity,
    pub(crate) excludes: &'a [String],
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    std::fs::write(path, content).doing("write", path)
}
