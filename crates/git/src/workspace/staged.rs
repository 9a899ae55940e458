//! Staged work: content that an agent had staged and has changed since, so that only its index holds it.

use std::collections::BTreeSet;

use crate::error::{IoContext, Result};
use crate::repository::Repository;
use crate::types::change::Change;
use crate::types::oid::Oid;
use crate::types::paths::path_of;
use crate::types::refusal::Limits;
use crate::workspace::Workspace;
use crate::workspace::import::is_refused;
use crate::workspace::index::{self, Listed, Staged};

impl Repository {
    /// Lists the workspace's index, read as bytes; `None` where there is none that git wrote for a checkout.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn agents_index(&self, workspace: &Workspace) -> Result<Option<Listed>> {
        let content = self.read_agents_index(workspace)?;
        Ok(content.and_then(|(content, _)| index::list(&content, self.format())))
    }

    /// Makes a commit on `parent` of the staged content that is neither in `parent` nor in `tree`, the
    /// workspace's files; `None` when there is no such content.
    ///
    /// # Errors
    /// [`Error::Refused`] when it is too much; [`Error::Failed`], [`Error::Io`].
    pub(crate) fn staged(
        &self,
        workspace: &Workspace,
        parent: &Oid,
        tree: Option<&Oid>,
        limits: &Limits,
    ) -> Result<Option<Oid>> {
        let Some(Listed {
            files, tree: root, ..
        }) = self.agents_index(workspace)?
        else {
            return Ok(None);
        };
        // Nearly always all staged content was committed, or is in the files.
        if let Some(root) = root
            && (tree == Some(&root) || self.tree_of(parent)?.0 == root)
        {
            return Ok(None);
        }
        let mut known = self.files(parent)?;
        if let Some(tree) = tree {
            known.extend(self.files(tree)?);
        }
        let limits = limits.for_kept_work();
        let is_sound = |entry: &Staged| {
            let change = Change {
                path: path_of(&entry.path).to_path_buf(),
                old: None,
                new: Some((entry.mode, entry.oid.clone())),
            };
            !is_refused(&change, &limits)
        };
        let only: Vec<Staged> = files
            .into_iter()
            .filter(|entry| !known.contains(&(entry.path.clone(), entry.oid.clone())) && is_sound(entry))
            .collect();
        if only.is_empty() {
            return Ok(None);
        }
        self.bring_staged(workspace, parent, only, &limits)
    }

    /// The files of a commit or a tree: path and content.
    fn files(&self, of: &Oid) -> Result<BTreeSet<(Vec<u8>, Oid)>> {
        let listed = self
            .call("ls-tree")
            .args(["-r", "-z", "--full-tree", of.as_str()])
            .ok()?;
        let file = |line: &[u8]| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let oid = line[..tab].rsplit(|byte| *byte == b' ').next()?;
            Some((line[tab + 1..].to_vec(), Oid::from_bytes(oid).ok()?))
        };
        Ok(listed.split(|byte| *byte == 0).filter_map(file).collect())
    }

    fn bring_staged(
        &self,
        workspace: &Workspace,
        parent: &Oid,
        mut staged: Vec<Staged>,
        limits: &Limits,
    ) -> Result<Option<Oid>> {
        let view = self.agents_objects(workspace)?;
        let index = tempfile::Builder::new()
            .prefix("staged-")
            .tempfile_in(workspace.beside())
            .doing("write in", workspace.beside())?
            .into_temp_path();
        std::fs::remove_file(&index).doing("write", &index)?;
        let call = |subcommand| {
            self.call(subcommand)
                .alternate(view.path())
                .throwaway_index(&index)
                .deadline(limits.deadline)
        };
        // An index may name an object that was never there.
        let asked: String = staged.iter().map(|entry| format!("{}\n", entry.oid)).collect();
        let kinds = call("cat-file")
            .arg("--batch-check=%(objecttype)")
            .input(asked.as_bytes())?
            .ok()?;
        let mut kinds = kinds.split(|byte| *byte == b'\n');
        staged.retain(|_| kinds.next() == Some(b"blob"));
        if staged.is_empty() {
            return Ok(None);
        }
        let mut lines = Vec::new();
        for Staged { path, mode, oid, .. } in &staged {
            lines.extend_from_slice(format!("{} {oid}\t", mode.octal()).as_bytes());
            lines.extend_from_slice(path);
            lines.push(0);
        }
        call("read-tree").arg(parent.as_str()).ok()?;
        call("update-index")
            .args(["--add", "--replace", "-z", "--index-info"])
            .input(&lines)?
            .ok()?;
        let tree = call("write-tree").ok_oid()?;
        // A time that is the same at every repetition, so that nothing is kept twice.
        let (who, at) = (workspace.identity(), self.commit_time(parent)?);
        let commit = call("commit-tree")
            .author(who, at)
            .committer(who, Some(at))
            .args([
                "-p",
                parent.as_str(),
                "-m",
                "Work that was staged, and changed since",
            ])
            .arg(tree.as_str())
            .ok_oid()?;
        self.fetch_objects(workspace, &workspace.path(), &commit, limits)?;
        Ok(Some(commit))
    }
}
