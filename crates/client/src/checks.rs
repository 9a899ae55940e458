//! The output of checks, as files: of a ticket's candidates, or of the bare target.

use model::journal::{Fact, Stream};
use model::ticket::Event;
use model::{RunId, TicketId, Time};
use process::{Reason, Run, Status};
use runtime::Place;
use store::{Ledger, Recorded};

use crate::conversation::Uncounted;
use crate::error::Result;
use crate::outputs::Source;

/// The runs of the last round of checks, in order, as far as they have begun: of a ticket, else of the bare
/// target.
pub fn last_round(place: &Place, ticket: Option<&TicketId>) -> Vec<Source> {
    let entries = std::fs::read_dir(place.check_runs_dir()).into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut runs: Vec<((u64, u32), u32, RunId)> = names
        .filter_map(|name| {
            let run = RunId::new(name.to_str()?).ok()?;
            let (fence, round, n) = run.check_place()?;
            let is_its = match ticket {
                Some(id) => !run.is_of_target() && run.ticket().as_ref() == Some(id),
                None => run.is_of_target(),
            };
            is_its.then_some(((fence, round), n, run))
        })
        .collect();
    let last = runs.iter().map(|(round, ..)| *round).max();
    runs.retain(|(round, ..)| Some(*round) == last);
    runs.sort();
    let source = |(.., run): (_, _, RunId)| source(place, ticket, run);
    runs.into_iter().map(source).collect()
}

/// The ticket on whose candidate the checks ran that a ticket has landed with, where that is another one: the
/// last of its batch.
///
/// # Errors
/// The journal cannot be read.
pub async fn judged_with(ledger: &Ledger, ticket: &TicketId) -> Result<Option<TicketId>> {
    let mut judged = None;
    let each = |row: Recorded| match &row.fact {
        Fact::Ticket(Event::BatchLanding { tip, .. }) => judged = Some(tip.clone()),
        Fact::Ticket(Event::BatchPutOff { .. }) => judged = None,
        Fact::Ticket(_) | Fact::Project(_) => {}
    };
    ledger.each_of(&Stream::Ticket(ticket.clone()), 0, each).await?;
    Ok(judged.filter(|tip| tip != ticket))
}

fn source(place: &Place, ticket: Option<&TicketId>, run: RunId) -> Source {
    let dir = place.run_dir(&run);
    let spec = Run::open(&dir).and_then(|run| run.spec());
    let command = spec.as_ref().ok().map(runtime::command_of);
    let command = command.map(|command| format!(": {command}"));
    let is_canary = spec.is_ok_and(|spec| runtime::is_canary(&spec.run_id, &run));
    let how = if is_canary { ", with broken sources" } else { "" };
    let of = ticket.map_or("the target", |ticket| ticket.as_str());
    Source {
        title: format!("{of}, check{how} (run {run}){}", command.unwrap_or_default()),
        ticket: ticket.cloned(),
        number: None,
        uncounted: Uncounted::default(),
        dir,
        run,
    }
}

/// Whether a check has failed in a checkout whose set-up was made for another commit.
#[must_use]
pub fn had_kept_set_up(source: &Source) -> bool {
    runtime::had_kept_set_up(&source.dir)
}

/// How and when a check ended, in words; none where it goes on.
pub fn ended(source: &Source) -> Option<(String, Time)> {
    let Ok(Status::Ended(exit)) = Run::open(&source.dir).and_then(|run| run.status()) else {
        return None;
    };
    let how = match (&exit.reason, exit.code, exit.signal) {
        (Reason::Exited, Some(code), _) => format!("exit code {code}"),
        (Reason::Exited, None, signal) => format!("ended by signal {}", signal.unwrap_or_default()),
        (Reason::TimedOut, ..) => "timed out".to_owned(),
        (Reason::Stopped, ..) => "stopped".to_owned(),
        (Reason::Lost, ..) => "its end is not known".to_owned(),
        (Reason::SpawnFailed { error, .. }, ..) => format!("could not be started: {error}"),
    };
    Some((how, Time(i64::try_from(exit.ended_at).unwrap_or(i64::MAX))))
}
