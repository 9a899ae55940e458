//! What can be written, in SQL: each check is in the statement that writes, or in its transaction.

use sqlx::AssertSqlSafe;
use sqlx::sqlite::{Sqlite, SqliteArguments};

use super::fault::sort;
use super::read;
use super::writer::{Tx, Write};
use crate::append::json;
use crate::{
    Append, Appended, CommandId, EffectId, Error, Folding, Millis, NewCommand, Record, Result, Seq,
    SlotChange, StreamId, Submitted, TimerChange, TimerRef, Version,
};

type Query = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

impl Tx<'_> {
    /// Runs a statement and gives the number of rows it wrote.
    async fn wrote(&mut self, query: Query) -> Result<u64> {
        let done = query
            .execute(&mut *self.conn)
            .await
            .map_err(|e| sort("writing to the journal", e))?;
        Ok(done.rows_affected())
    }
}

/// A number for the database. Appends are checked before: none is out of range.
fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) struct Batch(pub(super) Vec<Append>);

impl Write for Batch {
    type Output = Vec<Appended>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<Appended>> {
        let mut appended = Vec::with_capacity(self.0.len());
        for append in &self.0 {
            appended.push(one(tx, append).await?);
        }
        Ok(appended)
    }
}

async fn one(tx: &mut Tx<'_>, append: &Append) -> Result<Appended> {
    if let Some(key) = &append.key
        && !claim(tx, append, key).await?
    {
        return read::repeated(tx.conn, key, &append.stream).await;
    }
    stream(tx, append).await?;
    if let Some(timer) = &append.fires {
        spend(tx, timer).await?;
    }
    if let Some(effect) = append.completes {
        complete(tx, effect, append.at).await?;
    }
    for change in &append.slots {
        slot(tx, change).await?;
    }
    if let Some(answer) = &append.answers {
        settle(tx, &answer.command, &answer.outcome, append.at).await?;
    }
    for change in &append.timers {
        timer(tx, &append.stream, change).await?;
    }
    facts(tx, append).await
}

/// Writes the key, if it is new, for the facts that are about to be written.
async fn claim(tx: &mut Tx<'_>, append: &Append, key: &str) -> Result<bool> {
    let count = append.events.len() as u64;
    let version = append.expected.0.saturating_add(count);
    let insert = "INSERT INTO keys (key, stream, first_seq, last_seq, version) VALUES (?, ?, ?, ?, ?) \
                  ON CONFLICT DO NOTHING";
    let query = sqlx::query(insert)
        .bind(key.to_owned())
        .bind(append.stream.0.clone());
    let query = query
        .bind(int(tx.head + 1))
        .bind(int(tx.head + count))
        .bind(int(version));
    Ok(tx.wrote(query).await? == 1)
}

/// Moves the stream on: only from the expected version, only under the given fence.
async fn stream(tx: &mut Tx<'_>, append: &Append) -> Result<()> {
    let id = &append.stream;
    let count = append.events.len() as u64;
    let version = int(append.expected.0.saturating_add(count));
    let state = append
        .events
        .last()
        .map(|event| event.state_after.clone())
        .unwrap_or_default();
    let fence = append.fence.map(|fence| int(fence.0));
    let new_fence = append.new_fence.map(|fence| int(fence.0));
    let query = if append.expected == Version(0) {
        let insert = "INSERT INTO streams (id, kind, version, fence, state) \
                      SELECT ?1, ?2, ?3, coalesce(?4, 0), ?5 WHERE coalesce(?6, 0) = 0 AND coalesce(?4, 1) > 0 \
                      ON CONFLICT DO NOTHING";
        let query = sqlx::query(insert)
            .bind(id.0.clone())
            .bind(append.kind.clone())
            .bind(version);
        query.bind(new_fence).bind(state).bind(fence)
    } else {
        let update = "UPDATE streams SET version = ?1, fence = coalesce(?2, fence), state = ?3, archived = 0 \
                      WHERE id = ?4 AND version = ?5 AND kind = ?6 AND fence = coalesce(?7, fence) \
                      AND coalesce(?2, fence + 1) > fence";
        let query = sqlx::query(update)
            .bind(version)
            .bind(new_fence)
            .bind(state)
            .bind(id.0.clone());
        query
            .bind(int(append.expected.0))
            .bind(append.kind.clone())
            .bind(fence)
    };
    if tx.wrote(query).await? == 1 {
        return Ok(());
    }
    let before = read::stream(tx.conn, id).await?;
    append.admit(before.as_ref())?;
    Err(Error::Damaged {
        what: format!(
            "stream `{id}` cannot be moved on from version {}",
            append.expected
        ),
    })
}

