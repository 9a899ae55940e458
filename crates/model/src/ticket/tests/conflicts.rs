//! Who waits for whom while a conflict with the target is resolved, and what is counted.

use proptest::prelude::*;

use super::rows::{Story, oid};
use crate::attempt;
use crate::policy::conflict::{ahead, is_ahead};
use crate::ticket::{Event, Fingerprint, Held, Repeat, State, Ticket, Uncoupled, Why, WhyUncoupled};
use crate::{TicketId, Time};

/// The part that a ticket has in conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Resolves,
    Resolved,
    Waits,
    Apart,
}

/// A ticket, its part, and the paths in conflict.
#[derive(Debug)]
struct One {
    ticket: Ticket,
    part: Part,
    paths: Vec<String>,
}

fn one(n: usize, (part, since, paths): (Part, i64, u8)) -> One {
    let paths: Vec<String> = (0..3)
        .filter(|bit| (paths >> bit) & 1 == 1)
        .map(|bit| format!("path-{bit}"))
        .collect();
    let story = match part {
        Part::Resolves => Story::running(),
        Part::Resolved | Part::Waits | Part::Apart => Story::submitted(),
    };
    let mut ticket = story.ticket;
    ticket.id = TicketId::new(format!("t-{n}")).unwrap();
    ticket.in_line_since = Some(Time(since));
    let asked = matches!(part, Part::Resolves | Part::Resolved);
    ticket.attempt_mut().unwrap().conflict = asked.then(|| {
        Box::new(attempt::Conflict {
            paths: paths.clone(),
            target: oid('a'),
        })
    });
    if let (State::Verify(verify), Part::Waits) = (&mut ticket.state, part) {
        verify.train.uncoupled = Some(Uncoupled {
            why: WhyUncoupled::Behind {
                ahead: ticket.id.clone(),
                paths: paths.clone(),
            },
            at: Time(0),
        });
    }
    One { ticket, part, paths }
}

fn of(all: &[One], one: &One) -> Option<TicketId> {
    let tickets = all.iter().map(|one| &one.ticket);
    ahead(tickets, &one.ticket, &one.paths, |_| true).cloned()
}

proptest! {
    /// From whomever one begins: who waits, waits in the end for one that resolves, or for nobody. So
    /// somebody always moves, and of those that wait in a path the first in the line is next.
    #[test]
    fn nobody_waits_in_a_circle(drawn in prop::collection::vec(
        (prop::sample::select(vec![Part::Resolves, Part::Resolved, Part::Waits, Part::Apart]), 0..6_i64, 1..8_u8),
        1..9,
    )) {
        let all: Vec<One> = drawn.into_iter().enumerate().map(|(n, drawn)| one(n, drawn)).collect();
        for first in all.iter().filter(|one| one.part == Part::Waits) {
            let (mut at, mut steps) = (first, 0);
            while at.part == Part::Waits && let Some(next) = of(&all, at) {
                let next = all.iter().find(|one| one.ticket.id == next).unwrap();
                prop_assert!(is_ahead(&next.ticket, &at.ticket, &at.paths));
                prop_assert!(next.part != Part::Apart);
                let place = |one: &One| (one.ticket.in_line_since, one.ticket.id.clone());
                prop_assert!(next.part != Part::Waits || place(next) < place(at), "only the older are waited for");
                (at, steps) = (next, steps + 1);
                prop_assert!(steps <= all.len());
            }
        }
    }
}

#[test]
fn nobody_waits_for_one_that_does_not_move_has_other_paths_or_is_held() {
    let waits = one(1, (Part::Waits, 1, 1));
    let mut resolves = one(2, (Part::Resolves, 2, 1)).ticket;
    let found = |resolves: &Ticket, paths: &[String], moves: bool| {
        ahead([resolves], &waits.ticket, paths, |_| moves).is_some()
    };
    assert!(found(&resolves, &waits.paths, true));
    assert!(!found(&resolves, &waits.paths, false));
    assert!(!found(&resolves, &["other".to_owned()], true));
    resolves.held = Some(Box::new(Held {
        why: Why::Killed,
        note: String::new(),
        since: Time(0),
        retry_at: None,
        may_pass: false,
        for_all: false,
        output: None,
    }));
    assert!(!found(&resolves, &waits.paths, true));
}

fn conflicted(resolutions_left: u32, overtaken: bool) -> Event {
    Event::Conflicted {
        paths: vec!["index".to_owned()],
        resolutions_left,
        overtaken,
        repeat: Some(Repeat {
            of: Fingerprint::Conflict {
                tip: oid('b'),
                target: oid('a'),
            },
            times: 1,
            left: 2,
        }),
    }
}

#[test]
fn what_was_resolved_for_nothing_is_counted_apart_and_said() {
    let mut story = Story::submitted();
    for overtaken in [false, true, true] {
        story.then(Event::CheckStarted).then(conflicted(2, overtaken));
        story.start();
        story.finish(attempt::Signal::Done, 9);
    }
    let attempt = story.ticket.attempt().unwrap();
    assert_eq!((attempt.resolutions, attempt.overtaken), (1, 2));
    let held = |overtaken| {
        let mut story = Story {
            ticket: story.ticket.clone(),
            now: story.now,
            effects: Vec::new(),
        };
        story.then(Event::CheckStarted).then(conflicted(0, overtaken));
        story.ticket.held.unwrap().note
    };
    assert_eq!(
        held(true),
        "conflicts in index: resolved 3 times, and each time other work landed first"
    );
    assert_eq!(
        held(false),
        format!(
            "conflicts in index could not be resolved; before, resolved 2 times, and each time other work landed \
             first; commit {}, which was to be merged, is not in the branch: was the merge committed as one?",
            oid('a')
        )
    );
}

#[test]
fn an_agent_hears_of_the_commit_that_it_has_not_merged_and_of_no_earlier_conflict() {
    let mut story = Story::submitted();
    story
        .ticket
        .feedback
        .push("the branch conflicts with the target in x: `git merge old`".to_owned());
    for missing in [None, Some(oid('a'))] {
        story.then(Event::CheckStarted).then(conflicted(2, false));
        let asked = attempt::Prompt::MergeConflict {
            paths: vec!["index".to_owned()],
            missing,
        };
        assert_eq!(story.started().0, asked);
        story.finish(attempt::Signal::Done, 9);
    }
    assert_eq!(story.ticket.feedback, Vec::<String>::new());
}
