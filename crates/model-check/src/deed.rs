//! Deeds: the acts of an engine on a ticket, and the events that they are.

use model::attempt::{self, AfterStop, Class, Failure, Signal, Usage};
use model::ticket::{
    AfterLanding, AfterReview, Candidate, CheckOutcome, CheckPlan, CheckSlot, CheckTask, Event, Loss,
    Released, Review, ReviewEvent, Reviewing, State, Ticket, Verdict,
};
use model::{Actor, AgentName, Fence, RunId, SessionId, Time};

use crate::chain::{self, Chain};

/// An event without its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Deed {
    Claim {
        agent: u8,
    },
    WorkspaceReady,
    StartStep,
    Spawned,
    WorkspaceLost,
    /// The step ended with `DONE`.
    Finish,
    /// The step's process is gone.
    Lose,
    /// A person drops it while a step runs: the step is stopped first.
    StopForDrop,
    Drop,
    StartCheck,
    Build {
        candidate: Chain,
        on: Chain,
        tip: u8,
    },
    NothingCommitted,
    Pass {
        candidate: Chain,
    },
    FailCheck,
    /// The check's process is gone.
    LoseCheck,
    Land {
        candidate: Chain,
    },
    TargetMoved,
    InTheWay,
    RetryLanding,
    /// A person drops it while it lands: the landing is ended first.
    EndLanding,
    /// Landing it keeps failing: the landing is ended, and the ticket is held.
    HoldLanding,
    NotLanded,
    /// Its work could not be merged, or its check not be run: it is held.
    CouldNotRun,
    /// A held ticket is tried again by itself: as an engine starts, the target is back, or its time has come.
    RetryHeld,
    /// The engine that took over found no worker behind it.
    WorkerLost,
    /// Its candidate is given to the gatekeeper.
    ClaimReview,
    StartReview,
    ReviewSpawned,
    Approve,
    Reject,
    /// The gatekeeper's process is gone.
    LoseReview,
    /// A person drops it while a gatekeeper is at work: that is ended first.
    StopReviewForDrop,
    /// The step ended with a question.
    Ask,
    /// A person answers it.
    Answer,
    /// Its agent delegates so many children.
    Delegate {
        children: u8,
    },
    /// The file of a child is seen, and its parent's attempt waits for it: that attempt's claim, agent and
    /// number.
    Appear {
        fence: u8,
        agent: u8,
        number: u8,
    },
    /// The file of a child is seen, and nobody waits for it any more.
    AppearLate,
    /// All of its children are over.
    HearOfChildren,
    /// A person drops it while it waits for its children: those are ended first.
    EndChildren,
    /// A person has it go on without its children: those are ended first.
    WakeLeader,
    /// A child is ended with what it is a part of, or its step is stopped for that.
    EndChild,
    StopChild,
    /// The work of a child is in its parent's workspace.
    Unify,
    /// The parent of a child has landed.
    LandWithParent {
        candidate: Chain,
    },
}

