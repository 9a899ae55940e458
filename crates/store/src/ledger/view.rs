//! The view of a journal, without reading what lies behind: what was folded before, and the rows since.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::journal::{self, State};
use model::ticket::Ticket;
use model::view::{self, Piece, Row, Snapshot, Summaries, TicketCost};
use model::{TicketId, Time};

use super::{Fold, Ledger, PAGE, read, state, stream, text};
use crate::{Error, Folded, Folding, Journal, Pieces, Record, Result, Seq, StreamId};

/// Rows folded at a time.
const ROWS: u32 = 250;
/// So many rows of a long journal are folded before what lies behind in them is set aside: it is never in memory all at once.
const LONG: u64 = 10_000;
/// So many tickets are set aside at a time, or a part of all: whoever does it has other work too.
const ASIDE: usize = 500;
/// So often is it tried to read what several tables have while nobody writes.
const LOOKS: u32 = 4;
/// Before this part of all tickets lies behind, it is not worth it to write the others anew.
const WORTH: usize = 16;

/// Whether so many tickets lie behind at `now` that it is worth to set them aside: the view is written anew then, all of it.
#[must_use]
pub fn is_worth_it(crew: &Snapshot, now: Time) -> bool {
    let least = (crew.tickets.len() / WORTH).max(1);
    crew.behind(now, least).len() == least
}

impl Fold {
    /// The row as the fold takes it.
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

impl<J: Journal> Ledger<J> {
    /// What frontends show, up to the last row; what was set aside is not read. Of a long journal that nobody has folded, as after an
    /// upgrade, what lies behind at `now` is set aside on the way.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::NewerSchema`]; the backend's failure.
    pub async fn crew(&self, now: Time) -> Result<Snapshot> {
        let mut crew = self.kept().await?;
        // The row at which it was last tried to set aside; none once that failed.
        let mut asked = Some(crew.seq);
        loop {
            let page = self.tail(crew.seq, ROWS).await?;
            if page.is_empty() {
                return Ok(crew);
            }
            for fold in &page {
                self.fold_row(&mut crew, fold).await?;
            }
            if asked.is_some_and(|asked| crew.seq.saturating_sub(asked) >= LONG) {
                // Where nothing can be kept, all of it can be folded nevertheless.
                let is_asked = self.put_all_aside(&mut crew, now).await.is_ok();
                let others = self.kept().await?;
                if others.seq > crew.seq {
                    crew = others;
                }
                asked = is_asked.then_some(crew.seq);
            }
        }
    }

