//! The places of the workspaces. Settings and environment say where the next ones belong; existing ones are
//! found where they were made, whatever became of settings, environment and the repository's own place since.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use engine::Report;
use model::settings::Settings;
use model::{AgentName, TicketId};
use process::Run;

use crate::executor::Executor;
use crate::executor::perform::could_not;
use crate::record::{Record, is_gone};
use crate::{Error, Place, Result, folders};

impl Place {
    /// The folder that the workspaces of this repository stand in: where there are some already, else where
    /// [they belong](Place::workspaces_belong).
    ///
    /// # Errors
    /// [`Error::NoStateDir`]; [`Error::WorkspacesElsewhere`].
    pub fn workspaces_dir(&self, settings: &Settings) -> Result<PathBuf> {
        let belong = self.workspaces_belong(settings);
        let Some(record) = Record::read(self)? else {
            return belong;
        };
        let stood = record.workspaces(self);
        if belong.as_ref().is_ok_and(|belong| is_one_folder(belong, &stood)) || !record.is_of(self) {
            return belong;
        }
        match git::holds_workspaces(&stood) {
            Ok(true) => Ok(stood),
            Ok(false) => belong,
            Err(source) => Err(Error::WorkspacesElsewhere {
                folder: stood,
                source,
            }),
        }
    }

    /// The folder that the workspaces of this repository were made in, where there is none any more.
    ///
    /// # Errors
    /// The record of where that was cannot be read.
    pub fn missing_workspaces(&self) -> Result<Option<PathBuf>> {
        let Some(record) = Record::read(self)?.filter(|record| record.is_of(self)) else {
            return Ok(None);
        };
        let stood = record.workspaces(self);
        let is_missing = stood.metadata().is_err_and(|error| is_gone(&error));
        Ok(is_missing.then_some(stood))
    }

    /// The repository of which this one is a copy, with the crew of that one in it; none once an engine has
    /// worked on this one.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn copy_of(&self) -> Result<Option<PathBuf>> {
        let record = Record::read(self)?.filter(|record| !record.is_of(self));
        Ok(record.map(|record| match record.repository.parent() {
            Some(root) if record.repository.ends_with(".git") => root.to_owned(),
            Some(_) | None => record.repository,
        }))
    }

    /// The folder of the tickets that the journal knows, where that is another folder than this place's and
    /// still there: every ticket would seem deleted.
    ///
    /// # Errors
    /// The record of the folder's place cannot be read.
    pub fn other_tickets(&self) -> Result<Option<PathBuf>> {
        let Some(record) = Record::read(self)?.filter(|record| record.is_of(self)) else {
            return Ok(None);
        };
        let (known, given) = (record.tickets(self), &self.tickets_dir);
        let is_gone = known.metadata().is_err_and(|error| is_gone(&error));
        Ok((!is_gone && !is_one_folder(&known, given)).then_some(known))
    }

    /// Where new workspaces belong: the user's state directory, or where the settings put them.
    ///
    /// # Errors
    /// [`Error::NoStateDir`].
    pub fn workspaces_belong(&self, settings: &Settings) -> Result<PathBuf> {
        if let Some(dir) = &settings.workspace_dir {
            return Ok(self.root.join(dir));
        }
        Ok(self.state_dir()?.join(self.repository.folder_name()))
    }

    /// The folder that the checkouts of checks stand in, outside the repository: a check must find nothing of
    /// the user's checkout above its own files.
    ///
    /// # Errors
    /// [`Error::NoStateDir`]; [`Error::ChecksInside`], where the user's state directory is in a checkout.
    pub fn check_slots_dir(&self) -> Result<PathBuf> {
        let folder = self
            .state_dir()?
            .join(format!("{}.checks", self.repository.folder_name()));
        match self.users_folders()?.holding(&folder) {
            Some(root) => Err(Error::ChecksInside {
                root: root.to_owned(),
                folder,
            }),
            None => Ok(folder),
        }
    }

    /// The folder that the throw-away checkouts of gatekeepers stand in, beside those of the checks.
    ///
    /// # Errors
    /// As [`Place::check_slots_dir`].
    pub fn reviews_dir(&self) -> Result<PathBuf> {
        let name = format!("{}.reviews", self.repository.folder_name());
        Ok(self.check_slots_dir()?.with_file_name(name))
    }

    /// The folder of a gatekeeper's checkout for one ticket. The checkout of its last ticket may still be
    /// there as it begins with the next one.
    ///
    /// # Errors
    /// As [`Place::check_slots_dir`].
    pub fn review_dir(&self, agent: &AgentName, ticket: &TicketId) -> Result<PathBuf> {
        Ok(self.reviews_dir()?.join(format!("{agent}-{ticket}")))
    }

    /// crew's own part of the user's state directory.
    fn state_dir(&self) -> Result<PathBuf> {
        let set = |name: &str| {
            self.env
                .get(name)
                .filter(|value| value.starts_with('/'))
                .map(PathBuf::from)
        };
        let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
        Ok(state.ok_or(Error::NoStateDir)?.join("crew"))
    }

    /// Makes the folder of the workspaces and notes where everything stands from now on, before a workspace
    /// is made; existing workspaces follow the repository where that has moved. Warns where workspaces do not
    /// stand where they belong. For the holder of the repository's lock.
    ///
    /// # Errors
    /// [`Error::OtherTickets`]; [`Error::WorkspacesMissing`], where an attempt is to have a workspace:
    /// nothing is noted.
    pub(crate) fn note(&self, settings: &Settings, workspaces: &Path, is_under_way: bool) -> Result<()> {
        if is_under_way && let Some(folder) = self.missing_workspaces()? {
            return Err(Error::WorkspacesMissing { folder });
        }
        if let Some(known) = self.other_tickets()? {
            return Err(Error::OtherTickets {
                known,
                given: self.tickets_dir.clone(),
            });
        }
        if let Some(original) = self.copy_of()? {
            tracing::warn!(
                "this repository is a copy of {}: the running steps and the workspaces belong to that one\n  \
                 crew leaves them alone; what was under way begins anew here",
                original.display()
            );
        }
        let before = Record::read(self)?;
        let now = Record::of(self, workspaces)?;
        let has_moved = |before: &&Record| before.is_of(self) && before.repository != now.repository;
        if before.as_ref().filter(has_moved).is_some() {
            self.repository.lend_to_workspaces(workspaces)?;
        }
        // A folder that is noted and not there is one that is missed.
        make(workspaces)?;
        if before.as_ref() != Some(&now) {
            now.write(self)?;
        }
        match self.workspaces_belong(settings) {
            Ok(belong) if !is_one_folder(&belong, workspaces) => tracing::warn!(
                "workspaces stand in {}\n  they go on there until none is left; then those to come are made in {}",
                workspaces.display(),
                belong.display()
            ),
            Ok(_) | Err(_) => {}
        }
        Ok(())
    }
}

