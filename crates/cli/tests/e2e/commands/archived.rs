//! A journal most of which lies behind: a look at it costs what goes on, and a deep look reads all of it.

use std::collections::BTreeSet;
use std::time::Duration;

use crc32fast::Hasher;
use model::journal::{Entry, Fact, State, Stream, Write};
use model::ticket::{Event, Spec, Ticket};
use model::view::Snapshot;
use model::{TicketId, Time};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use store::Location;

use crate::commands::repo::Repo;

/// Tickets that were over long ago: more than a look reads again, one of them or not.
const BEHIND: usize = 1002;

/// A repository in which a ticket has landed, beside which a great many tickets lie behind.
fn with_a_past() -> Repo {
    with_past_of(BEHIND)
}

pub(crate) fn with_past_of(behind: usize) -> Repo {
    let repo = Repo::with_agent("echo x > x; git add x; git commit -qm x; echo DONE");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]).ok();
    let now = Time(jiff::Timestamp::now().as_millisecond());
    on_its_own(async {
        let ledger = store::open(&Location::file(repo.root.join(".crew/journal.db")))
            .await
            .unwrap();
        let long_ago = Time(now.0 - i64::try_from(Duration::from_hours(48).as_millis()).unwrap());
        let writes = (0..behind).map(|n| over(&format!("o-{n}"), long_ago));
        ledger.record(writes.collect()).await.unwrap();
    });
    archive_old_tickets(&repo, now);
    repo
}

/// Has the journal's view be one that this crew does not know, as after an upgrade.
pub(crate) fn forget_the_view(repo: &Repo) {
    write(repo, "UPDATE cached_view SET shape = 0".to_owned());
}

/// How many tickets the view that is kept has set aside.
pub(crate) fn aside(repo: &Repo) -> usize {
    on_its_own(async {
        let ledger = store::open(&Location::file(repo.root.join(".crew/journal.db")))
            .await
            .unwrap();
        let kept = ledger.cached().await.unwrap();
        ledger.close().await;
        kept.archived.tickets.len()
    })
}

/// Sets aside all that lies behind at a moment.
fn archive_old_tickets(repo: &Repo, now: Time) {
    on_its_own(async {
        let ledger = store::open(&Location::file(repo.root.join(".crew/journal.db")))
            .await
            .unwrap();
        let mut crew = ledger.snapshot(now).await.unwrap();
        while !ledger.archive(&mut crew, now).await.unwrap().is_empty() {}
        ledger.close().await;
    });
}

fn on_its_own<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread();
    { runtime }.enable_all().build().unwrap().block_on(work)
}

/// A ticket that somebody has closed.
fn over(id: &str, at: Time) -> Write {
    let id = TicketId::new(id).unwrap();
    let spec = Spec {
        title: "Old".to_owned(),
        ..Spec::default()
    };
    let mut ticket = Ticket::new(id.clone());
    let entries = [
        Event::Created { spec },
        Event::ClosedByPerson {
            by: model::Actor::File,
        },
    ]
    .map(|event| {
        let change = ticket.after(&event, at).unwrap();
        ticket = change.ticket;
        Entry {
            fact: Fact::Ticket(event),
            after: State::Ticket(ticket.clone().into()),
            effects: Vec::new(),
        }
    });
    Write {
        stream: Stream::Ticket(id),
        expected: 0,
        fence: None,
        new_fence: None,
        entries: entries.into(),
        at,
        cause: "a test".to_owned(),
        timers: Vec::new(),
        slots: Vec::new(),
        completes: None,
        fires: None,
        answers: None,
    }
}

/// The ticket, which somebody opens again.
fn again(ticket: &Ticket, at: Time) -> Write {
    let event = Event::Reopened {
        by: model::Actor::person("a person"),
    };
    let after = ticket.after(&event, at).unwrap().ticket;
    let mut write = over(ticket.id.as_str(), at);
    write.expected = 2;
    write.entries = vec![Entry {
        fact: Fact::Ticket(event),
        after: State::Ticket(after.into()),
        effects: Vec::new(),
    }];
    write
}

