//! A review: a gatekeeper looks at a candidate in a checkout of its own, and gives a verdict.

mod machine;

use serde::{Deserialize, Serialize};

pub use machine::ReviewMachine;

use super::{Candidate, Stage, State, Ticket};
use crate::attempt::{AfterStop, Failure, HarnessId, Quiet, Usage};
use crate::call::Call;
use crate::conversation::{Conversation, Refused};
use crate::{Actor, AgentName, Fence, RunId, SessionId, Time};

/// A candidate in review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reviewing {
    /// The candidate under review.
    pub candidate: Candidate,
    /// The time before which it is given to no further gatekeeper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Time>,
    /// A person's request that came while a gatekeeper was at work, whose step is being ended for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<AfterReview>,
    /// The reviews of this candidate that go on or came to a verdict, oldest first.
    pub reviews: Vec<Review>,
}

/// A gatekeeper at work on a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// The gatekeeper.
    pub agent: AgentName,
    /// The token of the review: a second claim on the ticket beside that of the attempt.
    pub fence: Fence,
    /// The steps of the gatekeeper with its client.
    pub conversation: Conversation,
    /// The time at which the gatekeeper got the review.
    pub since: Time,
    /// The time before which no step of it is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Time>,
    /// The verdict; none while the review goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The question that the gatekeeper has asked a person, while it waits for the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<Asking>,
    /// A person has answered, and the gatekeeper has not been given the answer yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_answered: bool,
    /// Its questions that nobody answered in time: each of its prompts says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<String>,
}

/// A question of a gatekeeper that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asking {
    /// The question, as the gatekeeper put it.
    pub question: String,
    /// The time at which the review goes on without an answer; none when it waits for as long as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// The time since which it waits.
    pub since: Time,
}

/// The verdict of a gatekeeper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The work may land.
    Approve {
        /// The way in which the gatekeeper tested the work.
        acceptance_test: String,
        /// The numbers of the commitments that it names as met.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        met: Vec<u32>,
        /// Its advice; may be empty.
        feedback: String,
    },
    /// The work goes back to the queue.
    Reject {
        /// The reason, in words.
        reason: String,
        /// Its advice for the next attempt; may be empty.
        feedback: String,
    },
    /// The task cannot be done.
    Fail {
        /// The reason, in words.
        reason: String,
    },
}

impl Verdict {
    /// The verdict's name, as a gatekeeper writes it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Approve { .. } => "approve",
            Verdict::Reject { .. } => "reject",
            Verdict::Fail { .. } => "fail",
        }
    }
}

/// The action that follows a review that is being ended for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterReview {
    /// A person approves in the gatekeeper's place.
    Approve {
        /// The actor who did it.
        by: Actor,
    },
    /// A person sends the work back.
    Return {
        /// The actor who did it.
        by: Actor,
        /// The reason, in words.
        why: String,
    },
    /// The ticket's text has changed: its agent is told first.
    TellEdit,
    /// The ticket is dropped.
    Drop {
        /// The actor who asked for it.
        by: Actor,
        /// The reason, in words.
        reason: String,
    },
}

/// Something that happened to a review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewEvent {
    /// A step of the gatekeeper was ordered.
    Started {
        /// The run of the step.
        run: RunId,
    },
    /// The shim of the step is known to live.
    Spawned,
    /// The step is being stopped.
    StopOrdered {
        /// The action that follows when its process has ended.
        then: AfterStop,
    },
    /// The step ended well.
    Finished {
        /// The usage of the step.
        usage: Usage,
        /// As in [`StepFinished`](crate::attempt::Event::StepFinished).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_micro_usd: Option<u64>,
    },
    /// The step ended in any other way.
    Failed {
        /// The usage of the step.
        usage: Usage,
        /// As in [`StepFailed`](crate::attempt::Event::StepFailed).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_micro_usd: Option<u64>,
        /// The failure.
        failure: Failure,
        /// The next step of the review is not started before.
        retry_at: Time,
        /// The session that replaces this one, should the failure break it.
        fresh: SessionId,
    },
    /// The gatekeeper gave its verdict. It counts once no process of the review lives.
    VerdictNoted {
        /// The verdict.
        verdict: Verdict,
    },
    /// The gatekeeper called a tool in its step.
    Called {
        /// The call. A verdict counts as the gatekeeper's once the step is over.
        call: Call,
        /// The time at which crew took it.
        at: Time,
    },
    /// The step that runs shows no sign of life.
    WentQuiet(Quiet),
    /// The step that was silent shows signs of life again.
    Stirred,
    /// Its step has ended with a question to a person, and the review waits for the answer.
    Asked {
        /// The question.
        asks: Asking,
    },
    /// A person answered.
    Answered {
        /// The actor who did it.
        by: Actor,
        /// The answer.
        text: String,
        /// The question, which the ticket keeps with the answer.
        question: String,
    },
    /// Nobody answered in time: the review goes on without an answer.
    WaitTimedOut,
}