const EVENT: &str = "INSERT INTO events (seq, stream, version, at, cause, kind, schema, event, state_after) \
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);";
const EFFECT: &str = "INSERT INTO outbox (seq, \"index\", stream, effect) VALUES (?, ?, ?, ?);";

/// Writes the events and their effects. All their statements go to the database at once: the way there costs more
/// than they do.
async fn facts(tx: &mut Tx<'_>, append: &Append) -> Result<Appended> {
    let statements = append
        .events
        .iter()
        .flat_map(|event| std::iter::once(EVENT).chain(event.effects.iter().map(|_effect| EFFECT)));
    // Only the constants above are in it.
    let mut query = sqlx::query(AssertSqlSafe(statements.collect::<String>()));
    let first_seq = Seq(tx.head + 1);
    let mut version = append.expected;
    let mut effects = Vec::new();
    for event in &append.events {
        tx.head += 1;
        version.0 += 1;
        let seq = Seq(tx.head);
        query = query
            .bind(int(seq.0))
            .bind(append.stream.0.clone())
            .bind(int(version.0));
        query = query
            .bind(append.at.0)
            .bind(event.cause.clone())
            .bind(event.kind.clone());
        query = query
            .bind(event.schema)
            .bind(event.body.clone())
            .bind(event.state_after.clone());
        for (index, body) in (0_u32..).zip(&event.effects) {
            query = query
                .bind(int(seq.0))
                .bind(index)
                .bind(append.stream.0.clone())
                .bind(body.clone());
            effects.push(EffectId { seq, index });
        }
    }
    tx.wrote(query).await?;
    Ok(Appended {
        first_seq,
        last_seq: Seq(tx.head),
        version,
        effects,
        repeated: false,
    })
}

async fn timer(tx: &mut Tx<'_>, stream: &StreamId, change: &TimerChange) -> Result<()> {
    let query = match change {
        TimerChange::Set { key, due } => {
            let upsert = "INSERT INTO timers (stream, key, generation, due) VALUES (?, ?, 1, ?) \
                          ON CONFLICT (stream, key) \
                          DO UPDATE SET generation = timers.generation + 1, due = excluded.due";
            sqlx::query(upsert)
                .bind(stream.0.clone())
                .bind(key.clone())
                .bind(due.0)
        }
        TimerChange::Cancel { key } => {
            let update = "UPDATE timers SET due = NULL WHERE stream = ? AND key = ?";
            sqlx::query(update).bind(stream.0.clone()).bind(key.clone())
        }
    };
    tx.wrote(query).await?;
    Ok(())
}

async fn spend(tx: &mut Tx<'_>, timer: &TimerRef) -> Result<()> {
    let update =
        "UPDATE timers SET due = NULL WHERE stream = ? AND key = ? AND generation = ? AND due IS NOT NULL";
    let query = sqlx::query(update)
        .bind(timer.stream.0.clone())
        .bind(timer.key.clone());
    if tx.wrote(query.bind(int(timer.generation))).await? == 1 {
        return Ok(());
    }
    Err(Error::StaleTimer { timer: timer.clone() })
}

async fn complete(tx: &mut Tx<'_>, effect: EffectId, at: Millis) -> Result<()> {
    let update = "UPDATE outbox SET done_at = ? WHERE seq = ? AND \"index\" = ? AND done_at IS NULL";
    let query = sqlx::query(update)
        .bind(at.0)
        .bind(int(effect.seq.0))
        .bind(effect.index);
    if tx.wrote(query).await? == 1 {
        return Ok(());
    }
    Err(missed(tx, effect).await?)
}

