//! What steps and checks of tickets that were closed long ago have printed.

use std::collections::BTreeMap;
use std::path::Path;

use model::journal::Stream;
use model::view::Crew;
use model::{TicketId, Time};
use process::Run;
use runtime::Place;
use store::{Ledger, Sqlite};

use crate::doctor::size;
use crate::error::{Doing as _, Result};

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    /// Folders of steps.
    pub(crate) steps: usize,
    /// Folders of checks.
    pub(crate) checks: usize,
    /// Bytes of their files.
    pub(crate) bytes: u64,
}

/// Events that are read at once.
const PAGE: u32 = 1_000;

/// Removes what the steps and checks of tickets have printed that were closed before `before` and are closed still. What
/// may be alive stays, and so does what nobody knows.
pub(crate) async fn remove(
    place: &Place,
    crew: &Crew,
    ledger: &Ledger<Sqlite>,
    before: Time,
) -> Result<Removed> {
    let is_old = |id: &TicketId| {
        let ticket = crew.tickets.get(id);
        ticket.is_some_and(|ticket| ticket.is_done() && ticket.since <= before)
    };
    let mut removed = Removed::default();
    runtime::finish_taking_away(&place.runs_dir);
    for dir in runtime::folders(&place.runs_dir).unwrap_or_default() {
        if runtime::ticket_of(&dir).as_ref().is_some_and(is_old) && is_over(&dir) {
            removed.bytes += free(&dir)?;
            removed.steps += 1;
        }
    }
    let asked = asked(ledger).await?;
    runtime::finish_taking_away(&place.check_runs_dir());
    for dir in runtime::folders(&place.check_runs_dir()).unwrap_or_default() {
        // Setting up a checkout is a run beside those of the checks, and no ticket's.
        if let Ok(set_up) = Run::open(&dir) {
            if runtime::ended_at(&set_up).is_some_and(|at| at <= before) {
                removed.bytes += free(&dir)?;
            }
            continue;
        }
        runtime::finish_taking_away(&dir);
        let runs = runtime::folders(&dir).unwrap_or_default();
        let old = |run: &Path| {
            let of = number(run).and_then(|number| asked.get(&number));
            of.is_some_and(is_old) && is_over(run)
        };
        if !runs.is_empty() && runs.iter().all(|run| old(run)) {
            removed.bytes += free(&dir)?;
            removed.checks += 1;
        } else if runs.is_empty() {
            runtime::forget_check(&dir, |at| at <= before);
        }
    }
    Ok(removed)
}

/// The event that ordered a check, by which its run is named: `<seq>-<index>`.
fn number(run: &Path) -> Option<u64> {
    run.file_name()?.to_str()?.split_once('-')?.0.parse().ok()
}

/// Whose every event is.
async fn asked(ledger: &Ledger<Sqlite>) -> Result<BTreeMap<u64, TicketId>> {
    let mut asked = BTreeMap::new();
    let mut after = 0;
    loop {
        let page = ledger.tail(after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(asked);
        };
        after = last.seq;
        asked.extend(page.into_iter().filter_map(|fold| match fold.stream {
            Stream::Ticket(id) => Some((fold.seq, id)),
            Stream::Project => None,
        }));
    }
}

fn is_over(dir: &Path) -> bool {
    Run::open(dir).is_ok_and(|run| runtime::ended_at(&run).is_some())
}

/// Removes a folder; how much room that makes.
fn free(dir: &Path) -> Result<u64> {
    let bytes = size(dir);
    runtime::take_away(dir).doing("remove", dir)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_known_by_the_event_that_ordered_it() {
        assert_eq!(number(Path::new("12-0")), Some(12));
        assert_eq!(number(Path::new("12-0-2")), Some(12));
        assert_eq!(number(Path::new("set-up-12-0")), None);
    }
}
