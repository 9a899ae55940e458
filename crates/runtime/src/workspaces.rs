//! Where the workspaces stand. Settings and surroundings say where the next ones belong; those that stand already are found where
//! they were made, whatever became of settings, surroundings and the repository's own place since.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use model::settings::Settings;

use crate::record::Record;
use crate::{Error, Place, Result};

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
        let stood = &record.workspaces;
        if belong.as_ref().ok() == Some(stood) || !record.is_of_same(&Record::of(self, stood.clone())?) {
            return belong;
        }
        let holds = git::holds_workspaces(stood).map_err(|source| Error::WorkspacesElsewhere {
            folder: stood.clone(),
            source,
        })?;
        if holds { Ok(record.workspaces) } else { belong }
    }

    /// The folder that the workspaces of this repository were made in, where there is none any more.
    ///
    /// # Errors
    /// The record of where that was cannot be read.
    pub fn missing_workspaces(&self) -> Result<Option<PathBuf>> {
        let Some(record) = Record::read(self)? else {
            return Ok(None);
        };
        let now = Record::of(self, record.workspaces.clone())?;
        let is_missing = record.is_of_same(&now) && is_gone(&record.workspaces);
        Ok(is_missing.then_some(record.workspaces))
    }

    /// Where new workspaces belong: the user's state directory, or where the settings put them.
    ///
    /// # Errors
    /// [`Error::NoStateDir`].
    pub fn workspaces_belong(&self, settings: &Settings) -> Result<PathBuf> {
        if let Some(dir) = &settings.workspace_dir {
            return Ok(self.root.join(dir));
        }
        let set = |name: &str| {
            self.env
                .get(name)
                .filter(|value| value.starts_with('/'))
                .map(PathBuf::from)
        };
        let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
        Ok(state
            .ok_or(Error::NoStateDir)?
            .join("crew")
            .join(self.repository.folder_name()))
    }

    /// Notes where everything stands from now on, before a workspace is made; those that stand already follow the repository where
    /// that has moved. Warns where workspaces do not stand where they belong. For the holder of the repository's lock.
    ///
    /// # Errors
    /// [`Error::OtherTickets`]; [`Error::WorkspacesMissing`], where an attempt is to have one: nothing is noted.
    pub(crate) fn note(&self, settings: &Settings, workspaces: &Path, is_under_way: bool) -> Result<()> {
        if is_under_way && let Some(folder) = self.missing_workspaces()? {
            return Err(Error::WorkspacesMissing { folder });
        }
        let before = Record::read(self)?;
        let now = Record::of(self, workspaces.to_owned())?;
        if let Some(before) = before.as_ref().filter(|before| before.is_of_same(&now)) {
            let tickets = self.root.join(&before.tickets);
            if before.tickets != now.tickets && tickets.exists() {
                return Err(Error::OtherTickets {
                    known: tickets,
                    given: self.tickets_dir.clone(),
                });
            }
            if before.repository != now.repository {
                self.repository.lend_to_workspaces(workspaces)?;
            }
        }
        if before.as_ref() != Some(&now) {
            now.write(self)?;
        }
        match self.workspaces_belong(settings) {
            Ok(belong) if belong != workspaces => tracing::warn!(
                "workspaces stand in {}\n  they go on there until none is left; then those to come are made in {}",
                workspaces.display(),
                belong.display()
            ),
            Ok(_) | Err(_) => {}
        }
        Ok(())
    }
}

/// Whether there is nothing; what cannot be looked at may be there.
fn is_gone(path: &Path) -> bool {
    matches!(path.symlink_metadata(), Err(error) if error.kind() == ErrorKind::NotFound)
}
