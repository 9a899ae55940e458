//! Git's account of work that no agent described: git is asked once about each state of it.

use std::collections::BTreeMap;

use model::view::{AttemptSummary, Snapshot};
use model::{Oid, TicketId};
use runtime::Place;

use client::commits;

/// The latest attempts that are looked at; of older ones nothing is told.
const LATEST: usize = 100;

/// The answers so far.
#[derive(Debug, Default)]
pub(super) struct Summaries {
    known: BTreeMap<(TicketId, u32), (State, Option<String>)>,
}

/// The key of a work: where its branch and its merge stand, and whether it is over.
type State = (Option<Oid>, Option<Oid>, bool);

impl Summaries {
    /// In a line for each ticket whose latest work is silent, as far as git knows it. Blocks.
    pub(super) fn look(&mut self, crew: &Snapshot, place: &Place) -> BTreeMap<TicketId, String> {
        let mut told = BTreeMap::new();
        let mut known = BTreeMap::new();
        for work in crew.work().into_iter().take(LATEST) {
            // Work that was never submitted is read when it is over: until then it changes at every step.
            if work.summary.is_some()
                || told.contains_key(&work.ticket)
                || (work.tip.is_none() && work.until.is_none())
            {
                continue;
            }
            let key = (work.ticket.clone(), work.attempt);
            let state = state(work);
            let line = match self.known.remove(&key) {
                Some((then, line)) if then == state => line,
                Some(_) | None => commits::in_one_line(crew, place, work),
            };
            told.extend(line.clone().map(|line| (work.ticket.clone(), line)));
            known.insert(key, (state, line));
        }
        self.known = known;
        told
    }
}

fn state(work: &AttemptSummary) -> State {
    (work.tip.clone(), work.merged.clone(), work.until.is_some())
}
