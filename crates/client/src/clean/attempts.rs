//! The traces of attempts beside the journal: workspaces, branches, pins.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::DirEntry;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git::{Oid, Repository, Undeletable};
use model::view::{AttemptSummary, Snapshot, Summaries};
use model::{AgentName, TicketId};
use store::Ledger;

use crate::error::{Doing as _, Result};
use crate::workspaces;

/// Every attempt that there ever was. Each of them may have left something: an attempt ends before its
/// workspace is removed, and an engine may have been killed in between.
pub(super) struct Made<'a> {
    /// The last attempt of an agent at a ticket, by the name of its workspace and branch.
    by_name: BTreeMap<String, Arc<Attempt>>,
    /// All of them, by ticket and number.
    all: BTreeMap<(TicketId, u32), Arc<Attempt>>,
    crew: &'a Snapshot,
}

/// As much of an attempt as its workspace is known by.
struct Attempt {
    agent: AgentName,
    ticket: TicketId,
    number: u32,
    base: Option<model::Oid>,
}

/// A branch that has the name of an attempt's, and stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBranch {
    /// Its name.
    pub branch: String,
    /// Whether crew made it: a checkout of a person's shows it.
    pub is_crews: bool,
}

/// The rest of the workspaces' folder.
pub(super) struct Left {
    /// Archived workspaces, which are the only copy of something, and files that were never crew's.
    pub(super) kept_folders: Vec<PathBuf>,
    /// The parts that may not be deleted.
    pub(super) undeletable: Vec<Undeletable>,
}

impl<'a> Made<'a> {
    /// `crew` has no archived tickets.
    pub(super) async fn of(ledger: Option<&Ledger>, crew: &'a Snapshot) -> Result<Self> {
        let mut all = BTreeMap::new();
        let mut add = |work: &AttemptSummary| {
            let attempt = Attempt {
                agent: work.agent.clone(),
                ticket: work.ticket.clone(),
                number: work.attempt,
                base: work.base.clone(),
            };
            all.insert((work.ticket.clone(), work.attempt), Arc::new(attempt));
        };
        if let Some(ledger) = ledger {
            let of_past = |_: &TicketId, summaries: &Summaries| summaries.attempts.iter().for_each(&mut add);
            ledger.attempt_summaries(crew, of_past).await?;
        }
        crew.attempts.values().for_each(add);
        let named = all
            .values()
            .map(|attempt| (format!("{}-{}", attempt.agent, attempt.ticket), attempt.clone()));
        Ok(Self {
            by_name: named.collect(),
            all,
            crew,
        })
    }

    fn knows(&self, ticket: &TicketId) -> bool {
        self.crew.tickets.contains_key(ticket) || self.crew.archived.tickets.contains(ticket)
    }

    /// The workspaces that are there, by name, each with its folder.
    pub(super) fn workspaces(&self, workspaces: &Path) -> Result<Vec<(String, PathBuf)>> {
        let entries = listed(workspaces)?.into_iter();
        let named = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
        Ok(named
            .filter(|(name, _)| self.by_name.contains_key(name))
            .collect())
    }

    /// Keeps the work that they hold, and removes them. Work that is in `target` need not be kept. Gives the
    /// branches that stay although they have the name of an attempt's.
    pub(super) fn remove(
        &self,
        repository: &Repository,
        workspaces: &Path,
        target: Option<&Oid>,
    ) -> Result<Vec<KeptBranch>> {
        for entry in listed(workspaces)? {
            let name = entry.file_name();
            let Some(of) = name.to_str().and_then(|name| self.by_name.get(name)) else {
                continue;
            };
            let is_folder = entry.file_type().doing("look at", entry.path())?.is_dir();
            let whose = (&of.agent, &of.ticket);
            if !is_folder || !workspaces::is_crews(workspaces, whose)? {
                continue;
            }
            let base = workspaces::base_of(repository, &of.ticket, of.base.as_ref())?;
            let workspace = workspaces::workspace_of(workspaces, whose, of.number, &base)?;
            workspaces::workspace(repository, &workspace)?;
            failpoint::hit("clean.workspace");
        }
        let mut crews = BTreeSet::new();
        for pin in repository.pins()? {
            let Ok(ticket) = TicketId::try_from(pin.ticket.clone()) else {
                continue;
            };
            let is_known = self.knows(&ticket);
            let of = pin.attempt.and_then(|number| self.all.get(&(ticket, number)));
            if let Some(of) = of {
                let whose = (&of.agent, &of.ticket);
                let workspace = workspaces::workspace_of(workspaces, whose, of.number, &pin.commit)?;
                repository.forget_workspace(&workspace, target)?;
                crews.insert(workspace.branch());
            } else if is_known {
                repository.forget_pin(&pin)?;
            }
        }
        for pin in repository.candidate_pins()? {
            if TicketId::try_from(pin.ticket.clone()).is_ok_and(|ticket| self.knows(&ticket)) {
                repository.forget_candidate_pin(&pin)?;
            }
        }
        // crew makes a branch with the pin of its base, and removes the pin last: a branch without one is
        // somebody's who gave it such a name.
        let branches = repository.agent_branches()?.into_iter();
        let named = branches.map(|(branch, _)| branch).filter(|branch| {
            let name = branch.short().strip_prefix("agent/");
            name.is_some_and(|name| self.by_name.contains_key(name))
        });
        Ok(named
            .map(|branch| KeptBranch {
                is_crews: crews.contains(&branch),
                branch: branch.short().to_owned(),
            })
            .collect())
    }

    /// Removes the files that crew keeps next to its workspaces. Returns the rest of their folder: an
    /// archived workspace that is the only copy of something, or files that were never crew's.
    pub(super) fn sweep(&self, repository: &Repository, workspaces: &Path) -> Result<Left> {
        repository.clear_pool(workspaces)?;
        let undeletable = repository.clear_undeletable(workspaces);
        let parted: BTreeSet<&Path> = undeletable
            .iter()
            .filter_map(|left| left.folder.parent())
            .collect();
        let mut kept_folders = Vec::new();
        for entry in listed(workspaces)? {
            let name = entry.file_name();
            let beside = name.to_str().and_then(|name| name.strip_prefix('.'));
            if beside.is_some_and(|name| self.by_name.contains_key(name)) {
                git::delete_tree(&entry.path())?;
            } else if !parted.contains(entry.path().as_path()) {
                kept_folders.push(entry.path());
            }
        }
        Ok(Left {
            kept_folders,
            undeletable,
        })
    }
}

/// The entries of the workspaces' folder, by name; nothing if there is no such folder.
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
