//! Measures appends to a journal in a file: alone, and from many tasks at once.
//!
//! `cargo run -p store --example appends [FOLDER]`

use std::time::{Duration, Instant};

use store::{Append, Journal, Millis, NewEvent, Sqlite, Version};

fn append(stream: &str, expected: u64) -> Append {
    let event = NewEvent {
        kind: "happened".to_owned(),
        body: format!("{{\"n\":{expected},\"text\":\"{}\"}}", "x".repeat(200)),
        schema: 1,
        cause: None,
        state_after: format!("{{\"state\":\"{}\"}}", "y".repeat(500)),
        effects: vec!["{\"do\":\"it\"}".to_owned()],
    };
    let key = Some(format!("{stream}-{expected}"));
    Append {
        events: vec![event],
        key,
        ..Append::new(stream, "ticket", Version(expected), Millis(0))
    }
}

/// Appends `each` times from each of `tasks`, and prints the latencies.
async fn measure(journal: &Sqlite, tasks: usize, each: u64) {
    #[expect(clippy::disallowed_methods, reason = "this is a stopwatch")]
    let now = Instant::now;
    let began = now();
    let running: Vec<_> = (0..tasks)
        .map(|task| {
            let (journal, stream) = (journal.clone(), format!("{tasks}-{task}"));
            tokio::spawn(async move {
                let mut latencies = Vec::new();
                for expected in 0..each {
                    let began = now();
                    journal.append(vec![append(&stream, expected)]).await?;
                    latencies.push(began.elapsed());
                }
                Ok::<_, store::Error>(latencies)
            })
        })
        .collect();
    let mut latencies: Vec<Duration> = Vec::new();
    for task in running {
        match task.await {
            Ok(Ok(more)) => latencies.extend(more),
            other => return eprintln!("an append failed: {other:?}"),
        }
    }
    let took = began.elapsed();
    latencies.sort();
    let at = |percent: usize| latencies[(latencies.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    println!(
        "{tasks:4} at once: p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms, {:.0} appends/s",
        at(50),
        at(99),
        at(100),
        latencies.len() as f64 / took.as_secs_f64()
    );
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(std::env::temp_dir, Into::into);
    let folder = tempfile::tempdir_in(folder)?;
    let journal = Sqlite::create(&folder.path().join("journal.db"), "measured").await?;
    measure(&journal, 1, 2_000).await;
    measure(&journal, 10, 500).await;
    measure(&journal, 200, 50).await;
    let problems = journal.verify().await?;
    println!("{} events, {} problems", journal.head().await?, problems.len());
    journal.close().await;
    Ok(())
}
