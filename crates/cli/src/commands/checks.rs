//! `crew checks`: the checks of the settings, with their last verdicts.

use clap::Args;
use model::Time;
use model::settings::Settings;
use model::ticket::{Check, CheckPlan};
use model::view::{CheckEnding, CheckTally, CheckVerdict, Snapshot};
use runtime::Place;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui;
use crate::ui::{Cell, Style, Table};
use client::repository::journal;
use client::{clock, documents, follow};

/// The columns of the table.
const COLUMNS: [&str; 6] = ["CHECK", "VERDICT", "ON", "TREE", "AGO", "TOOK"];

/// Show the checks: the last verdict of each, how long it took, how often it was flaky or skipped
#[derive(Debug, Args)]
pub(crate) struct Checks {
    /// Forget which checks have passed on which trees: each runs the next time.
    ///
    /// For checks that depend on something that crew does not know, such as a service or an installed
    /// library.
    #[arg(long)]
    forget: bool,
}

impl Checks {
    /// Whether it changes something, rather than shows it.
    pub(crate) fn forgets(&self) -> bool {
        self.forget
    }

    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        if self.forget {
            let place = context.there()?;
            return forget(context, &place);
        }
        let (place, settings) = context.ready()?;
        let ledger = journal(&place).await?;
        let crew = follow::present(ledger.as_ref()).await?;
        let idle = runtime::idle_paths(&place, &settings)?;
        let answers = runtime::toolchain(&place);
        if context.json {
            let document = documents::Checks::of(&settings, &crew.checks, &idle, &answers);
            context.out.json(&document)?;
            return Ok(Exit::Done);
        }
        if !settings.has_checks() {
            let none =
                "no checks: name what must pass in crew.toml, as [checks] commands or as [[check]] tables";
            context.out.wrapped(none, 0, Style::Plain)?;
            return Ok(Exit::Done);
        }
        let mut table = Table::new(&COLUMNS, &[4, 5]);
        let now = clock::now();
        for check in CheckPlan::of(&settings).commands {
            row(&mut table, &crew, &settings, &check, now);
            for (_, paths) in idle.iter().filter(|(name, _)| Some(name) == check.name.as_ref()) {
                let (target, paths) = (&settings.project.target, paths.join(", "));
                table.below(1, &format!("no file on {target} is in {paths}"), Style::Yellow);
            }
        }
        context.out.table(&table)?;
        let tools = documents::Tool::of(&settings, &answers);
        if !tools.is_empty() {
            let says = "what has passed is remembered for this toolchain:";
            context.out.wrapped(says, 0, Style::Plain)?;
            for tool in tools {
                context
                    .out
                    .wrapped(&format!("  {}", tool.line()), 4, Style::Plain)?;
            }
        }
        Ok(Exit::Done)
    }
}

fn forget(context: &mut Context, place: &Place) -> Result<Exit> {
    let forgotten = runtime::forget_verdicts(place)?;
    if context.json {
        context.out.json(&documents::ForgotVerdicts { forgotten })?;
        return Ok(Exit::Done);
    }
    let says = match forgotten {
        0 => "nothing to forget: no tree is remembered on which all checks have passed".to_owned(),
        1 => "forgot one tree on which all checks have passed: they run again on it".to_owned(),
        count => format!("forgot {count} trees on which all checks have passed: they run again on them"),
    };
    context.out.wrapped(&says, 0, Style::Plain)?;
    Ok(Exit::Done)
}

fn row(table: &mut Table, crew: &Snapshot, settings: &Settings, check: &Check, now: Time) {
    let tally = crew.checks.of(&check.to_string()).cloned().unwrap_or_default();
    let name = check.to_string();
    // A pass that was only remembered says nothing about now, as long as there is a run to show.
    let ran = tally
        .verdicts
        .iter()
        .rev()
        .find(|verdict| verdict.end != CheckEnding::Cached);
    let Some(last) = ran.or(tally.verdicts.last()) else {
        let word = if tally.skipped > 0 {
            "skipped"
        } else {
            "not run yet"
        };
        let mut cells = vec![name.as_str().into(), Cell::styled(word, Style::Dim)];
        cells.resize_with(COLUMNS.len(), Cell::default);
        table.row(cells);
        below(table, check, &tally, settings);
        return;
    };
    table.row([
        name.as_str().into(),
        verdict(last),
        on(last, settings).as_str().into(),
        last.tree
            .as_ref()
            .map(|tree| tree.short().to_owned())
            .unwrap_or_default()
            .into(),
        ui::span(now.since(last.at)).into(),
        last.ms.map(took).unwrap_or_default().into(),
    ]);
    below(table, check, &tally, settings);
}

fn verdict(last: &CheckVerdict) -> Cell {
    let (word, style) = match last.end {
        CheckEnding::Passed => ("passed", Style::Green),
        CheckEnding::Cached => ("passed before", Style::Dim),
        CheckEnding::Flaky => ("flaky", Style::Yellow),
        CheckEnding::FewerTests => ("fewer tests", Style::Yellow),
        CheckEnding::Failed => ("failed", Style::Red),
        CheckEnding::CouldNotRun => ("could not be run", Style::Red),
    };
    Cell::styled(word, style)
}

fn on(last: &CheckVerdict, settings: &Settings) -> String {
    match &last.ticket {
        Some(ticket) => ticket.to_string(),
        None => settings.project.target.clone(),
    }
}

/// A time that a check took.
fn took(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{}.{} s", ms / 1_000, ms / 100 % 10),
        _ => ui::span(std::time::Duration::from_millis(ms)),
    }
}

/// The command of a named check with its paths, and what is more than the last verdict.
fn below(table: &mut Table, check: &Check, tally: &CheckTally, settings: &Settings) {
    if check.name.is_some() {
        table.below(1, &check.command.to_string(), Style::Dim);
    }
    let named = settings
        .check
        .iter()
        .find(|it| Some(&it.name) == check.name.as_ref());
    if let Some(named) = named.filter(|named| !named.paths.is_empty()) {
        table.below(
            1,
            &format!("runs only for changes in {}", named.paths.join(", ")),
            Style::Dim,
        );
    }
    let counts = [
        (tally.passed, "passed"),
        (tally.failed, "failed"),
        (tally.flaky, "flaky"),
        (tally.cached, "passed before"),
        (tally.skipped, "skipped"),
    ];
    let mut counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    // A run that was not needed has no number.
    let tests = tally.verdicts.iter().rev().find_map(|verdict| verdict.tests);
    counts.extend(tests.map(|tests| match tests {
        0 => "no tests".to_owned(),
        1 => "1 test".to_owned(),
        _ => format!("{tests} tests"),
    }));
    if !counts.is_empty() {
        table.below(1, &counts.join(", "), Style::Dim);
    }
}
