//! Events of a ticket, and its orders.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    AfterLanding, AfterReview, Batch, Candidate, Check, CheckOutcome, CheckPlan, CheckSlot, CheckStop,
    CheckTask, Coupling, Delegated, FewerTests, InTheWay, KeptWork, Leftovers, NewTicket, Part, PullRequest,
    Repeat, ReviewEvent, Secret, Seen, Spec, Unheeded, WhyUncoupled,
};
use crate::attempt::{self, ChildWork, HarnessId};
use crate::commitment::{By, Promise};
use crate::policy::budget::Budget;
use crate::{Actor, AgentName, Fence, Oid, RunId, SessionId, TicketId, Time};

/// Something that happened to a ticket. Limits, times and facts come inside, resolved by the policies before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Its file was seen for the first time.
    Created {
        /// The contents of the file.
        spec: Spec,
    },
    /// Its file has new contents.
    Edited {
        /// The contents of the file.
        spec: Spec,
        /// How it waited before, where it waits for others now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waited: Option<Box<Waited>>,
    },
    /// Its file came, or got a tag that only a person gives, while agents were at work: one of them may have
    /// written it.
    WriterDoubted {
        /// The tags for which its work is reviewed on account of that.
        tags: BTreeSet<String>,
    },
    /// A person has said that its file is theirs.
    VouchedFor {
        /// The actor who did it.
        by: Actor,
    },
    /// An agent has taken it.
    Claimed {
        /// The name of the agent.
        agent: AgentName,
        /// The claim's token: greater than the last.
        fence: Fence,
        /// The client that it works with.
        harness: HarnessId,
        /// Its first session.
        session: SessionId,
        /// The time at which it happened.
        at: Time,
        /// True if it may be dispatched at all: due, dependencies done, slot free; resolved by the route
        /// policy.
        eligible: bool,
    },
    /// Something happened to its attempt.
    Attempt(attempt::Event),
    /// The work is submitted by other means than a step's end.
    Submitted {
        /// The actor who did it.
        by: Actor,
        /// The time at which it happened.
        at: Time,
    },
    /// The attempt ended without a verdict on the work.
    Released {
        /// The reason.
        why: Released,
    },
    /// Its turn has come: its work is saved, imported and merged.
    CheckStarted,
    /// Its turn has come, and it is merged on an entry of the train.
    Coupled {
        /// The entry ahead.
        coupling: Coupling,
    },
    /// The merged result exists, and waits in the train for its trial.
    JoinedTrain {
        /// The candidate.
        candidate: Candidate,
        /// The checks of the candidate.
        plan: CheckPlan,
        /// The time at which it happened.
        at: Time,
    },
    /// All checks passed on an entry of the train, and so on all entries up to it.
    TrialPassed {
        /// The tree they passed on.
        tree: Oid,
        /// The commands that passed.
        passed: Vec<String>,
    },
    /// A check failed on an entry of the train: the fault is that of one of the entries up to it.
    TrialFailed {
        /// The command that failed.
        which: String,
        /// The end of its output.
        output: String,
        /// The numbers of its tests, where it passed and far fewer of them ran than on the target.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fewer: Option<FewerTests>,
    },
    /// The checks of an entry of the train are of no use any more.
    TrialCancelled,
    /// It was taken out of the train.
    Uncoupled {
        /// The reason.
        why: WhyUncoupled,
        /// The time at which it happened.
        at: Time,
    },
    /// It lands with a batch of the train.
    BatchLanding {
        /// The last entry of the batch, on which the checks have passed.
        tip: TicketId,
        /// The batch.
        batch: Batch,
        /// The commands that passed on the tip.
        passed: Vec<String>,
    },
    /// Another entry of its batch cannot land now: it goes on in the train.
    BatchPutOff {
        /// The checks of the candidate.
        plan: CheckPlan,
    },
    /// The merged result exists.
    CandidateBuilt {
        /// The candidate.
        candidate: Candidate,
        /// The checks of the candidate.
        plan: CheckPlan,
    },
    /// A run of the checks is ordered.
    CheckOrdered {
        /// The id of the run.
        run: RunId,
        /// The task of the run.
        task: CheckTask,
        /// The checkout in which it runs.
        #[serde(default, skip_serializing_if = "CheckSlot::is_first")]
        slot: CheckSlot,
        /// Whether it runs although the same has passed on the same tree before: what is remembered proves
        /// nothing now.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        anew: bool,
        /// The time at which it happened.
        at: Time,
    },
    /// The run of the checks that is under way is ordered to stop.
    CheckStopOrdered {
        /// The reason.
        why: CheckStop,
    },
    /// A run of the checks has ended.
    CheckEnded {
        /// The id of the run.
        run: RunId,
        /// The end of the run.
        outcome: CheckOutcome,
        /// The number of tests that it ran, where its output says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tests: Option<u64>,
    },
    /// All checks passed on the merged result.
    ChecksPassed {
        /// The tree they passed on.
        tree: Oid,
        /// The names of the checks that passed; those that were skipped are named as such.
        passed: Vec<String>,
        /// True if a gatekeeper or a person looks at it before it lands.
        review: bool,
    },
    /// A check failed, and the target alone passes it.
    ChecksFailed {
        /// The command that failed.
        which: String,
        /// The end of its output.
        output: String,
        /// The number of steps that the agent has left.
        steps_left: u32,
        /// The time at which the ticket may be dispatched again, if it goes back to the queue.
        reopen_at: Time,
        /// The count of this failure, if it came before.
        repeat: Option<Repeat>,
    },
    /// Somebody has added a commitment.
    CommitmentAdded {
        /// Its author.
        by: By,
        /// The promise.
        promise: Promise,
    },
    /// A person says that its work need not meet a commitment.
    CommitmentWaived {
        /// The number of the commitment.
        id: u32,
        /// The actor who did it.
        by: Actor,
        /// The reason, in words.
        reason: String,
    },
    /// A commitment is not met by the merged result, whose checks have passed.
    CommitmentUnmet {
        /// The number of the commitment.
        id: u32,
        /// The end of its output.
        output: String,
        /// The number of steps that the agent has left.
        steps_left: u32,
        /// The time at which the ticket may be dispatched again, if it goes back to the queue.
        reopen_at: Time,
        /// The count of this failure, if it came before.
        repeat: Option<Repeat>,
    },
    /// The checks have passed, and its commitments need a person's word.
    CommitmentsHeld {
        /// The tip that has passed.
        tip: Oid,
    },
    /// A person has given the word that its commitments wait for.
    CommitmentsApproved {
        /// The actor who did it.
        by: Actor,
    },
    /// A check passed and ran far fewer tests than on the target: a person is asked.
    TestsHeld {
        /// The check.
        which: String,
        /// The numbers of its tests.
        tests: FewerTests,
        /// The end of its output.
        output: String,
    },
    /// A person lets the work pass with fewer tests.
    TestsApproved {
        /// The actor who did it.
        by: Actor,
    },
    /// The branch adds nothing to the target.
    NoCommits {
        /// The number of steps that the agent has left.
        steps_left: u32,
        /// The time at which the ticket may be dispatched again, if it goes back to the queue.
        reopen_at: Time,
        /// The count of this failure, if it came before.
        repeat: Option<Repeat>,
    },
    /// The branch does not merge.
    Conflicted {
        /// The paths in conflict.
        paths: Vec<String>,
        /// The number of resolutions that are left.
        resolutions_left: u32,
        /// Whether its agent has resolved the conflict that it was asked about, and other work landed first.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        overtaken: bool,
        /// The count of this failure, if it came before.
        repeat: Option<Repeat>,
    },
    /// The checks could not be run, or the work not be merged for them: never the agent's fault.
    CouldNotRun {
        /// The thing that could not be done, and the reason, in words.
        why: String,
        /// Whether the cause may pass without a person, such as a network that is away.
        #[serde(default)]
        may_pass: bool,
        /// When they are tried again.
        retry_at: Time,
    },
    /// The target alone fails the check too.
    TargetRed {
        /// The command that failed.
        which: String,
        /// The end of what it printed on the target, and on the last line how it ended.
        #[serde(default)]
        output: String,
        /// When they are tried again.
        retry_at: Time,
    },
    /// The local target has commits that the remote's does not have: neither can become the other.
    Diverged {
        /// The two branches, and the commands that mend it, in words.
        why: String,
        /// When it is looked at again.
        retry_at: Time,
    },
    /// It touches paths that a person must approve, or would land what looks like secrets.
    Sensitive {
        /// The paths that need a person's approval.
        paths: Vec<String>,
        /// What looks like secrets.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        secrets: Vec<Secret>,
        /// The tip that has them.
        tip: Oid,
    },
    /// A gatekeeper has taken its review.
    ReviewClaimed {
        /// The name of the gatekeeper.
        agent: AgentName,
        /// The review's token: greater than the last.
        fence: Fence,
        /// The client that the gatekeeper works with.
        harness: HarnessId,
        /// Its first session.
        session: SessionId,
        /// The time at which it happened.
        at: Time,
    },
    /// Something happened to a review of it.
    Review {
        /// The review's token.
        fence: Fence,
        /// The event.
        event: ReviewEvent,
    },
    /// A review ended in errors.
    ReviewCrashed {
        /// The review's token.
        fence: Fence,
        /// The number of tries that are left.
        left: u32,
        /// When it is reviewed again.
        due: Time,
    },
    /// A review ended without a verdict.
    ReviewGaveUp {
        /// The review's token.
        fence: Fence,
        /// What was wrong with the verdict that it meant to give, in words; empty where it gave none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
        /// The number of tries that are left.
        left: u32,
        /// When it is reviewed again.
        due: Time,
    },
    /// The credentials of a review's client are refused.
    ReviewRefused {
        /// The review's token.
        fence: Fence,
        /// The message of the service.
        message: String,
    },
    /// There is no gatekeeper that may review it.
    NobodyReviews {
        /// The reason, in words.
        why: String,
    },
    /// It has passed its checks, and its review where it is reviewed: a person looks at all work.
    LeftToPerson,
    /// The approval of an earlier tip holds for this one, which does nothing but resolve conflicts with the
    /// target.
    ApprovalKept {
        /// The gatekeepers that approved; none where a person did.
        by: Vec<AgentName>,
        /// The tip that was approved.
        of: Oid,
        /// The tip that resolves the conflicts.
        tip: Oid,
        /// The paths that were in conflict.
        paths: Vec<String>,
    },
    /// Enough gatekeepers approved.
    Approved {
        /// The token of the review whose approval was the last one.
        fence: Fence,
        /// The number of approvals that are needed.
        agree: u32,
    },
    /// A gatekeeper sent it back.
    Rejected {
        /// The review's token.
        fence: Fence,
        /// The number of attempts that are left.
        attempts_left: u32,
        /// The time at which the ticket may be dispatched again.
        reopen_at: Time,
    },
    /// A gatekeeper found that it cannot be done.
    WorkFailed {
        /// The review's token.
        fence: Fence,
    },
    /// A person wants something else while a gatekeeper is at work: the step of the gatekeeper is ended
    /// first.
    ReviewEndOrdered {
        /// The action that follows.
        then: AfterReview,
    },
    /// A person approved in a gatekeeper's place.
    ReviewApproved {
        /// The actor who did it.
        by: Actor,
    },
    /// A person sent it back in a gatekeeper's place.
    Returned {
        /// The actor who did it.
        by: Actor,
        /// The reason, in words.
        why: String,
        /// The time at which the ticket may be dispatched again, if its agent does not have it any more.
        reopen_at: Time,
    },
    /// Its text has changed since its agent saw it last: the work goes back to the agent, which is told.
    EditReturned {
        /// The number of steps that are left.
        steps_left: u32,
        /// The time at which the ticket may be dispatched again, if its agent does not have it any more.
        reopen_at: Time,
    },
    /// The target branch is at the merge commit.
    Landed {
        /// The merge commit.
        commit: Oid,
    },
    /// The remote has its branch, and a pull request for it.
    Proposed {
        /// The pull request.
        request: PullRequest,
        /// When it is looked at.
        look_at: Time,
    },
    /// Its pull request is to be looked at.
    LookOrdered,
    /// Its pull request is open.
    ProposalSeen {
        /// The state of the pull request.
        seen: Seen,
        /// When it is looked at next.
        look_at: Time,
    },
    /// Its pull request could not be looked at.
    ProposalUnseen {
        /// The reason, in words.
        why: String,
        /// Whether the cause may pass without a person, such as a network that is away.
        may_pass: bool,
        /// When it is looked at next.
        look_at: Time,
    },
    /// People want its pull request changed.
    ChangesRequested {
        /// Their reviews, by the number at the host.
        reviews: Vec<u64>,
        /// Their names at the host.
        by: String,
        /// Their words.
        why: String,
    },
    /// Its pull request was closed without a merge.
    ProposalClosed,
    /// Someone else moved the target, or the candidate is gone from the repository: it is built again.
    TargetMoved,
    /// A person's edits are in the way.
    CheckoutEdited {
        /// The files in the way.
        paths: Vec<InTheWay>,
        /// When landing is tried again.
        retry_at: Time,
    },
    /// Landing is tried again.
    LandingRetried,
    /// A person has asked for something else while the ticket was landing: the landing is ended first.
    LandingEndOrdered {
        /// The action that follows, unless it has landed.
        then: AfterLanding,
    },
    /// The landing was ended, and the target does not hold the merged result.
    NotLanded,
    /// A recovery ticket whose ticket did not fail.
    RecoveryNotNeeded,
    /// A ticket that recovers this one, which has failed, has landed.
    RecoveryLanded {
        /// The ticket that has landed.
        by: TicketId,
        /// The merge commit of that ticket.
        commit: Oid,
        /// True if that ticket stands in the place of this one, which is closed; else this one is opened
        /// again.
        replaces: bool,
    },
    /// The step that holds it is tried again by itself: no counter starts afresh.
    RetryDue,
    /// A person asked for another try.
    Retried {
        /// The actor who did it.
        by: Actor,
        /// True if its agent's slot is free to be taken again.
        slot_free: bool,
        /// A session for its agent, should it go on.
        fresh: SessionId,
    },
    /// A person lets it pass in spite of the reason that holds it.
    Waived {
        /// The actor who did it.
        by: Actor,
        /// The reason, in words.
        reason: String,
    },
    /// A person approved the sensitive paths, or what looks like secrets.
    SensitiveApproved {
        /// The actor who did it.
        by: Actor,
    },
    /// A person gave it up.
    Dropped {
        /// The actor who did it.
        by: Actor,
        /// The reason, in words.
        reason: String,
    },
    /// A person closed its file while crew did not hold it.
    ClosedByPerson {
        /// The actor who closed it.
        by: Actor,
    },
    /// It was opened again.
    Reopened {
        /// The actor who did it.
        by: Actor,
    },
    /// Its file did not have the contents that crew wants: it is written again.
    FileDrifted,
    /// Its file was changed, and not by a person's word: nothing is decided on that.
    FileUnheeded {
        /// The change.
        change: Unheeded,
    },
    /// Its file is as crew left it again, or a person has spoken.
    FileHeeded,
    /// An engine whose journal is gone had given it to an agent: it is given out again.
    WorkFound,
    /// An attempt has left work that no branch holds.
    WorkKept {
        /// The work, with the places at which it is kept.
        work: Vec<KeptWork>,
    },
    /// Its work was merged, and its agent had not committed all of it.
    LeftoversFound {
        /// What became of the files.
        leftovers: Leftovers,
    },
    /// The ticket's budget is spent: no further step of it is started.
    BudgetSpent {
        /// The amount spent, and its limit.
        budget: Budget,
    },
    /// A person has raised what it may cost.
    BudgetRaised {
        /// True if its agent's slot is free to be taken again.
        slot_free: bool,
    },
    /// It is a child of another ticket's attempt.
    Delegated {
        /// By which attempt, and where its agent works.
        delegated: Delegated,
    },
    /// It is done for its parent.
    Unified {
        /// What it did to its parent's branch; none where crew could not tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        work: Option<Box<ChildWork>>,
        /// The reason for which that did not merge, in words: its parent's agent may bring it in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unmerged: Option<String>,
    },
    /// Its parent has landed, with its work.
    LandedWithParent {
        /// Its parent.
        parent: TicketId,
        /// The merge commit of its parent.
        commit: Oid,
    },
    /// Somebody has left a note for people on it.
    Commented {
        /// The author. A note of an agent's is written into the ticket's file; what was seen there is not
        /// written again.
        by: Actor,
        /// The text, at most 4 KiB.
        text: String,
    },
    /// The tickets for its parts are over: its next attempt brings them together.
    PartsOver {
        /// The parts, each with what came of it.
        parts: Vec<Part>,
    },
    /// A person took it back to a commit of an earlier attempt, from which its next one begins.
    Rewound {
        /// The actor who did it.
        by: Actor,
        /// The commit.
        commit: Oid,
        /// The event of its history that the person named.
        at: u64,
    },
    /// Its agent has made another ticket.
    TicketMade {
        /// The agent, in its step.
        by: Actor,
        /// The ticket.
        ticket: Box<NewTicket>,
    },
    /// The work of a child cannot be brought into its parent's workspace, or it cannot begin there: its
    /// parent's agent has to mend something.
    NotUnified {
        /// The reason, in words.
        why: String,
    },
    /// Its branch was looked at, and has not the commits of these children that were unified.
    ChildrenAbsent {
        /// Those children; empty where all are there again.
        absent: BTreeSet<TicketId>,
    },
}

