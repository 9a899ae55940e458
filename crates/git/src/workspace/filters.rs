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
    /// filter, but only attributes of the agent's name it; or only the workspace has it.
    pub(crate) fn unfiltered(
        &self,
        workspace: &Workspace,
        parent: &Oid,
        commit: &Oid,
    ) -> Result<Vec<Refusal>> {
        let before = self.files_of(workspace.base())?;
        let agents = self.agents_filters(workspace, &before)?;
        let since_base = self.changes(workspace.base(), commit)?;
        if agents.is_empty() && !since_base.iter().any(|change| is_attributes(&change.path)) {
            return Ok(Vec::new());
        }
        let after = self.files_of(commit)?;
        let changes = self.changes(parent, commit)?;
        let saved = changes.iter().filter(|change| change.new.is_some());
        let paths = saved.map(|change| change.path.as_path());
        // Attributes that are in no commit count only for a filter that nobody else has.
        let hidden = match agents.is_empty() {
            true => None,
            false => self.agents_attributes(workspace)?,
        };
        let filters = self.filters_under(commit, hidden.as_deref(), paths)?;
        let refused = filters.into_iter().filter(|(_, filter)| !before.has(filter));
        let refusal = |(path, filter): (PathBuf, String)| match after.has(&filter) {
            true => Some(Refusal::NewFilter { path, filter }),
            false => agents
                .contains(&filter)
                .then_some(Refusal::AgentsFilter { path, filter }),
        };
        Ok(refused.filter_map(refusal).take(100).collect())
    }

    /// The filters that a commit's attributes give to paths.
    pub(crate) fn filters_for<'p>(
        &self,
        commit: &Oid,
        paths: impl Iterator<Item = &'p Path>,
    ) -> Result<BTreeMap<PathBuf, String>> {
        self.filters_under(commit, None, paths)
    }

    /// The same, with a file of attributes that are weaker than those of the commit.
    fn filters_under<'p>(
        &self,
        commit: &Oid,
        further: Option<&Path>,
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
        let mut call = self.call("check-attr").attributes_from(commit.as_str());
        if let Some(further) = further {
            call = call.config(&format!("core.attributesFile={}", further.display()));
        }
        let said = call.args(["-z", "--stdin", "filter"]).input(&asked)?.ok()?;
        let answers: Vec<&[u8]> = fields(&said).collect();
        let pair = |answer: &[&[u8]]| {
            let filter = String::from_utf8_lossy(answer[2]).into_owned();
            (path_of(answer[0]).to_owned(), filter)
        };
        Ok(answers.chunks_exact(3).map(pair).collect())
    }
}
