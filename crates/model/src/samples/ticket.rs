//! The ticket machine's alphabet: its own events, and its attempt's.

mod aspects;

use std::collections::BTreeSet;

use super::{Alphabet, EARLY, LATE, agent, attempt, harness, oid, review, session_id, ticket_id};

pub use aspects::aspects;

use crate::commitment::{By, Promise};
use crate::machine::{self, Explored, Sample};
use crate::ticket::{
    AfterLanding, AfterReview, Batch, BatchEntry, Candidate, Check, CheckCommand, CheckOutcome, CheckPlan,
    CheckSlot, CheckStop, CheckTask, Clearance, Coupling, Delegated, Event, FewerTests, Fingerprint,
    InTheWay, KeptWork, Leftovers, Listed, Loss, Machine, NewTicket, Obstacle, Origin, PullRequest, Released,
    Repeat, Review, ReviewDecision, Secret, Seen, Spec, Ticket, Unheeded, Verdict, Waited, WhyUncoupled,
};
use crate::{Actor, AgentName, Fence, RunId, TicketId};

/// A description for the page.
pub const ABOUT: &str = "A ticket goes from the queue to the target branch: `open`, `in_progress`, `verify` with its \
    stages, `done`. In any state but done it can be held until a person moves it on. In the diagram one box stands for all \
    states of the attempt while it is in progress, and an arrow means that at least one of them accepts the event; the tables \
    have each state by itself, and the attempt's own diagram has its inside.";

/// The merged result in every sample.
#[must_use]
pub fn candidate() -> Candidate {
    Candidate {
        commit: oid('c'),
        tree: oid('d'),
        target: oid('b'),
        tip: oid('a'),
        passed: Vec::new(),
        review: None,
        brings_nothing: false,
    }
}

/// The checks of an entry of the train in every sample.
fn plan() -> CheckPlan {
    CheckPlan {
        setup: Vec::new(),
        commands: vec![Check::shell("true", std::time::Duration::from_secs(1))],
        commitment_timeout_ms: 1_000,
        commitments_first: false,
        skipped: Vec::new(),
    }
}

/// The coupling in every sample.
fn coupling() -> Coupling {
    Coupling {
        ahead: ticket_id("t-0"),
        on: oid('b'),
        place: 2,
        batch: 8,
    }
}

/// A review that has just been claimed.
#[must_use]
pub fn review(gatekeeper: AgentName, fence: Fence) -> Review {
    Review::new(gatekeeper, fence, harness(), session_id(1), EARLY)
}

/// A gatekeeper's approval.
#[must_use]
pub fn approve() -> Verdict {
    Verdict::Approve {
        acceptance_test: "ran it".to_owned(),
        met: vec![1],
        feedback: "well done".to_owned(),
    }
}

/// An approval that does not count.
pub(super) fn untested() -> Verdict {
    Verdict::Approve {
        acceptance_test: " ".to_owned(),
        met: Vec::new(),
        feedback: String::new(),
    }
}

/// The approval of the tip that came into conflict holds for another one.
fn approval_kept(ticket: &Ticket) -> Event {
    let approved = ticket.approved_before.as_ref();
    let by = approved.map(|approved| match &approved.by {
        Clearance::Approved { by, .. } => by.clone(),
        Clearance::Waived { .. } => Vec::new(),
    });
    Event::ApprovalKept {
        by: by.unwrap_or_default(),
        of: approved.map_or_else(|| oid('9'), |approved| approved.tip.clone()),
        tip: oid('8'),
        paths: vec!["src/a.rs".to_owned()],
    }
}

/// A ticket of which nothing is stored yet.
#[must_use]
pub fn first() -> Ticket {
    Ticket::new(ticket_id("t-1"))
}

/// The text of a file.
#[must_use]
pub fn spec() -> Spec {
    let recovers = Some(ticket_id("t-0"));
    Spec {
        title: "Do it".to_owned(),
        kind: "task".to_owned(),
        recovers,
        digest: "1".to_owned(),
        ..Spec::default()
    }
}

