//! What steps and checks of tickets that were closed long ago have printed.

use std::collections::BTreeMap;
use std::path::Path;

use model::journal::Stream;
use model::view::Crew;
use model::{TicketId, Time};
use process::{Run, Status};
use runtime::Place;
use store::{Ledger, Sqlite};

use crate::doctor::{folders, size};
use crate::error::Result;

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
    for dir in folders(&place.runs_dir) {
        if ticket_of(&dir).as_ref().is_some_and(is_old) && is_over(&dir) {
            removed.bytes += take_away(&dir)?;
            removed.steps += 1;
        }
    }
    let asked = asked(ledger).await?;
    for dir in folders(&place.checks_dir.join("runs")) {
        let runs = folders(&dir);
        let old = |run: &Path| {
            let of = number(run).and_then(|number| asked.get(&number));
            of.is_some_and(is_old) && is_over(run)
        };
        if !runs.is_empty() && runs.iter().all(|run| old(run)) {
            removed.bytes += take_away(&dir)?;
            removed.checks += 1;
        }
    }
    Ok(removed)
}

/// The ticket of a step's run, whose name is `<ticket>.<fence>.<n>`.
fn ticket_of(dir: &Path) -> Option<TicketId> {
    let name = dir.file_name()?.to_str()?;
    let mut parts = name.rsplitn(3, '.');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(parts.next()?) && is_number(parts.next()?)).then_some(())?;
    TicketId::try_from(parts.next()?.to_owned()).ok()
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
    match Run::open(dir).and_then(|run| run.status()) {
        Ok(Status::Ended(_)) => true,
        Ok(Status::NotStarted | Status::Running { .. } | Status::Lost { .. }) | Err(_) => false,
    }
}

fn take_away(dir: &Path) -> Result<u64> {
    let bytes = size(dir);
    git::delete_tree(dir)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_known_by_its_name() {
        let of = |name: &str| ticket_of(Path::new(name)).map(|id| id.to_string());
        assert_eq!(of("runs/t-1.3.12").as_deref(), Some("t-1"));
        assert_eq!(of("a.b.c.3.12").as_deref(), Some("a.b.c"));
        for name in ["t-1", "t-1.3", "t-1.x.1", "t-1.3.", ".3.1"] {
            assert_eq!(of(name), None, "{name}");
        }
        assert_eq!(number(Path::new("12-0")), Some(12));
        assert_eq!(number(Path::new("12-0-2")), Some(12));
        assert_eq!(number(Path::new("set-up-12-0")), None);
    }
}
