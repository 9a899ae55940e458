//! The reason why a ticket is, or is not, dispatched.

use model::attempt::Mode;
use model::policy::route::Refusal;
use model::view::AttemptSummary;
use model::{AgentName, Moment, Oid, SessionId, TicketId, session, ticket};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Activity, Commitment, Failure, Progress, PullRequest, Usage};

/// The reason why a ticket is, or is not, dispatched.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explanation {
    /// The ticket's id.
    pub ticket: TicketId,
    /// Its title; empty when it cannot be read.
    pub title: String,
    /// Its state, with that of its attempt; `unknown` when it cannot be read.
    pub state: String,
    /// The time since which it stands so; `null` where no engine has seen it.
    pub since: Option<Moment>,
    /// `true` while an engine runs.
    pub engine: bool,
    /// The reason in words.
    pub says: String,
    /// The same for programs; `null` when nothing is in the way.
    pub refusal: Option<Refusal>,
    /// What a person can do about it, the likeliest first.
    pub remedies: Vec<Remedy>,
    /// The change of its file on which nothing was decided, because it is no person's word, in words; `null`
    /// when there is none.
    pub file_change: Option<String>,
    /// The fact that its agent waits for, in words.
    pub waits_for: Option<String>,
    /// The latest end of its agent's wait.
    pub waits_until: Option<Moment>,
    /// What runs in its agent's step at this moment; `null` where nothing is seen of it.
    pub activity: Option<Activity>,
    /// The progress that its agent has reported last in the step that runs; `null` where there is none.
    pub progress: Option<Progress>,
    /// The answer that its agent gets with the next step; `null` where none waits.
    pub answer: Option<String>,
    /// The task mode of its agent, until the work is submitted.
    pub mode: Option<Mode>,
    /// The session of its agent's client.
    pub session: Option<SessionId>,
    /// The state of that session.
    pub session_state: Option<session::State>,
    /// The words of people that its agent gets with the next step, each with who said it.
    pub messages: Vec<String>,
    /// The tickets into which its agent broke it up.
    pub parts: Vec<TicketId>,
    /// The lines that its agent printed for crew in its last step and crew could not use, each with the
    /// reason: partly text of the agent.
    pub unusable: Vec<String>,
    /// The files that its agent changed in its last step after it had submitted, the first ones: nothing was
    /// submitted. Empty where there are none.
    pub changed_after: Vec<String>,
    /// The failure that it waits or is held for.
    pub failure: Option<Failure>,
    /// The tasks that crew has for the ticket and cannot do, however often it tries, each with the reason:
    /// partly in git's or the system's words.
    pub failing: Vec<String>,
    /// The commitments that its work must meet before it lands.
    pub commitments: Vec<Commitment>,
    /// The reason for which a gatekeeper or a person looks at its work before it lands, in words; `null`
    /// where nobody does, or where the work was let pass already.
    pub review: Option<String>,
    /// Its pull request, where work lands by them; `null` before there is one.
    pub pull_request: Option<PullRequest>,
    /// The work that it has landed; `null` where it has not.
    pub landed: Option<LandedWork>,
    /// Work of its attempts that no branch holds.
    pub kept: Vec<KeptWork>,
    /// The end of the output of the check for which it is held, or for which no agent is started on the
    /// target, and the way in which the check ended, in words; `null` where no check is in its way.
    pub printed: Option<String>,
    /// The folder with the whole of that output, in the files `out` and `err`; `null` where it is gone.
    pub printed_in: Option<String>,
}

/// What a person can do about a ticket that does not move.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remedy {
    /// The remedy in words; lines to type and names stand between backticks.
    pub says: String,
    /// The lines to type among the words. Where a person's own text is wanted, a name such as `<why>` stands
    /// for it.
    pub lines: Vec<String>,
}

/// Work that has landed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LandedWork {
    /// The merge commit on the target.
    commit: Oid,
    /// The agent that did the work.
    agent: AgentName,
    /// The proof: the gatekeeper's acceptance test, else the checks that passed.
    proof: String,
    /// The ticket's n-th attempt, from 1; this and what follows is `null` where the journal has it not.
    attempt: Option<u32>,
    /// The time since which the agent had the ticket.
    since: Option<Moment>,
    /// The time at which it landed.
    until: Option<Moment>,
    /// Steps that ended well.
    steps: Option<u32>,
    /// The usage of the attempt's steps, failed ones too.
    usage: Option<Usage>,
}

impl LandedWork {
    /// The document of a landing; `work` is the attempt.
    pub fn of(commit: &Oid, agent: &AgentName, proof: &str, work: Option<&AttemptSummary>) -> Self {
        Self {
            commit: commit.clone(),
            agent: agent.clone(),
            proof: proof.to_owned(),
            attempt: work.map(|work| work.attempt),
            since: work.map(|work| Moment(work.since)),
            until: work.and_then(|work| work.until).map(Moment),
            steps: work.map(|work| work.steps),
            usage: work.map(|work| Usage::of(work.usage)),
        }
    }
}

/// Work of an attempt that no branch holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeptWork {
    /// The ref that keeps it; or the folder that was set aside.
    pub place: String,
    /// A command that shows it.
    pub command: String,
    /// The work and its place, in words.
    pub says: String,
}

impl From<&ticket::KeptWork> for KeptWork {
    fn from(work: &ticket::KeptWork) -> Self {
        Self {
            place: work.place().to_owned(),
            command: work.command(),
            says: work.words(),
        }
    }
}
