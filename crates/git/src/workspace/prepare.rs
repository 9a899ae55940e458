//! Making a workspace.

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use crate::error::{Error, IoContext, Result};
use crate::repository::Repository;
use crate::repository::git_dir::Layout;
use crate::types::oid::Oid;
use crate::workspace::{INSTRUCTIONS, MADE, Spec, Workspace};

impl Repository {
    /// Makes the workspace, or finds it as it was made. Its branch is checked out at the start and exists in
    /// the user's repository too, and the base is pinned there. Safe to repeat after a kill at any point: the
    /// folder appears by one rename, whole. Any number may be made at once.
    ///
    /// # Errors
    /// [`Error::WorkspaceTaken`] if the folder is of another attempt; [`Error::BranchTaken`] if the branch
    /// exists somewhere else than the start; [`Error::BranchShown`] if a person has it checked out;
    /// [`Error::NoSuchCommit`]; [`Error::Io`].
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
        // Even a branch that is at the start: the agent's commits would show in that checkout as edits.
        if !stands
            && self.branch_tip(&branch)?.is_some()
            && let Some(checkout) = self.checkouts_of(&branch)?.pop()
        {
            return Err(Error::BranchShown {
                branch: branch.short().to_owned(),
                checkout: checkout.root,
            });
        }
        // Only a branch that has its pin was made for this attempt: with a pin, a person's would be taken for
        // it, and go with the workspace.
        if !stands
            && self.ref_at(&workspace.base_ref())?.is_none()
            && let Some(now) = self.branch_tip(&branch)?.filter(|now| *now != spec.start)
        {
            return Err(Error::BranchTaken {
                branch: branch.short().to_owned(),
                now,
            });
        }
        self.require_commits(&[&spec.base, &spec.start])?;
        self.pin(&workspace.base_ref(), &spec.base, "crew: base")?;
        match self.move_ref(&branch.full(), None, Some(&spec.start), "crew: workspace") {
            Ok(()) => {}
            // The workspace was made before, and the work has gone on since.
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

    /// The commit of the target that a workspace's files were made from: where the work goes on with earlier
    /// work, the base is a later one, whose files are not there.
    ///
    /// # Errors
    /// [`Error::Failed`] when the commit is gone from which the work started.
    pub fn made_from(&self, workspace: &Workspace) -> Result<Oid> {
        // A workspace without a record was never handed to an agent.
        let start = workspace.started_at()?.unwrap_or_else(|| workspace.base.clone());
        Ok(self
            .fork(&start, &workspace.base)?
            .unwrap_or_else(|| workspace.base.clone()))
    }

    /// Makes pin and branch in one transaction if neither exists yet; git checks that both name commits. The
    /// pin comes first: a branch without it would have an unknown base.
    fn begin(&self, workspace: &Workspace) -> Result<bool> {
        let (pin, branch) = (workspace.base_ref(), workspace.branch().full());
        let (base, start) = (Some(&workspace.base), Some(&workspace.start));
        let is_new = |name: &str| self.ref_file(name) == Some(None);
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
        crate::files::atomic_write::replace(&record, workspace.record().as_bytes())?;
        failpoint::hit("prepare.recorded");
        std::fs::rename(&tree, workspace.path()).doing("put in place", workspace.path())?;
        failpoint::hit("prepare.renamed");
        Ok(workspace)
    }

    fn build(&self, workspace: &Workspace, tree: &Path, instructions: &[u8]) -> Result<()> {
        let git_dir = tree.join(".git");
        let files = self.files_of(&workspace.base)?;
        let layout = Layout {
            files: &files,
            head: format!("ref: {}", workspace.branch().full()),
            refs: vec![(workspace.branch().full(), workspace.start.clone())],
            identity: &workspace.identity,
            excludes: &workspace.excludes,
            users: self.common_dir(),
        };
        self.write_git_dir(&git_dir, &layout)?;
        let told = git_dir.join(INSTRUCTIONS);
        std::fs::write(&told, instructions).doing("write", &told)?;
        failpoint::hit("prepare.gitdir");
        let index = git_dir.join("index");
        let fill = |how: &str| {
            self.call_for_files("read-tree", &files)
                .work_tree(tree)
                .throwaway_index(&index)
                .deadline(std::time::Duration::from_secs(600))
                .args([how, "-u", "--no-sparse-checkout", "--end-of-options"])
                .arg(workspace.start.as_str())
                .ok()
        };
        match self.take_pooled(workspace, tree) {
            Some(kept) => {
                std::fs::rename(&kept, &index).doing("take", &kept)?;
                failpoint::hit("prepare.pooled");
                fill("--reset")?;
            }
            None => {
                fill("-m")?;
            }
        }
        self.mark_untouched(&files, tree, &index)?;
        let pooled = workspace.beside().join("pooled");
        self.delete_or_part(workspace.root(), &pooled, &workspace.name())?;
        crate::workspace::index::copy(&index, &workspace.index())?;
        self.fill_workspace_submodules(workspace, tree)
    }
}
