//! The ticket machine: from the queue to the target branch. The root of its stream; the attempt is its child.

mod change;
mod checks;
mod event;
mod in_the_way;
#[cfg(test)]
mod tests;
mod transition;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use change::{Change, Deadline, FileStatus, Filing, SlotChange, TimerChange, TimerKey};
pub use checks::{CheckOutcome, CheckPlan, CheckRun, CheckStop, CheckTask, Checks, Loss};
pub use event::{Effect, Event, Released};
pub use in_the_way::{InTheWay, Obstacle, in_words, remedy};
pub use transition::Machine;

use crate::attempt::{self, Attempt};
use crate::policy::budget::{Budget, Spent};
use crate::{Actor, AgentName, Fence, Oid, RunId, TicketId, Time};

/// What a note begins with that crew adds to a ticket's file: why its agent cannot go on.
pub const NOTED: &str = "BLOCKED:";

/// A ticket as the journal knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    /// Its id.
    pub id: TicketId,
    /// What its file says, as last read.
    pub spec: Spec,
    /// Where it stands.
    pub state: State,
    /// Since when.
    pub since: Time,
    /// Set when it needs a person, or waits for something outside crew.
    pub held: Option<Box<Held>>,
    /// What is true of it now. History says what was.
    pub labels: BTreeSet<Label>,
    /// The last token minted for it.
    pub fence: Fence,
    /// Attempts since it was created or last retried by a person.
    pub tries: u32,
    /// Attempts in all: the next one's number is one more.
    pub attempts: u32,
    /// Open: not given out before.
    pub due: Option<Time>,
    /// Where the next attempt starts.
    pub from: attempt::StartPoint,
    /// What reviewers said of earlier attempts, oldest first.
    pub feedback: Vec<String>,
    /// What its agents asked and a person answered, oldest first: a conversation that begins anew is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// Attempts at a review that ended without a verdict, in a row.
    pub review_tries: u32,
    /// The last failure of submitted work, over all attempts; none once checks passed, a person retried or
    /// its text changed.
    pub repeat: Option<Repeat>,
    /// What its steps have cost.
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub spent: Spent,
}

/// A question of an agent, and what a person said to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The question, as the agent put it.
    pub question: String,
    /// The answer.
    pub text: String,
}

/// What a ticket's file says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The first heading.
    pub title: String,
    /// `bug`, `feature`, `task`, `epic`, `chore`, or what the author wrote.
    pub kind: String,
    /// 0 (first) to 4.
    pub priority: u8,
    /// Tickets that must be done before.
    pub deps: BTreeSet<TicketId>,
    /// The author's tags; crew's own labels are not among them.
    pub tags: BTreeSet<String>,
    /// Who it is meant for; counts only when it names an agent.
    pub assignee: Option<String>,
    /// The ticket this one recovers.
    pub recovers: Option<TicketId>,
    /// When it was written.
    pub created: Time,
    /// Its `## Acceptance Criteria`, when it has any.
    pub acceptance: Option<String>,
    /// A digest of title and body without crew's own notes: whether a person changed the text.
    pub digest: String,
}

/// Where a ticket stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not created yet: no event has been stored.
    New,
    /// In the queue.
    Open,
    /// An agent has it.
    InProgress(Box<Attempt>),
    /// Submitted.
    Verify(Box<Verify>),
    /// Over.
    Done(Done),
}

/// Submitted work on its way to the target branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verify {
    /// The attempt that submitted it.
    pub attempt: Attempt,
    /// Who submitted: the agent, or a person by closing the file.
    pub by: Actor,
    /// Since when it is in the line.
    pub submitted_at: Time,
    /// Times it was built: it numbers the candidates.
    pub round: u32,
    /// The tip a person approved although it touches sensitive paths.
    pub approved: Option<Oid>,
    /// The verdict on this tip, so that the branch needs no further one however often it is merged anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleared: Option<Cleared>,
    /// Which stage.
    pub stage: Stage,
}

/// A verdict on a branch. It counts for this tip alone, and for every merge of it: on a busy target the
/// merged result changes all the time, and a verdict on that would be asked for without end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleared {
    /// The branch's tip.
    pub tip: Oid,
    /// Whose verdict it is.
    pub by: Clearance,
}

/// Who let a branch pass, and so which verdicts it needs no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clearance {
    /// A person waived what held it: it is neither checked nor reviewed.
    Waived {
        /// Who and why.
        words: String,
    },
    /// A reviewer approved of it: each merge is checked, and none is reviewed again.
    Approved {
        /// How the work was tested.
        acceptance_test: String,
    },
}

