//! Unchanged files: those that an agent's own git does not look into stay as the agent committed them.
//!
//! crew looks at a workspace under the user's settings, and the agent's git under those of the workspace.
//! With a filter, line endings or links of the agent's own, or in a sparse checkout, files that the agent
//! committed differ for crew from their commit. crew runs no program that an agent has chosen, so it believes
//! the agent's index instead, which is data.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, statat};

use crate::error::Result;
use crate::files::openat;
use crate::repository::Repository;
use crate::types::change::Mode;
use crate::types::oid::Oid;
use crate::workspace::Workspace;
use crate::workspace::index::{self, Listed, Moment};
use crate::workspace::snapshot::{Excess, new_index};

/// The greatest configuration of a workspace.
pub(crate) const CONFIG_BYTES: u64 = 1 << 20;

/// A file as the commit has it under which a workspace is looked at, where it differs.
pub(crate) struct Recorded {
    pub(crate) mode: Mode,
    pub(crate) oid: Oid,
    pub(crate) is_gone: bool,
}

/// An agent's view of its files.
struct AgentsView {
    index: Listed,
    written: Moment,
    /// Whether the checkout is a sparse one: git itself then looks at every file that is there, even outside.
    is_sparse: bool,
    /// Whether an edit that the index hides is no change: it is one where work is only kept.
    hides_edits: bool,
}

impl Repository {
    /// Takes away the paths that the agent's own git calls unchanged since the recorded commit.
    pub(crate) fn leave_unchanged(
        &self,
        workspace: &Workspace,
        recorded: &BTreeMap<PathBuf, Recorded>,
        excess: Excess,
        paths: &mut Vec<PathBuf>,
    ) -> Result<()> {
        if recorded.is_empty() {
            return Ok(());
        }
        let Some((content, written)) = self.read_agents_index(workspace)? else {
            return Ok(());
        };
        let Some(index) = index::list(&content, self.format()) else {
            return Ok(());
        };
        let view = AgentsView {
            index,
            written,
            is_sparse: is_sparse(workspace),
            hides_edits: excess == Excess::Refused,
        };
        paths.retain(|path| {
            let recorded = recorded.get(path);
            recorded.is_none_or(|recorded| !view.is_unchanged(&workspace.path(), path, recorded))
        });
        Ok(())
    }

    /// The index with which the agent goes on at `tip`: its own, with all that it says about unchanged files.
    /// `None`: git cannot read it.
    pub(crate) fn agents_index_at(&self, workspace: &Workspace, tip: &Oid) -> Option<Vec<u8>> {
        let (content, _) = self.read_agents_index(workspace).ok()??;
        let copy = new_index(workspace).ok()?;
        std::fs::write(&copy, content).ok()?;
        // git would look into files that were touched in the second of the index, under crew's settings.
        // crew has looked at them.
        let later = SystemTime::UNIX_EPOCH + Duration::from_secs(u32::MAX.into());
        let file = std::fs::File::options().write(true).open(&copy).ok()?;
        file.set_modified(later).ok()?;
        self.call("read-tree")
            .throwaway_index(&copy)
            .args([
                "-m",
                "-i",
                "--no-sparse-checkout",
                "--end-of-options",
                tip.as_str(),
            ])
            .ok()
            .ok()?;
        std::fs::read(&copy).ok()
    }
}

impl AgentsView {
    fn is_unchanged(&self, root: &Path, path: &Path, recorded: &Recorded) -> bool {
        let bytes = path.as_os_str().as_bytes();
        let is_hidden = |is_edit_hidden: bool| recorded.is_gone || (is_edit_hidden && self.hides_edits);
        let is_in = |folder: &Vec<u8>| bytes.starts_with(folder);
        if self.index.sparse_folders.iter().any(is_in) {
            return is_hidden(!self.is_sparse);
        }
        let files = &self.index.files;
        let Ok(at) = files.binary_search_by(|file| file.path[..].cmp(bytes)) else {
            return false;
        };
        let file = &files[at];
        if (file.is_assumed && is_hidden(true)) || (file.is_skipped && is_hidden(!self.is_sparse)) {
            return true;
        }
        let is_untouched = || {
            let stat = statat(CWD, root.join(path), AtFlags::SYMLINK_NOFOLLOW);
            stat.is_ok_and(|stat| file.is_untouched(&stat, self.written))
        };
        !recorded.is_gone && (file.mode, &file.oid) == (recorded.mode, &recorded.oid) && is_untouched()
    }
}

/// Whether the workspace's settings make a sparse checkout of it, as `git sparse-checkout` writes that.
fn is_sparse(workspace: &Workspace) -> bool {
    let Ok(root) = workspace.open() else { return false };
    [".git/config", ".git/config.worktree"].iter().any(|file| {
        let content = openat::read(&root, Path::new(file), CONFIG_BYTES).ok().flatten();
        let mut text = String::from_utf8_lossy(&content.unwrap_or_default()).to_lowercase();
        text.retain(|char| !char.is_whitespace());
        text.contains("sparsecheckout=true")
    })
}