    /// Sets aside until it is not worth it any more, or others have kept more.
    async fn put_all_aside(&self, crew: &mut Snapshot, now: Time) -> Result<()> {
        while is_worth_it(crew, now) {
            let before = crew.tickets.len();
            self.put_aside(crew, now).await?;
            if crew.tickets.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// What every ticket cost that was set aside, one after the other.
    ///
    /// # Errors
    /// As [`Ledger::crew`].
    pub async fn ticket_costs(&self, crew: &Snapshot, mut each: impl FnMut(&TicketCost)) -> Result<()> {
        let mut after: Option<StreamId> = None;
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

    /// The attempts at every ticket that was set aside, and its landings, one ticket after the other.
    ///
    /// # Errors
    /// As [`Ledger::crew`].
    pub async fn attempt_summaries(
        &self,
        crew: &Snapshot,
        mut each: impl FnMut(&TicketId, &Summaries),
    ) -> Result<()> {
        let mut after: Option<StreamId> = None;
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

    /// Puts a ticket back that was set aside; nothing for one that was not. `version`: as it was then, else as it is now.
    ///
    /// # Errors
    /// As [`Ledger::crew`].
    pub async fn take_back(&self, crew: &mut Snapshot, id: &TicketId, version: Option<u64>) -> Result<()> {
        if !crew.archived.tickets.contains(id) {
            return Ok(());
        }
        let stream = StreamId(journal::Stream::Ticket(id.clone()).to_string());
        let lost = || lost_record(id);
        let record = self.0.record(&stream).await?.ok_or_else(lost)?;
        if version.is_some_and(|version| version != record.version.0) {
            return Err(lost());
        }
        let row = self.0.event_of(&stream, record.version).await?.ok_or_else(lost)?;
        let State::Ticket(ticket) = state(&journal::Stream::Ticket(id.clone()), &row.state_after)? else {
            return Err(lost());
        };
        let ticket = self.1.ticket(record.version.0, ticket);
        crew.restore(record_of(id.clone(), &record)?, ticket);
        Ok(())
    }

    /// Folds the next row; a ticket of its that was set aside is taken back before.
    ///
    /// # Errors
    /// As [`Ledger::crew`]; the row is not folded then.
    pub async fn fold_row(&self, crew: &mut Snapshot, fold: &Fold) -> Result<()> {
        self.make_ready(crew, fold).await?;
        crew.apply(fold.row());
        Ok(())
    }

    /// Takes a ticket back that was set aside and that the next row is about.
    ///
    /// # Errors
    /// As [`Ledger::crew`].
    pub async fn make_ready(&self, crew: &mut Snapshot, fold: &Fold) -> Result<()> {
        if let journal::Stream::Ticket(id) = &fold.stream
            && fold.seq > crew.seq
            && crew.archived.tickets.contains(id)
        {
            self.take_back(crew, id, Some(fold.version.saturating_sub(1)))
                .await?;
            crew.sort_charges();
        }
        Ok(())
    }

    /// Keeps the view as it is folded, for the next who folds, without some of the tickets that lie behind at `now`: they are
    /// set aside, in the view and in the journal. Gives those that were archived. Of a view that is not up to date, only tickets
    /// that it has all rows of; one that others have kept further is left alone.
    ///
    /// # Errors
    /// The backend's failure: then the view is as it was.
    pub async fn put_aside(&self, crew: &mut Snapshot, now: Time) -> Result<BTreeSet<TicketId>> {
        if crew.seq == 0 {
            return Ok(BTreeSet::new());
        }
        let most = ASIDE.max(crew.tickets.len() / WORTH);
        let mut versions = BTreeMap::new();
        for id in crew.behind(now, usize::MAX) {
            if versions.len() == most {
                break;
            }
            let stream = StreamId(journal::Stream::Ticket(id.clone()).to_string());
            let Some(row) = self.0.load(&stream).await? else {
                continue;
            };
            match self.0.event_of(&stream, row.version).await {
                Ok(Some(last)) if last.seq <= Seq(crew.seq) => {
                    versions.insert(id, row.version);
                }
                // It stays, for `crew doctor` to name.
                Ok(_) | Err(Error::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let behind: BTreeSet<TicketId> = versions.keys().cloned().collect();
        // What is taken out of the view is nowhere until it is durable.
        let mut slim = crew.clone();
        let records = slim.archive(&behind);
        let records = records.into_iter().map(|record| {
            let stream = StreamId(journal::Stream::Ticket(record.ticket.clone()).to_string());
            Ok(Record {
                stream,
                version: versions.get(&record.ticket).copied().unwrap_or_default(),
                brief: text("record", &record.cost)?,
                rest: text("record", &record.summaries)?,
            })
        });
        let records = records.collect::<Result<Vec<Record>>>()?;
        let slim = Arc::new(Kept(slim));
        let folding = Folding {
            shape: view::SHAPE,
            seq: Seq(crew.seq),
            pieces: Arc::clone(&slim) as Arc<dyn Pieces>,
        };
        failpoint::hit("aside.chosen");
        let Some(archived) = self.0.put_aside(folding, records).await? else {
            return Ok(BTreeSet::new());
        };
        failpoint::hit("aside.kept");
        *crew = Arc::unwrap_or_clone(slim).0;
        archived.iter().map(ticket_id).collect()
    }

    /// Those of these tickets that were archived, each with its version and state.
    ///
    /// # Errors
    /// [`Error::Damaged`]; the backend's failure.
    pub async fn archived(&self, ids: &BTreeSet<TicketId>) -> Result<Vec<(TicketId, u64, Arc<Ticket>)>> {
        let ids: Vec<StreamId> = ids
            .iter()
            .map(|id| StreamId(journal::Stream::Ticket(id.clone()).to_string()))
            .collect();
        let found = self.tickets(&ids).await?;
        Ok(found
            .into_iter()
            .map(|(id, (version, ticket))| (id, version, ticket))
            .collect())
    }

    /// Whether anything was archived.
    ///
    /// # Errors
    /// The backend's failure.
    pub async fn has_archived(&self) -> Result<bool> {
        Ok(!self.0.briefs(None, 1).await?.is_empty())
    }

    async fn tickets(&self, ids: &[StreamId]) -> Result<BTreeMap<TicketId, (u64, Arc<Ticket>)>> {
        let rows = self.0.archived(ids).await?;
        let read = rows.into_iter().filter_map(|row| {
            let ticket = stream(&row.id).and_then(|stream| state(&stream, &row.state));
            match ticket {
                Ok(State::Ticket(ticket)) => {
                    let ticket = self.1.ticket(row.version.0, ticket);
                    Some(Ok((ticket.id.clone(), (row.version.0, ticket))))
                }
                Ok(State::Project(_)) => None,
                Err(error) => Some(Err(error)),
            }
        });
        read.collect()
    }

    /// What was folded before; nothing where there is none, or one that this build does not know.
    ///
    /// # Errors
    /// The backend's failure.
    pub async fn kept(&self) -> Result<Snapshot> {
        for _ in 0..LOOKS {
            let Some(folded) = self.0.folded().await? else {
                break;
            };
            if folded.shape != view::SHAPE {
                break;
            }
            if let Some(crew) = self.pieces(folded).await? {
                return Ok(crew);
            }
        }
        Ok(Snapshot::default())
    }

    /// What was folded, piece by piece; nothing when another fold has taken its place meanwhile.
    async fn pieces(&self, folded: Folded) -> Result<Option<Snapshot>> {
        let mut crew = Snapshot::default();
        for number in folded.first..folded.first + folded.pieces {
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

    /// What was folded before, and of each ticket that was set aside by then its stream's version, and what `of` makes of its record.
    /// `None`: something else was kept again and again while this was read.
    ///
    /// # Errors
    /// As [`Ledger::crew`].
    pub async fn kept_with<T>(
        &self,
        of: impl Fn(&view::Record) -> T,
    ) -> Result<Option<(Snapshot, BTreeMap<TicketId, (u64, T)>)>> {
        for _ in 0..LOOKS {
            let before = self.0.folded().await?;
            let crew = self.kept().await?;
            let found = self.records(&crew, &of).await;
            let is_of_one_moment = before == self.0.folded().await?
                && before.map_or(Seq(0), |folded| folded.seq) == Seq(crew.seq);
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
        let mut after: Option<StreamId> = None;
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

/// A view that is about to be kept.
#[derive(Clone, Debug)]
struct Kept(Snapshot);

impl Pieces for Kept {
    fn each(&self) -> Box<dyn Iterator<Item = Result<String>> + Send + '_> {
        Box::new(self.0.pieces().map(|piece| text("fold", &piece)))
    }
}

fn lost_record(id: &TicketId) -> Error {
    Error::Damaged {
        what: format!("what was set aside of {id} is not there"),
    }
}

fn ticket_id(id: &StreamId) -> Result<TicketId> {
    match stream(id)? {
        journal::Stream::Ticket(id) => Ok(id),
        journal::Stream::Project => Err(Error::Damaged {
            what: "the project was set aside".to_owned(),
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

    /// Tickets are over one by one, in a view of this many others: how much of it is written anew for each.
    fn written_per_ticket(others: usize) -> usize {
        let mut crew = Snapshot::default();
        let long_ago = Time(0);
        let ticket = |name: String, is_over: bool| {
            let id = TicketId::new(&name).unwrap();
            let mut ticket = Ticket::new(id.clone());
            ticket.since = long_ago;
            if is_over {
                ticket.state = model::ticket::State::Done(Done::Failed {
                    reason: "no".to_owned(),
                });
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
            if is_worth_it(&crew, now) {
                let behind = crew.behind(now, usize::MAX);
                drop(crew.archive(&behind));
                written += crew.tickets.len();
            }
        }
        written / over
    }

    #[test]
    fn what_it_costs_to_set_a_ticket_aside_does_not_grow_with_the_others() {
        for others in [0, 10, 100, 1000, 8000] {
            let written = written_per_ticket(others);
            assert!(
                written <= 2 * WORTH,
                "{written} tickets are written for one, beside {others}"
            );
        }
    }

    #[test]
    fn in_a_small_view_a_ticket_is_set_aside_at_once() {
        let mut crew = Snapshot::default();
        assert!(!is_worth_it(&crew, Time(0)));
        let id = TicketId::new("t-1").unwrap();
        let mut ticket = Ticket::new(id.clone());
        ticket.state = model::ticket::State::Done(Done::Failed {
            reason: "no".to_owned(),
        });
        crew.tickets.insert(id, ticket.into());
        assert!(is_worth_it(&crew, Time(0) + Duration::from_hours(48)));
    }
}
