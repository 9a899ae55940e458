//! Orders of a ticket, as far as safety depends on them.

use model::attempt;
use model::ticket::{Effect, Ticket};

use crate::chain::{self, Chain};

/// An effect without the parts that only people read. The ticket's file is left out: it is a copy of the
/// journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Order {
    Prepare {
        number: u8,
        fence: u8,
    },
    Start {
        number: u8,
        fence: u8,
        run: u8,
    },
    Stop {
        number: u8,
        run: u8,
    },
    Build {
        number: u8,
        fence: u8,
    },
    Check {
        candidate: Chain,
        run: CheckId,
    },
    StopCheck {
        run: CheckId,
    },
    Land {
        candidate: Chain,
    },
    Keep {
        number: u8,
    },
    Remove {
        number: u8,
    },
    Review {
        candidate: Chain,
        run: ReviewId,
    },
    StopReview {
        run: ReviewId,
    },
    /// The checkout of a review is removed, and its run is ended for that.
    RemoveReview {
        run: ReviewId,
    },
    /// The file of a child is written; `child`: its ticket's number.
    CreateChild {
        child: u8,
    },
    /// The workspace of the first ticket's attempt `of` is made ready for a child.
    PrepareIn {
        number: u8,
        fence: u8,
        of: u8,
    },
    Unify {
        number: u8,
        fence: u8,
    },
}

impl Order {
    /// The part of an effect that is explored; none for a file or a note. `before`: the ticket that ordered
    /// it.
    pub(crate) fn of(effect: &Effect, before: &Ticket) -> Option<Self> {
        let small = |number: u32| u8::try_from(number).expect("a bounded exploration counts little");
        let fence = |fence: model::Fence| u8::try_from(fence.0).expect("a bounded exploration claims little");
        Some(match effect {
            Effect::PrepareWorkspace {
                fence: by, number, ..
            } => match before.delegated() {
                Some(delegated) => Self::PrepareIn {
                    number: small(*number),
                    fence: fence(*by),
                    of: small(delegated.workspace.number),
                },
                None => Self::Prepare {
                    number: small(*number),
                    fence: fence(*by),
                },
            },
            Effect::Attempt(attempt::Effect::CreateChild { child }) => Self::CreateChild {
                child: crate::team::number_of(&child.id),
            },
            Effect::Unify {
                fence: by, number, ..
            } => Self::Unify {
                number: small(*number),
                fence: fence(*by),
            },
            Effect::Attempt(attempt::Effect::StartStep {
                run,
                fence: by,
                number,
                ..
            }) => Self::Start {
                number: small(*number),
                fence: fence(*by),
                run: run_of(run),
            },
            Effect::Attempt(attempt::Effect::StopRun { run }) if run.is_check() => Self::StopCheck {
                run: CheckId::of(run),
            },
            Effect::Attempt(attempt::Effect::StopRun { run }) if before.review_of_run(run).is_some() => {
                Self::StopReview {
                    run: ReviewId::of(run),
                }
            }
            Effect::Attempt(attempt::Effect::StopRun { run }) => Self::Stop {
                number: small(before.attempt()?.claim.number),
                run: run_of(run),
            },
            Effect::BuildCandidate {
                fence: by, number, ..
            } => Self::Build {
                number: small(*number),
                fence: fence(*by),
            },
            Effect::StartCheck { run, commit, .. } => Self::Check {
                candidate: Chain::try_from(chain::number(commit)).expect("a commit of ours"),
                run: CheckId::of(run),
            },
            Effect::Land { candidate, .. } => Self::Land {
                candidate: commit_of(candidate),
            },
            Effect::KeepWork { number, .. } => Self::Keep {
                number: small(*number),
            },
            Effect::RemoveWorkspace { number, .. } => Self::Remove {
                number: small(*number),
            },
            Effect::StartReview { run, candidate, .. } => Self::Review {
                candidate: commit_of(candidate),
                run: ReviewId::of(run),
            },
            Effect::RemoveReview { run, .. } => Self::RemoveReview {
                run: ReviewId::of(run.as_ref()?),
            },
            Effect::LookAtProposal { .. }
            | Effect::Attempt(attempt::Effect::InspectWorkspace { .. })
            | Effect::WriteFile(_)
            | Effect::AddNote { .. }
            | Effect::CreateTicket(_) => return None,
        })
    }