/// The parent of a child.
#[must_use]
pub fn delegated() -> Delegated {
    let of = ticket_id("t-9");
    Delegated {
        by: of.clone(),
        fence: Fence(1),
        workspace: crate::attempt::Shared {
            of,
            agent: agent("bob"),
            number: 1,
        },
        is_apart: false,
        depth: 1,
        work: None,
        unmerged: None,
    }
}

/// Every event that fits `ticket`, with its guards.
#[must_use]
pub fn alphabet(ticket: &Ticket) -> Vec<Sample<Event>> {
    let session = session_id(ticket.attempt().map_or(0, |a| a.conversation.session.number) + 1);
    let claimed = |fence, at, eligible| Event::Claimed {
        agent: agent("ann"),
        fence,
        harness: harness(),
        session: session.clone(),
        at,
        eligible,
    };
    let next = ticket.fence.next();
    let review_claimed = |name, fence| Event::ReviewClaimed {
        agent: agent(name),
        fence,
        harness: harness(),
        session: session_id(1),
        at: LATE,
    };
    let by = || Actor::person("someone");
    let why = || "so".to_owned();
    let paths = || vec!["a".to_owned()];
    let secrets = || {
        vec![Secret::Value {
            path: "a".to_owned(),
            line: 1,
            rule: "github-pat".to_owned(),
            masked: "ghp_…".to_owned(),
            taken_away: None,
        }]
    };
    let released = |why| Event::Released { why };
    let workspace_failed = |attempts_left| {
        released(Released::WorkspaceFailed {
            why: why(),
            attempts_left,
            reopen_at: LATE,
        })
    };
    let set_up_failed = || {
        released(Released::SetUpFailed {
            why: why(),
            output: why(),
            may_pass: true,
            for_all: false,
            retry_at: LATE,
        })
    };
    let workspace_lost = |attempts_left| {
        released(Released::WorkspaceLost {
            attempts_left,
            reopen_at: LATE,
        })
    };
    let seen = || Seen {
        is_draft: false,
        review: ReviewDecision::Open,
        conflicts: false,
        other_head: None,
        not_merged: None,
    };
    let unseen = |may_pass| Event::ProposalUnseen {
        why: why(),
        may_pass,
        look_at: LATE,
    };
    let again = |of, left| Some(Repeat { of, times: 3, left });
    let checks_failed = |steps_left, left| Event::ChecksFailed {
        which: "true".to_owned(),
        output: why(),
        steps_left,
        reopen_at: LATE,
        repeat: again(
            Fingerprint::Check {
                which: "true".to_owned(),
                tip: oid('a'),
            },
            left,
        ),
    };
    let promised = |verified: bool| Event::CommitmentAdded {
        by: By::Ticket,
        promise: Promise {
            says: "it works".to_owned(),
            run: verified.then(|| CheckCommand::Shell("true".to_owned())),
        },
    };
    let unmet = |steps_left, left| Event::CommitmentUnmet {
        id: 1,
        output: why(),
        steps_left,
        reopen_at: LATE,
        repeat: again(
            Fingerprint::Commitment {
                says: "it works".to_owned(),
                tip: oid('a'),
            },
            left,
        ),
    };
    let no_commits = |steps_left, left| Event::NoCommits {
        steps_left,
        reopen_at: LATE,
        repeat: again(Fingerprint::NothingCommitted, left),
    };
    let conflicted = |resolutions_left, overtaken, left| Event::Conflicted {
        paths: paths(),
        resolutions_left,
        overtaken,
        repeat: again(
            Fingerprint::Conflict {
                tip: oid('a'),
                target: oid('b'),
            },
            left,
        ),
    };
    let open_review = ticket.open_reviews().next().map(|review| review.fence);
    let last_review = ticket.reviewing().and_then(|reviewing| reviewing.reviews.last());
    let fence = open_review.or(last_review.map(|review| review.fence));
    let fence = fence.unwrap_or(ticket.fence);
    let recovery_landed = |replaces| Event::RecoveryLanded {
        by: ticket_id("t-9"),
        commit: oid('c'),
        replaces,
    };
    let rejected = |attempts_left| Event::Rejected {
        fence,
        attempts_left,
        reopen_at: LATE,
    };
    let end_review = |then| Event::ReviewEndOrdered { then };
    let retried = |slot_free| Event::Retried {
        by: by(),
        slot_free,
        fresh: session.clone(),
    };
    let built = |checked: bool| {
        let one = |command: &str| checked.then(|| check(command)).into_iter().collect::<Vec<_>>();
        Event::CandidateBuilt {
            candidate: candidate(),
            plan: CheckPlan {
                setup: one("make ready"),
                commands: one("true"),
                ..CheckPlan::default()
            },
        }
    };
    let check_run = ticket.checks().map_or(1, |checks| checks.runs.max(1));
    let check_run = RunId::of_check(&ticket.id, ticket.fence, 1, check_run);
    let check_ordered = |task| Event::CheckOrdered {
        run: check_run.clone(),
        task,
        slot: CheckSlot::FIRST,
        anew: false,
        at: LATE,
    };
    let check_ended = |outcome| Event::CheckEnded {
        run: check_run.clone(),
        outcome,
        tests: Some(3),
    };
    let passed = |tree, review| Event::ChecksPassed {
        tree,
        passed: vec!["true".to_owned()],
        review,
    };
    let trial_passed = |tree| Event::TrialPassed {
        tree,
        passed: vec!["true".to_owned()],
    };
    let uncoupled = |why| Event::Uncoupled { why, at: LATE };
    let batch_landing = |tip: &TicketId| Event::BatchLanding {
        tip: tip.clone(),
        batch: Batch {
            base: oid('b'),
            entries: vec![BatchEntry {
                ticket: ticket.id.clone(),
                commit: candidate().commit,
            }],
        },
        passed: vec!["true".to_owned()],
    };

    let mut all = Alphabet::new();
    all.event(Event::Created { spec: spec() })
        .when(
            "tags",
            Event::Edited {
                spec: Spec {
                    tags: ["x".to_owned()].into(),
                    ..ticket.spec.clone()
                },
                waited: None,
            },
        )
        .when(
            "text",
            Event::Edited {
                spec: Spec {
                    digest: "2".to_owned(),
                    ..spec()
                },
                waited: Some(Box::new(Waited {
                    deps: BTreeSet::from([ticket_id("t-9")]),
                    writers: BTreeSet::from([ticket_id("t-8")]),
                })),
            },
        )
        .event(Event::WriterDoubted {
            tags: ["risky".to_owned()].into(),
        })
        .event(Event::VouchedFor { by: by() })
        .when("eligible", claimed(next, LATE, true))
        .when("early", claimed(next, EARLY, true))
        .when("not eligible", claimed(next, LATE, false))
        .when("old fence", claimed(ticket.fence, LATE, true))
        .event(Event::Submitted { by: by(), at: LATE })
        .when("killed", released(Released::Killed { by: by() }))
        .when("reaped", released(Released::Reaped { why: why() }))
        .when("workspace failed, attempts left", workspace_failed(2))
        .when("workspace failed, none left", workspace_failed(0))
        .when("set-up failed", set_up_failed())
        .when("workspace lost, attempts left", workspace_lost(2))
        .when("workspace lost, none left", workspace_lost(0))
        .event(Event::CheckStarted)
        .event(Event::Coupled { coupling: coupling() })
        .event(Event::JoinedTrain {
            candidate: candidate(),
            plan: plan(),
            at: LATE,
        })
        .when("same tree", trial_passed(oid('d')))
        .when("other tree", trial_passed(oid('e')))
        .event(Event::TrialFailed {
            which: "true".to_owned(),
            output: why(),
            fewer: None,
        })
        .event(Event::TrialCancelled)
        .when(
            "conflict",
            uncoupled(WhyUncoupled::Conflict {
                ahead: ticket_id("t-0"),
                paths: paths(),
            }),
        )
        .when(
            "behind another conflict",
            uncoupled(WhyUncoupled::Behind {
                ahead: ticket_id("t-0"),
                paths: paths(),
            }),
        )
        .when("target moved", uncoupled(WhyUncoupled::TargetMoved))
        .when("the tip", batch_landing(&ticket.id))
        .when("not the tip", batch_landing(&ticket_id("t-9")))
        .event(Event::BatchPutOff { plan: plan() })
        .when("checks", built(true))
        .when("no checks", built(false))
        .when("the candidate's", check_ordered(CheckTask::Candidate))
        .when("the target's", check_ordered(CheckTask::Target))
        .when("a commitment's", check_ordered(CheckTask::Commitment))
        .when("set-up", check_ordered(CheckTask::SetUp))
        .event(Event::CheckStopOrdered {
            why: CheckStop::Pause,
        })
        .when("passed", check_ended(CheckOutcome::Passed))
        .when("not set up", check_ended(CheckOutcome::NotSetUp))
        .when("failed", check_ended(CheckOutcome::Failed { output: why() }))
        .when(
            "fewer tests",
            check_ended(CheckOutcome::FewerTests {
                tests: FewerTests { ran: 3, before: 10 },
                output: why(),
            }),
        )
        .when("flaky", check_ended(CheckOutcome::Flaky { output: why() }))
        .when("lost", check_ended(CheckOutcome::Lost { how: Loss::Vanished }))
        .when("no review", passed(oid('d'), false))
        .when("review", passed(oid('d'), true))
        .when("another tree", passed(oid('e'), false))
        .when("steps left", checks_failed(3, 1))
        .when("none left", checks_failed(0, 1))
        .when("same again", checks_failed(3, 0))
        .when("steps left", unmet(3, 1))
        .when("none left", unmet(0, 1))
        .when("same again", unmet(3, 0))
        .when("with a command", promised(true))
        .when("without one", promised(false))
        .event(Event::CommitmentWaived {
            id: 1,
            by: by(),
            reason: "nobody can meet it".to_owned(),
        })
        .event(Event::CommitmentsHeld { tip: oid('a') })
        .event(Event::CommitmentsApproved { by: by() })
        .event(Event::TestsHeld {
            which: "true".to_owned(),
            tests: FewerTests { ran: 3, before: 10 },
            output: why(),
        })
        .event(Event::TestsApproved { by: by() })
        .when("steps left", no_commits(3, 1))
        .when("none left", no_commits(0, 1))
        .when("same again", no_commits(3, 0))
        .when("resolutions left", conflicted(2, false, 1))
        .when("overtaken", conflicted(2, true, 1))
        .when("none left", conflicted(0, false, 1))
        .when("same again", conflicted(2, false, 0))
        .event(Event::CouldNotRun {
            why: why(),
            may_pass: true,
            retry_at: LATE,
        })
        .event(Event::TargetRed {
            which: "true".to_owned(),
            output: "1 failed\n(exit code 1)".to_owned(),
            retry_at: LATE,
        })
        .event(Event::Diverged {
            why: why(),
            retry_at: LATE,
        })
        .when(
            "paths",
            Event::Sensitive {
                paths: paths(),
                secrets: Vec::new(),
                tip: oid('a'),
            },
        )
        .when(
            "secrets",
            Event::Sensitive {
                paths: Vec::new(),
                secrets: secrets(),
                tip: oid('a'),
            },
        )
        .when("a gatekeeper", review_claimed("gate-1", next))
        .when("an author", review_claimed("ann", next))
        .when("old fence", review_claimed("gate-1", ticket.fence))
        .each(review::alphabet(fence), |event| Event::Review { fence, event })
        .when(
            "tries left",
            Event::ReviewCrashed {
                fence,
                left: 2,
                due: LATE,
            },
        )
        .when(
            "none left",
            Event::ReviewCrashed {
                fence,
                left: 0,
                due: LATE,
            },
        )
        .when(
            "tries left",
            Event::ReviewGaveUp {
                fence,
                why: why(),
                left: 2,
                due: LATE,
            },
        )
        .when(
            "none left",
            Event::ReviewGaveUp {
                fence,
                why: String::new(),
                left: 0,
                due: LATE,
            },
        )
        .event(Event::ReviewRefused {
            fence,
            message: why(),
        })
        .event(Event::NobodyReviews { why: why() })
        .event(Event::LeftToPerson)
        .when("of the approved tip", approval_kept(ticket))
        .when("of another tip", approval_kept(&first()))
        .when("enough", Event::Approved { fence, agree: 1 })
        .when("too few", Event::Approved { fence, agree: 9 })
        .when("attempts left", rejected(2))
        .when("none left", rejected(0))
        .event(Event::WorkFailed { fence })
        .when("to approve", end_review(AfterReview::Approve { by: by() }))
        .when(
            "to return",
            end_review(AfterReview::Return { by: by(), why: why() }),
        )
        .when(
            "to drop",
            end_review(AfterReview::Drop {
                by: by(),
                reason: why(),
            }),
        )
        .when("to tell of an edit", end_review(AfterReview::TellEdit))
        .when(
            "steps left",
            Event::EditReturned {
                steps_left: 1,
                reopen_at: LATE,
            },
        )
        .when(
            "none left",
            Event::EditReturned {
                steps_left: 0,
                reopen_at: LATE,
            },
        )
        .event(Event::ReviewApproved { by: by() })
        .event(Event::Returned {
            by: by(),
            why: why(),
            reopen_at: LATE,
        })
        .when("the candidate", Event::Landed { commit: oid('c') })
        .when("another commit", Event::Landed { commit: oid('e') })
        .event(Event::Proposed {
            request: PullRequest {
                number: 12,
                url: "https://host/team/it/pull/12".to_owned(),
                head: oid('a'),
                answered: BTreeSet::new(),
            },
            look_at: LATE,
        })
        .event(Event::LookOrdered)
        .event(Event::PartsOver {
            parts: vec![super::part()],
        })
        .event(Event::Rewound {
            by: by(),
            commit: oid('a'),
            at: 7,
        })
        .event(Event::ProposalSeen {
            seen: seen(),
            look_at: LATE,
        })
        .when("may pass", unseen(true))
        .when("needs a person", unseen(false))
        .event(Event::ChangesRequested {
            reviews: vec![1],
            by: "rev".to_owned(),
            why: why(),
        })
        .event(Event::ProposalClosed)
        .event(Event::TargetMoved)
        .event(Event::CheckoutEdited {
            paths: vec![InTheWay {
                path: "a".to_owned(),
                what: Obstacle::Edited,
            }],
            retry_at: LATE,
        })
        .event(Event::LandingRetried)
        .when(
            "to drop",
            Event::LandingEndOrdered {
                then: AfterLanding::Drop {
                    by: by(),
                    reason: why(),
                },
            },
        )
        .when(
            "to hold",
            Event::LandingEndOrdered {
                then: AfterLanding::Hold {
                    why: why(),
                    may_pass: true,
                    retry_at: LATE,
                },
            },
        )
        .when(
            "to retry",
            Event::LandingEndOrdered {
                then: AfterLanding::Retry { by: by() },
            },
        )
        .when(
            "uncouple",
            Event::LandingEndOrdered {
                then: AfterLanding::Uncouple,
            },
        )
        .event(Event::NotLanded)
        .event(Event::RecoveryNotNeeded)
        .when("releases", recovery_landed(false))
        .when("replaces", recovery_landed(true))
        .event(Event::RetryDue)
        .when("slot free", retried(true))
        .when("slot taken", retried(false))
        .event(Event::Waived {
            by: by(),
            reason: why(),
        })
        .event(Event::SensitiveApproved { by: by() })
        .event(Event::Dropped {
            by: by(),
            reason: why(),
        })
        .event(Event::ClosedByPerson { by: Actor::File })
        .event(Event::Reopened { by: by() })
        .event(Event::FileDrifted)
        .event(Event::FileUnheeded {
            change: Unheeded {
                origin: Origin::Unknown,
                says: None,
                renamed: None,
                since: EARLY,
            },
        })
        .event(Event::FileHeeded)
        .event(Event::WorkFound)
        .event(Event::WorkKept {
            work: vec![KeptWork::Workspace {
                reference: "refs/crew/rescue/t-1/1".to_owned(),
            }],
        })
        .event(Event::LeftoversFound {
            leftovers: Leftovers {
                committed: Listed::of(["notes.txt".to_owned()]),
                left_out: Listed::of([".env (its name is that of a file with secrets)".to_owned()]),
            },
        })
        .event(Event::BudgetSpent {
            budget: super::budget(),
        })
        .when("slot free", Event::BudgetRaised { slot_free: true })
        .when("slot taken", Event::BudgetRaised { slot_free: false })
        .event(Event::Delegated {
            delegated: delegated(),
        })
        .event(Event::Unified {
            work: None,
            unmerged: None,
        })
        .event(Event::NotUnified { why: why() })
        .event(Event::ChildrenAbsent {
            absent: BTreeSet::from([delegated().by]),
        })
        .event(Event::LandedWithParent {
            parent: delegated().by,
            commit: oid('d'),
        })
        .event(Event::TicketMade {
            by: by(),
            ticket: Box::new(NewTicket {
                id: ticket_id("t-1-n1"),
                title: why(),
                description: None,
                design: None,
                acceptance: None,
                kind: None,
                parent: None,
                tags: BTreeSet::new(),
                deps: BTreeSet::new(),
                priority: 2,
                made_by: agent("ann"),
            }),
        })
        .when(
            "in its file",
            Event::Commented {
                by: Actor::File,
                text: why(),
            },
        )
        .when(
            "by its agent",
            Event::Commented {
                by: Actor::Agent {
                    run: ticket
                        .live_run()
                        .cloned()
                        .unwrap_or_else(|| RunId::of_step(&ticket.id, ticket.fence, 1)),
                },
                text: why(),
            },
        );
    // The attempt's events are tried where there is none too: their refusal is part of the matrix.
    let child = ticket.attempt().map_or_else(attempt::first, Clone::clone);
    let events = attempt::alphabet(&child).into_iter();
    all.each(
        events.filter(|s| !belongs_to_the_ticket(&s.event)),
        Event::Attempt,
    );
    all.0
}

