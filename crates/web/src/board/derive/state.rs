//! The document of the facts that hold for the whole repository.

use client::documents;
use client::engine::{Trouble, stopping, trouble};
use model::view::{Counts, Snapshot};
use model::{Look, Moment, Time};
use serde::Serialize;

use super::{Engine, Sources, landings_since};

/// Milliseconds of an hour.
const HOUR: i64 = 60 * 60 * 1000;
/// Hours of landings that are counted.
const HOURS: usize = 24;

/// The facts that hold for the whole repository.
#[derive(Debug, Serialize)]
pub(super) struct State {
    /// The last row of the journal that the documents include.
    seq: u64,
    /// The time of that row; `null` before the first.
    at: Option<Moment>,
    engine: Option<Engine>,
    /// What is wrong with the engine, and what to type.
    trouble: Option<Trouble>,
    /// What an engine that was asked to stop waits for, in words.
    stopping: Option<String>,
    counts: Counts,
    /// The counts in words, without those that are none.
    count_words: Vec<String>,
    /// Why no agent or no step is started, in words.
    obstacles: Vec<String>,
    pause: Option<documents::Pause>,
    paused: Vec<documents::Paused>,
    /// The first fault of a settings file that cannot be used.
    rejected_settings: Option<String>,
    /// What keeps crew from reading or writing something here, in words.
    problems: Vec<String>,
    usage: documents::Usage,
    /// Millionths of a US dollar, since the day of UTC began.
    paid_today: u64,
    /// Millionths of a US dollar.
    paid_in_all: u64,
    /// Millionths of a US dollar; `null` where there is no budget.
    budget_per_day: Option<u64>,
    /// Since the day of UTC began.
    landed_today: usize,
    /// The landings of the last 24 hours of UTC, the present one last.
    landings_by_hour: Vec<usize>,
}

impl State {
    /// The document. `counts` has the tickets of the ticket folder too.
    pub(super) fn of(of: &Sources<'_>, counts: Counts, look: Look) -> Self {
        let (seen, files, now) = (of.seen, &of.seen.files, look.now);
        let crew = &*seen.crew;
        let today = now.day().begins();
        let charges = crew.charges.iter().filter(|charge| charge.at >= today);
        let paid = crew.paid();
        let paused = crew.project.paused.iter().filter(|(_, pause)| pause.holds(now));
        let mut problems = seen.troubles().cloned().collect::<Vec<_>>();
        problems.extend(files.beside.refuses_work.clone());
        let unwritable = files.beside.unwritable.as_ref();
        problems.extend(unwritable.map(|why| format!("no ticket's file can be written: {why}")));
        problems.extend(files.problems.iter().cloned());
        Self {
            seq: crew.seq,
            at: Some(crew.at).filter(|at| *at > Time(0)).map(Moment),
            engine: seen.engine.as_ref().map(Engine::of),
            trouble: trouble(seen.engine.as_ref(), crew),
            stopping: seen.engine.as_ref().and_then(|_| stopping(crew)),
            counts,
            count_words: counts.words(),
            obstacles: crew.obstacles(look),
            pause: crew
                .project
                .pause
                .filter(|pause| pause.until > now)
                .map(documents::Pause::of),
            paused: paused
                .map(|(harness, pause)| documents::Paused::of(harness, pause))
                .collect(),
            rejected_settings: files.rejected.as_ref().map(|rejected| rejected.why.clone()),
            problems,
            usage: documents::Usage::of(paid),
            // Archived tickets have cost nothing today.
            paid_today: charges.map(|charge| charge.usage.cost_micro_usd).sum(),
            paid_in_all: paid.cost_micro_usd,
            budget_per_day: files.settings.budget.day_usd.map(|limit| limit.0),
            landed_today: landings_since(crew, today),
            landings_by_hour: by_hour(crew, now),
        }
    }
}

/// The landings of each of the last hours, the present one last.
fn by_hour(crew: &Snapshot, now: Time) -> Vec<usize> {
    let mut hours = vec![0; HOURS];
    let present = now.0.div_euclid(HOUR);
    for landed in crew.landed.iter().rev() {
        let ago = usize::try_from(present - landed.at.0.div_euclid(HOUR)).unwrap_or_default();
        let Some(at) = (HOURS - 1).checked_sub(ago) else {
            break;
        };
        hours[at] += 1;
    }
    hours
}
