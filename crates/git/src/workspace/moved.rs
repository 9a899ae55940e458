//! Moving a workspace: a merge that crew has made comes into its files, or what a child's agent did goes out
//! of them.
//!
//! A note beside the workspace says that this is under way. Whoever saves or rescues the workspace after a
//! kill finishes it first: otherwise half of the new files would count as the agent's work.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command::call::Call;
use crate::error::{Error, IoContext, Result};
use crate::files::atomic_write::{self, remove_if_there};
use crate::files::delete::delete_tree;
use crate::files::mounts::mounts_in;
use crate::files::openat;
use crate::landing::candidate::{Message, Outcome};
use crate::repository::Repository;
use crate::types::id::Id;
use crate::types::identity::{Identity, Time};
use crate::types::oid::Oid;
use crate::types::operation::Operation;
use crate::types::refusal::Limits;
use crate::types::unsaved::Unsaved;
use crate::workspace::Workspace;
use crate::workspace::agent_refs::AgentRefs;
use crate::workspace::save::Rescue;
use crate::workspace::snapshot::new_index;
use crate::workspace::turns::Turn;

/// The file beside a workspace that names the commit from which it is moved, and the one to which.
const NOTE: &str = "moving";
/// The first word of the note where the workspace is cleared: its files need not be those of its HEAD.
const CLEARED: &str = "cleared";
/// What git notes of an operation that is under way, in its folder.
const OPERATION: [&str; 9] = [
    "AUTO_MERGE",
    "MERGE_MODE",
    "MERGE_MSG",
    "sequencer",
    "rebase-merge",
    "rebase-apply",
    "REVERT_HEAD",
    "CHERRY_PICK_HEAD",
    "MERGE_HEAD",
];

/// What became of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// The workspace shows the commit.
    There,
    /// Its HEAD is not the commit from which it was to be moved.
    Elsewhere,
    /// It cannot be moved, and nothing has changed.
    InTheWay {
        /// The reason, in words.
        why: String,
    },
}

impl Repository {
    /// Moves the workspace's branch, its index and its files from its HEAD `from` to `to`.
    /// What is not committed there stays; a file that would be overwritten is in the way. Safe to repeat
    /// after a kill at any point.
    ///
    /// No process of an agent may be running there, and the workspace is saved.
    ///
    /// # Errors
    /// [`Error::WorkspaceMissing`], [`Error::Io`], [`Error::Failed`].
    pub fn move_workspace(&self, workspace: &Workspace, from: &Oid, to: &Oid) -> Result<Moved> {
        let _claim = workspace.claim()?;
        self.finish_move(workspace)?;
        let refs = AgentRefs::of(workspace)?;
        let head = refs.head()?.ok();
        if head.as_ref() == Some(to) {
            return Ok(Moved::There);
        }
        let branch = workspace.branch();
        if refs.branch() != Some(branch.full()) {
            return Ok(Moved::InTheWay {
                why: format!("its HEAD is not on the branch {}", branch.short()),
            });
        }
        if head.as_ref() != Some(from) {
            return Ok(Moved::Elsewhere);
        }
        let files = self.checkout_of(workspace, from)?;
        let tried = files.move_by(&["-n", "-m", "-u"], &[from, to]);
        match tried {
            Ok(_) => {}
            Err(Error::Failed { stderr, .. }) => {
                return Ok(Moved::InTheWay {
                    why: crate::types::shortened::shortened(stderr.trim(), 500),
                });
            }
            Err(other) => return Err(other),
        }
        let note = workspace.beside().join(NOTE);
        atomic_write::replace(&note, format!("{from} {to}").as_bytes())?;
        failpoint::hit("move.noted");
        files.move_by(&["-m", "-u"], &[from, to])?;
        let own = self.agents_index_at(workspace, to);
        self.show_moved(workspace, &files, to, own)?;
        Ok(Moved::There)
    }

