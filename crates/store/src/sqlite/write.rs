//! What else can be written, in SQL: each check is in the statement that writes, or in its transaction.

use super::checksum;
use super::fault::sort;
use super::line::Write;
use super::read::{self, Query, given};
use super::writer::Tx;
use crate::append::json;
use crate::{
    CommandId, EffectId, Error, Folded, Folding, Millis, NewCommand, Record, Result, StreamId, Submitted,
};
use serde::Serialize;

impl Tx<'_> {
    /// Runs a statement and gives the number of rows it wrote.
    pub(super) async fn wrote(&mut self, query: Query) -> Result<u64> {
        let done = query
            .execute(&mut *self.conn)
            .await
            .map_err(|e| sort("writing to the journal", e))?;
        Ok(done.rows_affected())
    }

    /// Runs a statement for these rows, if there are any; tells whether it wrote as many.
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

/// Has effects done at the given times; tells whether all were undone.
pub(super) async fn done(tx: &mut Tx<'_>, effects: &[(EffectId, Millis)]) -> Result<bool> {
    #[derive(Serialize)]
    struct Row {
        seq: i64,
        index: u32,
        at: i64,
    }
    let row = |&(effect, at): &(EffectId, Millis)| Row {
        seq: int(effect.seq.0),
        index: effect.index,
        at: at.0,
    };
    let rows: Vec<Row> = effects.iter().map(row).collect();
    let update = "UPDATE outbox SET done_at = value ->> 'at' FROM jsonb_each(?) \
                  WHERE seq = value ->> 'seq' AND \"index\" = value ->> 'index' AND done_at IS NULL";
    tx.all(update, &rows).await
}

/// Why an undone effect was not found.
pub(super) async fn missed(tx: &mut Tx<'_>, effect: EffectId) -> Result<Error> {
    Ok(match read::effect(tx.conn, effect).await? {
        Some(_done) => Error::AlreadyDone { effect },
        None => Error::NotFound {
            what: format!("effect {effect}"),
        },
    })
}

pub(super) async fn settle(tx: &mut Tx<'_>, id: &CommandId, outcome: &str, at: Millis) -> Result<()> {
    let update = "UPDATE commands SET outcome = ?, answered_at = ? WHERE id = ? AND outcome IS NULL";
    let query = sqlx::query(update)
        .bind(outcome.to_owned())
        .bind(at.0)
        .bind(id.0.clone());
    if tx.wrote(query).await? == 1 {
        return Ok(());
    }
    Err(match read::command(tx.conn, id).await? {
        Some(_settled) => Error::AlreadySettled { command: id.clone() },
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
        if tx.wrote(sqlx::query(update).bind(self.0.0.clone())).await? == 0 {
            return Err(Error::NotFound {
                what: format!("stream `{}`", self.0),
            });
        }
        Ok(())
    }
}

/// Keeps a fold in place of the last: a row for what is known of it, and one for each piece.
async fn fold(tx: &mut Tx<'_>, folding: &Folding, last: Option<Folded>) -> Result<()> {
    let Folding {
        shape,
        seq,
        ref pieces,
    } = *folding;
    let first = last.map_or(0, |last| last.first + last.pieces);
    tx.wrote(sqlx::query("DELETE FROM view_pieces")).await?;
    let insert = "INSERT INTO view_pieces (number, body) VALUES (?, ?)";
    let mut next = first;
    for piece in pieces.each() {
        let piece = piece?;
        json("fold up to", &seq.to_string(), &piece)?;
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

pub(super) struct PutAside {
    pub(super) folding: Folding,
    pub(super) records: Vec<Record>,
}

impl Write for PutAside {
    type Output = Option<Vec<StreamId>>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Option<Vec<StreamId>>> {
        let last = read::folded(tx.conn).await?;
        if last.is_some_and(|last| self.folding.is_behind(last)) {
            return Ok(None);
        }
        fold(tx, &self.folding, last).await?;
        failpoint::hit("aside.folded");
        let mut archived = Vec::new();
        for record in &self.records {
            let upsert = "INSERT INTO records (stream, version, brief, rest) VALUES (?, ?, ?, ?) ON CONFLICT (stream) DO \
                          UPDATE SET version = excluded.version, brief = excluded.brief, rest = excluded.rest";
            let query = sqlx::query(upsert)
                .bind(record.stream.0.clone())
                .bind(int(record.version.0))
                .bind(record.brief.clone())
                .bind(record.rest.clone());
            tx.wrote(query).await?;
            let update = "UPDATE streams SET archived = 1 WHERE id = ?1 AND version = ?2 \
                          AND id NOT IN (SELECT stream FROM outbox WHERE done_at IS NULL) \
                          AND NOT EXISTS (SELECT 1 FROM timers WHERE stream = ?1 AND due IS NOT NULL)";
            let query = sqlx::query(update)
                .bind(record.stream.0.clone())
                .bind(int(record.version.0));
            if tx.wrote(query).await? == 1 {
                archived.push(record.stream.clone());
            }
        }
        failpoint::hit("aside.archived");
        Ok(Some(archived))
    }
}

pub(super) struct Tried {
    pub(super) effect: EffectId,
    pub(super) run_at: Millis,
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
            .bind(int(self.effect.seq.0))
            .bind(self.effect.index);
        if tx.wrote(query).await? == 1 {
            return Ok(());
        }
        Err(missed(tx, self.effect).await?)
    }
}

pub(super) struct Done {
    pub(super) effect: EffectId,
    pub(super) at: Millis,
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

pub(super) struct Settle {
    pub(super) id: CommandId,
    pub(super) outcome: String,
    pub(super) at: Millis,
}

impl Write for Settle {
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<()> {
        match settle(tx, &self.id, &self.outcome, self.at).await {
            Err(refused @ Error::AlreadySettled { .. }) => {
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
