//! The tickets with those of the ticket folder over them, and which have changed since the last look: of
//! thousands only these are looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;
use std::sync::Arc;

use client::following::{Files, Seen};
use model::TicketId;
use model::ticket::{State, Ticket};
use model::view::Snapshot;

/// The tickets: what no engine has seen yet is shown all the same.
#[derive(Debug, Default)]
pub(super) struct Over {
    /// The tickets, and the archived ones, on which their counts and their order depend; nothing else.
    pub(super) crew: Snapshot,
    /// The ticket folder, as it was looked at last, and whether it was read at the last row.
    files: Arc<Files>,
    is_present: bool,
    /// What every ticket's document depends on: none before the first look.
    common: Option<(u64, bool, u32)>,
}

/// What has changed since the last look.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// Tickets of which something may have changed.
    pub(super) tickets: BTreeSet<TicketId>,
    /// Whether the counts and the order of tickets may be others.
    pub(super) has_moved: bool,
}

impl Over {
    /// Takes in what is seen now. `rows`: the tickets that have had a row since the last look.
    pub(super) fn look(&mut self, seen: &Seen, rows: BTreeSet<TicketId>) -> Changed {
        let (crew, files) = (&seen.crew, &seen.files);
        let is_present = files.seq == crew.seq;
        let common = (seen.renewals, seen.has_engine(), files.settings.run.max_steps);
        let mut changed = Changed {
            tickets: rows,
            has_moved: self.common.is_none_or(|(renewals, ..)| renewals != seen.renewals),
        };
        if self.common != Some(common) {
            let known = self.crew.tickets.keys().chain(crew.tickets.keys());
            changed.tickets.extend(known.chain(files.unseen.keys()).cloned());
            self.crew.archived.clone_from(&crew.archived);
        }
        if !Arc::ptr_eq(files, &self.files) {
            of_files(&self.files, files, &mut changed.tickets);
        }
        if is_present != self.is_present {
            let both = self.files.unseen.keys().chain(files.unseen.keys());
            let known = both.filter(|id| crew.tickets.contains_key(*id));
            changed.tickets.extend(known.cloned());
        }
        for id in &changed.tickets {
            let now = files.unseen_at(id, crew).or_else(|| crew.tickets.get(id));
            let before = match now {
                Some(now) => self.crew.tickets.insert(id.clone(), Arc::clone(now)),
                None => self.crew.tickets.remove(id),
            };
            changed.has_moved |= has_moved(before.as_ref(), now);
        }
        self.files = Arc::clone(files);
        (self.is_present, self.common) = (is_present, Some(common));
        changed
    }
}

/// The tickets whose documents depend on something that is another in the ticket folder now.
fn of_files(before: &Files, after: &Files, into: &mut BTreeSet<TicketId>) {
    let is_same = |a: &Arc<Ticket>, b: &Arc<Ticket>| Arc::ptr_eq(a, b) || a == b;
    differing(&before.unseen, &after.unseen, is_same, into);
    differing(&before.changed_at, &after.changed_at, PartialEq::eq, into);
    let (before, after) = (&before.beside, &after.beside);
    differing(&before.refusals, &after.refusals, PartialEq::eq, into);
    differing(&before.pauses, &after.pauses, PartialEq::eq, into);
    differing(&before.children, &after.children, PartialEq::eq, into);
    if before.failing != after.failing {
        let failing = before.failing.iter().chain(&after.failing);
        into.extend(failing.map(|failing| failing.ticket.clone()));
    }
    if before.files != after.files {
        let bad = before.files.iter().chain(&after.files);
        into.extend(bad.filter_map(|file| file.ticket.clone()));
    }
}

/// Adds the keys that only one of the maps has, or that have another value there.
fn differing<V>(
    before: &BTreeMap<TicketId, V>,
    after: &BTreeMap<TicketId, V>,
    is_same: impl Fn(&V, &V) -> bool,
    into: &mut BTreeSet<TicketId>,
) {
    let mut old = before.iter().peekable();
    for (id, now) in after {
        while let Some((gone, _)) = old.next_if(|(known, _)| *known < id) {
            into.insert(gone.clone());
        }
        let known = old.next_if(|(known, _)| *known == id);
        if !known.is_some_and(|(_, known)| is_same(known, now)) {
            into.insert(id.clone());
        }
    }
    into.extend(old.map(|(gone, _)| gone.clone()));
}

/// Whether the counts or the order of tickets may be others by the change of this one.
fn has_moved(before: Option<&Arc<Ticket>>, now: Option<&Arc<Ticket>>) -> bool {
    let (Some(before), Some(now)) = (before, now) else {
        return before.is_some() != now.is_some();
    };
    let is_other_end = || match (&before.state, &now.state) {
        (State::Done(before), State::Done(now)) => before != now,
        (before, now) => discriminant(before) != discriminant(now),
    };
    !Arc::ptr_eq(before, now)
        && (is_other_end()
            || before.held.is_some() != now.held.is_some()
            || before.is_unified() != now.is_unified()
            || before.spec != now.spec
            || before.delegated() != now.delegated())
}
