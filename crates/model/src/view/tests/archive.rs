use std::collections::BTreeSet;
use std::time::Duration;

use super::*;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A ticket that was dropped with a step paid, one that waits for it, and one that nobody waits for any more.
fn dropped() -> Story {
    let mut story = Story::up(&["ada"]);
    story.create("t-1", "Over", &[]);
    story.create("t-2", "Needed", &[]);
    story.create("t-3", "Waits", &["t-2"]);
    story.claim("t-1", "ada");
    story.start("t-1", 1);
    story.finish("t-1", Signal::None);
    for of in ["t-1", "t-2"] {
        let (by, reason) = (Actor::person("me"), "no".to_owned());
        story.ticket(of, T::Dropped { by, reason });
    }
    story
}

#[test]
fn what_lies_behind_is_over_for_a_day_and_nobody_waits_for_it() {
    let story = dropped();
    let later = story.now() + DAY;
    assert_eq!(story.crew.behind(story.now(), 9), BTreeSet::new());
    assert_eq!(story.crew.behind(later, 9), BTreeSet::from([id("t-1")]));
    assert_eq!(story.crew.behind(later, 0), BTreeSet::new());
}

#[test]
fn what_was_set_aside_counts_as_before_and_comes_back_as_it_was() {
    let Story { crew: whole, .. } = dropped();
    let mut crew = whole.clone();
    let records = crew.archive(&BTreeSet::from([id("t-1"), id("t-9")]));
    assert_eq!(records.len(), 1);
    assert_eq!(crew.archived.tickets, BTreeSet::from([id("t-1")]));
    assert!(crew.attempts.is_empty() && crew.charges.is_empty());
    assert_eq!((crew.counts(), crew.paid()), (whole.counts(), whole.paid()));
    assert_eq!(crew.landings(), whole.landings());

    // The stored form reads back as the same value.
    let mut again = Snapshot::default();
    for piece in crew.pieces() {
        let text = serde_json::to_string(&piece).unwrap();
        again.add(serde_json::from_str(&text).unwrap());
    }
    assert_eq!(again, crew);

    let all = Filter::default();
    let mut sums = crew.sums(By::Ticket, &all);
    let cost = &records[0].cost;
    cost.charges
        .iter()
        .for_each(|charge| sums.add(charge, Some(&cost.title)));
    assert_eq!(crew.costs_of(sums), whole.costs(By::Ticket, &all));

    let ticket = whole.tickets[&id("t-1")].clone();
    crew.restore(records[0].clone(), ticket.clone());
    assert_eq!(crew, whole);
    // A second time changes nothing.
    crew.restore(records[0].clone(), ticket);
    assert_eq!(crew, whole);
}

#[test]
fn the_latest_landings_stay_and_the_older_ones_are_counted() {
    let mut crew = Snapshot::default();
    for n in 0..LANDINGS + 20 {
        let ticket = id(&format!("t-{n}"));
        crew.tickets.insert(
            ticket.clone(),
            Ticket {
                state: ticket::State::Done(ticket::Done::NotNeeded),
                ..Ticket::new(ticket.clone())
            }
            .into(),
        );
        crew.landed.push(Landed {
            seq: n as u64,
            at: Time(0),
            ticket,
            title: String::new(),
            agent: None,
            commit: oid('a'),
            steps: 0,
            usage: Usage::default(),
        });
    }
    let whole = crew.clone();
    let records = crew.archive(&whole.tickets.keys().cloned().collect());
    assert_eq!(crew.landed, whole.landed[20..]);
    assert_eq!(crew.landings(), whole.landings());
    for record in records {
        let ticket = whole.tickets[&record.ticket].clone();
        crew.restore(record, ticket);
    }
    assert_eq!(crew, whole);
}
