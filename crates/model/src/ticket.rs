//! The ticket machine: from the queue to the target branch. The root of its stream; the attempt is its child.

mod change;
mod check;
mod checks;
mod commitments;
mod delegated;
mod done;
mod doubt;
mod event;
mod fewer_tests;
mod held;
mod hindrance;
mod in_the_way;
mod kept;
mod label;
mod leftovers;
mod new;
mod note;
mod part;
mod proposal;
mod question;
mod repeat;
mod review;
mod secret;
mod spec;
#[cfg(test)]
mod tests;
mod train;
mod transition;
mod unheeded;
mod verify;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use change::{CLOSED_BY_AGENT, Change, Deadline, FileStatus, Filing, SlotChange, TimerChange, TimerKey};
pub use check::{Check, CheckCommand, CheckPlan, TestCount};
pub use checks::{
    CheckOutcome, CheckRun, CheckSlot, CheckStop, CheckTask, Checks, FailedTry, KEPT_SET_UP, Loss, Owed,
    how_it_ended, without_set_up,
};
pub use commitments::{PART_PROMISES_NOTHING, approve_command};
pub use delegated::Delegated;
pub use done::Done;
pub use doubt::Doubt;
pub use event::{Effect, Event, Released, Waited};
pub use fewer_tests::FewerTests;
pub use held::{Held, Why};
pub use hindrance::{Hindrance, Proof};
pub use in_the_way::{InTheWay, Obstacle, in_words, remedy};
pub use kept::KeptWork;
pub use label::Label;
pub use leftovers::{Leftovers, Listed};
pub use new::NewTicket;
pub use note::Note;
pub use part::Part;
pub use proposal::{Proposal, PullRequest, ReviewDecision, Seen};
pub use question::{Answerable, ClosedQuestion, OpenQuestion};
pub use repeat::{Fingerprint, Repeat};
pub use review::{AfterReview, Asking, Review, ReviewEvent, ReviewMachine, Reviewing, Verdict};
pub(crate) use secret::for_its_agent;
pub use secret::{Secret, sensitive_words};
pub use spec::Spec;
pub use train::{Batch, BatchEntry, Coupling, Entry, Place, Trial, Uncoupled, WhyUncoupled};
pub use transition::Machine;
pub use unheeded::{Origin, Unheeded};
pub use verify::{AfterLanding, Candidate, Clearance, Cleared, Stage, Verify, Waiting};

use crate::attempt::{self, Attempt, ChildResult};
use crate::commitment::{Commitment, Promise};
use crate::policy::budget::Spent;
use crate::{AgentName, Fence, Oid, RunId, TicketId, Time};

/// The submitted tips of a ticket that it remembers, the newest ones.
const MOST_SUBMITTED: usize = 8;