/// Why an undone effect was not found.
async fn missed(tx: &mut Tx<'_>, effect: EffectId) -> Result<Error> {
    Ok(match read::effect(tx.conn, effect).await? {
        Some(_done) => Error::AlreadyDone { effect },
        None => Error::NotFound {
            what: format!("effect {effect}"),
        },
    })
}

async fn slot(tx: &mut Tx<'_>, change: &SlotChange) -> Result<()> {
    match change {
        SlotChange::Take { agent, ticket, fence } => {
            let insert = "INSERT INTO slots (agent, ticket, fence) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
            let query = sqlx::query(insert)
                .bind(agent.clone())
                .bind(ticket.clone())
                .bind(int(fence.0));
            if tx.wrote(query).await? == 0 {
                let by = read::slot_in_the_way(tx.conn, agent, ticket).await?;
                return Err(Error::SlotTaken {
                    agent: agent.clone(),
                    ticket: ticket.clone(),
                    by,
                });
            }
        }
        SlotChange::Free { agent } => {
            tx.wrote(sqlx::query("DELETE FROM slots WHERE agent = ?").bind(agent.clone()))
                .await?;
        }
    }
    Ok(())
}

async fn settle(tx: &mut Tx<'_>, id: &CommandId, outcome: &str, at: Millis) -> Result<()> {
    let update = "UPDATE commands SET outcome = ?, settled_at = ? WHERE id = ? AND outcome IS NULL";
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
async fn fold(tx: &mut Tx<'_>, folding: &Folding) -> Result<()> {
    let Folding {
        shape,
        seq,
        ref pieces,
    } = *folding;
    let last = read::folded(tx.conn).await?;
    let first = last.map_or(0, |last| last.first + last.pieces);
    tx.wrote(sqlx::query("DELETE FROM folded")).await?;
    let insert = "INSERT INTO folded (name, shape, seq, body) VALUES (?, ?, ?, ?)";
    let row = |name: String, body: String| {
        let row = sqlx::query(insert).bind(name);
        row.bind(shape).bind(int(seq.0)).bind(body)
    };
    let mut next = first;
    for piece in pieces.each() {
        let piece = piece?;
        json("fold up to", &seq.to_string(), &piece)?;
        tx.wrote(row(format!("crew/{next}"), piece)).await?;
        next += 1;
    }
    let head = format!(r#"{{"first":{first},"pieces":{}}}"#, next - first);
    tx.wrote(row("crew".to_owned(), head)).await?;
    Ok(())
}

pub(super) struct PutAside {
    pub(super) folding: Folding,
    pub(super) records: Vec<Record>,
}

impl Write for PutAside {
    type Output = Vec<StreamId>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<StreamId>> {
        fold(tx, &self.folding).await?;
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
        Ok(archived)
    }
}

pub(super) struct Tried {
    pub(super) effect: EffectId,
    pub(super) run_at: Millis,
}

impl Write for Tried {
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<()> {
        let update = "UPDATE outbox SET attempts = min(attempts + 1, 4294967295), run_at = ? \
                      WHERE seq = ? AND \"index\" = ? AND done_at IS NULL";
        let query = sqlx::query(update)
            .bind(self.run_at.0)
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
        match complete(tx, self.effect, self.at).await {
            Err(Error::AlreadyDone { .. }) => Ok(()),
            result => result,
        }
    }
}

pub(super) struct Submit(pub(super) NewCommand);

impl Write for Submit {
    type Output = Submitted;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Submitted> {
        let NewCommand { id, by, at, body } = &self.0;
        let insert = "INSERT INTO commands (number, id, \"by\", at, body) \
                      SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ? FROM commands WHERE true \
                      ON CONFLICT (id) DO NOTHING";
        let query = sqlx::query(insert)
            .bind(id.0.clone())
            .bind(by.clone())
            .bind(at.0)
            .bind(body.clone());
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
