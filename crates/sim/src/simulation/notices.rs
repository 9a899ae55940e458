//! A hook of the engine that is up: it follows the journal, and gets each notice at least once and in order.

use store::{Delivered, Journal as _};

use super::Simulation;
use crate::chance::Site;
use crate::invariant::{Broken, Checked, ensure};
use crate::{Plant, block_on};

/// The name of the hook.
const HOOK: &str = "leader";
/// Rows that the hook reads at a time.
const PAGE: u32 = 8;
/// With the planted faults one notice in so many is lost, and the place is so many rows behind.
const WRONG: u64 = 5;

/// The hook, as the program that gets its notices sees it.
#[derive(Clone, Debug, Default)]
pub(super) struct Hook {
    /// The row at which it began to follow.
    began: Option<u64>,
    /// The row that the engine that is up has read last; none before it has read its place.
    read: Option<u64>,
    /// The last notice that it got.
    last: Option<u64>,
}

impl Hook {
    /// The engine is gone, with all that it had in mind.
    pub(super) fn forget(&mut self) {
        self.read = None;
    }

    /// Takes a notice; `notices` are all that there are.
    fn get(&mut self, notice: u64, notices: &[u64]) -> Checked {
        let last = self.last.max(self.began);
        ensure(
            last.is_none_or(|last| last <= notice),
            "notices come in order",
            || format!("{notice} after {last:?}"),
        )?;
        let between = notices
            .iter()
            .find(|id| last.is_none_or(|last| last < **id) && **id < notice);
        ensure(between.is_none(), "no notice is left out", || {
            format!("{notice} after {last:?}, and {between:?} never")
        })?;
        self.last = Some(notice);
        Ok(())
    }
}

impl Simulation {
    /// The hook reads on. The engine may be killed when a notice is delivered, before it has noted that.
    pub(super) fn deliver_notices(&mut self) -> Checked {
        if self.shell.is_none() || self.world.keeps_from_writing() {
            return Ok(());
        }
        let unreadable = |error: store::Error| Broken {
            invariant: "the journal can be read",
            what: error.to_string(),
        };
        let mut after = match self.hook.read {
            Some(after) => after,
            None => match block_on(self.ledger.delivered(HOOK)).map_err(unreadable)?.after {
                Some(after) => after,
                None => {
                    let head = block_on(self.ledger.0.head()).map_err(unreadable)?.0;
                    self.hook.began = Some(head);
                    self.note_place(head);
                    head
                }
            },
        };
        self.hook.read = Some(after);
        if after >= self.witness.seen {
            return Ok(());
        }
        for row in block_on(self.ledger.tail(after, PAGE)).map_err(unreadable)? {
            let notice = block_on(self.ledger.notice(&row)).map_err(unreadable)?;
            let is_lost = self.case.plant == Some(Plant::LostNotice) && row.seq.is_multiple_of(WRONG);
            if let Some(notice) = notice.filter(|_| !is_lost) {
                self.hook.get(notice.id, &self.witness.notices)?;
                if self.chance.strikes(Site::KillUnnoted).is_some() {
                    self.crash("the engine is killed when a hook got a notice");
                    return self.check();
                }
                let is_old = self.case.plant == Some(Plant::OldPlace);
                self.note_place(row.seq.saturating_sub(if is_old { WRONG * 4 } else { 0 }));
            }
            after = row.seq;
            self.hook.read = Some(after);
        }
        Ok(())
    }

    fn note_place(&self, after: u64) {
        let place = Delivered {
            after: Some(after),
            failed: None,
        };
        // What could not be noted is delivered again.
        drop(block_on(self.ledger.set_delivered(HOOK, &place)));
    }

    /// Whether the hook got all that there is.
    pub(super) fn hook_is_at_rest(&self) -> bool {
        self.hook.read.is_some_and(|read| read >= self.witness.seen)
    }

    /// Of all that was recorded since the hook follows the journal it got each notice.
    pub(super) fn hook_got_all(&self) -> Checked {
        let began = self.hook.began;
        let last = self.witness.notices.last().copied();
        let last = last.filter(|last| began.is_none_or(|began| began < *last));
        ensure(last <= self.hook.last, "no notice is left out", || {
            format!("{:?} was the last of {last:?}", self.hook.last)
        })
    }
}
