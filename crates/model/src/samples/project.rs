//! The project machine's alphabet.

use super::{Alphabet, EARLY, LATE, agent, ticket_id};
use crate::attempt::Class;
use crate::machine::{self, Explored, Machine as _, Sample};
use crate::moved::{Commit, Commits, Moved, Tip};
use crate::policy::budget::Pause;
use crate::project::{Event, HarnessPause, Machine, Project};
use crate::target::{Basis, Target, Verdict};
use crate::ticket::CheckPlan;
use crate::{Actor, Time};

/// A description for the page.
pub const ABOUT: &str = "The project is the life of one engine on one repository, and the roster of its agents. A crashed \
    engine leaves any state behind: the next one opens it from there.";

/// Every event, with its guards.
#[must_use]
pub fn alphabet() -> Vec<Sample<Event>> {
    let paused = |class, until: Option<Time>| Event::HarnessPaused {
        harness: "claude".to_owned(),
        pause: HarnessPause {
            class,
            message: "no".to_owned(),
            until,
            since: EARLY,
            ticket: ticket_id("t-1"),
        },
    };
    let mut all = Alphabet::new();
    all.event(Event::Opened)
        .event(Event::Initialized)
        .event(Event::AgentsBusy)
        .event(Event::AgentsIdle)
        .event(Event::Closing)
        .event(Event::Closed)
        .when("new name", Event::AgentSpawned { name: agent("ann") })
        .when("retired name", Event::AgentSpawned { name: agent("old") })
        .when("known", Event::AgentRetired { name: agent("ann") })
        .when(
            "unknown",
            Event::AgentRetired {
                name: agent("nobody"),
            },
        )
        .when("for a while", paused(Class::RateLimited, Some(LATE)))
        .when("until a person frees it", paused(Class::Auth, None))
        .event(Event::HarnessFreed {
            harness: "claude".to_owned(),
            by: Actor::person("ann's boss"),
        });
    let pause = |at: Time| Pause {
        budget: super::budget(),
        until: at,
    };
    all.event(Event::DayBudgetLow {
        day: EARLY.day(),
        budget: super::budget(),
    })
    .event(Event::DayBudgetSpent { pause: pause(LATE) })
    .event(Event::DayBudgetFree);
    let moved = |by_hand: Vec<Commit>| Moved {
        to: Tip {
            branch: "main".to_owned(),
            commit: super::ticket::candidate().target,
            at: EARLY,
        },
        by_hand: Commits::of(by_hand),
        from_remote: Commits::default(),
        remote: None,
        lost: Vec::new(),
    };
    let commit = Commit {
        commit: super::ticket::candidate().commit,
        author: "ann".to_owned(),
        subject: "Fix a typo".to_owned(),
    };
    all.event(Event::Moved(Box::new(moved(Vec::new()))));
    let to = Tip {
        commit: commit.commit.clone(),
        ..moved(Vec::new()).to
    };
    let by_hand = Moved {
        to,
        ..moved(vec![commit])
    };
    all.event(Event::Moved(Box::new(by_hand)));
    for verdict in verdicts() {
        all.event(Event::Target(Box::new(target(verdict))));
    }
    all.0
}

/// The target, with a verdict.
#[must_use]
pub fn target(verdict: Verdict) -> Target {
    let candidate = super::ticket::candidate();
    Target {
        commit: candidate.target,
        basis: Basis {
            tree: candidate.tree,
            plan: CheckPlan {
                setup: Vec::new(),
                commands: vec![super::ticket::check("make check")],
                ..CheckPlan::default()
            },
            environment: "0".to_owned(),
        },
        verdict,
        since: EARLY,
        round: 1,
        anyway: false,
        canaries: Vec::new(),
        flaky: Vec::new(),
        run: None,
        hindered: 0,
        remote: None,
        looks: 0,
        retry_at: None,
    }
}

fn verdicts() -> [Verdict; 8] {
    [
        Verdict::Unchecked,
        Verdict::Checking {
            command: None,
            is_canary: false,
        },
        Verdict::Checking {
            command: Some("make check".to_owned()),
            is_canary: false,
        },
        Verdict::Blind {
            which: "make check".to_owned(),
        },
        Verdict::Failed {
            which: "make check".to_owned(),
            output: "1 failed".to_owned(),
        },
        Verdict::CouldNotRun {
            why: "no make".to_owned(),
            missing: None,
            may_pass: true,
        },
        Verdict::OutOfReach {
            why: "no branch main".to_owned(),
            help: None,
            may_pass: false,
        },
        // The last one is what a journal of all samples comes to.
        Verdict::Passed,
    ]
}

/// The machine, explored.
#[must_use]
pub fn explored() -> Explored {
    let retired = [agent("old")].into();
    let first = Project {
        retired,
        ..Project::default()
    };
    let shape = |p: &Project| {
        let paused = p.pause.is_some();
        let harnesses: Vec<_> = p.paused.values().map(|pause| pause.until).collect();
        let target = p.target.as_ref().map(|target| target.verdict.event_name());
        let tip = p.tip.as_ref().map(|tip| &tip.commit);
        vec![format!(
            "{} {:?} {:?} {harnesses:?} {paused} {target:?} {tip:?}",
            Machine::state_name(p),
            p.agents,
            p.retired
        )]
    };
    machine::explore::<Machine>(&[first], super::fixed(alphabet()), shape)
}