    /// Refuses a workspace in which something is mounted: what is in there is not the agent's, and must
    /// neither be kept nor taken out.
    ///
    /// # Errors
    /// [`Error::Unsaved`].
    pub fn expect_no_mounts(&self, workspace: &Workspace) -> Result<()> {
        let path = workspace.path();
        let left: Vec<Unsaved> = mounts_in(&path)
            .into_iter()
            .map(|mount| Unsaved {
                path: mount.strip_prefix(&path).unwrap_or(&mount).to_path_buf(),
                why: "another file system is mounted there".to_owned(),
            })
            .collect();
        match left.is_empty() {
            true => Ok(()),
            false => Err(Error::Unsaved {
                workspace: path,
                left,
            }),
        }
    }

    /// Whether a commit is the HEAD of the workspace, so that its agent's git goes on from it.
    ///
    /// # Errors
    /// [`Error::WorkspaceMissing`], [`Error::Io`].
    pub fn has_checked_out(&self, workspace: &Workspace, commit: &Oid) -> Result<bool> {
        Ok(AgentRefs::of(workspace)?.head()?.as_ref() == Ok(commit))
    }

    /// Whether the workspace shows the commit with which a turn began, and nothing else but
    /// ignored files: its branch is checked out there, nothing of git's is under way, and its files are those
    /// of the commit, also where its own git does not look.
    ///
    /// No process of an agent may be running there.
    ///
    /// # Errors
    /// [`Error::WorkspaceMissing`], [`Error::Io`], [`Error::Failed`].
    pub fn shows_start(&self, workspace: &Workspace, turn: &Turn) -> Result<bool> {
        let _claim = workspace.claim()?;
        self.finish_move(workspace)?;
        let refs = AgentRefs::of(workspace)?;
        let is_there = refs.head()?.as_ref() == Ok(&turn.start)
            && refs.branch() == Some(workspace.branch().full())
            && Operation::of(&workspace.path().join(".git")).is_none();
        if !is_there || self.is_newly_marked(workspace, turn)? {
            return Ok(false);
        }
        let limits = Limits {
            protected: Vec::new(),
            ..Limits::default()
        };
        let files = match self.snapshot_of_files(workspace, &turn.start, &limits) {
            Ok(files) => files,
            Err(Error::Refused { .. }) => return Ok(false),
            Err(other) => return Err(other),
        };
        let has_more = self.differing_tree(&files, &turn.start)?.is_some();
        let is_plain = !has_more && files.nested.is_empty() && files.unsaved.is_empty();
        Ok(is_plain && self.with_work(workspace, &files.links)?.is_empty())
    }

    /// Moves the workspace back from its HEAD `from` to `to`, and its branch in the user's repository too.
    /// The caller has kept `from`. Otherwise as [`Repository::move_workspace`].
    ///
    /// # Errors
    /// As [`Repository::move_workspace`]; [`Error::RefMoved`].
    pub fn put_back(&self, workspace: &Workspace, from: &Oid, to: &Oid) -> Result<Moved> {
        let moved = self.move_workspace(workspace, from, to)?;
        if moved == Moved::There && self.branch_tip(&workspace.branch())?.as_ref() == Some(from) {
            self.move_branch(workspace, from, to)?;
        }
        Ok(moved)
    }

