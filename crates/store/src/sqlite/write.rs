//! All writes but appends, in SQL: each check is in the statement that writes, or in its transaction.

use super::checksum;
use super::fault::sort;
use super::queue::Write;
use super::read::{self, Query, given};
use super::writer::Tx;
use crate::append::json;
use crate::{
    CachedView, CommandId, EffectId, Error, NewCommand, NewView, Record, Result, StreamId, Submitted, Time,
};
use serde::Serialize;

impl Tx<'_> {
    /// Runs a statement and returns the number of rows it wrote.
    pub(super) async fn wrote(&mut self, query: Query) -> Result<u64> {
        let done = query
            .execute(&mut *self.conn)
            .await
            .map_err(|e| sort("writing to the journal", e))?;
        Ok(done.rows_affected())
    }

    /// Runs a statement for these rows, if there are any; returns whether it wrote as many.
    pub(super) async fn all(&mut self, statement: &'static str, rows: &[impl Serialize]) -> Result<bool> {
        if rows.is_empty() {
            return Ok(true);
        }
        let query = sqlx::query(statement).bind(given(rows)?);
        Ok(self.wrote(query).await? == rows.len() as u64)
    }
}

/// A number for the database. Appends are checked before: none is out of range.
pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Marks effects as done at the given times; returns whether all of them were undone before.
pub(super) async fn done(tx: &mut Tx<'_>, effects: &[(EffectId, Time)]) -> Result<bool> {
    #[derive(Serialize)]
    struct Row {
        seq: i64,
        index: u32,
        at: i64,
    }
    let row = |&(effect, at): &(EffectId, Time)| Row {
        seq: int(effect.seq),
        index: effect.index,
        at: at.0,
    };
    let rows: Vec<Row> = effects.iter().map(row).collect();
    let update = "UPDATE outbox SET done_at = value ->> 'at' FROM jsonb_each(?) \
                  WHERE seq = value ->> 'seq' AND \"index\" = value ->> 'index' AND done_at IS NULL";
    tx.all(update, &rows).await
}

/// The reason for which an undone effect was not found.
pub(super) async fn missed(tx: &mut Tx<'_>, effect: EffectId) -> Result<Error> {
    Ok(match read::effect(tx.conn, effect).await? {
        Some(_done) => Error::AlreadyDone { effect },
        None => Error::NotFound {
            what: format!("effect {effect}"),
        },
    })
}

pub(super) async fn answer(tx: &mut Tx<'_>, id: &CommandId, outcome: &str, at: Time) -> Result<()> {
    let update = "UPDATE commands SET outcome = ?, answered_at = ? WHERE id = ? AND outcome IS NULL";
    let query = sqlx::query(update)
        .bind(outcome.to_owned())
        .bind(at.0)
        .bind(id.0.clone());
    if tx.wrote(query).await? == 1 {
        return Ok(());
    }
    Err(match read::command(tx.conn, id).await? {
        Some(_answered) => Error::AlreadyAnswered { command: id.clone() },
        None => Error::NotFound {
            what: format!("command `{id}`"),
        },
    })
}

pub(super) struct Archive(pub(super) StreamId);

impl Write for Archive {
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<()> {
        let update = "UPDATE streams SET archived = 1 WHERE id = ?";
        if tx.wrote(sqlx::query(update).bind(self.0.to_string())).await? == 0 {
            return Err(Error::NotFound {
                what: format!("stream `{}`", self.0),
            });
        }
        Ok(())
    }
}

/// Writes a view in place of the cached one: a row for the view, and one for each piece.
async fn cache(tx: &mut Tx<'_>, view: &NewView, last: Option<CachedView>) -> Result<()> {
    let NewView {
        shape,
        seq,
        ref pieces,
    } = *view;
    let first = last.map_or(0, |last| last.first + last.pieces);
    tx.wrote(sqlx::query("DELETE FROM view_pieces")).await?;
    let insert = "INSERT INTO view_pieces (number, body) VALUES (?, ?)";
    let mut next = first;
    for piece in pieces.each() {
        let piece = piece?;
        json("view up to", &seq.to_string(), &piece)?;
        tx.wrote(sqlx::query(insert).bind(int(next)).bind(piece)).await?;
        next += 1;
    }
    let upsert = "INSERT INTO cached_view (one, shape, seq, first, pieces) VALUES (1, ?, ?, ?, ?) ON CONFLICT (one) DO \
                  UPDATE SET shape = excluded.shape, seq = excluded.seq, first = excluded.first, pieces = excluded.pieces";
    let row = sqlx::query(upsert)
        .bind(shape)
        .bind(int(seq.0))
        .bind(int(first))
        .bind(int(next - first));
    tx.wrote(row).await?;
    Ok(())
}

