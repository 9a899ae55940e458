//! The journal: its file, its rows against each other, and its states against the machines.

mod present;
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::audit::{Audit, Broken};
use model::journal::{Fact, State};
use model::settings::Settings;
use model::ticket::Ticket;
use model::view::{AttemptSummary, Failing, MEND, Record, Snapshot};
use model::{AgentName, Oid, TicketId, attempt, ticket};
use runtime::Place;
use store::{Ledger, Recorded};

use crate::finding::few;
use crate::invariants::misadded;
use crate::{Area, Finding, Subject};
use client::clock;
use client::error::{Error, Result};

const AREA: Area = Area::Journal;

/// The journal, as far as it can be opened.
pub(super) enum Journal {
    Open(Ledger),
    NotThere,
    Unreadable,
}

/// Opens the journal.
pub(super) async fn open(place: &Place, found: &mut Vec<Finding>) -> Journal {
    match client::repository::journal(place).await {
        Ok(Some(ledger)) => Journal::Open(ledger),
        Ok(None) => {
            if place.settings_path.exists() {
                found.push(Finding::fine(
                    AREA,
                    "there is none yet: nothing was run or asked here",
                ));
            }
            Journal::NotThere
        }
        Err(error) => {
            found.push(Finding::error(AREA, &error));
            Journal::Unreadable
        }
    }
}

/// The number of archived tickets that every look reads again. Where there are more, only a deep look reads
/// the archive: the cost of the others depends only on the tickets that are not archived.
const FEW: usize = 1000;

/// The part of a journal that was read.
#[derive(Default)]
struct Read {
    /// All of it, folded, without archived tickets.
    crew: Snapshot,
    audit: Audit,
    /// Rows that differ from those that the machines give.
    broken: Vec<Broken>,
    pairs: BTreeSet<(AgentName, TicketId)>,
    begun_on: Option<Oid>,
    /// True if nobody wrote while it was read.
    is_of_one_moment: bool,
    /// The attempts at archived tickets that were read, whose work did not land.
    unlanded: Vec<AttemptSummary>,
    /// For these tickets, by id, the costs that are in their states and not in their steps.
    misadded: BTreeMap<TicketId, Vec<String>>,
}

impl Read {
    /// Takes the next row of a stream.
    fn row(&mut self, fold: &Recorded) {
        self.broken.extend(self.audit.row(&fold.row()));
        self.begins(fold);
        self.pairs.extend(pair(fold));
    }

    /// Leaves tickets out that are over, when they were looked at.
    fn archive(&mut self, tickets: &BTreeSet<TicketId>) -> Vec<Record> {
        let whole = |id| self.crew.tickets.get(id).cloned();
        let over: Vec<Arc<Ticket>> = tickets.iter().filter_map(whole).collect();
        let records = self.crew.archive(tickets);
        self.audit.forget(tickets);
        for (ticket, record) in over.iter().zip(&records) {
            let says = misadded(ticket, &record.cost.charges);
            if !says.is_empty() {
                self.misadded.insert(ticket.id.clone(), says);
            }
            let unlanded = record
                .summaries
                .attempts
                .iter()
                .filter(|work| work.landed.is_none());
            self.unlanded.extend(unlanded.cloned());
        }
        records
    }

    /// Notes where the first workspace was begun.
    fn begins(&mut self, fold: &Recorded) {
        if let Fact::Ticket(ticket::Event::Attempt(attempt::Event::WorkspaceReady { base, .. })) = &fold.fact
        {
            self.begun_on.get_or_insert_with(|| base.clone());
        }
    }
}

/// The agent at a ticket after this row.
fn pair(fold: &Recorded) -> Option<(AgentName, TicketId)> {
    let State::Ticket(ticket) = &fold.after else {
        return None;
    };
    Some((ticket.attempt()?.claim.agent.clone(), ticket.id.clone()))
}

