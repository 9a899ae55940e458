//! Measurement of appends to a journal in a file, from many tasks at once, beside SQLite's own commits on the
//! same disk.
//!
//! `cargo run --release -p store --example appends FOLDER ROUNDS`: for each round a line with the 50th and
//! 99th percentile of a plain commit and of an append by one of 200 tasks that all append at once, in
//! milliseconds, and the journal's length.

use std::time::{Duration, Instant};

use model::journal::Stream;
use model::{TicketId, Time};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Executor as _};
use store::{Append, Journal, NewEvent, Sqlite, Version};

type Failed = Box<dyn std::error::Error>;

/// Agents whose reports come at once.
const AGENTS: usize = 200;
/// Reports of each, and plain commits for each, in a round.
const REPORTS: u64 = 5;
const COMMITS: usize = 1000;

#[expect(clippy::disallowed_methods, reason = "this is a stopwatch")]
fn now() -> Instant {
    Instant::now()
}

fn append(stream: &str, expected: u64) -> Append {
    let event = NewEvent {
        kind: "happened".to_owned(),
        body: format!("{{\"n\":{expected},\"text\":\"{}\"}}", "x".repeat(200)),
        schema: 1,
        cause: None,
        state_after: format!("{{\"state\":\"{}\"}}", "y".repeat(700)),
        effects: vec!["{\"do\":\"it\"}".to_owned()],
    };
    let id = TicketId::new(stream).unwrap_or_else(|no| panic!("{no}"));
    Append {
        events: vec![event],
        ..Append::new(Stream::Ticket(id), Version(expected), Time(0))
    }
}

/// Plain commits of one row as large as an event, one after the other.
async fn commits(conn: &mut SqliteConnection) -> Result<Vec<Duration>, Failed> {
    let body = "z".repeat(1000);
    let mut times = Vec::new();
    for _ in 0..COMMITS {
        let began = now();
        conn.execute("BEGIN IMMEDIATE").await?;
        sqlx::query("INSERT INTO rows (body) VALUES (?)")
            .bind(&body)
            .execute(&mut *conn)
            .await?;
        conn.execute("COMMIT").await?;
        times.push(began.elapsed());
    }
    Ok(times)
}

/// Every agent's reports, one after the other; all agents at once.
async fn appends(journal: &Sqlite, round: u64) -> Result<Vec<Duration>, Failed> {
    let running: Vec<_> = (0..AGENTS)
        .map(|agent| {
            let (journal, stream) = (journal.clone(), format!("ticket-{agent}"));
            tokio::spawn(async move {
                let mut times = Vec::new();
                for report in 0..REPORTS {
                    let began = now();
                    journal
                        .append(vec![append(&stream, round * REPORTS + report)])
                        .await?;
                    times.push(began.elapsed());
                }
                Ok::<_, store::Error>(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in running {
        times.extend(task.await??);
    }
    Ok(times)
}

fn at(times: &mut [Duration], percent: usize) -> f64 {
    times.sort();
    times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().map_or_else(std::env::temp_dir, Into::into);
    let rounds = arguments
        .next()
        .and_then(|n| n.to_str()?.parse().ok())
        .unwrap_or(9);
    let folder = tempfile::tempdir_in(folder)?;
    let journal = Sqlite::create(&folder.path().join("journal.db"), "measured").await?;
    let mut plain = SqliteConnectOptions::new()
        .filename(folder.path().join("plain.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .connect()
        .await?;
    plain
        .execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
        .await?;
    for round in 0..rounds {
        let (mut raw, mut ours) = (commits(&mut plain).await?, appends(&journal, round).await?);
        println!(
            "{:.4} {:.4} {:.4} {:.4} {}",
            at(&mut raw, 50),
            at(&mut raw, 99),
            at(&mut ours, 50),
            at(&mut ours, 99),
            journal.head().await?
        );
    }
    let problems = journal.verify().await?;
    journal.close().await;
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("; ").into())
    }
}