/// Changes a stream's stored states, which no crew does, with the checksums that belong to the changed rows.
fn spoil(repo: &Repo, stream: &str) {
    on_its_own(async {
        let mut conn = connect(repo).await;
        let change = "DROP TRIGGER IF EXISTS events_do_not_change; \
                      UPDATE events SET state_after = replace(state_after, '\"tries\":', '\"tries\":7')";
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("{change} WHERE stream = '{stream}'")))
            .execute(&mut conn)
            .await
            .unwrap();
        let events: Vec<EventRow> = sqlx::query_as(
            "SELECT seq, version, at, cause, kind, schema, event, state_after FROM events WHERE stream = ? ORDER BY seq",
        )
        .bind(stream)
        .fetch_all(&mut conn)
        .await
        .unwrap();
        let (version, fence): (i64, i64) = sqlx::query_as("SELECT version, fence FROM streams WHERE id = ?")
            .bind(stream)
            .fetch_one(&mut conn)
            .await
            .unwrap();
        let state = events.last().unwrap().7.clone();
        for (seq, version, at, cause, kind, schema, event, state_after) in events {
            let mut sum = Hasher::new();
            number(&mut sum, seq);
            text(&mut sum, stream);
            number(&mut sum, version);
            number(&mut sum, at);
            match cause {
                Some(cause) => text(&mut sum, &cause),
                None => number(&mut sum, -1),
            }
            text(&mut sum, &kind);
            number(&mut sum, schema);
            text(&mut sum, &event);
            text(&mut sum, &state_after);
            sqlx::query("UPDATE events SET checksum = ? WHERE seq = ?")
                .bind(sum.finalize())
                .bind(seq)
                .execute(&mut conn)
                .await
                .unwrap();
        }
        let mut sum = Hasher::new();
        text(&mut sum, stream);
        number(&mut sum, version);
        number(&mut sum, fence);
        text(&mut sum, &state);
        sqlx::query("UPDATE streams SET checksum = ? WHERE id = ?")
            .bind(sum.finalize())
            .bind(stream)
            .execute(&mut conn)
            .await
            .unwrap();
        conn.close().await.unwrap();
    });
}

/// Of an event: seq, version, at, cause, kind, schema, event and `state_after`.
type EventRow = (i64, i64, i64, Option<String>, String, i64, String, String);

/// Adds a number to a checksum, as the journal does.
fn number(sum: &mut Hasher, number: i64) {
    sum.update(&number.to_le_bytes());
}

/// Adds a text to a checksum, as the journal does.
fn text(sum: &mut Hasher, text: &str) {
    sum.update(&(text.len() as u64).to_le_bytes());
    sum.update(text.as_bytes());
}

async fn connect(repo: &Repo) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(repo.root.join(".crew/journal.db"));
    options.connect().await.unwrap()
}

fn write(repo: &Repo, sql: String) {
    on_its_own(async {
        let mut conn = connect(repo).await;
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
            .execute(&mut conn)
            .await
            .unwrap();
        conn.close().await.unwrap();
    });
}

#[test]
fn what_lies_behind_is_read_by_a_deep_look_alone() {
    let repo = with_a_past();
    let said = repo.crew(&["doctor"]).ok();
    assert!(
        said.out
            .contains("1002 tickets are archived, and were not read again")
            && said
                .out
                .contains("the work that landed lately is in the target, once"),
        "{said}"
    );
    let said = repo.crew(&["doctor", "--deep"]).ok();
    assert!(
        said.out
            .contains("1002 tickets are archived; their records are what their events give")
            && said.out.contains("the work that landed is in the target, once"),
        "{said}"
    );
    spoil(&repo, "ticket/o-7");
    repo.crew(&["doctor"]).ok();
    let said = repo.crew(&["doctor", "--deep"]);
    assert!(said.code == 1 && said.out.contains("o-7 at event"), "{said}");
}

#[test]
fn a_branch_that_crew_left_for_a_ticket_that_lies_behind_is_found_by_every_look() {
    let repo = with_a_past();
    archive_old_tickets(&repo, Time(i64::MAX / 2));
    // As of an engine that was killed as it removed it; the other is nobody's whom this ticket was given to.
    for branch in ["agent/ada-t-1", "agent/bob-t-1"] {
        repo.git(&["branch", branch]);
    }
    for args in [&["doctor"] as &[&str], &["doctor", "--deep"]] {
        let said = repo.crew(args);
        assert!(
            said.code == 1
                && said.out.contains("branch agent/ada-t-1: no attempt uses it")
                && !said.out.contains("bob-t-1"),
            "{said}"
        );
    }
    repo.crew(&["doctor", "--fix"]).ok();
    assert_eq!(repo.git(&["branch", "--list", "agent/*"]).trim(), "agent/bob-t-1");
}

