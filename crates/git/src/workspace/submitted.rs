//! The files of a workspace as its agent has submitted them: a step that has to be stopped after that may
//! have changed them since.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::files::atomic_write;
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::paths::path_of;
use crate::types::refusal::Limits;
use crate::workspace::Workspace;
use crate::workspace::snapshot::Excess;

/// The file beside a workspace that has the last submission: the run, the way, the tree, and the files that
/// had changed already, each ended by a NUL.
const SUBMITTED: &str = "submitted";
const CALLED: &[u8] = b"called";
const PRINTED: &[u8] = b"printed";

/// A submission of work, while its step runs.
#[derive(Clone, Copy, Debug)]
pub struct Submission<'a> {
    /// The run.
    pub run: &'a str,
    /// The time at which the agent made it. A file that is younger was changed after it.
    pub at: SystemTime,
    /// True if the agent has called for it: that stands, whatever the run prints. What it printed stands
    /// until it calls.
    pub is_called: bool,
}

impl Repository {
    /// Notes the files of the workspace as those of a submission, unless the run has made one that stands.
    /// Processes of the agent may be at work meanwhile. Neither files nor branch are touched.
    ///
    /// # Errors
    /// [`Error::WorkspaceMissing`], [`Error::Io`], [`Error::Deadline`], [`Error::Failed`].
    pub fn note_submitted(&self, workspace: &Workspace, made: Submission<'_>, limits: &Limits) -> Result<()> {
        let tree = self.files_now(workspace, limits)?;
        if let Some(before) = Noted::read(workspace, made.run)?
            && (before.is_called || !made.is_called)
        {
            return Ok(());
        }
        let since = made.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changes = self.changes(workspace.base(), &tree)?;
        let is_younger = |path: &PathBuf| {
            let meta = workspace.path().join(path).symlink_metadata();
            meta.is_ok_and(|meta| changed_at(&meta) > since)
        };
        let way = if made.is_called { CALLED } else { PRINTED };
        let mut note = [made.run.as_bytes(), way, tree.as_str().as_bytes()].join(&0);
        for path in changes.into_iter().map(|change| change.path).filter(is_younger) {
            note.push(0);
            note.extend(path.as_os_str().as_bytes());
        }
        atomic_write::replace(&workspace.beside().join(SUBMITTED), &note)
    }

    /// The files that have changed since a run has submitted them, in order; none where it has submitted
    /// nothing. Ignored files are none, and neither is a file that is as it was. No process of the agent may
    /// be running.
    ///
    /// # Errors
    /// [`Error::WorkspaceMissing`], [`Error::Io`], [`Error::Deadline`], [`Error::Failed`].
    pub fn changed_since_submitted(
        &self,
        workspace: &Workspace,
        run: &str,
        limits: &Limits,
    ) -> Result<Vec<PathBuf>> {
        let Some(noted) = Noted::read(workspace, run)? else {
            return Ok(Vec::new());
        };
        let now = self.files_now(workspace, limits)?;
        let changed = self
            .changes(&noted.tree, &now)?
            .into_iter()
            .map(|change| change.path);
        let all: BTreeSet<PathBuf> = changed.chain(noted.younger).collect();
        Ok(all.into_iter().collect())
    }

    /// The tree of what would be committed of the workspace now.
    fn files_now(&self, workspace: &Workspace, limits: &Limits) -> Result<Oid> {
        // The claim would make the folder that holds all workspaces, and nobody would see that it is away.
        if !workspace.exists() {
            return Err(Error::WorkspaceMissing {
                path: workspace.path(),
            });
        }
        let _claim = workspace.claim()?;
        let parent = self.last_known(workspace)?;
        let snapshot = self.snapshot_of_work(workspace, &parent, limits, Excess::LeftOut)?;
        snapshot
            .tree
            .map_or_else(|| self.tree_of(&parent).map(|tree| tree.0), Ok)
    }
}

/// The last submission of a run.
struct Noted {
    is_called: bool,
    tree: Oid,
    younger: Vec<PathBuf>,
}

impl Noted {
    /// None where nothing is noted, or the submission of another run.
    fn read(workspace: &Workspace, of: &str) -> Result<Option<Self>> {
        let path = workspace.beside().join(SUBMITTED);
        let note = match std::fs::read(&path) {
            Ok(note) => note,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", path, error)),
        };
        let mut fields = note.split(|byte| *byte == 0);
        let (Some(run), Some(way), Some(tree)) = (fields.next(), fields.next(), fields.next()) else {
            return Err(Error::unreadable("submission", String::from_utf8_lossy(&note)));
        };
        if run != of.as_bytes() {
            return Ok(None);
        }
        Ok(Some(Self {
            is_called: way == CALLED,
            tree: Oid::parse(&String::from_utf8_lossy(tree))?,
            younger: fields.map(|path| path_of(path).to_owned()).collect(),
        }))
    }
}

/// When the system last changed a file: a copy may have the time of its original, but not this one.
fn changed_at(meta: &std::fs::Metadata) -> Duration {
    let seconds = u64::try_from(meta.ctime()).unwrap_or_default();
    let nanos = u32::try_from(meta.ctime_nsec()).unwrap_or_default();
    Duration::new(seconds, nanos)
}
