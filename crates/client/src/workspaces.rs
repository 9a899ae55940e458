//! Workspaces and branches that nobody is to use any more: their work is kept, then they are removed.

use std::path::Path;

use git::{Branch, Id, Identity, Oid, Repository, Workspace};
use model::{AgentName, TicketId};

use crate::error::Result;

/// The workspace of an agent at a ticket; `attempt` and `base` count only for its pin.
pub fn workspace_of(
    root: &Path,
    (agent, ticket): (&AgentName, &TicketId),
    attempt: u32,
    base: &Oid,
) -> Result<Workspace> {
    Ok(Workspace::of(&git::Spec {
        root: root.to_owned(),
        agent: Id::parse(agent.as_str())?,
        ticket: Id::parse(ticket.as_str())?,
        attempt,
        start: base.clone(),
        base: base.clone(),
        identity: Identity::new(agent.as_str(), &format!("{agent}@crew.invalid")),
        excludes: Vec::new(),
        instructions: Vec::new(),
    }))
}

/// Returns true if the folder of an agent's work on a ticket is crew's own, and not one that a person gave
/// such a name.
pub fn is_crews(root: &Path, (agent, ticket): (&AgentName, &TicketId)) -> Result<bool> {
    let (agent, ticket) = (Id::parse(agent.as_str())?, Id::parse(ticket.as_str())?);
    Ok(Workspace::is_made(root, &agent, &ticket)?)
}

/// The commit that a workspace's work is compared with: the ticket's last pin, else the base in its journal,
/// else HEAD. Only HEAD can be missing, in a repository without a commit, or whose branch is gone.
pub fn base_of(repository: &Repository, ticket: &TicketId, recorded: Option<&model::Oid>) -> Result<Oid> {
    let pins = repository.pins()?;
    let last = pins.into_iter().filter(|pin| pin.ticket == ticket.as_str());
    if let Some(pin) = last.max_by_key(|pin| pin.attempt) {
        return Ok(pin.commit);
    }
    if let Some(recorded) = recorded {
        let recorded = Oid::parse(recorded.as_str())?;
        if repository.tree_of(&recorded).is_ok() {
            return Ok(recorded);
        }
    }
    Ok(repository.resolve("HEAD")?)
}

/// Keeps the work of a workspace and removes it; a workspace whose work git cannot save is archived.
pub fn workspace(repository: &Repository, workspace: &Workspace) -> Result<()> {
    match repository.remove(workspace) {
        Err(git::Error::Unsaved { .. }) => repository.archive_workspace(workspace).map(drop)?,
        other => drop(other?),
    }
    Ok(())
}

/// Keeps the tip of an agent's branch, unless the target is there and has it, and deletes the branch.
pub fn branch(
    repository: &Repository,
    (branch, tip): (&Branch, &Oid),
    ticket: &TicketId,
    target: Option<&Oid>,
) -> Result<()> {
    let proof = repository.prove(&Id::parse(ticket.as_str())?, tip, target)?;
    Ok(repository.delete_branch(branch, &proof)?)
}