#[test]
fn what_was_set_aside_is_compared_record_by_record_and_taken_up_again_it_is_whole() {
    let repo = with_a_past();
    repo.ticket("o-9", "Old, and new", "");
    // There is nothing to commit for it: it is held.
    let said = repo.crew(&["run", "--until-idle"]);
    assert!(said.out.contains("1 ticket waits for a person"), "{said}");
    let said = repo.crew(&["doctor", "--deep"]);
    assert!(
        said.out
            .contains("tickets are archived; their records are what their events give")
            && said.out.contains("every state is what replay gives"),
        "{said}"
    );
    write(
        &repo,
        "UPDATE records SET brief = replace(brief, 'Old', 'Odd') WHERE stream = 'ticket/o-8'".to_owned(),
    );
    repo.crew(&["doctor"]).ok();
    let said = repo.crew(&["doctor", "--deep"]);
    assert!(
        said.code == 1 && said.out.contains("is not what the events give"),
        "{said}"
    );
}

#[test]
fn what_goes_on_is_read_by_every_look() {
    let repo = with_a_past();
    // A branch that no attempt uses, of a ticket that lies behind, but not by crew's hand.
    repo.git(&["branch", "agent/ada-o-3"]);
    repo.crew(&["doctor"]).ok();
    spoil(&repo, "ticket/t-1");
    let said = repo.crew(&["doctor"]);
    assert!(
        said.code == 1
            && said
                .out
                .contains("stored state equals replay does not hold: t-1 at event"),
        "{said}"
    );
}

#[test]
fn a_ticket_that_the_view_has_lost_is_missed_by_every_look() {
    let repo = with_a_past();
    let lose = "UPDATE view_pieces SET body = json_remove(body, '$.tickets[0]') WHERE json_type(body, '$.tickets') = 'array'";
    write(&repo, lose.to_owned());
    for args in [&["doctor"] as &[&str], &["doctor", "--deep"]] {
        let said = repo.crew(args);
        assert!(
            said.code == 1 && said.out.contains("is not what the events give"),
            "{said}"
        );
    }
}

#[test]
fn all_that_is_damaged_is_told_by_every_look() {
    let repo = with_a_past();
    write(
        &repo,
        "UPDATE streams SET last = 1 WHERE id IN ('ticket/t-1', 'ticket/o-7')".to_owned(),
    );
    for args in [&["doctor"] as &[&str], &["doctor", "--deep"]] {
        let said = repo.crew(args);
        assert_eq!(said.code, 1, "{said}");
        for stream in ["ticket/t-1", "ticket/o-7"] {
            let says = format!("stream `{stream}` is not as it was written");
            assert!(said.out.contains(&says), "{args:?}: {said}");
        }
    }
}

#[test]
fn an_event_that_is_missing_is_told_once() {
    let repo = with_a_past();
    write(
        &repo,
        "PRAGMA foreign_keys = OFF; DROP TRIGGER events_do_not_go; \
         DELETE FROM events WHERE stream = 'ticket/t-1' AND version = 2"
            .to_owned(),
    );
    let said = repo.crew(&["doctor"]);
    let told = said
        .out
        .matches("of stream `ticket/t-1`, after version 1")
        .count();
    assert!(said.code == 1 && told == 1, "{said}");
}

#[test]
fn of_a_view_that_is_not_up_to_date_only_what_it_has_all_of_is_set_aside() {
    let repo = with_a_past();
    forget_the_view(&repo);
    on_its_own(async {
        let ledger = store::open(&Location::file(repo.root.join(".crew/journal.db")))
            .await
            .unwrap();
        let now = Time(jiff::Timestamp::now().as_millisecond());
        let whole = ledger.snapshot(now).await.unwrap();
        let o_0 = TicketId::new("o-0").unwrap();
        let reopened = again(&whole.tickets[&o_0], now);
        ledger.record(vec![reopened]).await.unwrap();

        let mut view = Snapshot::default();
        let rows = ledger.tail(0, 100).await.unwrap();
        for row in &rows {
            ledger.fold_row(&mut view, row).await.unwrap();
        }
        let seen: BTreeSet<TicketId> = view.tickets.keys().cloned().collect();
        assert!(seen.contains(&o_0) && view.tickets[&o_0].is_done());
        let archived = ledger.archive(&mut view, now).await.unwrap();
        let rest = view.tickets.keys().cloned().collect::<BTreeSet<_>>();
        assert!(rest.contains(&o_0) && !archived.contains(&o_0));
        assert_eq!(archived.len() + rest.len(), seen.len());
        assert!(archived.len() > 30, "{archived:?}");

        // Whoever goes on from there comes to the same as who begins at the beginning.
        let gone_on = ledger.snapshot(now).await.unwrap();
        assert_eq!(gone_on.archived.tickets, archived);
        assert!(!gone_on.tickets[&o_0].is_done());
        let all: BTreeSet<&TicketId> = gone_on.tickets.keys().chain(&archived).collect();
        assert_eq!(all, whole.tickets.keys().collect());
        ledger.close().await;
    });
}