/// Reads it: all of it, if that is not much or `deep`. None when it cannot be read to its end.
pub(super) async fn look(
    place: Place,
    settings: Option<Settings>,
    ledger: Ledger,
    deep: bool,
    found: &mut Vec<Finding>,
) -> Result<Option<Subject>> {
    let holder = place.holder()?;
    // Before the rows: an effect that is done and not yet reported is in none of both otherwise.
    let ordered = ledger.pending(model::Time(i64::MAX)).await.unwrap_or_default();
    let mut changing: BTreeSet<_> = ordered.into_iter().map(|ordered| ordered.ticket).collect();
    let state_file = std::fs::read(place.crew_dir.join("state.json")).ok();
    // Rows that cannot be folded are reported below.
    let archived = ledger
        .snapshot(clock::now())
        .await
        .map_or(0, |crew| crew.archived.tickets.len());
    let mut is_whole = deep || archived <= FEW;
    let mut read = Ok(Read::default());
    if !is_whole {
        let names = present::names(&place, settings.as_ref());
        read = present::read(&ledger, &names, found).await;
        // It ends at the first damage; the other look reports all of it, and goes on where it can.
        is_whole = matches!(read, Err(Error::Store(store::Error::Damaged { .. })));
    }
    if is_whole {
        read = whole::read(&ledger, found).await;
    }
    let ordered = ledger.pending(model::Time(i64::MAX)).await.unwrap_or_default();
    changing.extend(ordered.into_iter().map(|ordered| ordered.ticket));
    let Read {
        crew,
        audit,
        broken,
        pairs,
        begun_on,
        is_of_one_moment,
        unlanded: _,
        misadded,
    } = match read {
        Ok(read) => read,
        Err(Error::Store(error)) => {
            damaged(text::with_causes(&error), found);
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if broken.is_empty() {
        let of_live = if is_whole {
            ""
        } else {
            " of a ticket that is not archived"
        };
        found.push(Finding::fine(
            AREA,
            format!(
                "{}, whole; every state{of_live} is what replay gives",
                text::counted(crew.seq, "event")
            ),
        ));
    }
    let broken = broken
        .into_iter()
        .chain(if is_of_one_moment {
            audit.standing()
        } else {
            Vec::new()
        })
        .map(|broken| format!("{} does not hold: {}", broken.invariant, broken.what));
    found.extend(few(broken.collect()).into_iter().map(|says| {
        Finding::wrong(
            AREA,
            says,
            "crew goes by the stored states, so work goes on; report it to crew's makers, with the output of `crew history --json`",
        )
    }));
    if holder.is_none() {
        left_to_do(&ledger, &crew, found).await;
    }
    let failing = match ledger.failing().await {
        Ok(failing) => failing,
        Err(error) => {
            damaged(text::with_causes(&error), found);
            Vec::new()
        }
    };
    found.extend(
        few(failing.iter().map(undone).collect())
            .into_iter()
            .map(|says| Finding::wrong(AREA, says, MEND)),
    );
    Ok(Some(Subject {
        state_file,
        place,
        settings,
        ledger,
        crew,
        audit,
        pairs,
        misadded,
        changing,
        begun_on,
        holder,
        is_whole,
    }))
}

fn undone(failing: &Failing) -> String {
    format!("{}: {}", failing.ticket, failing.why)
}

/// The finding that the folded snapshot is not what the events give.
fn misfolded(seq: u64) -> Finding {
    Finding::wrong(
        AREA,
        format!("the snapshot of event {seq} is not what the events give"),
        "crew ps and crew cost may show something wrong: report it to crew's makers, with the output of `crew events --json`",
    )
}

/// Reports damage, each once, with advice at the first.
fn damaged(says: String, found: &mut Vec<Finding>) {
    if found.iter().any(|one| one.area == AREA && one.says == says) {
        return;
    }
    let error = store::Error::Damaged { what: String::new() };
    let hint = format!("stop the engine; {}", error.hint().unwrap_or_default());
    let is_given = found.iter().any(|one| one.hint.as_ref() == Some(&hint));
    let mut finding = Finding::wrong(AREA, says, hint);
    finding.hint.take_if(|_| is_given);
    found.push(finding);
}

/// The work that an engine which was killed, or stopped early, has left for the next.
async fn left_to_do(ledger: &Ledger, crew: &Snapshot, found: &mut Vec<Finding>) {
    let effects = ledger
        .pending(model::Time(i64::MAX))
        .await
        .map_or(0, |effects| effects.len());
    let asked = ledger.asked(0, clock::now()).await.map_or(0, |asked| asked.len());
    let at_work = crew
        .tickets
        .values()
        .filter(|ticket| ticket.attempt().is_some())
        .count();
    let mut left = Vec::new();
    for (n, one, many) in [
        (at_work, "attempt is", "attempts are"),
        (effects, "effect is", "effects are"),
        (asked, "command is", "commands are"),
    ] {
        if n > 0 {
            left.push(format!("{n} {}", if n == 1 { one } else { many }));
        }
    }
    if !left.is_empty() {
        found.push(Finding::note(
            AREA,
            format!("no engine runs, and {} not ended", left.join(", ")),
            "crew run goes on where the last engine stopped",
        ));
    }
}