/// How a ticket waited before its file was edited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waited {
    /// The tickets for which it waited.
    pub deps: BTreeSet<TicketId>,
    /// The tickets on which agents were at work: one of them may have written the edit.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub writers: BTreeSet<TicketId>,
}

/// The reason for which an attempt ended without a verdict on its work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Released {
    /// A person killed the agent.
    Killed {
        /// The actor who did it.
        by: Actor,
    },
    /// The agent was given up.
    Reaped {
        /// The reason, in words.
        why: String,
    },
    /// Its workspace could not be made.
    WorkspaceFailed {
        /// The reason, in words.
        why: String,
        /// The number of attempts that are left.
        attempts_left: u32,
        /// The time at which the ticket may be dispatched again.
        reopen_at: Time,
    },
    /// Its workspace was made and could not be set up. That is no failure of an agent, and costs no attempt.
    SetUpFailed {
        /// The reason, in words.
        why: String,
        /// The end of what the failed command printed, and on the last line how it ended; empty if no
        /// command ran.
        output: String,
        /// Whether the cause may pass without a person, such as a network that is away.
        #[serde(default)]
        may_pass: bool,
        /// Whether every workspace on the target's commit fails for the same cause: no other ticket is given
        /// out.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        for_all: bool,
        /// When the set-up is tried again.
        retry_at: Time,
    },
    /// Its workspace is gone.
    WorkspaceLost {
        /// The number of attempts that are left.
        attempts_left: u32,
        /// The time at which the ticket may be dispatched again.
        reopen_at: Time,
    },
}

