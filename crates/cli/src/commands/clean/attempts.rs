//! What attempts have made beside the journal: workspaces, branches, pins.

use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use git::{Oid, Repository};
use model::TicketId;
use model::view::{Crew, Work};

use crate::error::{Doing as _, Result};
use crate::put_away;

/// Every attempt that there ever was. Of any of them something may be left: that an attempt is over is decided before its
/// workspace is removed, and an engine may have been killed in between.
pub(super) struct Made<'a> {
    /// The last attempt of an agent at a ticket, by the name of its workspace and branch.
    by_name: BTreeMap<String, &'a Work>,
    crew: &'a Crew,
}

impl<'a> Made<'a> {
    pub(super) fn of(crew: &'a Crew) -> Self {
        let named = crew
            .works
            .values()
            .map(|work| (format!("{}-{}", work.agent, work.ticket), work));
        Self {
            by_name: named.collect(),
            crew,
        }
    }

    /// Keeps what they hold, and takes them away. `target`: what is in it need not be kept.
    pub(super) fn put_away(
        &self,
        repository: &Repository,
        workspaces: &Path,
        target: Option<&Oid>,
    ) -> Result<()> {
        for entry in listed(workspaces)? {
            let name = entry.file_name();
            let Some(work) = name.to_str().and_then(|name| self.by_name.get(name)) else {
                continue;
            };
            let is_folder = entry.file_type().doing("look at", entry.path())?.is_dir();
            if !is_folder || !put_away::is_crews(workspaces, (&work.agent, &work.ticket))? {
                continue;
            }
            let base = put_away::base_of(repository, &work.ticket, work.base.as_ref())?;
            let whose = (&work.agent, &work.ticket);
            let workspace = put_away::workspace_of(workspaces, whose, work.attempt, &base)?;
            put_away::workspace(repository, &workspace)?;
        }
        for pin in repository.pins()? {
            let Ok(ticket) = TicketId::try_from(pin.ticket.clone()) else {
                continue;
            };
            let is_known = self.crew.tickets.contains_key(&ticket);
            let of = pin
                .attempt
                .and_then(|number| self.crew.works.get(&(ticket, number)));
            if let Some(work) = of {
                let whose = (&work.agent, &work.ticket);
                let workspace = put_away::workspace_of(workspaces, whose, work.attempt, &pin.commit)?;
                repository.forget_workspace(&workspace, target)?;
            } else if is_known {
                repository.forget_pin(&pin)?;
            }
        }
        for (branch, tip) in repository.agent_branches()? {
            let of = branch.short().strip_prefix("agent/");
            if let Some(work) = of.and_then(|name| self.by_name.get(name)) {
                put_away::branch(repository, (&branch, &tip), &work.ticket, target)?;
            }
        }
        Ok(())
    }

    /// Removes what crew keeps beside its workspaces, and their folder when nothing else is in it. Gives what is: a workspace that
    /// was set aside, as all that there is of something, or what was never crew's.
    pub(super) fn sweep(&self, repository: &Repository, workspaces: &Path) -> Result<Vec<PathBuf>> {
        repository.clear_spares(workspaces)?;
        let mut left = Vec::new();
        for entry in listed(workspaces)? {
            let name = entry.file_name();
            let beside = name.to_str().and_then(|name| name.strip_prefix('.'));
            if beside.is_some_and(|name| self.by_name.contains_key(name)) {
                git::delete_tree(&entry.path())?;
            } else {
                left.push(entry.path());
            }
        }
        match std::fs::remove_dir(workspaces) {
            // What somebody has put there, and a link to where they want the workspaces, is theirs.
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::DirectoryNotEmpty => Ok(left),
                _ => Err(error).doing("remove", workspaces),
            },
            Ok(()) => Ok(left),
        }
    }
}

/// What is in the workspaces' folder, by name; nothing if there is no such folder.
fn listed(folder: &Path) -> Result<Vec<DirEntry>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.doing("list", folder)?,
    };
    let mut listed = entries
        .collect::<std::io::Result<Vec<_>>>()
        .doing("list", folder)?;
    listed.sort_by_key(DirEntry::file_name);
    Ok(listed)
}
