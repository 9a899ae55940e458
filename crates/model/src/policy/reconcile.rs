//! What becomes of an attempt whose course was interrupted, from what is found of it (machines.md §3). One function, for
//! start-up, for stuck attempts and for `doctor`: it looks only at what is there, so asking again gives the same answer.
//!
//! None of its answers throws work away: what is not committed is committed, or kept under a ref, before anything else.

use crate::attempt::Workspace;

/// What is known and found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// How far the journal says it came.
    pub reached: Reached,
    /// What is left of its workspace.
    pub workspace: Workspace,
    /// Its branch was taken over into the repository, so that its commits do not depend on the workspace.
    pub imported: bool,
}

/// How far an attempt came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Not to a submission.
    Work,
    /// It was submitted.
    Submission,
    /// Its merged result passed.
    Verdict,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Another attempt, from what this one left under its ref.
    StartOver,
    /// A first step.
    Ready,
    /// A further step, in a new session that is told the story so far.
    Work,
    /// The checks, from the workspace or from the branch.
    Verify,
    /// Landing: nothing but the branch is needed.
    Land,
}

/// From facts to what is to be done.
#[must_use]
pub fn action(facts: Facts) -> Action {
    match (facts.reached, facts.workspace) {
        (Reached::Verdict, _) => Action::Land,
        (Reached::Submission, Workspace::Clean | Workspace::Changed) => Action::Verify,
        (Reached::Submission, Workspace::Missing) if facts.imported => Action::Verify,
        (Reached::Submission | Reached::Work, Workspace::Missing) => Action::StartOver,
        (Reached::Work, Workspace::Changed) => Action::Work,
        (Reached::Work, Workspace::Clean) => Action::Ready,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_decides() {
        let act = |reached, workspace, imported| {
            action(Facts {
                reached,
                workspace,
                imported,
            })
        };
        assert_eq!(act(Reached::Work, Workspace::Missing, false), Action::StartOver);
        assert_eq!(act(Reached::Work, Workspace::Clean, false), Action::Ready);
        assert_eq!(act(Reached::Work, Workspace::Changed, false), Action::Work);
        assert_eq!(
            act(Reached::Submission, Workspace::Clean, false),
            Action::Verify,
            "its commits may be all there is"
        );
        assert_eq!(act(Reached::Submission, Workspace::Missing, true), Action::Verify);
        assert_eq!(
            act(Reached::Submission, Workspace::Missing, false),
            Action::StartOver
        );
        assert_eq!(
            act(Reached::Verdict, Workspace::Missing, true),
            Action::Land,
            "the workspace has served"
        );
    }
}