/// A stage of verification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Checking: in the line for the one candidate that is built at a time.
    Queued,
    /// Checking: its work is being saved, imported and merged.
    Building,
    /// Checking: the checks run on the merged result.
    Checking(Box<Checks>),
    /// A gatekeeper looks at it.
    Reviewing {
        /// What is reviewed.
        candidate: Candidate,
        /// Who reviews; none while it waits for one.
        reviewer: Option<AgentName>,
        /// Not given to a reviewer before.
        due: Option<Time>,
    },
    /// It passed; the target is moved to it.
    Landing {
        /// What is landed.
        candidate: Candidate,
        /// The person's edits that are in the way, and when it is tried again.
        waiting: Option<Waiting>,
    },
}

/// A person's checkout is in the way of landing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// What is in the way.
    pub paths: Vec<InTheWay>,
    /// When landing is tried again.
    pub retry_at: Time,
}

/// The merged result: what is checked is what lands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The merge commit, not yet on any branch.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
    /// Its first parent: the target when it was built.
    pub target: Oid,
    /// Its second parent: the branch's tip.
    pub tip: Oid,
    /// The check commands that passed on this tree; empty before they did.
    pub passed: Vec<String>,
}

/// A failure of submitted work with all it depends on: where it is the same, trying again costs a step and
/// changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fingerprint {
    /// It was submitted, and nothing was committed.
    NothingCommitted,
    /// This check failed on this tip. Not its output: times and addresses in it differ where nothing else
    /// does.
    Check {
        /// The command.
        which: String,
        /// The branch's tip.
        tip: Oid,
    },
    /// The branch was refused for this.
    Refused {
        /// Every path and object that was refused, with its reason.
        why: String,
    },
    /// This tip does not merge on this target.
    Conflict {
        /// The branch's tip.
        tip: Oid,
        /// The target's.
        target: Oid,
    },
}

impl Fingerprint {
    /// What came again, as the beginning of a sentence.
    #[must_use]
    pub fn says(&self) -> String {
        match self {
            Fingerprint::NothingCommitted => "it was submitted with nothing committed".to_owned(),
            Fingerprint::Check { which, tip } => {
                format!("`{which}` failed on the same commit {}", tip.short())
            }
            Fingerprint::Refused { why } => format!(
                "its branch was refused for the same reason ({})",
                why.lines().next().unwrap_or_default()
            ),
            Fingerprint::Conflict { tip, target } => format!(
                "the same commit {} conflicts with the same target {}",
                tip.short(),
                target.short()
            ),
        }
    }
}

/// How often the same failure of submitted work came, with no other in between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// Which.
    pub of: Fingerprint,
    /// The n-th time, from 1.
    pub times: u32,
    /// How many more times it may come before the ticket is held for no progress.
    pub left: u32,
}

/// How a ticket ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Done {
    /// Its work is in the target branch.
    Landed {
        /// The merge commit.
        commit: Oid,
        /// What proves it: the reviewer's acceptance test, else the checks that passed.
        acceptance: String,
        /// Who did the work.
        agent: AgentName,
    },
    /// A reviewer found it cannot be done.
    Failed {
        /// Why.
        reason: String,
    },
    /// A recovery ticket whose ticket did not fail.
    NotNeeded,
    /// A person dropped it.
    Dropped {
        /// Who.
        by: Actor,
        /// Why.
        reason: String,
    },
    /// A person closed its file while crew did not hold it.
    ClosedByPerson,
}

/// Why a ticket is held, and until when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The reason's kind.
    pub why: Why,
    /// The reason in words, for people.
    pub note: String,
    /// Since when.
    pub since: Time,
    /// When crew tries again by itself; none when only a person moves it on.
    pub retry_at: Option<Time>,
}

/// The kinds of reasons for which a ticket is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Its attempts are spent.
    Failed,
    /// Its agent says that it cannot go on.
    Blocked,
    /// A person killed its agent.
    Killed,
    /// Its agent was given up.
    Reaped,
    /// The checks could not be run.
    CouldNotRun,
    /// The target itself fails the checks.
    TargetRed,
    /// It touches paths that a person must approve.
    SensitivePaths {
        /// The paths.
        paths: Vec<String>,
        /// The tip that touches them: an approval counts for it alone.
        tip: Oid,
    },
    /// Its conflicts could not be resolved.
    Conflict,
    /// Its agent's credentials are refused.
    Auth,
    /// The same failure came three times on unchanged input.
    NoProgress,
    /// Its review ended without a verdict too often.
    Review,
    /// What it may cost is spent.
    Budget {
        /// What was spent of what.
        budget: Budget,
    },
}

impl Why {
    /// Every kind's name.
    pub const NAMES: [&str; 12] = [
        "failed",
        "blocked",
        "killed",
        "reaped",
        "could not run",
        "target red",
        "sensitive paths",
        "conflict",
        "auth",
        "no progress",
        "review",
        "budget",
    ];