    /// Keeps what is in the workspace as the work of a ticket, and lets the workspace show `to` again,
    /// whatever is under way there: its HEAD, its branch, its index and its files, and its branch in the
    /// user's repository. An operation of git's ends, and repositories inside of it go; ignored files stay.
    /// Safe to repeat after a kill at any point.
    ///
    /// No process of an agent may be running there.
    ///
    /// # Errors
    /// [`Error::Unsaved`] where something cannot be kept, and nothing has changed;
    /// [`Error::WorkspaceMissing`], [`Error::Io`], [`Error::Failed`], [`Error::RefMoved`].
    pub fn clear_workspace(&self, workspace: &Workspace, owner: &Id, to: &Oid) -> Result<()> {
        let Rescue {
            rescued,
            work,
            inside,
            ..
        } = self.rescue_all(workspace)?;
        if !rescued.unsaved.is_empty() {
            return Err(Error::Unsaved {
                workspace: workspace.path(),
                left: rescued.unsaved,
            });
        }
        if work != *to {
            self.keep_attempt(owner, &work)?;
        }
        let _claim = workspace.claim()?;
        for folder in inside {
            self.delete_or_part(
                workspace.root(),
                &workspace.path().join(folder),
                &workspace.name(),
            )?;
        }
        let note = format!("{CLEARED} {work} {to}");
        atomic_write::replace(&workspace.beside().join(NOTE), note.as_bytes())?;
        failpoint::hit("clear.noted");
        self.finish_move(workspace)
    }

    /// A commit of all that is in the workspace, whatever is under way there. Nothing in it changes, nor does
    /// its branch.
    ///
    /// # Errors
    /// [`Error::Unsaved`] where something cannot be kept; [`Error::WorkspaceMissing`], [`Error::Io`],
    /// [`Error::Failed`].
    pub fn work_as_it_is(&self, workspace: &Workspace) -> Result<Oid> {
        let Rescue { rescued, work, .. } = self.rescue_all(workspace)?;
        if rescued.unsaved.is_empty() {
            return Ok(work);
        }
        Err(Error::Unsaved {
            workspace: workspace.path(),
            left: rescued.unsaved,
        })
    }

    /// Lets the workspace show `to`; its files are those of `work`, or half of `to` already.
    fn show_cleared(&self, workspace: &Workspace, work: &Oid, to: &Oid) -> Result<()> {
        let files = self.checkout_of(workspace, work)?;
        files.move_by(&["--reset", "-u"], &[to])?;
        let (root, place) = (workspace.open()?, workspace.path().join(".git"));
        let head = format!("ref: {}\n", workspace.branch().full());
        openat::replace(&root, Path::new(".git/HEAD"), head.as_bytes()).doing("write", place.join("HEAD"))?;
        // No link is on the way there.
        openat::folder(&root, Path::new(".git")).doing("open", &place)?;
        for name in OPERATION {
            delete_tree(&place.join(name))?;
        }
        failpoint::hit("clear.filled");
        if let Some(tip) = self.branch_tip(&workspace.branch())? {
            self.move_branch(workspace, &tip, to)?;
        }
        // Marks of the agent's own index would hide files from its git that crew has written anew.
        self.show_moved(workspace, &files, to, None)
    }

    /// Moves the workspace's branch in the user's repository. One that a checkout of the user's shows stays
    /// where it is.
    ///
    /// # Errors
    /// [`Error::Failed`], [`Error::RefMoved`].
    pub fn move_branch(&self, workspace: &Workspace, from: &Oid, to: &Oid) -> Result<()> {
        let branch = workspace.branch();
        if !self.checkouts_of(&branch)?.is_empty() {
            return Ok(());
        }
        self.move_ref(&branch.full(), Some(from), Some(to), "crew: move the workspace")
    }

    /// Merges `tip` on the workspace's HEAD `onto`, under the attributes of the commit from which the work
    /// there began: those that an agent has written choose no merge driver. Moves nothing; the same input
    /// gives the same commit.
    ///
    /// # Errors
    /// As [`Repository::candidate`].
    pub fn merge_for(
        &self,
        workspace: &Workspace,
        [onto, tip]: [&Oid; 2],
        message: &Message,
        by: &Identity,
        at: Time,
    ) -> Result<std::result::Result<Oid, Outcome>> {
        let tree = match self.merge_under(workspace.base(), None, onto, tip)? {
            Ok(tree) => tree,
            Err(conflict) => return Ok(Err(conflict)),
        };
        let merged = self.merge_commit(&tree, [onto, tip], message, [by, by], at)?;
        Ok(Ok(merged))
    }

