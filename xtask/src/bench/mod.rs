//! What crew costs beside the plain shell: programs timed in temp folders, never a test that can fail.
//!
//! Absolute times say more about a machine than about crew, so what is written down are ratios between
//! methods that were run in turn, on copies of one repository, in one run.

mod append;
mod beats;
mod calls;
mod dispatch;
mod drain;
mod exits;
mod figures;
mod idle;
mod listing;
mod place;
mod recover;
mod report;
mod repository;
mod streams;
mod train;
mod transcript;
mod web;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{Outcome, program};
use place::Place;
use report::Report;

/// What is measured, and how thoroughly.
pub(crate) struct Options {
    /// One of [`PARTS`], or all.
    part: Option<&'static str>,
    /// A short look.
    quick: bool,
    /// A binary that was built before, instead of one that is built now.
    crew: Option<PathBuf>,
}

/// What can be measured alone.
const PARTS: [&str; 13] = [
    "drain",
    "dispatch",
    "exits",
    "idle",
    "recover",
    "append",
    "streams",
    "transcript",
    "beats",
    "calls",
    "listing",
    "train",
    "web",
];

impl Options {
    /// From the command line; `None`: they make no sense.
    pub(crate) fn read(arguments: &[&str]) -> Option<Self> {
        let (flags, parts): (Vec<&str>, Vec<&str>) = arguments.iter().partition(|one| one.starts_with('-'));
        let (mut quick, mut crew) = (false, None);
        for flag in flags {
            match flag.strip_prefix("--crew=") {
                Some(path) => crew = Some(PathBuf::from(path)),
                None if flag == "--quick" => quick = true,
                None => return None,
            }
        }
        let part = match parts[..] {
            [] => None,
            [asked] => Some(*PARTS.iter().find(|part| **part == asked)?),
            _ => return None,
        };
        Some(Self { part, quick, crew })
    }
}

/// Builds the release binary, measures it, and writes `docs/benchmarks.md` when everything was measured; the
/// page says how thoroughly. The sections of the train, the streams, the transcript, the beats, the calls,
/// the listings and the web page are also written when only they were measured.
///
/// # Errors
///
/// Something could not be built or run, or a method did not do its work: a drain whose work is not all on the
/// target, or whose repository is not sound, counts for nothing.
pub(crate) fn run(root: &Path, options: &Options) -> Outcome {
    let built = match &options.crew {
        // What is measured is started in other folders.
        Some(path) => path
            .canonicalize()
            .map_err(|error| format!("{}: {error}", path.display()))?,
        None => {
            let build = ["build", "--release", "--locked", "--package", "crew"];
            program::run(root, "cargo", &build)?;
            root.join("target/release/crew")
        }
    };
    let place = Place::new(&built)?;
    println!("in {}", place.described());
    let wants = |part: &str| options.part.is_none_or(|only| only == part);
    let mut report = Report::default();
    if wants("drain") {
        let shape = if options.quick { drain::QUICK } else { drain::WHOLE };
        for size in repository::SIZES {
            let drained = drain::run(&place, size, shape)?;
            println!("{}", report::drained(&drained));
            report.drains.push(drained);
        }
    }
    if wants("dispatch") {
        let tickets = if options.quick { 20 } else { 100 };
        let dispatched = dispatch::run(&place, tickets)?;
        println!("{}", report::dispatched(&dispatched));
        report.dispatch = Some(dispatched);
    }
    if wants("exits") {
        for beside in exits::BESIDE {
            let noticed = exits::run(&place, if options.quick { 4 } else { 20 }, beside)?;
            println!("{}", report::noticed(&noticed));
            report.exits.push(noticed);
        }
    }
    if wants("idle") {
        let time = Duration::from_secs(if options.quick { 10 } else { 60 });
        for tickets in idle::QUEUES {
            let idled = idle::run(&place, time, tickets)?;
            println!("{}", report::idled(&idled));
            report.idle.push(idled);
        }
        for agents in idle::LIVE {
            let idled = idle::watching(&place, time, agents)?;
            println!("{}", report::watched(&idled));
            report.watching.push(idled);
        }
    }
    if wants("recover") {
        let writer = example(root, &built, options.crew.is_some(), "sim", "journal")?;
        let (lengths, rounds) = if options.quick {
            (&recover::LENGTHS[..1], 3)
        } else {
            (&recover::LENGTHS[..], 9)
        };
        for events in lengths {
            let recovered = recover::run(&place, &writer, *events, rounds)?;
            println!("{}", report::recovered(&recovered));
            report.recovers.push(recovered);
        }
    }
    if wants("append") {
        let program = example(root, &built, options.crew.is_some(), "store", "appends")?;
        let appended = append::run(&place, &program, if options.quick { 9 } else { 90 })?;
        println!("{}", report::appended(&appended));
        report.append = Some(appended);
    }
    if wants("streams") {
        let program = example(root, &built, options.crew.is_some(), "harness", "streams")?;
        report.streams = streams::run(&place, &program, if options.quick { 5 } else { 25 })?;
        println!("{}", figures::streamed(&report.streams));
    }
    if wants("transcript") {
        let bytes = if options.quick {
            transcript::QUICK
        } else {
            transcript::BYTES
        };
        let read = transcript::run(&place, bytes)?;
        println!("{}", figures::read(&read));
        report.transcript = Some(read);
    }
    if wants("beats") {
        let program = example(root, &built, options.crew.is_some(), "process", "beats")?;
        for processes in beats::PROCESSES {
            let beats = beats::run(&place, &program, processes, if options.quick { 5 } else { 50 })?;
            println!("{}", figures::beaten(&beats));
            report.beats.push(beats);
        }
    }
    if wants("calls") {
        let program = example(root, &built, options.crew.is_some(), "mcp", "calls")?;
        let called = calls::run(&place, &program, if options.quick { 1 } else { 8 })?;
        println!("{}", figures::called(&called));
        report.calls = Some(called);
    }
    if wants("listing") {
        report.listings = listing::run(&place, if options.quick { 5 } else { 25 })?;
        println!("{}", figures::listed(&report.listings));
    }
    if wants("train") {
        let orders = example(root, &built, options.crew.is_some(), "sim", "orders")?;
        let trains = train::run(&place, &orders, &train::Shape::new(options.quick))?;
        println!("{}", train::report::told(&trains));
        report.trains = Some(trains);
    }
    if wants("web") {
        report.web = web::run(root, &built, options.quick)?;
        println!("{}", web::told(&report.web));
    }
    let path = root.join("docs/benchmarks.md");
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let page = if options.part.is_none() {
        report.page(&place)
    } else {
        // These sections have all that they rest on.
        let alone = [
            report
                .trains
                .as_ref()
                .map(train::report::page)
                .unwrap_or_default(),
            figures::streams_page(&report.streams),
            figures::transcript_page(report.transcript.as_ref()),
            figures::beats_page(&report.beats),
            figures::calls_page(report.calls.as_ref()),
            figures::listings_page(&report.listings),
            web::page(&report.web),
        ];
        let alone: Vec<&String> = alone.iter().filter(|section| !section.is_empty()).collect();
        if options.quick || alone.is_empty() {
            return Ok(());
        }
        let page = std::fs::read_to_string(&path).map_err(failed)?;
        alone
            .iter()
            .fold(page, |page, section| with_section(&page, section))
    };
    std::fs::write(&path, page).map_err(failed)?;
    println!("wrote docs/benchmarks.md");
    Ok(())
}