/// Events of the attempt that only the ticket itself brings about, by an event of its own: from outside they
/// are refused in every state.
#[must_use]
pub fn belongs_to_the_ticket(event: &crate::attempt::Event) -> bool {
    use crate::attempt::Event as Child;
    match event {
        Child::Submitted
        | Child::ChecksPassed
        | Child::Returned { .. }
        | Child::Retried { .. }
        | Child::TicketEdited => true,
        Child::WorkspaceReady { .. }
        | Child::StepStarted { .. }
        | Child::WorkerSpawned
        | Child::StopOrdered { .. }
        | Child::StepFinished { .. }
        | Child::StepFailed { .. }
        | Child::Answered { .. }
        | Child::Woken
        | Child::WokenEarly { .. }
        | Child::WaitTimedOut
        | Child::Delegated { .. }
        | Child::ChildrenEndOrdered { .. }
        | Child::ChildrenOver { .. }
        | Child::Recovered { .. }
        | Child::Called { .. }
        | Child::ModeSet { .. }
        | Child::ModeAnnounced { .. }
        | Child::Said { .. }
        | Child::Baited { .. }
        | Child::WentQuiet(_)
        | Child::Stirred => false,
    }
}

/// A shell command as a check, with the default time limit.
#[must_use]
pub fn check(command: &str) -> Check {
    Check::shell(command, crate::settings::Checks::default().timeout)
}

/// The box a state is drawn in: one for all states of the attempt while it is in progress.
#[must_use]
pub fn boxed(state: &str) -> String {
    match state.strip_prefix("in_progress/") {
        Some(rest) if rest.ends_with("(held)") => "in_progress (held)".to_owned(),
        Some(_) => "in_progress".to_owned(),
        None => state.to_owned(),
    }
}

/// The machine, explored.
#[must_use]
pub fn explored() -> Explored {
    machine::explore::<Machine>(&[first()], alphabet, aspects)
}
