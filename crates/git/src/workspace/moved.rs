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
use crate::files::openat;
use crate::landing::candidate::{Message, Outcome};
use crate::repository::Repository;
use crate::types::id::Id;
use crate::types::identity::{Identity, Time};
use crate::types::oid::Oid;
use crate::workspace::Workspace;
use crate::workspace::agent_refs::AgentRefs;
use crate::workspace::save::Rescue;
use crate::workspace::snapshot::new_index;

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
        if head.as_ref() != Some(from) {
            return Ok(Moved::Elsewhere);
        }
        let branch = workspace.branch();
        if refs.branch() != Some(branch.full()) {
            return Ok(Moved::InTheWay {
                why: format!("its HEAD is not on the branch {}", branch.short()),
            });
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
        self.show_moved(workspace, &files, to)?;
        Ok(Moved::There)
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
        self.show_moved(workspace, &files, to)
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
            return self.show_moved(workspace, &files, &to);
        }
        remove_if_there(&note)
    }

    /// Lets the workspace's branch and index show the files as they are now. The branch comes last: until
    /// then the move is to be finished.
    fn show_moved(&self, workspace: &Workspace, files: &Checkout<'_>, to: &Oid) -> Result<()> {
        failpoint::hit("move.filled");
        let root = workspace.open()?;
        let own = self.agents_index_at(workspace, to);
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