impl ReviewEvent {
    /// The event's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            ReviewEvent::Started { .. } => "review_started",
            ReviewEvent::Spawned => "review_spawned",
            ReviewEvent::StopOrdered { .. } => "review_stop_ordered",
            ReviewEvent::Finished { .. } => "review_finished",
            ReviewEvent::Failed { .. } => "review_failed",
            ReviewEvent::VerdictNoted { .. } => "verdict_noted",
            ReviewEvent::Called { .. } => "review_called",
            ReviewEvent::WentQuiet(_) => "review_went_quiet",
            ReviewEvent::Stirred => "review_stirred",
            ReviewEvent::Asked { .. } => "review_asked",
            ReviewEvent::Answered { .. } => "review_answered",
            ReviewEvent::WaitTimedOut => "review_wait_timed_out",
        }
    }

    /// The usage of the step that ended with it.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        match self {
            ReviewEvent::Finished { usage, .. } | ReviewEvent::Failed { usage, .. } => Some(*usage),
            ReviewEvent::Started { .. }
            | ReviewEvent::Spawned
            | ReviewEvent::StopOrdered { .. }
            | ReviewEvent::VerdictNoted { .. }
            | ReviewEvent::Called { .. }
            | ReviewEvent::WentQuiet(_)
            | ReviewEvent::Stirred
            | ReviewEvent::Asked { .. }
            | ReviewEvent::Answered { .. }
            | ReviewEvent::WaitTimedOut => None,
        }
    }
}

impl Reviewing {
    /// A candidate that waits for its first gatekeeper.
    #[must_use]
    pub fn new(candidate: Candidate) -> Self {
        Self {
            candidate,
            due: None,
            then: None,
            reviews: Vec::new(),
        }
    }

    /// The review that has come to no verdict yet.
    #[must_use]
    pub fn open(&self) -> Option<&Review> {
        self.reviews.iter().find(|review| review.verdict.is_none())
    }

    /// The review of this fence.
    #[must_use]
    pub fn review(&self, fence: Fence) -> Option<&Review> {
        self.reviews.iter().find(|review| review.fence == fence)
    }

    /// The review that waits for the end of this run.
    #[must_use]
    pub fn of_run(&self, run: &RunId) -> Option<&Review> {
        let mut reviews = self.reviews.iter();
        reviews.find(|review| review.conversation.live_run() == Some(run))
    }

    /// The gatekeepers that approved.
    pub fn approvers(&self) -> impl Iterator<Item = &AgentName> {
        self.approvals().map(|(agent, _)| agent)
    }

    /// The gatekeepers that approved, each with the numbers of the commitments that it names as met.
    pub fn approvals(&self) -> impl Iterator<Item = (&AgentName, &[u32])> {
        self.reviews.iter().filter_map(|review| match &review.verdict {
            Some(Verdict::Approve { met, .. }) => Some((&review.agent, met.as_slice())),
            Some(Verdict::Reject { .. } | Verdict::Fail { .. }) | None => None,
        })
    }

    /// True if a process of a review of it may be alive.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.reviews
            .iter()
            .any(|review| review.conversation.has_live_worker())
    }

    /// The time before which nothing of it moves, while it waits for nothing else.
    #[must_use]
    pub fn waits_until(&self) -> Option<Time> {
        match self.open() {
            Some(open) if open.conversation.has_live_worker() => None,
            Some(open) if let Some(asks) = &open.asks => asks.until,
            Some(open) => open.due,
            None => self.due,
        }
    }
}

impl Review {
    /// A review as its claim begins it.
    #[must_use]
    pub fn new(agent: AgentName, fence: Fence, harness: HarnessId, session: SessionId, at: Time) -> Self {
        Self {
            agent,
            fence,
            conversation: Conversation::new(harness, session),
            since: at,
            due: None,
            verdict: None,
            asks: None,
            is_answered: false,
            unanswered: Vec::new(),
        }
    }

    /// True if a step of it may be started at `now`.
    #[must_use]
    pub fn can_step(&self, now: Time) -> bool {
        let waits = self.verdict.is_some() || self.asks.is_some();
        !waits && self.conversation.is_idle() && self.due.is_none_or(|due| due <= now)
    }

