//! Reverts: a ticket that takes a landed merge back, with a commit that crew makes itself.

use git::{Message, Oid, Outcome, Repository};

use crate::executor::perform::crew;

/// Makes the commit on `target` that takes a merge back, for a ticket of this name. The same input gives the
/// same commit. The error is the reason why it cannot be made, in words.
pub(crate) fn commit(
    repository: &Repository,
    merge: &Oid,
    target: &Oid,
    title: &str,
    at: git::Time,
) -> git::Result<Result<Oid, String>> {
    if !repository.is_landed_merge(merge, target)? {
        return Ok(Err(format!("{merge} is no merge that the target contains")));
    }
    let message = Message {
        subject: text::sanitise::line(title),
        body: format!("This takes back the merge {merge}."),
        trailers: Vec::new(),
    };
    Ok(match repository.revert(merge, target, &message, &crew(), at)? {
        Outcome::Candidate(made) => Ok(made.commit),
        Outcome::NoCommits => Err(format!("nothing that {merge} brought is on the target any more")),
        Outcome::Conflict { paths, .. } => {
            let paths: Vec<String> = paths
                .iter()
                .map(|path| text::sanitise::line(&path.to_string_lossy()))
                .collect();
            Err(format!(
                "what came after {merge} builds on it, in {}: a ticket for an agent has to take it back",
                paths.join(", ")
            ))
        }
    })
}

/// The reason why a merge cannot be taken back as the target is now, in words; none where it can.
///
/// # Errors
/// git fails.
pub fn obstacle(place: &crate::Place, target: &str, merge: &str) -> crate::Result<Option<String>> {
    let repository = &place.repository;
    let branch = repository.followed(&git::Branch::parse(target)?)?;
    let target = repository.target(&branch)?;
    let made = commit(repository, &Oid::parse(merge)?, &target, "trial", git::Time(0))?;
    Ok(made.err())
}
