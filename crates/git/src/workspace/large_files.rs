//! Files that are too large by themselves, in any commit of a branch: many hosts refuse a push with one.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::command::call::Call;
use crate::error::Result;
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::paths::path_of;
use crate::types::refusal::{Limits, Refusal};
use crate::workspace::Workspace;

impl Repository {
    /// The files above the limit that `tip` and its history have and neither `known` nor the target has.
    /// Another version of a file that is as large where the work began is none: the user's host takes it, or
    /// there is none. `call` sees the objects.
    pub(crate) fn large_files(
        &self,
        workspace: &Workspace,
        call: &dyn Fn(&'static str) -> Call,
        tip: &Oid,
        known: &[&Oid],
        limits: &Limits,
    ) -> Result<Vec<Refusal>> {
        let target = match &limits.target {
            Some(target) => self.branch_tip(target)?,
            None => None,
        };
        let known = known.iter().copied().chain(&target);
        let listed = call("rev-list")
            .args(["--objects", "--end-of-options", tip.as_str()])
            .args(known.map(|oid| format!("^{oid}")))
            .output_limit(512 << 20)
            .ok()?;
        let sizes = call("cat-file")
            .arg("--batch-check=%(objecttype) %(objectsize) %(rest)")
            .input(&listed)?
            .output_limit(512 << 20)
            .ok()?;
        let mut refusals = Vec::new();
        for line in sizes.split(|byte| *byte == b'\n') {
            let mut parts = line.splitn(3, |byte| *byte == b' ');
            let (kind, size, path) = (parts.next(), parts.next(), parts.next());
            let size = size.and_then(|size| std::str::from_utf8(size).ok()?.parse::<u64>().ok());
            let (Some(b"blob"), Some(bytes), Some(path)) = (kind, size, path) else {
                continue;
            };
            let path = path_of(path);
            if bytes > limits.file_bytes && !self.is_as_large(workspace.base(), path, limits)? {
                refusals.push(Refusal::LargeFile {
                    path: path.to_owned(),
                    bytes,
                    limit: limits.file_bytes,
                });
            }
        }
        // The largest first.
        refusals.sort_by_key(|refusal| match refusal {
            Refusal::LargeFile { bytes, .. } => std::cmp::Reverse(*bytes),
            _ => std::cmp::Reverse(0),
        });
        refusals.truncate(100);
        Ok(refusals)
    }

    /// The files above the limit that a commit of crew's has and its parent lacks. Files of a workspace are
    /// as large in git, or smaller: a small one needs no look.
    pub(crate) fn large_leftovers(
        &self,
        workspace: &Workspace,
        parent: &Oid,
        commit: &Oid,
        limits: &Limits,
    ) -> Result<Vec<Refusal>> {
        let changes = self.changes(parent, commit)?;
        let size = |path: &Path| {
            workspace
                .path()
                .join(path)
                .symlink_metadata()
                .map_or(0, |meta| meta.len())
        };
        if changes
            .iter()
            .all(|change| size(&change.path) <= limits.file_bytes)
        {
            return Ok(Vec::new());
        }
        let call = |subcommand| self.call(subcommand).deadline(limits.deadline);
        self.large_files(workspace, &call, commit, &[parent], limits)
    }

    /// Whether the commit has a file at this path that is above the limit too.
    fn is_as_large(&self, commit: &Oid, path: &Path, limits: &Limits) -> Result<bool> {
        let name = [
            commit.as_str().as_bytes(),
            b":",
            path.as_os_str().as_bytes(),
            b"\n",
        ]
        .concat();
        let said = self
            .call("cat-file")
            .arg("--batch-check=%(objectsize)")
            .input(&name)?
            .ok()?;
        let size = String::from_utf8_lossy(&said).trim().parse::<u64>();
        Ok(size.is_ok_and(|size| size > limits.file_bytes))
    }
}
