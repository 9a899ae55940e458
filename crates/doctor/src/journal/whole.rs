//! A look at every row.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};

use model::TicketId;
use model::journal::{State, Stream};
use model::view::Snapshot;
use store::{Journal as _, Ledger, Recorded};

use super::{AREA, Read, damaged, misfolded};
use crate::Finding;
use crate::finding::few;
use client::error::Result;

/// Rows that are read at a time.
const PAGE: u32 = 250;

/// Reads all of it: the file, its rows against each other, and each against the machines.
pub(super) async fn read(ledger: &Ledger, found: &mut Vec<Finding>) -> Result<Read> {
    match ledger.0.verify().await {
        Ok(problems) if problems.is_empty() => {}
        Ok(problems) => few(problems).into_iter().for_each(|says| damaged(says, found)),
        Err(error) => damaged(text::with_causes(&error), found),
    }
    let mut kept = Kept::read(ledger, found).await;
    // Its rows are applied in their order: it is of the moment of the last.
    let mut read = Read {
        is_of_one_moment: true,
        ..Read::default()
    };
    loop {
        let page = ledger.tail(read.crew.seq, PAGE).await?;
        if page.is_empty() {
            break;
        }
        for fold in &page {
            load(ledger, &mut read, fold).await?;
            read.row(fold);
            read.crew.apply(fold.row());
            kept.folded(&mut read, fold);
        }
        kept.archive(&mut read);
    }
    for work in std::mem::take(&mut read.unlanded) {
        let key = (work.ticket.clone(), work.attempt);
        read.crew.attempts.entry(key).or_insert(work);
    }
    kept.report(found);
    Ok(read)
}

/// Restores an archived ticket that goes on with this row.
async fn load(ledger: &Ledger, read: &mut Read, fold: &Recorded) -> Result<()> {
    if let Stream::Ticket(id) = &fold.stream
        && read.crew.archived.tickets.contains(id)
    {
        ledger.restore(&mut read.crew, id, None).await?;
        read.crew.sort_charges();
        if let Some(ticket) = read.crew.tickets.get(id) {
            read.audit.set_out(&State::Ticket(ticket.clone()));
        }
    }
    Ok(())
}

/// The view that was kept for the next fold. The tickets that it has archived are archived in this fold too,
/// each with its last row: the tickets that are folded and compared are only as many as those that go on.
struct Kept {
    crew: Snapshot,
    /// For each archived ticket its version at that time, and a digest of its record: the records take much
    /// more memory.
    records: BTreeMap<TicketId, (u64, u64)>,
    digests: RandomState,
    /// The ids of those that this fold has come by, and still has.
    passed: BTreeSet<TicketId>,
    /// True while everything that was compared is equal to what the events give.
    is_same: bool,
}

impl Kept {
    async fn read(ledger: &Ledger, found: &mut Vec<Finding>) -> Self {
        let digests = RandomState::new();
        let kept = ledger
            .cached_with_records(|record| digests.hash_one(record))
            .await;
        let kept = kept.unwrap_or_else(|error| {
            damaged(text::with_causes(&error), found);
            None
        });
        let (crew, records) = kept.unwrap_or_default();
        Self {
            crew,
            records,
            digests,
            passed: BTreeSet::new(),
            is_same: true,
        }
    }

    /// Looks at a row that was folded just now.
    fn folded(&mut self, read: &mut Read, fold: &Recorded) {
        if let (Stream::Ticket(id), State::Ticket(ticket)) = (&fold.stream, &fold.after)
            && ticket.is_done()
            && self
                .records
                .get(id)
                .is_some_and(|(version, _)| *version == fold.version)
        {
            self.passed.insert(id.clone());
        }
        if fold.seq == self.crew.seq {
            self.archive(read);
            self.is_same &= self.crew == read.crew;
        }
    }

    /// Archives every ticket that can be archived.
    fn archive(&mut self, read: &mut Read) {
        for record in read.archive(&std::mem::take(&mut self.passed)) {
            let digest = self.digests.hash_one(&record);
            let kept = self.records.get(&record.ticket);
            self.is_same &= kept.is_some_and(|(_, kept)| *kept == digest);
        }
    }

    fn report(&self, found: &mut Vec<Finding>) {
        match self.records.len() {
            _ if !self.is_same => found.push(misfolded(self.crew.seq)),
            0 => {}
            1 => found.push(Finding::fine(
                AREA,
                "1 ticket is archived; its record is what its events give",
            )),
            n => found.push(Finding::fine(
                AREA,
                format!("{n} tickets are archived; their records are what their events give"),
            )),
        }
    }
}
