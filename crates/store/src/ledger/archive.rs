//! The archive: the cached view of a journal, and the records of archived tickets with it, so that nobody
//! reads all of a long journal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::journal::{State, Stream};
use model::ticket::Ticket;
use model::view::{self, Piece, Row, Snapshot, Summaries, TicketCost};
use model::{TicketId, Time};

use super::{Ledger, PAGE, Recorded, read, state, text};
use crate::{CachedView, Error, Journal, NewView, Pieces, Record, Result, Seq, ViewArchive};

/// Rows folded at a time.
const ROWS: u32 = 250;
/// A long journal without a cached view is folded this many rows at a time, and old tickets are archived in
/// between: all of the view is never in memory at once.
const LONG: u64 = 10_000;
/// At most this many tickets are archived at a time, or a part of all: the caller has other work too.
const AT_ONCE: usize = 500;
/// The number of times that a read of several tables is repeated when a write comes in between.
const LOOKS: u32 = 4;
/// Archiving writes the whole view anew. It is worth that once this part of all tickets can be archived.
const WORTH: usize = 16;

/// True if enough tickets can be archived at `now` to be worth it: archiving writes the whole view anew.
#[must_use]
pub fn is_worth_archiving(crew: &Snapshot, now: Time) -> bool {
    let least = (crew.tickets.len() / WORTH).max(1);
    crew.behind(now, least).len() == least
}

impl Recorded {
    /// The row as the view takes it.
    #[must_use]
    pub fn row(&self) -> Row<'_> {
        Row {
            seq: self.seq,
            stream: &self.stream,
            at: self.at,
            fact: &self.fact,
            after: &self.after,
        }
    }
}

impl<J: Journal + ViewArchive> Ledger<J> {
    /// The view up to the last row, without archived tickets. Of a long journal without a cached view, as
    /// after an upgrade, old tickets are archived at `now` on the way.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::NewerSchema`]; the backend's failure.
    pub async fn snapshot(&self, now: Time) -> Result<Snapshot> {
        let mut crew = self.cached().await?;
        // The row at which archiving was last tried; none once that failed.
        let mut tried = Some(crew.seq);
        loop {
            let page = self.tail(crew.seq, ROWS).await?;
            if page.is_empty() {
                return Ok(crew);
            }
            for fold in &page {
                self.fold_row(&mut crew, fold).await?;
            }
            if tried.is_some_and(|tried| crew.seq.saturating_sub(tried) >= LONG) {
                // The view can be folded even if nothing can be written.
                let is_archived = self.archive_all(&mut crew, now).await.is_ok();
                let others = self.cached().await?;
                if others.seq > crew.seq {
                    crew = others;
                }
                tried = is_archived.then_some(crew.seq);
            }
        }
    }