/// A page with this section in the place of the one with the same heading, or at its end.
fn with_section(page: &str, section: &str) -> String {
    let heading = section.trim_start().lines().next().unwrap_or_default();
    let mut parts = page.split("\n## ");
    let mut whole = parts.next().unwrap_or_default().trim_end().to_owned() + "\n";
    let mut is_in = false;
    for part in parts {
        let is_it = heading.strip_prefix("## ") == part.lines().next();
        let text = if is_it { section.trim() } else { part.trim_end() };
        whole.push_str(if is_it { "\n" } else { "\n## " });
        whole.push_str(text);
        whole.push('\n');
        is_in |= is_it;
    }
    if !is_in {
        whole.push_str(&format!("\n{}\n", section.trim()));
    }
    whole
}

/// A program that is an example of one of our crates: beside the measured one, where that was built before.
fn example(root: &Path, crew: &Path, is_built: bool, package: &str, name: &str) -> Result<PathBuf, String> {
    if !is_built {
        let build = [
            "build",
            "--release",
            "--locked",
            "--package",
            package,
            "--example",
            name,
        ];
        program::run(root, "cargo", &build)?;
    }
    let folder = crew.parent().unwrap_or(root);
    Ok(folder.join("examples").join(name))
}

#[expect(clippy::disallowed_methods, reason = "measuring is what this is for")]
fn now() -> Instant {
    Instant::now()
}

/// Looks until something is so, every millisecond; an error after a minute.
fn until(what: &str, mut is_so: impl FnMut() -> bool) -> Outcome {
    let begun = now();
    while !is_so() {
        if begun.elapsed() > Duration::from_secs(60) {
            return Err(format!("a minute has passed, and not yet: {what}"));
        }
        rest(Duration::from_millis(1));
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "another program is waited for, with a deadline"
)]
fn rest(time: Duration) {
    std::thread::sleep(time);
}

/// The value in the middle of some; 0 of none.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    quantile(values, 0.5)
}

/// The value that a share of some do not exceed; 0 of none.
fn quantile(values: impl IntoIterator<Item = f64>, share: f64) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else {
        return 0.0;
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index between 0 and the last"
    )]
    let at = (last as f64 * share).round() as usize;
    values[at.min(last)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let values = || [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(
            [0.0, 0.5, 0.99, 1.0].map(|share| quantile(values(), share)),
            [1.0, 3.0, 5.0, 5.0]
        );
        assert_eq!(median([]), 0.0);
    }

    #[test]
    fn a_section_takes_the_place_of_the_one_with_its_heading() {
        let page = "# Page\n\nText.\n\n## one\n\n1\n\n## two\n\n2\n";
        assert_eq!(
            with_section(page, "\n## one\n\n3\n\n"),
            "# Page\n\nText.\n\n## one\n\n3\n\n## two\n\n2\n"
        );
        assert_eq!(
            with_section(page, "\n## three\n\n3\n"),
            format!("{page}\n## three\n\n3\n")
        );
    }
}