/// An order of a ticket. Slots, timers and its file are derived from the state: [`super::Change`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Make workspace, branch and instructions, unless they exist.
    PrepareWorkspace {
        /// The agent that works in it.
        agent: AgentName,
        /// The fence of the claim.
        fence: Fence,
        /// The attempt's number.
        number: u32,
        /// The start of the work.
        from: attempt::StartPoint,
    },
    /// The attempt's own.
    Attempt(attempt::Effect),
    /// Save what the workspace holds, import it, merge it on the target.
    BuildCandidate {
        /// The agent that the workspace belongs to.
        agent: AgentName,
        /// The fence of the claim.
        fence: Fence,
        /// The attempt's number.
        number: u32,
        /// The ticket's n-th candidate of this attempt.
        round: u32,
        /// The tip whose sensitive paths a person approved.
        approved: Option<Oid>,
        /// The tip that was approved in review and came into conflict then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before_conflict: Option<Oid>,
        /// The target's commit with which its agent was asked to resolve a conflict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conflicted_with: Option<Oid>,
        /// The entry of the train on which it is merged; none: on the target.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        coupling: Option<Coupling>,
    },
    /// Start a run of the checks, unless it was started, or need not be.
    StartCheck {
        /// The id of the run.
        run: RunId,
        /// The task of the run.
        task: CheckTask,
        /// The checkout in which it runs.
        #[serde(default, skip_serializing_if = "CheckSlot::is_first")]
        slot: CheckSlot,
        /// The commit that is checked out for it.
        commit: Oid,
        /// The command, with its limits.
        command: Check,
        /// All commands of these checks.
        plan: CheckPlan,
        /// The number of set-up commands that have run for it.
        set_up: u32,
        /// The number of commands that have passed on the commit before it: it goes on in the files that they
        /// left.
        passed: u32,
        /// Whether it runs although the same has passed on the same tree before.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        anew: bool,
    },
    /// Start a step of a review in a throw-away checkout of exactly the candidate, unless its run was started
    /// already.
    StartReview {
        /// The name of the gatekeeper.
        agent: AgentName,
        /// The run.
        run: RunId,
        /// The review's token.
        fence: Fence,
        /// The step's number, from 1.
        step: u32,
        /// The client that the step is started with.
        harness: HarnessId,
        /// The id of the session.
        session: SessionId,
        /// True if the client has not seen the session yet.
        new_session: bool,
        /// The candidate under review.
        candidate: Candidate,
    },
    /// Remove the checkout of a review that is over, once its run has ended.
    RemoveReview {
        /// The name of the gatekeeper.
        agent: AgentName,
        /// The last run of the review.
        run: Option<RunId>,
    },
    /// Move the target to the merged result, and the checkouts that follow it.
    Land {
        /// The agent that did the work.
        agent: AgentName,
        /// The merged result.
        candidate: Candidate,
        /// The entries that land with it by the same move, itself the last; none where it lands by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        batch: Option<Batch>,
    },
    /// Look at the pull request, and merge it where it is approved and the settings have crew merge it.
    LookAtProposal {
        /// The merged result whose checks have passed; its second parent was pushed.
        candidate: Candidate,
        /// The address of the pull request.
        url: String,
    },
    /// Keep what the attempt made under `refs/crew/attempts/<ticket>/<number>`, then remove workspace and
    /// branch; take it out of a workspace that it shares, and out of the branch of that.
    KeepWork {
        /// The agent that the workspace belongs to.
        agent: AgentName,
        /// The attempt's number.
        number: u32,
    },
    /// The work is landed: remove workspace and branch.
    RemoveWorkspace {
        /// The agent that the workspace belongs to.
        agent: AgentName,
        /// The attempt's number.
        number: u32,
    },
    /// Give the ticket's file the contents that the journal wants.
    WriteFile(super::Filing),
    /// Add a note to the ticket's file, unless it is there.
    AddNote {
        /// The text of the note.
        text: String,
        /// The agent in whose name it is written; none where crew itself writes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<AgentName>,
    },
    /// Commit what a child's agent has not committed, and bring its work into the workspace of its parent.
    Unify {
        /// The agent of the child.
        agent: AgentName,
        /// The fence of the claim.
        fence: Fence,
        /// The attempt's number.
        number: u32,
    },
    /// Write the file of another ticket that its agent has made, unless it is there.
    CreateTicket(Box<NewTicket>),
}

