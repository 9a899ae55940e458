//! Reverts: a ticket that takes a landed merge back, with a commit that crew makes itself.

use std::fmt;

use git::{Message, Oid, Outcome, Repository};

use crate::executor::perform::crew;

/// The reason why a merge cannot be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It is no merge that the target contains.
    NoMerge {
        /// The commit.
        merge: Oid,
    },
    /// It changed nothing: the target had all of its work before, by other commits.
    NeverNew {
        /// The merge.
        merge: Oid,
    },
    /// Nothing of it is left.
    NothingLeft {
        /// The merge.
        merge: Oid,
    },
    /// Later work builds on it.
    BuiltUpon {
        /// The merge.
        merge: Oid,
        /// The files in which it does, sanitised.
        paths: Vec<String>,
    },
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::NoMerge { merge } => write!(f, "{merge} is no merge that the target contains"),
            Obstacle::NeverNew { merge } => write!(
                f,
                "its merge {merge} brought nothing: the target had all of it before, by other commits"
            ),
            Obstacle::NothingLeft { merge } => {
                write!(f, "the target has nothing any more that {merge} added to it")
            }
            Obstacle::BuiltUpon { merge, paths } => write!(
                f,
                "what came after {merge} builds on it, in {}: a ticket for an agent has to take it back",
                paths.join(", ")
            ),
        }
    }
}

/// Makes the commit on `target` that takes a merge back, for a ticket of this name. The same input gives the
/// same commit. The error is the reason why it cannot be made.
pub(crate) fn commit(
    repository: &Repository,
    merge: &Oid,
    target: &Oid,
    title: &str,
    at: git::Time,
) -> git::Result<Result<Oid, Obstacle>> {
    let merge = merge.clone();
    if !repository.is_landed_merge(&merge, target)? {
        return Ok(Err(Obstacle::NoMerge { merge }));
    }
    let message = Message {
        subject: text::sanitise::line(title),
        body: format!("This takes back the merge {merge}."),
        trailers: Vec::new(),
    };
    Ok(match repository.revert(&merge, target, &message, &crew(), at)? {
        Outcome::Candidate(made) => Ok(made.commit),
        Outcome::NoCommits if repository.changes_nothing(&merge)? => Err(Obstacle::NeverNew { merge }),
        Outcome::NoCommits => Err(Obstacle::NothingLeft { merge }),
        Outcome::Conflict { paths, .. } => {
            let paths = paths.iter();
            let paths = paths.map(|path| text::sanitise::line(&path.to_string_lossy()));
            let paths = paths.collect();
            Err(Obstacle::BuiltUpon { merge, paths })
        }
    })
}

/// The reason why a merge cannot be taken back as the target is now; none where it can.
///
/// # Errors
/// git fails.
pub fn obstacle(place: &crate::Place, target: &str, merge: &str) -> crate::Result<Option<Obstacle>> {
    let repository = &place.repository;
    let branch = repository.followed(&git::Branch::parse(target)?)?;
    let target = repository.target(&branch)?;
    let made = commit(repository, &Oid::parse(merge)?, &target, "trial", git::Time(0))?;
    Ok(made.err())
}