impl Executor {
    /// Makes sure that the folder of the workspaces stands, and is noted, before a workspace is made in it:
    /// an engine may outlive either.
    ///
    /// # Errors
    /// One of them cannot be made.
    pub(crate) fn stand(&self) -> Result<()> {
        /// Two at once would write the note under one passing name.
        static NOTING: Mutex<()> = Mutex::new(());
        let _turn = NOTING.lock().unwrap_or_else(PoisonError::into_inner);
        make(&self.workspaces)?;
        if Record::read(&self.place)?.is_none() {
            Record::of(&self.place, &self.workspaces)?.write(&self.place)?;
        }
        Ok(())
    }

    /// The directory in which a run is held, where that is another one: this repository is a copy, and for it
    /// the run is lost.
    ///
    /// # Errors
    /// [`process::Error::StillRunning`], where the run works in a workspace of this repository all the same,
    /// as when the first one was moved away and a backup of it restored in its place: the next step would
    /// work beside it.
    pub(crate) fn held_elsewhere(&self, run: &Run) -> process::Result<Option<PathBuf>> {
        let Some(dir) = run.elsewhere()? else {
            return Ok(None);
        };
        let works_in = run.spec()?.cwd;
        let is_beside = works_in
            .parent()
            .is_some_and(|folder| is_one_folder(folder, &self.workspaces));
        if is_beside {
            return Err(process::Error::StillRunning { dir });
        }
        Ok(Some(dir))
    }

    /// A text which says that the folder of the workspaces is gone, and what a person can do; nothing while
    /// it is there. The work in it is not lost for that.
    pub(crate) fn misses_workspaces(&self) -> Option<Report> {
        let error = match self.place.missing_workspaces() {
            Ok(folder) => Error::WorkspacesMissing { folder: folder? },
            Err(error) => return Some(could_not(error)),
        };
        let hint = error.hint().unwrap_or_default();
        Some(Report::CouldNotRun {
            why: format!("{error}; {hint}"),
        })
    }
}

fn make(workspaces: &Path) -> Result<()> {
    folders::make(workspaces).map_err(|source| Error::Io {
        doing: "make",
        path: workspaces.to_owned(),
        source,
    })
}

/// Whether two paths lead to one folder; those that lead nowhere by now do if they are the same.
#[must_use]
pub fn is_one_folder(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (_, _) => one == other,
    }
}