    /// True if it asks a process to end.
    pub(crate) fn is_stop(self) -> bool {
        match self {
            Self::Stop { .. } | Self::StopReview { .. } => true,
            // Its checkout has one check at a time, whoever asks for the end of it.
            Self::StopCheck { .. }
            | Self::Prepare { .. }
            | Self::Start { .. }
            | Self::Build { .. }
            | Self::Check { .. }
            | Self::Land { .. }
            | Self::Keep { .. }
            | Self::Remove { .. }
            | Self::Review { .. }
            | Self::CreateChild { .. }
            | Self::PrepareIn { .. }
            | Self::Unify { .. }
            | Self::RemoveReview { .. } => false,
        }
    }

    /// True if it starts the run that another asks to end.
    pub(crate) fn starts_what_ends(self, stop: Self) -> bool {
        if let (Self::Start { number, run, .. }, Self::Stop { number: of, run: it }) = (self, stop) {
            return (number, run) == (of, it);
        }
        if let (Self::Review { run, .. }, Self::StopReview { run: it }) = (self, stop) {
            return run == it;
        }
        false
    }

    /// True if its report goes to the ticket.
    pub(crate) fn is_reported(self) -> bool {
        match self {
            Self::Prepare { .. }
            | Self::Start { .. }
            | Self::Build { .. }
            | Self::Check { .. }
            | Self::Review { .. }
            | Self::PrepareIn { .. }
            | Self::Unify { .. }
            | Self::Land { .. } => true,
            Self::Stop { .. }
            | Self::StopCheck { .. }
            | Self::StopReview { .. }
            | Self::RemoveReview { .. }
            | Self::CreateChild { .. }
            | Self::Keep { .. }
            | Self::Remove { .. } => false,
        }
    }

    /// True if performing it changes anything outside the journal: a merged result is a commit that nobody
    /// has yet.
    pub(crate) fn changes_the_world(self) -> bool {
        !matches!(self, Self::Build { .. })
    }

    /// The claim that it belongs to, if the engine compares it before it accepts the report.
    pub(crate) fn fence(self) -> Option<u8> {
        match self {
            Self::Prepare { fence, .. }
            | Self::PrepareIn { fence, .. }
            | Self::Unify { fence, .. }
            | Self::Start { fence, .. }
            | Self::Build { fence, .. } => Some(fence),
            Self::Stop { .. }
            | Self::Check { .. }
            | Self::StopCheck { .. }
            | Self::Land { .. }
            | Self::Review { .. }
            | Self::StopReview { .. }
            | Self::RemoveReview { .. }
            | Self::CreateChild { .. }
            | Self::Keep { .. }
            | Self::Remove { .. } => None,
        }
    }
}

/// A run of a review: the review's claim, and its place among the runs of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ReviewId {
    fence: u8,
    run: u8,
}

impl ReviewId {
    pub(crate) fn of(run: &model::RunId) -> Self {
        Self {
            fence: fence_of(run),
            run: run_of(run),
        }
    }
}

/// A run of the checks of a ticket: its claim, the candidate's number, and its place among the runs of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CheckId(u16);

impl CheckId {
    pub(crate) fn of(run: &model::RunId) -> Self {
        let last = run.as_str().rsplit("check-").next().unwrap_or_default();
        let parts: Vec<u16> = last.split('-').filter_map(|n| n.parse().ok()).collect();
        let [round, n] = parts[..] else {
            panic!("<ticket>.<fence>.check-<round>-<n>")
        };
        assert!(round < 32 && n < 32, "a bounded exploration checks little");
        Self(u16::from(fence_of(run)) << 10 | round << 5 | n)
    }
}

/// The commit of a merged result.
pub(crate) fn commit_of(candidate: &model::ticket::Candidate) -> Chain {
    Chain::try_from(chain::number(&candidate.commit)).expect("a commit of ours")
}

/// A run's place among those of its attempt, from 1: the last part of its id.
pub(crate) fn run_of(run: &model::RunId) -> u8 {
    part(run, 0)
}

fn fence_of(run: &model::RunId) -> u8 {
    part(run, 1)
}

fn part(run: &model::RunId, from_the_end: usize) -> u8 {
    let part = run.as_str().rsplit('.').nth(from_the_end);
    part.and_then(|n| n.parse().ok()).expect("<ticket>.<fence>.<n>")
}