impl Effect {
    /// The effect's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Effect::PrepareWorkspace { .. } => "prepare_workspace",
            Effect::Attempt(effect) => effect.name(),
            Effect::BuildCandidate { .. } => "build_candidate",
            Effect::StartCheck { .. } => "start_check",
            Effect::StartReview { .. } => "start_review",
            Effect::RemoveReview { .. } => "remove_review",
            Effect::Land { .. } => "land",
            Effect::LookAtProposal { .. } => "look_at_proposal",
            Effect::KeepWork { .. } => "keep_work",
            Effect::RemoveWorkspace { .. } => "remove_workspace",
            Effect::WriteFile(_) => "write_file",
            Effect::AddNote { .. } => "add_note",
            Effect::Unify { .. } => "unify",
            Effect::CreateTicket(_) => "create_ticket",
        }
    }

    /// The run that it starts or stops.
    #[must_use]
    pub fn run(&self) -> Option<&RunId> {
        match self {
            Effect::Attempt(attempt::Effect::StartStep { run, .. } | attempt::Effect::StopRun { run })
            | Effect::StartCheck { run, .. }
            | Effect::StartReview { run, .. } => Some(run),
            Effect::Attempt(
                attempt::Effect::InspectWorkspace { .. } | attempt::Effect::CreateChild { .. },
            )
            | Effect::Unify { .. }
            | Effect::PrepareWorkspace { .. }
            | Effect::BuildCandidate { .. }
            | Effect::RemoveReview { .. }
            | Effect::Land { .. }
            | Effect::LookAtProposal { .. }
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. }
            | Effect::WriteFile(_)
            | Effect::AddNote { .. }
            | Effect::CreateTicket(_) => None,
        }
    }

    /// True if it is about the ticket's file, not its work.
    #[must_use]
    pub fn is_of_file(&self) -> bool {
        match self {
            Effect::WriteFile(_) | Effect::AddNote { .. } | Effect::CreateTicket(_) => true,
            Effect::PrepareWorkspace { .. }
            | Effect::Attempt(_)
            | Effect::BuildCandidate { .. }
            | Effect::StartCheck { .. }
            | Effect::StartReview { .. }
            | Effect::RemoveReview { .. }
            | Effect::Land { .. }
            | Effect::LookAtProposal { .. }
            | Effect::KeepWork { .. }
            | Effect::Unify { .. }
            | Effect::RemoveWorkspace { .. } => false,
        }
    }

    /// The order as a thing that was not done, in words, for its failure.
    #[must_use]
    pub fn undone(&self) -> String {
        match self {
            Effect::PrepareWorkspace { agent, .. } => format!("a workspace for {agent} could not be made"),
            Effect::Attempt(attempt::Effect::StartStep { .. }) => "a step could not be started".to_owned(),
            Effect::Attempt(attempt::Effect::StopRun { run }) => format!("run {run} could not be ended"),
            Effect::Attempt(attempt::Effect::InspectWorkspace { .. }) => {
                "its workspace could not be looked at".to_owned()
            }
            Effect::Attempt(attempt::Effect::CreateChild { child }) => {
                format!("the ticket {} could not be written", child.id)
            }
            Effect::Unify { .. } => "its work could not be brought into its parent's".to_owned(),
            Effect::BuildCandidate { .. } => "its work could not be merged on the target".to_owned(),
            Effect::StartCheck { .. } => "the checks could not be run".to_owned(),
            Effect::StartReview { .. } => "a review could not be started".to_owned(),
            Effect::RemoveReview { .. } => "the checkout of a review could not be removed".to_owned(),
            Effect::Land { .. } => "it could not be landed".to_owned(),
            Effect::LookAtProposal { .. } => "its pull request could not be looked at".to_owned(),
            Effect::KeepWork { agent, .. } => format!("the work of {agent} could not be kept"),
            Effect::RemoveWorkspace { agent, .. } => format!("the workspace of {agent} could not be removed"),
            Effect::WriteFile(_) | Effect::AddNote { .. } => "its file could not be written".to_owned(),
            Effect::CreateTicket(new) => {
                format!("the ticket {}, which it has made, could not be written", new.id)
            }
        }
    }

    /// The fence of the claim that it belongs to, for an order that carries one.
    #[must_use]
    pub fn fence(&self) -> Option<Fence> {
        match self {
            Effect::PrepareWorkspace { fence, .. }
            | Effect::BuildCandidate { fence, .. }
            | Effect::Unify { fence, .. }
            | Effect::StartReview { fence, .. }
            | Effect::Attempt(attempt::Effect::StartStep { fence, .. }) => Some(*fence),
            Effect::Attempt(
                attempt::Effect::StopRun { .. }
                | attempt::Effect::InspectWorkspace { .. }
                | attempt::Effect::CreateChild { .. },
            )
            | Effect::StartCheck { .. }
            | Effect::RemoveReview { .. }
            | Effect::Land { .. }
            | Effect::LookAtProposal { .. }
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. }
            | Effect::WriteFile(_)
            | Effect::AddNote { .. }
            | Effect::CreateTicket(_) => None,
        }
    }
}

