//! The journal against the clock: a clock that was ahead has left times in it that have not come yet.

use client::clock;

use crate::{Area, Finding, Subject};

/// How far ahead, in milliseconds, is no more than two clocks that differ a little.
const SLACK: i64 = 60_000;

/// Notes that the journal's last event has a time that has not come yet.
pub(super) async fn look(subject: &Subject, found: &mut Vec<Finding>) {
    let before = subject.crew.seq.saturating_sub(1);
    // The part that looks at the journal names one that cannot be read.
    let Ok(rows) = subject.ledger.tail(before, 1).await else {
        return;
    };
    let Some(last) = rows.last().map(|row| row.at) else {
        return;
    };
    if last.0 <= clock::now().0 + SLACK {
        return;
    }
    let next = match subject.holder {
        Some(_) => "`crew stop --wait`, then `crew run`: the next engine follows the clock",
        None => "`crew run` follows the clock",
    };
    found.push(Finding::note(
        Area::Journal,
        format!("the clock was ahead: the last event of the journal is of {last}, which has not come yet"),
        format!("{next}. What waits until then goes on by `crew retry`"),
    ));
}
