//! Filters that attributes of an agent's ask for.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::repository::Repository;
use crate::repository::file_settings::is_attributes;
use crate::types::oid::Oid;
use crate::types::paths::{fields, path_of};
use crate::types::refusal::Refusal;
use crate::workspace::Workspace;

impl Repository {
    /// The files of a commit of crew's that should have gone through a filter and did not: the user has the
    /// filter, but only attributes of the agent's name it.
    pub(crate) fn unfiltered(
        &self,
        workspace: &Workspace,
        parent: &Oid,
        commit: &Oid,
    ) -> Result<Vec<Refusal>> {
        let since_base = self.changes(workspace.base(), commit)?;
        if !since_base.iter().any(|change| is_attributes(&change.path)) {
            return Ok(Vec::new());
        }
        let (before, after) = (self.files_of(workspace.base())?, self.files_of(commit)?);
        let changes = self.changes(parent, commit)?;
        let saved = changes.iter().filter(|change| change.new.is_some());
        let filters = self.filters_for(commit, saved.map(|change| change.path.as_path()))?;
        let refused = filters
            .into_iter()
            .filter(|(_, filter)| after.has(filter) && !before.has(filter));
        Ok(refused
            .map(|(path, filter)| Refusal::NewFilter { path, filter })
            .take(100)
            .collect())
    }

    /// The filters that a commit's attributes give to paths.
    pub(crate) fn filters_for<'p>(
        &self,
        commit: &Oid,
        paths: impl Iterator<Item = &'p Path>,
    ) -> Result<BTreeMap<PathBuf, String>> {
        let mut asked = Vec::new();
        for path in paths {
            asked.extend_from_slice(path.as_os_str().as_bytes());
            asked.push(0);
        }
        if asked.is_empty() {
            return Ok(BTreeMap::new());
        }
        let said = self
            .call("check-attr")
            .attributes_from(commit.as_str())
            .args(["-z", "--stdin", "filter"])
            .input(&asked)?
            .ok()?;
        let answers: Vec<&[u8]> = fields(&said).collect();
        let pair = |answer: &[&[u8]]| {
            let filter = String::from_utf8_lossy(answer[2]).into_owned();
            (path_of(answer[0]).to_owned(), filter)
        };
        Ok(answers.chunks_exact(3).map(pair).collect())
    }
}