pub(super) struct SaveView {
    pub(super) view: NewView,
    pub(super) records: Vec<Record>,
}

impl Write for SaveView {
    type Output = Option<Vec<StreamId>>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Option<Vec<StreamId>>> {
        let last = read::cached_view(tx.conn).await?;
        if last.is_some_and(|last| self.view.is_behind(last)) {
            return Ok(None);
        }
        cache(tx, &self.view, last).await?;
        failpoint::hit("archive.view_written");
        let mut archived = Vec::new();
        for record in &self.records {
            let upsert = "INSERT INTO records (stream, version, brief, rest) VALUES (?, ?, ?, ?) ON CONFLICT (stream) DO \
                          UPDATE SET version = excluded.version, brief = excluded.brief, rest = excluded.rest";
            let query = sqlx::query(upsert)
                .bind(record.stream.to_string())
                .bind(int(record.version.0))
                .bind(record.brief.clone())
                .bind(record.rest.clone());
            tx.wrote(query).await?;
            let update = "UPDATE streams SET archived = 1 WHERE id = ?1 AND version = ?2 \
                          AND id NOT IN (SELECT stream FROM outbox WHERE done_at IS NULL) \
                          AND NOT EXISTS (SELECT 1 FROM timers WHERE stream = ?1 AND due IS NOT NULL)";
            let query = sqlx::query(update)
                .bind(record.stream.to_string())
                .bind(int(record.version.0));
            if tx.wrote(query).await? == 1 {
                archived.push(record.stream.clone());
            }
        }
        failpoint::hit("archive.records_written");
        Ok(Some(archived))
    }
}

pub(super) struct Tried {
    pub(super) effect: EffectId,
    pub(super) run_at: Time,
    pub(super) why: Option<String>,
}

impl Write for Tried {
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<()> {
        let update = "UPDATE outbox SET attempts = min(attempts + 1, 4294967295), run_at = ?, why = ? \
                      WHERE seq = ? AND \"index\" = ? AND done_at IS NULL";
        let query = sqlx::query(update)
            .bind(self.run_at.0)
            .bind(self.why.as_deref())
            .bind(int(self.effect.seq))
            .bind(self.effect.index);
        if tx.wrote(query).await? == 1 {
            return Ok(());
        }
        Err(missed(tx, self.effect).await?)
    }
}

pub(super) struct Done {
    pub(super) effect: EffectId,
    pub(super) at: Time,
}

impl Write for Done {
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<()> {
        if done(tx, &[(self.effect, self.at)]).await? {
            return Ok(());
        }
        match missed(tx, self.effect).await? {
            Error::AlreadyDone { .. } => Ok(()),
            refused => Err(refused),
        }
    }
}

pub(super) struct Submit(pub(super) NewCommand);

impl Write for Submit {
    type Output = Submitted;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Submitted> {
        let NewCommand { id, by, at, body } = &self.0;
        let insert = "INSERT INTO commands (number, id, \"by\", at, body, checksum) \
                      SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ?, ? FROM commands WHERE true \
                      ON CONFLICT (id) DO NOTHING";
        let query = sqlx::query(insert)
            .bind(id.0.clone())
            .bind(by.clone())
            .bind(at.0)
            .bind(body.clone())
            .bind(checksum::of_command(&self.0));
        let repeated = tx.wrote(query).await? == 0;
        let command = read::command(tx.conn, id).await?;
        let lost = || Error::Damaged {
            what: format!("command `{id}` is not there after it was written"),
        };
        Ok(Submitted {
            command: command.ok_or_else(lost)?,
            repeated,
        })
    }
}

pub(super) struct Answer {
    pub(super) id: CommandId,
    pub(super) outcome: String,
    pub(super) at: Time,
}

impl Write for Answer {
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<()> {
        match answer(tx, &self.id, &self.outcome, self.at).await {
            Err(refused @ Error::AlreadyAnswered { .. }) => {
                let before = read::command(tx.conn, &self.id)
                    .await?
                    .and_then(|command| command.outcome);
                if before.as_deref() == Some(self.outcome.as_str()) {
                    Ok(())
                } else {
                    Err(refused)
                }
            }
            result => result,
        }
    }
}

pub(super) struct SetMeta {
    pub(super) key: String,
    pub(super) value: String,
}

impl Write for SetMeta {
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<()> {
        let upsert = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        tx.wrote(
            sqlx::query(upsert)
                .bind(self.key.clone())
                .bind(self.value.clone()),
        )
        .await?;
        Ok(())
    }
}