impl Deed {
    /// The events, in one write. `is_reviewed`: whether work is reviewed.
    pub(crate) fn events(self, ticket: &Ticket, is_reviewed: bool) -> Vec<Event> {
        let attempt = |event| vec![Event::Attempt(event)];
        let soon = Time::default();
        let attempts_left = 3;
        let steps_left = 3;
        match self {
            Self::Claim { agent } => {
                let fence = ticket.fence.next();
                vec![Event::Claimed {
                    agent: agent_name(agent),
                    fence,
                    harness: model::samples::harness(),
                    session: session(ticket, fence, 1),
                    at: soon,
                    eligible: true,
                }]
            }
            Self::WorkspaceReady => attempt(attempt::Event::WorkspaceReady {
                base: chain::oid('a', 0),
                earlier_work: false,
            }),
            Self::StartStep => {
                let runs = ticket.attempt().map_or(0, |a| a.conversation.runs);
                attempt(attempt::Event::StepStarted {
                    run: RunId::of_step(&ticket.id, ticket.fence, runs + 1),
                    budget: None,
                    change: None,
                })
            }
            Self::Spawned => attempt(attempt::Event::WorkerSpawned),
            Self::WorkspaceLost => {
                let mut events = attempt(failed(ticket, Class::KilledByUs, "its workspace is gone"));
                events.push(stopped_for(ticket).unwrap_or(Event::Released {
                    why: Released::WorkspaceLost {
                        attempts_left,
                        reopen_at: soon,
                    },
                }));
                events
            }
            Self::Finish | Self::Ask if stopped_for(ticket).is_none() => {
                attempt(attempt::Event::StepFinished {
                    usage: Usage::default(),
                    total_micro_usd: None,
                    signal: match self {
                        Self::Ask => Signal::Asked {
                            question: "which?".to_owned(),
                        },
                        _ => Signal::Done,
                    },
                    summary: None,
                    repeat: None,
                    unusable: Vec::new(),
                    steps_left,
                    attempts_left,
                    reopen_at: soon,
                    answer_by: None,
                })
            }
            Self::Finish | Self::Ask | Self::Lose => {
                let class = match stopped_for(ticket) {
                    Some(_) => Class::KilledByUs,
                    None => Class::Lost,
                };
                let mut events = attempt(failed(ticket, class, "it is gone"));
                events.extend(stopped_for(ticket));
                events
            }
            Self::StopForDrop => attempt(attempt::Event::StopOrdered { then: dropped() }),
            Self::Drop => vec![Event::Dropped {
                by: Actor::person("pat"),
                reason: "not wanted".to_owned(),
            }],
            Self::StartCheck => vec![Event::CheckStarted],
            Self::Build { candidate, on, tip } => {
                let built = Event::CandidateBuilt {
                    candidate: Candidate {
                        commit: chain::oid('c', candidate.into()),
                        tree: chain::oid('e', candidate.into()),
                        target: chain::oid('c', on.into()),
                        tip: chain::oid('b', tip.into()),
                        passed: Vec::new(),
                        review: None,
                        brings_nothing: false,
                    },
                    plan: CheckPlan {
                        setup: Vec::new(),
                        commands: vec![model::samples::ticket::check("make check")],
                        ..CheckPlan::default()
                    },
                };
                vec![built, check_ordered(ticket, 1)]
            }
            Self::NothingCommitted => vec![Event::NoCommits {
                steps_left,
                reopen_at: soon,
                repeat: None,
            }],
            Self::Pass { candidate } => {
                let passed = Event::ChecksPassed {
                    tree: chain::oid('e', candidate.into()),
                    passed: vec!["make check".to_owned()],
                    review: is_reviewed && !is_approved(ticket),
                };
                let mut events = check_ended(ticket, CheckOutcome::Passed);
                events.push(passed);
                events
            }
            // The target is green, so the proof that it is takes no part here.
            Self::FailCheck => {
                let failed = Event::ChecksFailed {
                    which: "make check".to_owned(),
                    output: String::new(),
                    steps_left,
                    reopen_at: soon,
                    repeat: None,
                };
                let output = String::new();
                let mut events = check_ended(ticket, CheckOutcome::Failed { output });
                events.push(failed);
                events
            }
            Self::LoseCheck => {
                let runs = ticket.checks().map_or(0, |checks| checks.runs);
                let mut events = check_ended(ticket, CheckOutcome::Lost { how: Loss::Vanished });
                events.push(check_ordered(ticket, runs + 1));
                events
            }
            Self::Land { candidate } => vec![Event::Landed {
                commit: chain::oid('c', candidate.into()),
            }],
            Self::TargetMoved => vec![Event::TargetMoved],
            Self::InTheWay => vec![Event::CheckoutEdited {
                paths: Vec::new(),
                retry_at: soon,
            }],
            Self::RetryLanding => vec![Event::LandingRetried],
            Self::EndLanding => vec![Event::LandingEndOrdered {
                then: AfterLanding::Drop {
                    by: Actor::person("pat"),
                    reason: "not wanted".to_owned(),
                },
            }],
            Self::HoldLanding => vec![Event::LandingEndOrdered {
                then: AfterLanding::Hold {
                    why: "a lock is in the way".to_owned(),
                    may_pass: false,
                    retry_at: soon,
                },
            }],
            Self::NotLanded => vec![Event::NotLanded],
            // An earlier engine may have begun the check: the machine orders the end of it.
            Self::CouldNotRun => vec![Event::CouldNotRun {
                why: "no room".to_owned(),
                may_pass: false,
                retry_at: soon,
            }],
            Self::RetryHeld => vec![Event::RetryDue],
            Self::WorkerLost => {
                let live = ticket.live_run().is_some();
                let lost = live.then(|| Event::Attempt(failed(ticket, Class::Lost, "its host is gone")));
                let released = Event::Released {
                    why: Released::WorkspaceLost {
                        attempts_left,
                        reopen_at: soon,
                    },
                };
                lost.into_iter().chain([released]).collect()
            }
            Self::ClaimReview => {
                let fence = ticket.fence.next();
                vec![Event::ReviewClaimed {
                    agent: gatekeeper(),
                    fence,
                    harness: model::samples::harness(),
                    session: session(ticket, fence, 1),
                    at: soon,
                }]
            }
            Self::StartReview => of_review(ticket, |review| {
                let run = RunId::of_step(&ticket.id, review.fence, review.conversation.runs + 1);
                vec![ReviewEvent::Started { run }]
            }),
            Self::ReviewSpawned => of_review(ticket, |_| vec![ReviewEvent::Spawned]),
            Self::Approve => {
                let verdict = Verdict::Approve {
                    acceptance_test: "read it".to_owned(),
                    met: Vec::new(),
                    feedback: String::new(),
                };
                judged(ticket, &verdict, |fence| Event::Approved { fence, agree: 1 })
            }
            Self::Reject => {
                let verdict = Verdict::Reject {
                    reason: "no test".to_owned(),
                    feedback: String::new(),
                };
                judged(ticket, &verdict, |fence| Event::Rejected {
                    fence,
                    attempts_left,
                    reopen_at: soon,
                })
            }
            Self::LoseReview => lost_review(ticket),
            Self::StopReviewForDrop => vec![Event::ReviewEndOrdered {
                then: AfterReview::Drop {
                    by: Actor::person("pat"),
                    reason: "not wanted".to_owned(),
                },
            }],
            Self::Answer
            | Self::Delegate { .. }
            | Self::Appear { .. }
            | Self::AppearLate
            | Self::HearOfChildren
            | Self::EndChildren
            | Self::WakeLeader
            | Self::EndChild
            | Self::StopChild
            | Self::Unify
            | Self::LandWithParent { .. } => crate::team::events(self, ticket),
        }
    }
}

