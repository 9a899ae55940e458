//! The insertion of a wave of appends into its tables.

use sqlx::AssertSqlSafe;

use super::chain::Chain;
use super::checksum;
use super::read::Query;
use super::write::int;
use super::writer::Tx;
use crate::{Append, EffectId, NewEvent, Result, Seq, Version};

/// The statement by which a table's rows are inserted.
pub(super) struct Insert {
    into: &'static str,
    row: &'static str,
    then: &'static str,
}

pub(super) const STREAMS: Insert = Insert {
    into: "INSERT INTO streams (id, version, fence, first, last, checksum) VALUES ",
    row: "(?, ?, ?, ?, ?, ?)",
    then: " ON CONFLICT (id) DO UPDATE SET version = excluded.version, fence = excluded.fence, last = excluded.last, \
           checksum = excluded.checksum, archived = 0;",
};
pub(super) const EVENTS: Insert = Insert {
    into: "INSERT INTO events (seq, stream, version, prev, at, cause, kind, schema, event, state_after, checksum) VALUES ",
    row: "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    then: ";",
};
pub(super) const OUTBOX: Insert = Insert {
    into: "INSERT INTO outbox (seq, \"index\", stream, effect, checksum) VALUES ",
    row: "(?, ?, ?, ?, ?)",
    then: ";",
};

/// Rows of a statement at most: it has a limit of values, and a long one is kept compiled.
pub(super) const ROWS: usize = 256;

impl Insert {
    /// The statement for so many rows; nothing for none.
    pub(super) fn text(&self, rows: usize) -> String {
        if rows == 0 {
            return String::new();
        }
        [self.into, &vec![self.row; rows].join(","), self.then].concat()
    }

    /// Inserts rows, each time as many as a statement has had before or will have again: it is compiled once,
    /// which for a long one costs more than running it.
    pub(super) async fn run<R>(
        &self,
        tx: &mut Tx<'_>,
        mut rows: &[R],
        bind: fn(Query, &R) -> Query,
    ) -> Result<()> {
        while !rows.is_empty() {
            let (now, later) = rows.split_at(1 << rows.len().min(ROWS).ilog2());
            // Only the constants above are in it.
            let query = sqlx::query(AssertSqlSafe(self.text(now.len())));
            tx.wrote(now.iter().fold(query, bind)).await?;
            rows = later;
        }
        Ok(())
    }
}

/// An event's row.
pub(super) struct EventRow<'a> {
    pub(super) append: &'a Append,
    pub(super) event: &'a NewEvent,
    /// Its place.
    pub(super) seq: Seq,
    /// The version that it makes.
    pub(super) version: Version,
    /// The place of the stream's event before it.
    pub(super) prev: Option<Seq>,
}

/// An effect's row: its append, its id, its body.
pub(super) type EffectRow<'a> = (&'a Append, EffectId, &'a String);

pub(super) fn bind_stream(query: Query, chain: &Chain) -> Query {
    let Chain { stream, first, last } = chain;
    query
        .bind(stream.id.to_string())
        .bind(int(stream.version.0))
        .bind(int(stream.fence.0))
        .bind(int(first.0))
        .bind(int(last.0))
        .bind(checksum::of_stream(stream))
}

pub(super) fn bind_event(query: Query, row: &EventRow<'_>) -> Query {
    let EventRow { append, event, .. } = row;
    query
        .bind(int(row.seq.0))
        .bind(append.stream.to_string())
        .bind(int(row.version.0))
        .bind(row.prev.map(|seq| int(seq.0)))
        .bind(append.at.0)
        .bind(event.cause.clone())
        .bind(event.kind.clone())
        .bind(event.schema)
        .bind(event.body.clone())
        .bind(event.state_after.clone())
        .bind(checksum::of_event(row))
}

pub(super) fn bind_effect(query: Query, row: &EffectRow<'_>) -> Query {
    let (append, effect, body) = row;
    query
        .bind(int(effect.seq))
        .bind(effect.index)
        .bind(append.stream.to_string())
        .bind((*body).clone())
        .bind(checksum::of_effect(row))
}
