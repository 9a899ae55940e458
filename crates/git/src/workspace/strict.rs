//! The strict check of commits that crew makes of an agent's files, by the rules of `receive.fsckObjects`.
//!
//! Commits of the agent are checked as they are fetched. Of those that crew makes, only files that git itself
//! reads can be malicious: `.gitmodules` and its like.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::{Error, IoContext, Result};
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::refusal::{Limits, Refusal};
use crate::types::shortened::shortened;
use crate::workspace::Workspace;

impl Repository {
    /// Checks what a commit has and its parent lacks, if git itself reads any of it.
    pub(crate) fn check_strictly(
        &self,
        workspace: &Workspace,
        commit: &Oid,
        parent: &Oid,
        limits: &Limits,
    ) -> Result<()> {
        let changes = self.changes(parent, commit)?;
        if !changes.iter().any(|change| may_be_gits(&change.path)) {
            return Ok(());
        }
        let beside = workspace.beside();
        let folder = tempfile::Builder::new()
            .prefix("strict-")
            .tempdir_in(&beside)
            .doing("make in", &beside)?;
        let pack = folder.path().join("new.pack");
        let mut file = std::fs::File::create(&pack).doing("write", &pack)?;
        self.call("pack-objects")
            .args(["--revs", "--stdout", "-q", "--no-use-bitmap-index"])
            .input(format!("{commit}\n^{parent}\n").as_bytes())?
            .output_limit(limits.bytes.saturating_add(16 << 20))
            .deadline(limits.deadline)
            .ok_into(&mut file)?;
        let checked = self
            .call("index-pack")
            .args(["--strict", "-o"])
            .arg(folder.path().join("new.idx"))
            .arg(&pack)
            .deadline(limits.deadline)
            .ok();
        match checked {
            Ok(_) => Ok(()),
            Err(Error::Failed { stderr, lacking, .. }) if !lacking => Err(Error::Refused {
                workspace: workspace.path(),
                refusals: vec![Refusal::Unsound {
                    why: shortened(&stderr, 500),
                }],
            }),
            Err(other) => Err(other),
        }
    }
}

/// Whether a path may be a file that git itself reads, on some file system: `.gitmodules`, and names that HFS
/// and NTFS take for it.
fn may_be_gits(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .as_bytes()
        .to_ascii_lowercase();
    name.starts_with(b".git") || name.starts_with(b".mailmap") || name.contains(&b'~') || !name.is_ascii()
}