/// The agents' names.
pub(crate) fn agent_name(agent: u8) -> AgentName {
    AgentName::new(["ada", "bob"][usize::from(agent)]).expect("a name")
}

/// The gatekeeper's name.
pub(crate) fn gatekeeper() -> AgentName {
    AgentName::new("gate-1").expect("a name")
}

/// Whether the work at the tip of the ticket's candidate was approved.
fn is_approved(ticket: &Ticket) -> bool {
    let (State::Verify(verify), Some(candidate)) = (&ticket.state, ticket.candidate()) else {
        return false;
    };
    verify.clearance(&candidate.tip).is_some()
}

/// Events of the review that goes on.
fn of_review(ticket: &Ticket, events: impl Fn(&Review) -> Vec<ReviewEvent>) -> Vec<Event> {
    let review = ticket.reviewing().and_then(Reviewing::open);
    let of = |review: &Review| {
        let fence = review.fence;
        let event = |event| Event::Review { fence, event };
        events(review).into_iter().map(event).collect()
    };
    review.map(of).unwrap_or_default()
}

/// The gatekeeper's step has ended with a verdict, or for a person who wants something else.
fn judged(ticket: &Ticket, verdict: &Verdict, follows: impl Fn(Fence) -> Event) -> Vec<Event> {
    let reviewing = ticket.reviewing();
    if reviewing.is_some_and(|reviewing| reviewing.then.is_some()) {
        return lost_review(ticket);
    }
    let mut events = of_review(ticket, |_| {
        let finished = ReviewEvent::Finished {
            usage: Usage::default(),
            total_micro_usd: None,
        };
        let verdict = verdict.clone();
        vec![finished, ReviewEvent::VerdictNoted { verdict }]
    });
    let fence = reviewing.and_then(Reviewing::open).map(|review| review.fence);
    events.extend(fence.map(follows));
    events
}

