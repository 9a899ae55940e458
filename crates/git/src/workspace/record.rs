//! Records: the notes beside workspaces, which say whose they are and from which commit they were made.

use std::path::Path;

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::id::Id;
use crate::types::identity::Identity;
use crate::types::oid::Oid;
use crate::workspace::{MADE, Spec, Workspace};

impl Repository {
    /// The base of an attempt whose pin somebody deleted, pinned again: the record beside its workspace names
    /// it. `None` where no such workspace stands. A commit that is gone cannot be pinned.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::RefBusy`], [`Error::Failed`].
    pub fn pin_again(&self, root: &Path, agent: &Id, ticket: &Id, attempt: u32) -> Result<Option<Oid>> {
        let Some(recorded) = recorded(root, agent, ticket)?.filter(|of| of.attempt == attempt) else {
            return Ok(None);
        };
        match self.tree_of(&recorded.base) {
            Ok(_) => self.pin(&recorded.base_ref(), &recorded.base, "crew: base, pinned again")?,
            Err(Error::NoSuchCommit { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(Some(recorded.base))
    }

    /// Makes room for a workspace where one of another attempt of the same agent at the same ticket stands:
    /// its work is kept under refs, or the folder is archived where git cannot save all of it. Returns
    /// whether there was one. Commits that `target` has need not be kept.
    ///
    /// No process of the agent may be running.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::RefBusy`], [`Error::Failed`].
    pub fn end_earlier(&self, spec: &Spec, target: Option<&Oid>) -> Result<bool> {
        let Some(earlier) = recorded(&spec.root, &spec.agent, &spec.ticket)? else {
            return Ok(false);
        };
        match self.remove(&earlier) {
            Ok(_) => {}
            Err(Error::Unsaved { .. } | Error::NoSuchCommit { .. }) => {
                self.archive_workspace(&earlier)?;
            }
            Err(error) => return Err(error),
        }
        self.forget_workspace(&earlier, target)?;
        Ok(true)
    }
}

/// The workspace that stands for an agent's work on a ticket, as the record beside it has it.
fn recorded(root: &Path, agent: &Id, ticket: &Id) -> Result<Option<Workspace>> {
    let path = root.join(format!(".{agent}-{ticket}")).join(MADE);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|error| Error::io("read", &path, error))?,
    };
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let attempt = field("attempt=").and_then(|number| number.parse().ok());
    let oid = |name: &str| field(name).and_then(|oid| Oid::parse(oid).ok());
    let (Some(attempt), Some(base), Some(start)) = (attempt, oid("base="), oid("start=")) else {
        return Ok(None);
    };
    let workspace = Workspace {
        root: root.to_owned(),
        agent: agent.clone(),
        ticket: ticket.clone(),
        attempt,
        base,
        start,
        identity: Identity::new(agent.as_str(), &format!("{agent}@crew.invalid")),
        excludes: Vec::new(),
    };
    // Folders of two attempts may have one name: `a-b` on `c`, and `a` on `b-c`.
    Ok((workspace.exists() && text == workspace.record()).then_some(workspace))
}
