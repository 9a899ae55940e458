use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;
use crate::diagram;
use crate::machine::Explored;
use crate::{
    attempt, commitment as commitments, project as projects, session as sessions, ticket as tickets,
    worker as workers,
};

/// Every variant of an enum, by its stored name: serde lists them when it is given one that does not exist.
fn variants<T: DeserializeOwned>() -> BTreeSet<String> {
    let Err(error) = serde_json::from_str::<T>("\"no such variant\"") else {
        panic!("a variant of that name exists")
    };
    let error = error.to_string();
    let (_, list) = error.split_once("expected ").unwrap();
    let names: BTreeSet<String> = list.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(names.len() > 1, "{error}");
    names
}

/// The stored name of a value's variant.
fn variant<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value).unwrap() {
        serde_json::Value::String(name) => name,
        serde_json::Value::Object(fields) => fields.keys().next().unwrap().clone(),
        other => panic!("not a variant: {other}"),
    }
}

fn events_of<E: DeserializeOwned + Serialize>(samples: &[Sample<E>]) {
    let tried: BTreeSet<String> = samples.iter().map(|s| variant(&s.event)).collect();
    assert_eq!(tried, variants::<E>(), "every event is in the alphabet");
}

fn every_event_is_accepted_somewhere(explored: &Explored) {
    let events = |keys: Vec<&machine::Key>| keys.into_iter().map(|k| (k.1, k.2)).collect::<BTreeSet<_>>();
    let accepted = events(explored.accepted.keys().collect());
    let names: BTreeSet<&str> = accepted.iter().map(|(event, _)| *event).collect();
    let tried: BTreeSet<&str> = explored
        .rejected
        .keys()
        .map(|k| k.1)
        .chain(names.iter().copied())
        .collect();
    let never: Vec<&&str> = tried.difference(&names).collect();
    assert!(
        never.is_empty(),
        "{}: never accepted: {never:?}",
        explored.machine
    );
}

#[test]
fn alphabets_are_whole() {
    events_of(&session::EVENTS.map(|event| Sample { guard: "", event }));
    events_of(&task_mode::alphabet());
    events_of(&worker::EVENTS.map(|event| Sample { guard: "", event }));
    events_of(&commitment::EVENTS.map(|event| Sample { guard: "", event }));
    events_of(&project::alphabet());
    events_of(&super::attempt::alphabet(&super::attempt::first()));
    events_of(&review::alphabet(Fence(1)));
    events_of(&ticket::alphabet(&ticket::first()));
    let nested = |s: &Sample<tickets::Event>| match &s.event {
        tickets::Event::Attempt(event) => Some(variant(event)),
        _ => None,
    };
    let nested: BTreeSet<String> = ticket::alphabet(&ticket::first())
        .iter()
        .filter_map(nested)
        .collect();
    let left_out = super::attempt::alphabet(&super::attempt::first());
    let left_out = left_out
        .iter()
        .filter(|s| ticket::belongs_to_the_ticket(&s.event))
        .map(|s| variant(&s.event))
        .collect();
    assert_eq!(&variants::<attempt::Event>() - &nested, left_out);
}

#[test]
fn a_guard_names_one_sample() {
    let ticket = ticket::first();
    let mut seen = BTreeSet::new();
    for sample in ticket::alphabet(&ticket) {
        let nested = matches!(sample.event, tickets::Event::Attempt(_));
        let key = (nested, sample.event.name(), sample.guard);
        assert!(seen.insert(key), "{key:?} stands for two events");
    }
}

/// One test, as every machine is explored for it once.
#[test]
fn the_machines_as_they_are_explored() {
    let pictures = machines();
    assert_eq!(pictures.iter().map(|of| of.name).collect::<Vec<_>>(), NAMES);
    every_state_is_reached_and_every_event_accepted_somewhere(&pictures);
    diagrams_hold_nothing_that_mermaid_stumbles_over(&pictures);
    diagram::tavern_names_are_of_the_machines(&pictures);
    for picture in &pictures {
        a_page_has_a_row_for_every_state(picture);
        insta::assert_snapshot!(picture.name, picture.explored.matrix());
    }
    assert!(picture("nothing").is_none());
}

fn a_page_has_a_row_for_every_state(picture: &Picture) {
    let page = diagram::page(picture);
    assert!(page.starts_with(&format!("# The {} machine\n", picture.name)));
    for state in &picture.explored.states {
        assert!(page.contains(&format!("### `{state}`\n")), "{state}: {page}");
    }
}