/// The gatekeeper's step has ended without a verdict: it is started again, or what a person wants follows.
fn lost_review(ticket: &Ticket) -> Vec<Event> {
    let then = ticket.reviewing().and_then(|reviewing| reviewing.then.clone());
    let class = match then {
        Some(_) => Class::KilledByUs,
        None => Class::Lost,
    };
    let mut events = of_review(ticket, |review| {
        vec![ReviewEvent::Failed {
            usage: Usage::default(),
            total_micro_usd: None,
            failure: Failure::new(class, "it is gone"),
            retry_at: Time::default(),
            fresh: session(ticket, review.fence, review.conversation.session.number + 1),
        }]
    });
    if let Some(AfterReview::Drop { by, reason }) = then {
        events.push(Event::Dropped { by, reason });
    }
    events
}

/// The n-th run for the candidate that the ticket is at is ordered.
fn check_ordered(ticket: &Ticket, n: u32) -> Event {
    let round = match &ticket.state {
        State::Verify(verify) => verify.round,
        State::New | State::Open | State::InProgress(_) | State::Done(_) => 0,
    };
    Event::CheckOrdered {
        run: RunId::of_check(&ticket.id, ticket.fence, round, n),
        task: CheckTask::Candidate,
        slot: CheckSlot::FIRST,
        anew: false,
        at: Time::default(),
    }
}

/// The run that is under way has ended.
fn check_ended(ticket: &Ticket, outcome: CheckOutcome) -> Vec<Event> {
    let run = ticket.check_run().map(|check| check.run.clone());
    let ended = run.map(|run| Event::CheckEnded {
        run,
        outcome,
        tests: None,
    });
    ended.into_iter().collect()
}

fn failed(ticket: &Ticket, class: Class, message: &str) -> attempt::Event {
    let sessions = ticket.attempt().map_or(0, |a| a.conversation.session.number);
    attempt::Event::StepFailed {
        usage: Usage::default(),
        total_micro_usd: None,
        failure: Failure::new(class, message),
        retry_at: Time::default(),
        errors_left: 3,
        repeats_left: 3,
        fresh: session(ticket, ticket.fence, sessions + 1),
    }
}

fn dropped() -> AfterStop {
    AfterStop::Drop {
        by: Actor::person("pat"),
        reason: "not wanted".to_owned(),
    }
}

/// The event for which the step was stopped: it follows when the step is over.
fn stopped_for(ticket: &Ticket) -> Option<Event> {
    match ticket.attempt()?.conversation.stopping.as_ref()? {
        AfterStop::Drop { by, reason } => Some(Event::Dropped {
            by: by.clone(),
            reason: reason.clone(),
        }),
        AfterStop::Retry { .. }
        | AfterStop::Fail { .. }
        | AfterStop::Conclude
        | AfterStop::Pause
        | AfterStop::Release { .. }
        | AfterStop::Reap { .. } => None,
    }
}

fn session(ticket: &Ticket, fence: Fence, n: u32) -> SessionId {
    SessionId::of_attempt(uuid::Uuid::nil(), &ticket.id, fence, n)
}
