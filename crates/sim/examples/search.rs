//! Searches seeds for one that breaks a promise: so many, or for so long. Each one that it finds is shrunk
//! and written down.
//!
//! Run by `cargo xtask sim`, whose help lists its arguments.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sim::{Case, Summary};

/// The interval between two lines about the progress.
const PROGRESS: Duration = Duration::from_secs(30);
/// More failures than this show nothing new.
const FAILURES: usize = 20;

/// The seeds to be searched.
struct Search {
    next: AtomicU64,
    /// The first that is not searched.
    end: u64,
    /// The time at which it is enough.
    until: Option<Instant>,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    seeds: u64,
    sum: Summary,
    files: Vec<String>,
    shown: Duration,
}

#[expect(
    clippy::disallowed_methods,
    reason = "whoever searches for hours must know when they are over"
)]
fn now() -> Instant {
    Instant::now()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let begun = now();
    let (seeds, until, folder) = match arguments[..] {
        ["seeds", first, last, folder] => match (first.parse(), last.parse::<u64>()) {
            (Ok(first), Ok(last)) => (first..last.saturating_add(1), None, folder),
            _ => return usage(),
        },
        ["hours", hours, first, folder] => match (hours.parse::<f64>(), first.parse()) {
            (Ok(hours), Ok(first)) if hours > 0.0 && hours < 1e4 => {
                let until = begun + Duration::from_secs_f64(hours * 3600.0);
                (first..u64::MAX, Some(until), folder)
            }
            _ => return usage(),
        },
        _ => return usage(),
    };
    let search = Search {
        next: AtomicU64::new(seeds.start),
        end: seeds.end,
        until,
        found: Mutex::default(),
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| search.work(begun, Path::new(folder)));
        }
    });
    let found = search
        .found
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    println!("{}", found.sum);
    println!(
        "{} from {} in {:.0} s: {}",
        many(found.seeds, "seed"),
        seeds.start,
        begun.elapsed().as_secs_f64(),
        many(found.files.len() as u64, "failure")
    );
    for file in &found.files {
        println!("  {file}");
    }
    if found.files.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// A number of things, in words.
fn many(count: u64, what: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {what}{ending}")
}

fn usage() -> ExitCode {
    eprintln!("usage: search seeds <first> <last> <folder> | search hours <hours> <first> <folder>");
    ExitCode::from(2)
}

impl Search {
    fn work(&self, begun: Instant, folder: &Path) {
        loop {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            let enough = |found: &Found| found.files.len() >= FAILURES;
            if seed >= self.end || self.until.is_some_and(|until| now() >= until) || enough(&self.lock()) {
                return;
            }
            match Case::of(seed).run() {
                Ok(summary) => {
                    let mut found = self.lock();
                    found.seeds += 1;
                    found.sum.add(&summary);
                    let passed = begun.elapsed();
                    if passed >= found.shown + PROGRESS {
                        found.shown = passed;
                        println!("{} in {:.0} s", many(found.seeds, "seed"), passed.as_secs_f64());
                    }
                }
                Err(failure) => {
                    let small = sim::shrink(failure);
                    println!("{small}\n");
                    let name = format!("{}-{seed}.toml", small.invariant.replace(' ', "-"));
                    let path = folder.join(name);
                    let written = std::fs::write(&path, small.case.write(small.invariant));
                    let mut found = self.lock();
                    found.seeds += 1;
                    found.files.push(match written {
                        Ok(()) => path.display().to_string(),
                        Err(error) => format!("{}: {error}", path.display()),
                    });
                }
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Found> {
        self.found
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