/// A ticket as the journal knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    /// Its id.
    pub id: TicketId,
    /// The contents of its file, as last read.
    pub spec: Spec,
    /// The current state.
    pub state: State,
    /// The time at which the state began.
    pub since: Time,
    /// Set when it needs a person, or waits for something outside crew.
    pub held: Option<Box<Held>>,
    /// The labels that are true of it now; earlier ones are in the history.
    pub labels: BTreeSet<Label>,
    /// The last token minted for it.
    pub fence: Fence,
    /// Attempts since it was created or last retried by a person.
    pub tries: u32,
    /// Attempts in all: the next one's number is one more.
    pub attempts: u32,
    /// The time of its first submission, which is its place in the order of landing: it keeps that when its
    /// work comes back to its agent. None before it, and once it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_line_since: Option<Time>,
    /// The tips as which its work was submitted, oldest first and the last few, until it is over, and beyond
    /// where it was dropped: no other ticket's branch brings them to the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submitted: Vec<Oid>,
    /// The tip that was rejected last: it is not reviewed again, and lands only by a person's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<Oid>,
    /// The time before which an open ticket is not dispatched.
    pub due: Option<Time>,
    /// The start of the next attempt.
    pub from: attempt::StartPoint,
    /// What earlier attempts came back with, oldest first: feedback of gatekeepers, and lines that crew could
    /// not use.
    pub feedback: Vec<String>,
    /// The questions of its agents that a person answered, oldest first: a new session gets them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// The number of questions that its agents and gatekeepers have asked: it numbers them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub questions: u32,
    /// The last question that was closed without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_question: Option<Box<ClosedQuestion>>,
    /// Every agent that had an attempt at it: none of them reviews it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub authors: BTreeSet<AgentName>,
    /// Its children that are done and whose work is in its branch, also those of earlier attempts with whose
    /// work the present one has begun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unified: Vec<ChildResult>,
    /// Its children that ended otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undone: Vec<ChildResult>,
    /// Those that are done and whose commits were not in its branch any more when it was built last.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub absent: BTreeSet<TicketId>,
    /// The tags that it had whenever an agent was given it: an agent that takes one out of the file is
    /// reviewed all the same.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags_given: BTreeSet<String>,
    /// Set while no person has said that its file is theirs, and an agent may have written it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Box<Doubt>>,
    /// The digest of its text as an agent first got it. Nobody knows whether a person made the changes since
    /// then; an edit of an open ticket begins anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// Attempts at a review that ended without a verdict, in a row.
    pub review_tries: u32,
    /// The last failure of submitted work, over all attempts; none once checks passed, a person retried or
    /// its text changed.
    pub repeat: Option<Repeat>,
    /// The change of its file on which nothing was decided; none while the file is as crew left it, or as a
    /// person wants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unheeded: Option<Unheeded>,
    /// Work of its attempts that no branch holds, oldest first, with the last commit of the latest attempt
    /// that left one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptWork>,
    /// The files that its agent had not committed when its work was merged last.
    #[serde(default, skip_serializing_if = "Leftovers::is_empty")]
    pub leftovers: Leftovers,
    /// The commitments that its work must meet before it lands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commitments: Vec<Commitment>,
    /// The commitments of its file where they were changed while an agent had it, or hold shell text of an
    /// agent: they count once a person has said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<Vec<Promise>>,
    /// The approval of a tip that has come into conflict with the target since. It holds for the tip that
    /// resolves the conflict, if that changes nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_before: Option<Box<Cleared>>,
    /// Its pull request, if its work was proposed in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<Box<PullRequest>>,
    /// The attempt that delegated it; none for a ticket of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegated: Option<Box<Delegated>>,
    /// The highest number of a child that was delegated for it, over all attempts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub children: u32,
    /// The tickets into which its agent broke it up: the next attempt begins when they are over, and brings
    /// them together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The number of tickets that its agents have made: it numbers them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub made: u32,
    /// The cost of its steps.
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub spent: Spent,
    /// A hook's program has had it tried again since a person last did: it does not do that twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retried_by_hook: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A question of an agent, and a person's answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The question, as the agent put it.
    pub question: String,
    /// The answer.
    pub text: String,
}

/// The state of a ticket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not created yet: no event has been stored.
    New,
    /// In the queue.
    Open,
    /// An agent has it.
    InProgress(Box<Attempt>),
    /// The work is submitted.
    Verify(Box<Verify>),
    /// The ticket is over.
    Done(Done),
}

impl Ticket {
    /// A ticket of which nothing is stored yet.
    #[must_use]
    pub fn new(id: TicketId) -> Self {
        Self {
            id,
            spec: Spec::default(),
            state: State::New,
            since: Time::default(),
            held: None,
            labels: BTreeSet::new(),
            fence: Fence::default(),
            tries: 0,
            attempts: 0,
            in_line_since: None,
            submitted: Vec::new(),
            rejected: None,
            due: None,
            from: attempt::StartPoint::Target,
            feedback: Vec::new(),
            answers: Vec::new(),
            questions: 0,
            closed_question: None,
            authors: BTreeSet::new(),
            unified: Vec::new(),
            undone: Vec::new(),
            absent: BTreeSet::new(),
            tags_given: BTreeSet::new(),
            doubt: None,
            given: None,
            review_tries: 0,
            repeat: None,
            unheeded: None,
            kept: Vec::new(),
            leftovers: Leftovers::default(),
            commitments: Vec::new(),
            unconfirmed: None,
            approved_before: None,
            pull_request: None,
            delegated: None,
            children: 0,
            parts: Vec::new(),
            made: 0,
            spent: Spent::default(),
            retried_by_hook: false,
        }
    }

    /// Notes a tip as which its work is submitted.
    fn note_submitted(&mut self, tip: Oid) {
        if self.submitted.contains(&tip) {
            return;
        }
        if self.submitted.len() == MOST_SUBMITTED {
            self.submitted.remove(0);
        }
        self.submitted.push(tip);
    }