    /// Takes an event of its own. Answers the run to start, with whether its session is new to the client, or
    /// the run to stop.
    ///
    /// # Errors
    /// [`Refused`] when the review does not accept it.
    pub(super) fn take(&mut self, event: &ReviewEvent) -> Result<Order, Refused> {
        if self.verdict.is_some() {
            return Err("the review has its verdict".into());
        }
        match event {
            ReviewEvent::Started { run } => {
                self.expect_no_question()?;
                let new_session = self.conversation.start(run, None)?;
                (self.due, self.is_answered) = (None, false);
                return Ok(Order::Start { new_session });
            }
            ReviewEvent::Spawned => self.conversation.spawned()?,
            ReviewEvent::Called { call, at } => self.conversation.call(call, *at)?,
            ReviewEvent::WentQuiet(quiet) => self.conversation.went_quiet(quiet)?,
            ReviewEvent::Stirred => self.conversation.stirred()?,
            ReviewEvent::StopOrdered { then } => return Ok(Order::Stop(self.conversation.stop(then)?)),
            ReviewEvent::Finished {
                usage,
                total_micro_usd,
            } => drop(self.conversation.finish(*usage, *total_micro_usd)?),
            ReviewEvent::Failed {
                usage,
                total_micro_usd,
                failure,
                retry_at,
                fresh,
            } => {
                self.conversation.fail(failure, *usage, *total_micro_usd, fresh)?;
                self.due = Some(*retry_at);
            }
            ReviewEvent::Asked { asks } => {
                self.expect_no_question()?;
                if !self.conversation.is_idle() {
                    return Err("a step of it is running".into());
                }
                if self.conversation.runs == 0 {
                    return Err("no step of it was started".into());
                }
                self.asks = Some(asks.clone());
            }
            ReviewEvent::Answered { .. } => {
                if self.asks.is_none() && !self.is_answered {
                    return Err("it has asked nothing".into());
                }
                (self.asks, self.is_answered) = (None, true);
            }
            ReviewEvent::WaitTimedOut => {
                let asks = self.asks.take().ok_or("it does not wait for an answer")?;
                self.unanswered.push(asks.question);
            }
            ReviewEvent::VerdictNoted { verdict } => {
                self.expect_no_question()?;
                if let Verdict::Approve { acceptance_test, .. } = verdict
                    && acceptance_test.trim().is_empty()
                {
                    return Err("an approval needs an acceptance test".into());
                }
                self.verdict = Some(verdict.clone());
            }
        }
        Ok(Order::Nothing)
    }
}

impl Review {
    fn expect_no_question(&self) -> Result<(), Refused> {
        match self.asks {
            Some(_) => Err("it waits for a person's answer".into()),
            None => Ok(()),
        }
    }
}

/// An order that follows an event of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Nothing is ordered.
    Nothing,
    /// A step is started.
    Start {
        /// True if its session is new to the client.
        new_session: bool,
    },
    /// A run is ended.
    Stop(RunId),
}

impl Ticket {
    /// The candidate in review, with its reviews.
    #[must_use]
    pub fn reviewing(&self) -> Option<&Reviewing> {
        let State::Verify(verify) = &self.state else {
            return None;
        };
        match &verify.stage {
            Stage::Reviewing(reviewing) => Some(reviewing),
            Stage::Queued
            | Stage::Building
            | Stage::Checking(_)
            | Stage::InTrain(_)
            | Stage::Landing { .. }
            | Stage::Unified { .. }
            | Stage::Proposed(_) => None,
        }
    }

    /// The review that waits for the end of this run.
    #[must_use]
    pub fn review_of_run(&self, run: &RunId) -> Option<&Review> {
        self.reviewing().and_then(|reviewing| reviewing.of_run(run))
    }

    /// The conversations whose processes may be alive: that of its agent, and those of its gatekeepers.
    pub fn live_conversations(&self) -> impl Iterator<Item = &Conversation> {
        let attempts = self.claims().map(|attempt| &attempt.conversation);
        let reviews = self.open_reviews().map(|review| &review.conversation);
        attempts
            .chain(reviews)
            .filter(|conversation| conversation.has_live_worker())
    }

    /// The agent whose step this run is, while the ticket waits for its end.
    #[must_use]
    pub fn agent_of_run(&self, run: &RunId) -> Option<&AgentName> {
        let is_it = |conversation: &Conversation| conversation.live_run() == Some(run);
        let attempts = self.claims().filter(|attempt| is_it(&attempt.conversation));
        let reviews = self.open_reviews().filter(|review| is_it(&review.conversation));
        let mut agents = attempts
            .map(|attempt| &attempt.claim.agent)
            .chain(reviews.map(|review| &review.agent));
        agents.next()
    }

    /// The conversation that waits for the end of this run.
    #[must_use]
    pub fn conversation_of(&self, run: &RunId) -> Option<&Conversation> {
        self.live_conversations()
            .find(|conversation| conversation.live_run() == Some(run))
    }

    /// The reviews that have come to no verdict yet.
    pub fn open_reviews(&self) -> impl Iterator<Item = &Review> {
        let reviews = self
            .reviewing()
            .into_iter()
            .flat_map(|reviewing| &reviewing.reviews);
        reviews.filter(|review| review.verdict.is_none())
    }

    /// True if an attempt or a review with this fence is alive.
    #[must_use]
    pub fn has_claim(&self, fence: Fence) -> bool {
        self.claim(fence).is_some() || self.open_reviews().any(|review| review.fence == fence)
    }
}