fn every_state_is_reached_and_every_event_accepted_somewhere(pictures: &[Picture]) {
    let reached = |name| {
        let mut found = pictures.iter().filter(|picture| picture.name == name);
        &found.next().unwrap().explored
    };
    for name in ["session", "worker", "commitment", "project", "attempt"] {
        let explored = reached(name);
        let states = match name {
            "session" => variants::<sessions::State>(),
            "worker" => variants::<workers::State>(),
            "commitment" => variants::<commitments::State>(),
            "project" => variants::<projects::State>(),
            _ => variants::<attempt::State>(),
        };
        assert_eq!(explored.states, states, "{name}");
        every_event_is_accepted_somewhere(explored);
    }

    let review = reached("review");
    let verdicts = ["approved", "rejected", "failed"];
    let at_work = [
        "claimed",
        "at_work",
        "stopping",
        "between_steps",
        "asked",
        "answered",
    ];
    let states: BTreeSet<&str> = review.states.iter().map(String::as_str).collect();
    assert_eq!(states, verdicts.into_iter().chain(at_work).collect());
    every_event_is_accepted_somewhere(review);

    let explored = reached("ticket");
    let parts = |at: usize| -> BTreeSet<String> {
        let plain = explored.states.iter().map(|s| s.trim_end_matches(" (held)"));
        plain
            .filter_map(|s| s.split('/').nth(at))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(parts(0), variants::<tickets::State>());
    assert!(
        parts(1).is_superset(&variants::<tickets::Done>()),
        "{:?}",
        parts(1)
    );
    let at_work: BTreeSet<String> = [
        "preparing",
        "ready",
        "working",
        "waiting_for_input",
        "waiting_for_wakeup",
        "stuck",
    ]
    .map(str::to_owned)
    .into();
    assert!(parts(1).is_superset(&at_work));
    assert!(parts(1).is_superset(&["checking", "reviewing", "landing"].map(str::to_owned).into()));
    // A ticket that is over has left the attempt behind, whatever state that was in.
    assert!(parts(1).is_disjoint(&["verifying", "done"].map(str::to_owned).into()));
    for state in [
        "open",
        "in_progress/stuck",
        "verify/checking",
        "verify/reviewing",
        "verify/landing",
    ] {
        assert!(
            explored.states.contains(&format!("{state} (held)")),
            "{state} is never held"
        );
    }
    every_event_is_accepted_somewhere(explored);
}

/// One test, as the ticket's machine is searched for it once.
#[test]
fn every_ticket_that_the_search_tries() {
    let tickets = tried();
    what_the_ticket_says_itself_is_refused_from_outside(&tickets);
    every_kind_of_hold_is_reached_and_a_person_can_end_each(&tickets);
}

fn what_the_ticket_says_itself_is_refused_from_outside(tickets: &[tickets::Ticket]) {
    for ticket in tickets {
        let child = ticket.attempt().map_or_else(super::attempt::first, Clone::clone);
        let samples = super::attempt::alphabet(&child);
        for sample in samples
            .into_iter()
            .filter(|s| ticket::belongs_to_the_ticket(&s.event))
        {
            let event = tickets::Event::Attempt(sample.event);
            assert!(
                <tickets::Machine as machine::Machine>::transition(ticket, &event).is_err(),
                "{event:?}"
            );
        }
    }
}

fn every_kind_of_hold_is_reached_and_a_person_can_end_each(tickets: &[tickets::Ticket]) {
    let mut kinds = BTreeSet::new();
    for ticket in tickets {
        let Some(held) = &ticket.held else { continue };
        kinds.insert(held.why.name().to_owned());
        let accepts = |event: tickets::Event| {
            <tickets::Machine as machine::Machine>::transition(ticket, &event).is_ok()
        };
        let (by, reason) = (crate::Actor::person("someone"), "so".to_owned());
        assert!(
            accepts(tickets::Event::Dropped {
                by: by.clone(),
                reason
            }),
            "{ticket:?}"
        );
        for slot_free in [true, false] {
            let fresh = session_id(99);
            assert!(
                accepts(tickets::Event::Retried {
                    by: by.clone(),
                    slot_free,
                    fresh
                }),
                "{ticket:?}"
            );
        }
    }
    let stored = variants::<tickets::Why>();
    assert_eq!(
        kinds, stored,
        "the name that people read is the one that is stored"
    );
}

/// The tickets in which the search tries every event.
fn tried() -> Vec<tickets::Ticket> {
    let found = std::cell::RefCell::new(Vec::new());
    machine::search::<tickets::Machine>(
        &[ticket::first()],
        |ticket| {
            found.borrow_mut().push(ticket.clone());
            ticket::alphabet(ticket)
        },
        ticket::aspects,
        |_, _, _| (),
    );
    found.into_inner()
}

fn diagrams_hold_nothing_that_mermaid_stumbles_over(pictures: &[Picture]) {
    for Picture { name, diagram, .. } in pictures {
        for line in diagram.lines().skip(1) {
            let line = line.trim();
            // The end of a box that holds another machine.
            if line == "}" {
                continue;
            }
            if let Some(rest) = line.strip_prefix("state ") {
                let rest = rest.trim_end_matches(" {");
                let (label, id) = rest.split_once(" as ").unwrap();
                assert!(
                    label.starts_with('"') && label.ends_with('"') && !id.contains(' '),
                    "{name}: {line}"
                );
                continue;
            }
            let (arrow, label) = line.split_once(" : ").unwrap_or((line, ""));
            // What a state orders on every way in or out stands in its box.
            let is_action = label.starts_with("entry / ") || label.starts_with("exit / ");
            if is_action && !arrow.contains(' ') {
                continue;
            }
            assert!(!label.contains([':', ';', '"', '{', '}', '#']), "{name}: {line}");
            let (from, to) = arrow.split_once(" --> ").unwrap();
            for id in [from, to] {
                let plain = id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                assert!(id == "[*]" || plain, "{name}: {id}");
                assert!(
                    !["end", "state", "note", "class", "direction"].contains(&id),
                    "{name}: {id} is a keyword"
                );
            }
        }
    }
}