    /// The attempt behind it, at work or submitted.
    #[must_use]
    pub fn attempt(&self) -> Option<&Attempt> {
        match &self.state {
            State::InProgress(attempt) => Some(attempt),
            State::Verify(verify) => Some(&verify.attempt),
            State::New | State::Open | State::Done(_) => None,
        }
    }

    /// The work of its attempts that a person finds in no branch. An attempt's last commit counts once nobody
    /// goes on with it: the ticket is held or over, and has not landed.
    pub fn work_apart(&self) -> impl Iterator<Item = &KeptWork> {
        let is_left = match &self.state {
            State::New | State::Open => self.held.is_some(),
            State::InProgress(_) | State::Verify(_) | State::Done(Done::Landed { .. }) => false,
            State::Done(
                Done::Failed { .. }
                | Done::NotNeeded
                | Done::Replaced { .. }
                | Done::Dropped { .. }
                | Done::ClosedByPerson,
            ) => true,
        };
        self.kept.iter().filter(move |work| is_left || !work.is_attempt())
    }

    /// The reason for which it is held, if that is a workspace which could not be set up.
    #[must_use]
    pub fn failed_set_up(&self) -> Option<&Held> {
        let held = self.held.as_ref()?;
        matches!((&self.state, &held.why), (State::Open, Why::CouldNotRun)).then_some(held)
    }

    /// The attempt behind it, to be changed.
    pub(crate) fn attempt_mut(&mut self) -> Option<&mut Attempt> {
        match &mut self.state {
            State::InProgress(attempt) => Some(attempt),
            State::Verify(verify) => Some(&mut verify.attempt),
            State::New | State::Open | State::Done(_) => None,
        }
    }

    /// The claims that are alive: by each of them an agent has the ticket, or waits for what becomes of its
    /// work.
    pub fn claims(&self) -> impl Iterator<Item = &Attempt> {
        self.attempt().into_iter()
    }

    /// The claim of this fence, while it is alive.
    #[must_use]
    pub fn claim(&self, fence: Fence) -> Option<&Attempt> {
        self.claims().find(|attempt| attempt.claim.fence == fence)
    }

    /// The agents whose slots it takes, each with the claim that takes it.
    pub fn slots(&self) -> impl Iterator<Item = (&AgentName, Fence)> {
        let claims = self.claims().map(|attempt| &attempt.claim);
        let taken = claims.filter(|claim| claim.has_slot());
        let reviews = self.open_reviews().map(|review| (&review.agent, review.fence));
        taken.map(|claim| (&claim.agent, claim.fence)).chain(reviews)
    }

    /// The runs whose processes may be alive: those of steps and reviews, and that of a check.
    pub fn live_runs(&self) -> impl Iterator<Item = &RunId> {
        let steps = self
            .claims()
            .filter_map(|attempt| attempt.conversation.live_run());
        let reviews = self
            .open_reviews()
            .filter_map(|review| review.conversation.live_run());
        steps
            .chain(reviews)
            .chain(self.check_run().map(|check| &check.run))
    }

    /// True if it has landed, and its merge changed no file: the target had all of its work before.
    #[must_use]
    pub fn brought_nothing(&self) -> bool {
        matches!(
            self.state,
            State::Done(Done::Landed {
                brought_nothing: true,
                ..
            })
        )
    }

    /// True if it waits for the end of this run.
    #[must_use]
    pub fn waits_for(&self, run: &RunId) -> bool {
        self.live_runs().any(|live| live == run)
    }

    /// The agent whose slot it takes.
    #[must_use]
    pub fn slot(&self) -> Option<&AgentName> {
        let claim = self.attempt().map(|attempt| &attempt.claim);
        claim.filter(|claim| claim.has_slot()).map(|claim| &claim.agent)
    }

    /// The run of a step whose process may be alive.
    #[must_use]
    pub fn live_run(&self) -> Option<&RunId> {
        self.attempt().and_then(|attempt| attempt.conversation.live_run())
    }