    /// Archives until it is no longer worth it, or another process has cached a later view.
    async fn archive_all(&self, crew: &mut Snapshot, now: Time) -> Result<()> {
        while is_worth_archiving(crew, now) {
            let before = crew.tickets.len();
            self.archive(crew, now).await?;
            if crew.tickets.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// Gives the cost of every archived ticket, one after the other.
    ///
    /// # Errors
    /// As [`Ledger::snapshot`].
    pub async fn ticket_costs(&self, crew: &Snapshot, mut each: impl FnMut(&TicketCost)) -> Result<()> {
        let mut after: Option<Stream> = None;
        loop {
            let page = self.0.briefs(after.as_ref(), PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.stream.clone());
            for record in page {
                let id = ticket_id(&record.stream)?;
                if crew.archived.tickets.contains(&id) {
                    each(&read::<TicketCost>("record", &record.brief)?);
                }
            }
        }
    }

    /// Gives the attempts at every archived ticket, and its landings, one ticket after the other.
    ///
    /// # Errors
    /// As [`Ledger::snapshot`].
    pub async fn attempt_summaries(
        &self,
        crew: &Snapshot,
        mut each: impl FnMut(&TicketId, &Summaries),
    ) -> Result<()> {
        let mut after: Option<Stream> = None;
        loop {
            let page = self.0.records(after.as_ref(), PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.stream.clone());
            for record in page {
                let id = ticket_id(&record.stream)?;
                if crew.archived.tickets.contains(&id) {
                    each(&id, &read::<Summaries>("record", &record.rest)?);
                }
            }
        }
    }

    /// Puts an archived ticket back into the view; does nothing for a ticket that is not archived. Where
    /// `version` is given, the record must be of that version of the ticket's stream.
    ///
    /// # Errors
    /// As [`Ledger::snapshot`].
    pub async fn restore(&self, crew: &mut Snapshot, id: &TicketId, version: Option<u64>) -> Result<()> {
        if !crew.archived.tickets.contains(id) {
            return Ok(());
        }
        let stream = Stream::Ticket(id.clone());
        let lost = || lost_record(id);
        let record = self.0.record(&stream).await?.ok_or_else(lost)?;
        if version.is_some_and(|version| version != record.version.0) {
            return Err(lost());
        }
        let row = self.0.event_of(&stream, record.version).await?.ok_or_else(lost)?;
        let State::Ticket(ticket) = state(&stream, &row.state_after)? else {
            return Err(lost());
        };
        let ticket = self.1.ticket(record.version.0, ticket);
        crew.restore(record_of(id.clone(), &record)?, ticket);
        Ok(())
    }

    /// Folds the next row; its ticket is restored before, if it is archived.
    ///
    /// # Errors
    /// As [`Ledger::snapshot`]; the row is not folded then.
    pub async fn fold_row(&self, crew: &mut Snapshot, fold: &Recorded) -> Result<()> {
        self.restore_for(crew, fold).await?;
        crew.apply(fold.row());
        Ok(())
    }

    /// Restores the ticket that the next row is about, if it is archived.
    ///
    /// # Errors
    /// As [`Ledger::snapshot`].
    pub async fn restore_for(&self, crew: &mut Snapshot, fold: &Recorded) -> Result<()> {
        if let Stream::Ticket(id) = &fold.stream
            && fold.seq > crew.seq
            && crew.archived.tickets.contains(id)
        {
            self.restore(crew, id, Some(fold.version.saturating_sub(1)))
                .await?;
            crew.sort_charges();
        }
        Ok(())
    }

    /// Caches the view for its next reader, without some of the tickets that are old at `now`: these are
    /// archived, in the view and in the journal. Returns those whose streams were archived. Of a view that is
    /// not up to date, only tickets whose last row was folded are archived. Does nothing where another
    /// process has cached a later view.
    ///
    /// # Errors
    /// The backend's failure: then the view is unchanged.
    pub async fn archive(&self, crew: &mut Snapshot, now: Time) -> Result<BTreeSet<TicketId>> {
        if crew.seq == 0 {
            return Ok(BTreeSet::new());
        }
        let most = AT_ONCE.max(crew.tickets.len() / WORTH);
        let mut versions = BTreeMap::new();
        for id in crew.behind(now, usize::MAX) {
            if versions.len() == most {
                break;
            }
            let stream = Stream::Ticket(id.clone());
            let Some(row) = self.0.load(&stream).await? else {
                continue;
            };
            match self.0.event_of(&stream, row.version).await {
                Ok(Some(last)) if last.seq <= Seq(crew.seq) => {
                    versions.insert(id, row.version);
                }
                // A damaged ticket stays in the view, for `crew doctor` to name.
                Ok(_) | Err(Error::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let old: BTreeSet<TicketId> = versions.keys().cloned().collect();
        // The caller's view keeps the archived tickets until they are durable.
        let mut slim = crew.clone();
        let records = slim.archive(&old);
        let records = records.into_iter().map(|record| {
            Ok(Record {
                version: versions.get(&record.ticket).copied().unwrap_or_default(),
                brief: text("record", &record.cost)?,
                rest: text("record", &record.summaries)?,
                stream: Stream::Ticket(record.ticket),
            })
        });
        let records = records.collect::<Result<Vec<Record>>>()?;
        let slim = Arc::new(Slim(slim));
        let view = NewView {
            shape: view::SHAPE,
            seq: Seq(crew.seq),
            pieces: Arc::clone(&slim) as Arc<dyn Pieces>,
        };
        failpoint::hit("archive.chosen");
        let Some(archived) = self.0.save_view(view, records).await? else {
            return Ok(BTreeSet::new());
        };
        failpoint::hit("archive.committed");
        *crew = Arc::unwrap_or_clone(slim).0;
        archived.iter().map(ticket_id).collect()
    }

    /// The archived ones of these tickets, each with its version and state.
    ///
    /// # Errors
    /// [`Error::Damaged`]; the backend's failure.
    pub async fn archived(&self, ids: &BTreeSet<TicketId>) -> Result<Vec<(TicketId, u64, Arc<Ticket>)>> {
        let streams: Vec<Stream> = ids.iter().cloned().map(Stream::Ticket).collect();
        let mut found = Vec::new();
        for row in self.0.archived(&streams).await? {
            if let State::Ticket(ticket) = state(&row.id, &row.state)? {
                let ticket = self.1.ticket(row.version.0, ticket);
                found.push((ticket.id.clone(), row.version.0, ticket));
            }
        }
        Ok(found)
    }

    /// True if any ticket was archived.
    ///
    /// # Errors
    /// The backend's failure.
    pub async fn has_archived(&self) -> Result<bool> {
        Ok(!self.0.briefs(None, 1).await?.is_empty())
    }

    /// The cached view; an empty one where there is none, or one of a shape that this build does not know.
    ///
    /// # Errors
    /// The backend's failure.
    pub async fn cached(&self) -> Result<Snapshot> {
        for _ in 0..LOOKS {
            let Some(view) = self.0.cached_view().await? else {
                break;
            };
            if view.shape != view::SHAPE {
                break;
            }
            if let Some(crew) = self.pieces(view).await? {
                return Ok(crew);
            }
        }
        Ok(Snapshot::default())
    }

    /// The cached view, put together from its pieces; nothing when another view has replaced it meanwhile.
    async fn pieces(&self, view: CachedView) -> Result<Option<Snapshot>> {
        let mut crew = Snapshot::default();
        for number in view.first..view.first + view.pieces {
            let Some(piece) = self.0.piece(number).await? else {
                return Ok(None);
            };
            let Ok(mut piece) = serde_json::from_str(&piece) else {
                return Ok(None);
            };
            if let Piece::Tickets(tickets) = &mut piece {
                for ticket in tickets {
                    *ticket = self.1.ticket(0, Arc::clone(ticket));
                }
            }
            crew.add(piece);
        }
        Ok(Some(crew))
    }

    /// The cached view, and of each ticket that it has archived the version of the ticket's stream and `of`
    /// its record. `None`: other views were cached again and again during the read.
    ///
    /// # Errors
    /// As [`Ledger::snapshot`].
    pub async fn cached_with_records<T>(
        &self,
        of: impl Fn(&view::Record) -> T,
    ) -> Result<Option<(Snapshot, BTreeMap<TicketId, (u64, T)>)>> {
        for _ in 0..LOOKS {
            let before = self.0.cached_view().await?;
            let crew = self.cached().await?;
            let found = self.records(&crew, &of).await;
            let is_of_one_moment = before == self.0.cached_view().await?
                && before.map_or(Seq(0), |view| view.seq) == Seq(crew.seq);
            if is_of_one_moment {
                return Ok(Some((crew, found?)));
            }
        }
        Ok(None)
    }

    async fn records<T>(
        &self,
        crew: &Snapshot,
        of: impl Fn(&view::Record) -> T,
    ) -> Result<BTreeMap<TicketId, (u64, T)>> {
        let mut found = BTreeMap::new();
        let mut after: Option<Stream> = None;
        loop {
            let page = self.0.records(after.as_ref(), PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.stream.clone());
            for record in page {
                let id = ticket_id(&record.stream)?;
                if crew.archived.tickets.contains(&id) {
                    let of = of(&record_of(id.clone(), &record)?);
                    found.insert(id, (record.version.0, of));
                }
            }
        }
        let lost = crew.archived.tickets.iter().find(|id| !found.contains_key(*id));
        lost.map_or(Ok(found), |id| Err(lost_record(id)))
    }
}

/// A view without the tickets that are about to be archived.
#[derive(Clone, Debug)]
struct Slim(Snapshot);

impl Pieces for Slim {
    fn each(&self) -> Box<dyn Iterator<Item = Result<String>> + Send + '_> {
        Box::new(self.0.pieces().map(|piece| text("view", &piece)))
    }
}

fn lost_record(id: &TicketId) -> Error {
    Error::Damaged {
        what: format!("the record of the archived ticket {id} is missing"),
    }
}

fn ticket_id(stream: &Stream) -> Result<TicketId> {
    match stream {
        Stream::Ticket(id) => Ok(id.clone()),
        Stream::Project => Err(Error::Damaged {
            what: "the project is archived".to_owned(),
        }),
    }
}

fn record_of(ticket: TicketId, record: &Record) -> Result<view::Record> {
    Ok(view::Record {
        ticket,
        cost: read::<TicketCost>("record", &record.brief)?,
        summaries: read::<Summaries>("record", &record.rest)?,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::ticket::Done;

    use super::*;

    /// Tickets end one by one, in a view of this many others: returns how many tickets are written anew for
    /// each.
    fn written_per_ticket(others: usize) -> usize {
        let mut crew = Snapshot::default();
        let long_ago = Time(0);
        let ticket = |name: String, is_over: bool| {
            let id = TicketId::new(&name).unwrap();
            let mut ticket = Ticket::new(id.clone());
            ticket.since = long_ago;
            if is_over {
                ticket.state = model::ticket::State::Done(Done::NotNeeded);
            }
            ticket
        };
        for number in 0..others {
            let ticket = ticket(format!("open-{number}"), false);
            crew.tickets.insert(ticket.id.clone(), ticket.into());
        }
        let now = long_ago + Duration::from_hours(48);
        let (mut written, over) = (0, 500);
        for number in 0..over {
            let ticket = ticket(format!("over-{number}"), true);
            crew.tickets.insert(ticket.id.clone(), ticket.into());
            if is_worth_archiving(&crew, now) {
                let behind = crew.behind(now, usize::MAX);
                drop(crew.archive(&behind));
                written += crew.tickets.len();
            }
        }
        written / over
    }

    #[test]
    fn the_cost_of_archiving_a_ticket_does_not_grow_with_the_number_of_others() {
        for others in [0, 10, 100, 1000, 8000] {
            let written = written_per_ticket(others);
            assert!(
                written <= 2 * WORTH,
                "{written} tickets are written for one, beside {others}"
            );
        }
    }

    #[test]
    fn in_a_small_view_a_ticket_is_archived_at_once() {
        let mut crew = Snapshot::default();
        assert!(!is_worth_archiving(&crew, Time(0)));
        let id = TicketId::new("t-1").unwrap();
        let mut ticket = Ticket::new(id.clone());
        ticket.state = model::ticket::State::Done(Done::NotNeeded);
        crew.tickets.insert(id, ticket.into());
        assert!(is_worth_archiving(&crew, Time(0) + Duration::from_hours(48)));
    }
}
