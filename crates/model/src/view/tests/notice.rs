//! Which events are notices, and of which kind: over every event in every state that accepts it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::*;
use crate::machine::{Machine as _, Met, Sample};
use crate::samples;
use crate::view::notice::Kind;

/// The kinds of notice that each event can be, by the event's name and the state after it.
type Found = BTreeMap<String, BTreeSet<&'static str>>;

fn note(found: &mut Found, name: &str, fact: &Fact, after: &State, state: &str) {
    let stream = Stream::Project;
    let row = Row {
        seq: 7,
        stream: &stream,
        at: Time(0),
        fact,
        after,
    };
    let kind = notice(row).map_or("–", |notice| notice.kind.name());
    let of_state = found.entry(format!("{name} → {state}")).or_default();
    of_state.insert(kind);
}

fn of_tickets() -> Found {
    let (mut found, at) = (Found::new(), Time(1_000));
    let first = samples::ticket::first();
    let mut met = Met::default();
    met.is_new(samples::ticket::aspects(&first));
    let mut queue = VecDeque::from([first]);
    while let Some(ticket) = queue.pop_front() {
        for Sample { event, .. } in samples::ticket::alphabet(&ticket) {
            let Ok(change) = ticket.after(&event, at) else {
                continue;
            };
            let next = change.ticket;
            let state = ticket::Machine::state_name(&next);
            let (name, fact) = (event.name(), Fact::Ticket(event));
            note(
                &mut found,
                name,
                &fact,
                &State::Ticket(next.clone().into()),
                &state,
            );
            if met.is_new(samples::ticket::aspects(&next)) {
                queue.push_back(next);
            }
        }
    }
    found
}

#[test]
fn every_event_is_a_notice_of_one_kind_or_none() {
    let mut found = of_tickets();
    let mut project = Project::default();
    for Sample { event, .. } in samples::project::alphabet() {
        let Ok(step) = project::Machine::transition(&project, &event) else {
            continue;
        };
        project = step.state.clone();
        let state = project::Machine::state_name(&project);
        let (name, fact) = (event.name(), Fact::Project(event));
        note(&mut found, name, &fact, &State::Project(step.state), &state);
    }
    let kinds: BTreeSet<&str> = found
        .values()
        .flatten()
        .copied()
        .filter(|kind| *kind != "–")
        .collect();
    let all: BTreeSet<&str> = Kind::ALL.map(Kind::name).into();
    let missing: Vec<&&str> = all.difference(&kinds).collect();
    assert!(
        missing.is_empty(),
        "no event is a notice of these kinds: {missing:?}"
    );
    let lines = found.into_iter().map(|(of, kinds)| {
        let kinds: Vec<&str> = kinds.into_iter().collect();
        format!("{of}: {}", kinds.join(" | "))
    });
    let lines: Vec<String> = lines.filter(|line| !line.ends_with(": –")).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_notice_says_who_did_what_and_why_it_is_held() {
    let mut story = Story::up(&["ada"]);
    story.create("t-1", "Paint it", &[]);
    let told = |story: &Story, fact: &Fact| {
        let after = State::Ticket(story.crew.tickets[&id("t-1")].clone());
        let stream = Stream::Ticket(id("t-1"));
        let row = Row {
            seq: story.seq,
            stream: &stream,
            at: story.now(),
            fact,
            after: &after,
        };
        notice(row)
    };
    story.claim("t-1", "ada");
    let dropped = T::Dropped {
        by: Actor::person("bob"),
        reason: "no need".to_owned(),
    };
    story.ticket("t-1", dropped.clone());
    let notice = told(&story, &Fact::Ticket(dropped)).unwrap();
    assert_eq!((notice.kind, notice.id), (Kind::Failed, story.seq));
    assert_eq!(notice.title.as_deref(), Some("Paint it"));
    assert_eq!(notice.says, "dropped by bob: no need");
}