    /// Whether its branch was refused the last time that crew looked at it.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        let of = self.repeat.as_ref().map(|repeat| &repeat.of);
        matches!(of, Some(Fingerprint::Refused { .. }))
    }

    /// Its stage of verification.
    #[must_use]
    pub fn stage(&self) -> Option<&Stage> {
        match &self.state {
            State::Verify(verify) => Some(&verify.stage),
            State::New | State::Open | State::InProgress(_) | State::Done(_) => None,
        }
    }

    /// True if it is not known at this moment whether the target holds its work: it is landing, or its pull
    /// request is being looked at.
    #[must_use]
    pub fn is_landing(&self) -> bool {
        self.held.is_none()
            && match self.stage() {
                Some(Stage::Landing { waiting, .. }) => waiting.is_none(),
                Some(Stage::Proposed(proposal)) => proposal.is_looked_at(),
                Some(
                    Stage::Queued
                    | Stage::Building
                    | Stage::Checking(_)
                    | Stage::InTrain(_)
                    | Stage::Unified { .. }
                    | Stage::Reviewing(_),
                )
                | None => false,
            }
    }

    /// Its proposal, while its work waits in a pull request.
    #[must_use]
    pub fn proposal(&self) -> Option<(&PullRequest, &Proposal)> {
        match (self.pull_request.as_deref(), self.stage()?) {
            (Some(request), Stage::Proposed(proposal)) => Some((request, proposal)),
            (Some(_) | None, _) => None,
        }
    }

    /// True if its file is gone, and nothing was decided on that.
    #[must_use]
    pub fn is_left_without_file(&self) -> bool {
        self.unheeded.as_ref().is_some_and(|change| change.says.is_none())
    }

    /// True if somebody has worked on it, and that has not come to its end: an agent has it, its work is
    /// submitted or kept, or it is held.
    #[must_use]
    pub fn has_work_at_stake(&self) -> bool {
        !self.is_done() && (self.attempt().is_some() || self.held.is_some() || !self.kept.is_empty())
    }

    /// True if its work has failed: a gatekeeper found that it cannot be done, or it is held for a failure of
    /// its own. The label `failed`, recovery tickets and their short cut all depend on this.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        match &self.state {
            State::Done(done) => matches!(done, Done::Failed { .. }),
            State::New | State::Open | State::InProgress(_) | State::Verify(_) => {
                self.held.as_ref().is_some_and(|held| held.why.is_failure())
            }
        }
    }

    /// The digest of its text as an agent first got it, where the text is another by now.
    #[must_use]
    pub fn given_otherwise(&self) -> Option<&str> {
        self.given.as_deref().filter(|given| **given != self.spec.digest)
    }

    /// True if it is over.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done(_))
    }

    /// The merged result it stands or falls with.
    #[must_use]
    pub fn candidate(&self) -> Option<&Candidate> {
        let State::Verify(verify) = &self.state else {
            return None;
        };
        match &verify.stage {
            Stage::Queued | Stage::Building | Stage::Unified { .. } => None,
            Stage::Checking(checks) => Some(&checks.candidate),
            Stage::InTrain(entry) => Some(&entry.candidate),
            Stage::Reviewing(reviewing) => Some(&reviewing.candidate),
            Stage::Landing { candidate, .. } => Some(candidate),
            Stage::Proposed(proposal) => Some(&proposal.candidate),
        }
    }

    /// Its checks, while it is at them.
    #[must_use]
    pub fn checks(&self) -> Option<&Checks> {
        let State::Verify(verify) = &self.state else {
            return None;
        };
        match &verify.stage {
            Stage::Checking(checks) => Some(checks),
            Stage::Queued
            | Stage::Building
            | Stage::InTrain(_)
            | Stage::Reviewing(_)
            | Stage::Landing { .. }
            | Stage::Unified { .. }
            | Stage::Proposed(_) => None,
        }
    }

    /// The run of its checks that is under way.
    #[must_use]
    pub fn check_run(&self) -> Option<&CheckRun> {
        self.checks().and_then(|checks| checks.run.as_ref())
    }

    /// The state's name: one box of the diagram, `(held)` where it is.
    #[must_use]
    pub fn state_name(&self) -> String {
        let name = match &self.state {
            State::New => "new".to_owned(),
            State::Open => "open".to_owned(),
            State::InProgress(attempt) => format!("in_progress/{}", attempt.state.name()),
            State::Verify(verify) => format!("verify/{}", verify.stage.name()),
            State::Done(done) => format!("done/{}", done.name()),
        };
        if self.held.is_some() {
            format!("{name} (held)")
        } else {
            name
        }
    }
}