    /// Finishes a move that was begun. The caller holds the workspace's lock.
    pub(crate) fn finish_move(&self, workspace: &Workspace) -> Result<()> {
        let note = workspace.beside().join(NOTE);
        let noted = match std::fs::read_to_string(&note) {
            Ok(noted) => noted,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io("read", note, error)),
        };
        let unreadable = || Error::unreadable("moving", noted.clone());
        let cleared = noted.strip_prefix(CLEARED).map(str::trim_start);
        let (from, to) = cleared.unwrap_or(&noted).split_once(' ').ok_or_else(unreadable)?;
        let (from, to) = (Oid::parse(from)?, Oid::parse(to)?);
        if cleared.is_some() {
            return self.show_cleared(workspace, &from, &to);
        }
        if AgentRefs::of(workspace)?.head()?.as_ref() == Ok(&from) {
            let files = self.checkout_of(workspace, &from)?;
            // Files that are half written are no edits of anybody's.
            if files.move_by(&["-m", "-u"], &[&from, &to]).is_err() {
                files.move_by(&["--reset", "-u"], &[&to])?;
            }
            let own = self.agents_index_at(workspace, &to);
            return self.show_moved(workspace, &files, &to, own);
        }
        remove_if_there(&note)
    }

    /// Lets the workspace's branch and index (`own`, or crew's) show the files as they are now. The branch
    /// comes last: until then the move is to be finished.
    fn show_moved(
        &self,
        workspace: &Workspace,
        files: &Checkout<'_>,
        to: &Oid,
        own: Option<Vec<u8>>,
    ) -> Result<()> {
        failpoint::hit("move.filled");
        let root = workspace.open()?;
        let index = own.map_or_else(|| std::fs::read(&files.index).doing("read", &files.index), Ok)?;
        let place = || workspace.path().join(".git");
        openat::replace(&root, Path::new(".git/index"), &index).doing("write", place().join("index"))?;
        let name = Path::new(".git").join(workspace.branch().full());
        let folder = name.parent().unwrap_or(&name);
        openat::made_folder(&root, folder).doing("make", place())?;
        openat::replace(&root, &name, format!("{to}\n").as_bytes()).doing("write", place())?;
        failpoint::hit("move.moved");
        std::fs::rename(&files.index, workspace.index()).ok();
        remove_if_there(&workspace.beside().join(NOTE))
    }

    /// The files of a workspace whose HEAD is `at`, with an index of crew's own.
    fn checkout_of<'a>(&'a self, workspace: &Workspace, at: &Oid) -> Result<Checkout<'a>> {
        let index = new_index(workspace)?;
        // Known file times save reading what did not change.
        crate::workspace::index::copy(&workspace.index(), &index).ok();
        let checkout = Checkout {
            repository: self,
            files: self.files_of(workspace.base())?,
            tree: workspace.path(),
            index,
        };
        let read = || checkout.move_by(&["-m", "-i"], &[at]);
        if read().is_err() {
            remove_if_there(&checkout.index)?;
            read()?;
        }
        checkout.call("update-index").args(["-q", "--refresh"]).run()?;
        Ok(checkout)
    }
}

/// The files of a workspace, as crew's git sees them.
struct Checkout<'a> {
    repository: &'a Repository,
    files: crate::repository::file_settings::FilesOf,
    tree: PathBuf,
    index: tempfile::TempPath,
}

impl Checkout<'_> {
    fn call(&self, subcommand: &'static str) -> Call {
        self.repository
            .call_for_files(subcommand, &self.files)
            .work_tree(&self.tree)
            .throwaway_index(&self.index)
            .deadline(Duration::from_secs(600))
    }

    fn move_by(&self, how: &[&str], commits: &[&Oid]) -> Result<Vec<u8>> {
        self.call("read-tree")
            .args(how)
            .args(["--no-sparse-checkout", "--end-of-options"])
            .args(commits.iter().map(|oid| oid.as_str()))
            .ok()
    }
}