    /// The kind's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Why::Failed => "failed",
            Why::Blocked => "blocked",
            Why::Killed => "killed",
            Why::Reaped => "reaped",
            Why::CouldNotRun => "could not run",
            Why::TargetRed => "target red",
            Why::SensitivePaths { .. } => "sensitive paths",
            Why::Conflict => "conflict",
            Why::Auth => "auth",
            Why::NoProgress => "no progress",
            Why::Review => "review",
            Why::Budget { .. } => "budget",
        }
    }
}

/// What is true of a ticket now, for people and other tools: written as tags into its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// The last attempt ended without submitting.
    AgentIncomplete,
    /// The last attempt ended in errors.
    AgentError,
    /// It came back to the queue by itself.
    AutoRecovered,
    /// Attempts spent, or found impossible.
    Failed,
    /// A person killed its agent.
    Killed,
    /// Its agent was given up.
    Reaped,
    /// A reviewer sent it back.
    Rejected,
    /// The last review ended in errors.
    EvaluatorError,
    /// The last review ended without a verdict.
    EvaluatorIncomplete,
    /// A recovery ticket that was not needed.
    Recovery,
}

impl Label {
    /// Every label, so that crew's own tags can be told from the author's.
    pub const ALL: [Label; 10] = [
        Label::AgentIncomplete,
        Label::AgentError,
        Label::AutoRecovered,
        Label::Failed,
        Label::Killed,
        Label::Reaped,
        Label::Rejected,
        Label::EvaluatorError,
        Label::EvaluatorIncomplete,
        Label::Recovery,
    ];

    /// The label as a tag.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Label::AgentIncomplete => "agent-incomplete",
            Label::AgentError => "agent-error",
            Label::AutoRecovered => "auto-recovered",
            Label::Failed => "failed",
            Label::Killed => "killed",
            Label::Reaped => "reaped",
            Label::Rejected => "rejected",
            Label::EvaluatorError => "evaluator-error",
            Label::EvaluatorIncomplete => "evaluator-incomplete",
            Label::Recovery => "recovery",
        }
    }
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
            due: None,
            from: attempt::StartPoint::Target,
            feedback: Vec::new(),
            answers: Vec::new(),
            review_tries: 0,
            repeat: None,
            spent: Spent::default(),
        }
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
        self.claims().find(|claim| claim.fence == fence)
    }

    /// The agents whose slots it takes, each with the claim that takes it.
    pub fn slots(&self) -> impl Iterator<Item = (&AgentName, Fence)> {
        let holding = self.claims().filter(|claim| claim.holding);
        holding.map(|claim| (&claim.agent, claim.fence))
    }

    /// The runs whose processes may be alive: those of steps, and that of a check.
    pub fn live_runs(&self) -> impl Iterator<Item = &RunId> {
        let workers = self.claims().filter_map(|claim| claim.worker.as_ref());
        let steps = workers.filter(|worker| worker.is_live());
        let check = self.check_run().map(|check| &check.run);
        steps.map(|worker| &worker.run).chain(check)
    }

    /// Whether it waits for the end of this run.
    #[must_use]
    pub fn waits_for(&self, run: &RunId) -> bool {
        self.live_runs().any(|live| live == run)
    }

    /// The agent whose slot it takes.
    #[must_use]
    pub fn slot(&self) -> Option<&AgentName> {
        self.attempt().filter(|a| a.holding).map(|a| &a.agent)
    }

    /// The run of a step whose process may be alive.
    #[must_use]
    pub fn live_run(&self) -> Option<&RunId> {
        self.attempt()
            .and_then(|a| a.worker.as_ref())
            .filter(|w| w.is_live())
            .map(|w| &w.run)
    }

    /// Whether it is over.
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
            Stage::Queued | Stage::Building => None,
            Stage::Checking(checks) => Some(&checks.candidate),
            Stage::Reviewing { candidate, .. } | Stage::Landing { candidate, .. } => Some(candidate),
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
            Stage::Queued | Stage::Building | Stage::Reviewing { .. } | Stage::Landing { .. } => None,
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

impl Verify {
    /// Who let this tip of the branch pass, if anybody did.
    #[must_use]
    pub fn clearance(&self, tip: &Oid) -> Option<&Clearance> {
        let cleared = self.cleared.as_ref().filter(|cleared| cleared.tip == *tip);
        cleared.map(|cleared| &cleared.by)
    }
}

impl Stage {
    /// The stage's name; the line, the merge and the checks are all checking.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Stage::Queued | Stage::Building | Stage::Checking(_) => "checking",
            Stage::Reviewing { .. } => "reviewing",
            Stage::Landing { .. } => "landing",
        }
    }
}

impl Done {
    /// The outcome's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Done::Landed { .. } => "landed",
            Done::Failed { .. } => "failed",
            Done::NotNeeded => "not_needed",
            Done::Dropped { .. } => "dropped",
            Done::ClosedByPerson => "closed_by_person",
        }
    }
}