impl Event {
    /// The event's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Event::Created { .. } => "created",
            Event::Edited { .. } => "edited",
            Event::WriterDoubted { .. } => "writer_doubted",
            Event::VouchedFor { .. } => "vouched_for",
            Event::Claimed { .. } => "claimed",
            Event::Attempt(event) => event.name(),
            Event::Submitted { .. } => "submitted",
            Event::Released { .. } => "released",
            Event::CheckStarted => "check_started",
            Event::Coupled { .. } => "coupled",
            Event::JoinedTrain { .. } => "joined_train",
            Event::TrialPassed { .. } => "trial_passed",
            Event::TrialFailed { .. } => "trial_failed",
            Event::TrialCancelled => "trial_cancelled",
            Event::Uncoupled { .. } => "uncoupled",
            Event::BatchLanding { .. } => "batch_landing",
            Event::BatchPutOff { .. } => "batch_put_off",
            Event::CandidateBuilt { .. } => "candidate_built",
            Event::CheckOrdered { .. } => "check_ordered",
            Event::CheckStopOrdered { .. } => "check_stop_ordered",
            Event::CheckEnded { .. } => "check_ended",
            Event::ChecksPassed { .. } => "checks_passed",
            Event::ChecksFailed { .. } => "checks_failed",
            Event::CommitmentAdded { .. } => "commitment_added",
            Event::CommitmentUnmet { .. } => "commitment_unmet",
            Event::CommitmentWaived { .. } => "commitment_waived",
            Event::CommitmentsHeld { .. } => "commitments_held",
            Event::CommitmentsApproved { .. } => "commitments_approved",
            Event::TestsHeld { .. } => "tests_held",
            Event::TestsApproved { .. } => "tests_approved",
            Event::NoCommits { .. } => "no_commits",
            Event::Conflicted { .. } => "conflicted",
            Event::CouldNotRun { .. } => "could_not_run",
            Event::TargetRed { .. } => "target_red",
            Event::Diverged { .. } => "diverged",
            Event::Sensitive { .. } => "sensitive",
            Event::ReviewClaimed { .. } => "review_claimed",
            Event::Review { event, .. } => event.name(),
            Event::ReviewCrashed { .. } => "review_crashed",
            Event::ReviewGaveUp { .. } => "review_gave_up",
            Event::ReviewRefused { .. } => "review_refused",
            Event::NobodyReviews { .. } => "nobody_reviews",
            Event::LeftToPerson => "left_to_person",
            Event::ReviewEndOrdered { .. } => "review_end_ordered",
            Event::ReviewApproved { .. } => "review_approved",
            Event::Returned { .. } => "returned",
            Event::PartsOver { .. } => "parts_over",
            Event::Rewound { .. } => "rewound",
            Event::EditReturned { .. } => "edit_returned",
            Event::ApprovalKept { .. } => "approval_kept",
            Event::Approved { .. } => "approved",
            Event::Rejected { .. } => "rejected",
            Event::WorkFailed { .. } => "work_failed",
            Event::Landed { .. } => "landed",
            Event::Proposed { .. } => "proposed",
            Event::LookOrdered => "look_ordered",
            Event::ProposalSeen { .. } => "proposal_seen",
            Event::ProposalUnseen { .. } => "proposal_unseen",
            Event::ChangesRequested { .. } => "changes_requested",
            Event::ProposalClosed => "proposal_closed",
            Event::TargetMoved => "target_moved",
            Event::CheckoutEdited { .. } => "checkout_edited",
            Event::LandingRetried => "landing_retried",
            Event::LandingEndOrdered { .. } => "landing_end_ordered",
            Event::NotLanded => "not_landed",
            Event::RecoveryNotNeeded => "recovery_not_needed",
            Event::RecoveryLanded { .. } => "recovery_landed",
            Event::RetryDue => "retry_due",
            Event::Retried { .. } => "retried",
            Event::Waived { .. } => "waived",
            Event::SensitiveApproved { .. } => "sensitive_approved",
            Event::Dropped { .. } => "dropped",
            Event::ClosedByPerson { .. } => "closed_by_person",
            Event::Reopened { .. } => "reopened",
            Event::FileDrifted => "file_drifted",
            Event::FileUnheeded { .. } => "file_unheeded",
            Event::FileHeeded => "file_heeded",
            Event::WorkFound => "work_found",
            Event::WorkKept { .. } => "work_kept",
            Event::LeftoversFound { .. } => "leftovers_found",
            Event::BudgetSpent { .. } => "budget_spent",
            Event::BudgetRaised { .. } => "budget_raised",
            Event::Delegated { .. } => "delegated_by",
            Event::Unified { .. } => "unified",
            Event::ChildrenAbsent { .. } => "children_absent",
            Event::LandedWithParent { .. } => "landed_with_parent",
            Event::Commented { .. } => "commented",
            Event::TicketMade { .. } => "ticket_made",
            Event::NotUnified { .. } => "not_unified",
        }
    }
}
