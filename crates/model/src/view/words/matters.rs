//! Whether a person who watches a run wants a line about an event.

use crate::journal::Fact;
use crate::target::Verdict;
use crate::ticket::{self, AfterLanding, CheckOutcome, ReviewEvent};
use crate::{attempt, project};

/// True if a person who watches a run wants a line about it.
#[must_use]
pub fn matters(fact: &Fact) -> bool {
    match fact {
        Fact::Project(event) => match event {
            project::Event::AgentRetired { .. }
            | project::Event::HarnessPaused { .. }
            | project::Event::HarnessFreed { .. }
            | project::Event::DayBudgetLow { .. }
            | project::Event::DayBudgetSpent { .. }
            | project::Event::DayBudgetFree => true,
            project::Event::Target(target) => !matches!(
                target.verdict,
                Verdict::Unchecked | Verdict::Checking { command: None, .. }
            ),
            project::Event::Moved(moved) => !moved.is_first(),
            project::Event::Opened
            | project::Event::Initialized
            | project::Event::AgentsBusy
            | project::Event::AgentsIdle
            | project::Event::Closing
            | project::Event::Closed
            | project::Event::AgentSpawned { .. } => false,
        },
        Fact::Ticket(event) => match event {
            ticket::Event::Attempt(event) => match event {
                attempt::Event::StepFinished { .. }
                | attempt::Event::StepFailed { .. }
                | attempt::Event::StopOrdered { .. }
                | attempt::Event::Answered { .. }
                | attempt::Event::Woken
                | attempt::Event::WokenEarly { .. }
                | attempt::Event::WaitTimedOut
                | attempt::Event::Delegated { .. }
                | attempt::Event::ChildrenEndOrdered { .. }
                | attempt::Event::ChildrenOver { .. }
                | attempt::Event::Recovered { .. }
                | attempt::Event::Called { .. }
                | attempt::Event::ModeSet { .. }
                | attempt::Event::ModeAnnounced { .. }
                | attempt::Event::Said { .. }
                | attempt::Event::Baited { .. }
                | attempt::Event::WentQuiet(_)
                | attempt::Event::Stirred => true,
                attempt::Event::WorkspaceReady { .. }
                | attempt::Event::StepStarted { .. }
                | attempt::Event::WorkerSpawned
                | attempt::Event::Retried { .. }
                | attempt::Event::TicketEdited
                | attempt::Event::Submitted
                | attempt::Event::ChecksPassed
                | attempt::Event::Returned { .. } => false,
            },
            ticket::Event::Review { event, .. } => match event {
                // Its verdict or its question follows at the end of the step, in the same words.
                ReviewEvent::Called { call, .. } => !call.is_result(),
                ReviewEvent::Failed { .. }
                | ReviewEvent::StopOrdered { .. }
                | ReviewEvent::VerdictNoted { .. }
                | ReviewEvent::WentQuiet(_)
                | ReviewEvent::Stirred
                | ReviewEvent::Asked { .. }
                | ReviewEvent::Answered { .. }
                | ReviewEvent::WaitTimedOut => true,
                ReviewEvent::Started { .. } | ReviewEvent::Spawned | ReviewEvent::Finished { .. } => false,
            },
            ticket::Event::Created { .. }
            | ticket::Event::Edited { waited: None, .. }
            | ticket::Event::CheckStarted
            | ticket::Event::Coupled { .. }
            | ticket::Event::JoinedTrain { .. }
            | ticket::Event::TrialCancelled
            | ticket::Event::BatchLanding { .. }
            | ticket::Event::BatchPutOff { .. }
            | ticket::Event::CandidateBuilt { .. }
            | ticket::Event::CheckOrdered { .. }
            | ticket::Event::LandingRetried
            | ticket::Event::LookOrdered
            | ticket::Event::ProposalSeen { .. }
            | ticket::Event::NotLanded
            | ticket::Event::RetryDue
            | ticket::Event::FileDrifted
            | ticket::Event::Delegated { .. }
            | ticket::Event::FileHeeded
            | ticket::Event::PartsOver { .. } => false,
            ticket::Event::Rewound { .. } => true,
            ticket::Event::CommitmentAdded { .. }
            | ticket::Event::CommitmentUnmet { .. }
            | ticket::Event::CommitmentWaived { .. }
            | ticket::Event::CommitmentsHeld { .. }
            | ticket::Event::CommitmentsApproved { .. }
            | ticket::Event::Edited { waited: Some(_), .. }
            | ticket::Event::WriterDoubted { .. }
            | ticket::Event::VouchedFor { .. }
            | ticket::Event::TestsHeld { .. }
            | ticket::Event::TestsApproved { .. } => true,
            // Why the ticket is held is in no later event.
            ticket::Event::LandingEndOrdered { then } => match then {
                AfterLanding::Hold { .. } => true,
                AfterLanding::Drop { .. } | AfterLanding::Retry { .. } | AfterLanding::Uncouple => false,
            },
            ticket::Event::CheckEnded { outcome, .. } => matches!(outcome, CheckOutcome::Lost { .. }),
            // The next attempt goes on with the last commit of the one before it.
            ticket::Event::WorkKept { work } => !work.iter().all(ticket::KeptWork::is_attempt),
            ticket::Event::LeftoversFound { leftovers } => !leftovers.is_empty(),
            ticket::Event::CheckStopOrdered { .. }
            | ticket::Event::Claimed { .. }
            | ticket::Event::Submitted { .. }
            | ticket::Event::Released { .. }
            | ticket::Event::TrialPassed { .. }
            | ticket::Event::TrialFailed { .. }
            | ticket::Event::Uncoupled { .. }
            | ticket::Event::ChecksPassed { .. }
            | ticket::Event::ChecksFailed { .. }
            | ticket::Event::NoCommits { .. }
            | ticket::Event::Conflicted { .. }
            | ticket::Event::CouldNotRun { .. }
            | ticket::Event::TargetRed { .. }
            | ticket::Event::Diverged { .. }
            | ticket::Event::Sensitive { .. }
            | ticket::Event::ReviewClaimed { .. }
            | ticket::Event::ReviewCrashed { .. }
            | ticket::Event::ReviewGaveUp { .. }
            | ticket::Event::ReviewRefused { .. }
            | ticket::Event::NobodyReviews { .. }
            | ticket::Event::LeftToPerson
            | ticket::Event::ReviewEndOrdered { .. }
            | ticket::Event::ReviewApproved { .. }
            | ticket::Event::Returned { .. }
            | ticket::Event::EditReturned { .. }
            | ticket::Event::ApprovalKept { .. }
            | ticket::Event::Approved { .. }
            | ticket::Event::Rejected { .. }
            | ticket::Event::WorkFailed { .. }
            | ticket::Event::Landed { .. }
            | ticket::Event::Proposed { .. }
            | ticket::Event::ProposalUnseen { .. }
            | ticket::Event::ChangesRequested { .. }
            | ticket::Event::ProposalClosed
            | ticket::Event::TargetMoved
            | ticket::Event::CheckoutEdited { .. }
            | ticket::Event::RecoveryNotNeeded
            | ticket::Event::RecoveryLanded { .. }
            | ticket::Event::Retried { .. }
            | ticket::Event::Waived { .. }
            | ticket::Event::SensitiveApproved { .. }
            | ticket::Event::Dropped { .. }
            | ticket::Event::ClosedByPerson { .. }
            | ticket::Event::Reopened { .. }
            | ticket::Event::FileUnheeded { .. }
            | ticket::Event::WorkFound
            | ticket::Event::BudgetSpent { .. }
            | ticket::Event::Unified { .. }
            | ticket::Event::ChildrenAbsent { .. }
            | ticket::Event::NotUnified { .. }
            | ticket::Event::LandedWithParent { .. }
            | ticket::Event::BudgetRaised { .. }
            | ticket::Event::Commented { .. }
            | ticket::Event::TicketMade { .. } => true,
        },
    }
}
