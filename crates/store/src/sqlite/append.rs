//! The writing of appends, in SQL: all that do not meet go in one wave, each step a statement for all of
//! them. The way to the database costs more than what it does there. Each check is in the statement that
//! writes, or on streams that the transaction has read.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sqlx::AssertSqlSafe;

use super::chain::Chain;
use super::insert::{
    EVENTS, EffectRow, EventRow, OUTBOX, ROWS, STREAMS, bind_effect, bind_event, bind_stream,
};
use super::read;
use super::write::{done, int, missed};
use super::writer::Tx;
use crate::{
    Append, Appended, EffectId, Error, Result, Seq, SlotChange, Stream, StreamId, TimerChange, TimerRef,
    Version,
};

/// Writes appends, in order. When there is more than one, a refusal only means that one of them is refused:
/// which one, and why, comes out when each is written on its own.
pub(super) async fn append(tx: &mut Tx<'_>, appends: &[&Append]) -> Result<Vec<Appended>> {
    let mut appended = Vec::with_capacity(appends.len());
    let mut rest = appends;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(wave(rest));
        appended.extend(at_once(tx, now).await?);
        rest = later;
    }
    Ok(appended)
}

/// The number of the first appends that do not build on each other: none goes to a stream, or spends a timer
/// of one, that an earlier one goes to. Anything else that two of them could both want can be had once, and
/// is then refused.
fn wave(appends: &[&Append]) -> usize {
    let mut met: BTreeSet<&StreamId> = BTreeSet::new();
    let apart = appends.iter().take_while(|append| {
        let timer = append.fires.as_ref().map(|timer| &timer.stream);
        let other = timer.filter(|stream| **stream != append.stream);
        met.insert(&append.stream) && other.is_none_or(|stream| met.insert(stream))
    });
    apart.count()
}

async fn at_once(tx: &mut Tx<'_>, appends: &[&Append]) -> Result<Vec<Appended>> {
    let mut head = tx.head;
    let wave: Vec<Placed<'_>> = appends
        .iter()
        .map(|append| place(&mut head, append, tx.streams.get(&append.stream)))
        .collect();
    if let Some(repeated) = claim(tx, &wave).await? {
        return Ok(vec![repeated]);
    }
    let moved: Vec<Chain> = wave
        .iter()
        .map(|placed| moved(tx, placed))
        .collect::<Result<_>>()?;
    for timer in appends.iter().filter_map(|append| append.fires.as_ref()) {
        spend(tx, timer).await?;
    }
    complete(tx, appends).await?;
    for change in appends.iter().flat_map(|append| &append.slots) {
        slot(tx, change).await?;
    }
    for append in appends {
        if let Some(answer) = &append.answers {
            super::write::answer(tx, &answer.command, &answer.outcome, append.at).await?;
        }
    }
    facts(tx, &wave, &moved).await?;
    timers(tx, appends).await?;
    tx.head = head;
    let moved = moved.into_iter().map(|mut chain| {
        // Later appends need all but the state, which is long.
        chain.stream.state.clear();
        (chain.stream.id.clone(), chain)
    });
    tx.streams.extend(moved);
    Ok(wave.into_iter().map(|placed| placed.becomes).collect())
}

/// An append, and the places that it gets.
struct Placed<'a> {
    append: &'a Append,
    becomes: Appended,
    /// The places of the stream's first event, and of its last so far.
    first: Seq,
    last: Option<Seq>,
}

/// Gives the append's facts the places after the last one.
fn place<'a>(head: &mut u64, append: &'a Append, chain: Option<&Chain>) -> Placed<'a> {
    let first_seq = Seq(*head + 1);
    let mut effects = Vec::new();
    for event in &append.events {
        *head += 1;
        let seq = Seq(*head);
        effects.extend(
            (0_u32..)
                .zip(&event.effects)
                .map(|(index, _body)| EffectId { seq: seq.0, index }),
        );
    }
    let becomes = Appended {
        first_seq,
        last_seq: Seq(*head),
        version: Version(append.expected.0.saturating_add(append.events.len() as u64)),
        effects,
        repeated: false,
    };
    Placed {
        append,
        becomes,
        first: chain.map_or(first_seq, |chain| chain.first),
        last: chain.map(|chain| chain.last),
    }
}

/// The one append that was refused, for its reason to be found.
fn alone<T>(wave: &[T]) -> Result<&T> {
    match wave {
        [one] => Ok(one),
        _ => Err(Error::Invalid {
            what: format!("one of {} appends at once", wave.len()),
        }),
    }
}

/// Writes the keys, for the facts that are about to be written; returns the result of the first append of a
/// known key.
async fn claim<'a>(tx: &mut Tx<'_>, wave: &'a [Placed<'a>]) -> Result<Option<Appended>> {
    #[derive(Serialize)]
    struct Row<'a> {
        key: &'a str,
        stream: String,
        first: i64,
        last: i64,
        version: i64,
    }
    let row = |Placed { append, becomes, .. }: &'a Placed<'a>| {
        Some(Row {
            key: append.key.as_deref()?,
            stream: append.stream.to_string(),
            first: int(becomes.first_seq.0),
            last: int(becomes.last_seq.0),
            version: int(becomes.version.0),
        })
    };
    let rows: Vec<Row<'_>> = wave.iter().filter_map(row).collect();
    let insert = "INSERT INTO keys (key, stream, first_seq, last_seq, version) \
                  SELECT value ->> 'key', value ->> 'stream', value ->> 'first', value ->> 'last', value ->> 'version' \
                  FROM jsonb_each(?) WHERE true ON CONFLICT DO NOTHING";
    if tx.all(insert, &rows).await? {
        return Ok(None);
    }
    let Append { stream, key, .. } = alone(wave)?.append;
    Ok(Some(
        read::repeated(tx.conn, key.as_deref().unwrap_or_default(), stream).await?,
    ))
}

/// The stream as the append leaves it: only from the expected version, only under the given fence.
fn moved(tx: &Tx<'_>, placed: &Placed<'_>) -> Result<Chain> {
    let Placed { append, becomes, .. } = placed;
    let before = tx.streams.get(&append.stream).map(|chain| &chain.stream);
    let stream = Stream {
        fence: append.admit(before)?,
        id: append.stream.clone(),
        version: becomes.version,
        state: append
            .events
            .last()
            .map_or_else(String::new, |event| event.state_after.clone()),
        archived: false,
    };
    Ok(Chain {
        stream,
        first: placed.first,
        last: becomes.last_seq,
    })
}

async fn spend(tx: &mut Tx<'_>, timer: &TimerRef) -> Result<()> {
    let update =
        "UPDATE timers SET due = NULL WHERE stream = ? AND key = ? AND generation = ? AND due IS NOT NULL";
    let query = sqlx::query(update)
        .bind(timer.stream.to_string())
        .bind(timer.key.clone());
    if tx.wrote(query.bind(int(timer.generation))).await? == 1 {
        return Ok(());
    }
    Err(Error::StaleTimer { timer: timer.clone() })
}

/// Has the effects done that the facts report.
async fn complete(tx: &mut Tx<'_>, appends: &[&Append]) -> Result<()> {
    let reports = appends
        .iter()
        .filter_map(|append| Some((append.completes?, append.at)));
    let reports: Vec<_> = reports.collect();
    if done(tx, &reports).await? {
        return Ok(());
    }
    alone(appends)?;
    Err(missed(tx, alone(&reports)?.0).await?)
}

async fn slot(tx: &mut Tx<'_>, change: &SlotChange) -> Result<()> {
    match change {
        SlotChange::Take { agent, ticket, fence } => {
            let insert = "INSERT INTO slots (agent, ticket, fence) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
            let query = sqlx::query(insert)
                .bind(agent.to_string())
                .bind(ticket.to_string())
                .bind(int(fence.0));
            if tx.wrote(query).await? == 0 {
                let by = read::slot_in_the_way(tx.conn, agent, ticket, *fence).await?;
                return Err(Error::SlotTaken {
                    agent: agent.clone(),
                    ticket: ticket.clone(),
                    by,
                });
            }
        }
        SlotChange::Free { agent } => {
            tx.wrote(sqlx::query("DELETE FROM slots WHERE agent = ?").bind(agent.to_string()))
                .await?;
        }
    }
    Ok(())
}

/// Sets and cancels timers. Several changes of one timer are added up before.
async fn timers(tx: &mut Tx<'_>, appends: &[&Append]) -> Result<()> {
    #[derive(Serialize)]
    struct Row<'a> {
        stream: String,
        key: &'a str,
        /// The number of times that it was set.
        sets: i64,
        due: Option<i64>,
    }
    let mut rows: BTreeMap<(&StreamId, &str), Row<'_>> = BTreeMap::new();
    for append in appends {
        for change in &append.timers {
            let (key, due) = match change {
                TimerChange::Set { key, due } => (key, Some(due.0)),
                TimerChange::Cancel { key } => (key, None),
            };
            let stream = &append.stream;
            let row = rows.entry((stream, key)).or_insert_with(|| Row {
                stream: stream.to_string(),
                key,
                sets: 0,
                due,
            });
            row.sets += i64::from(due.is_some());
            row.due = due;
        }
    }
    let (set, cancelled): (Vec<_>, Vec<_>) = rows.into_values().partition(|row| row.sets > 0);
    let upsert = "INSERT INTO timers (stream, key, generation, due) \
                  SELECT value ->> 'stream', value ->> 'key', value ->> 'sets', value ->> 'due' FROM jsonb_each(?) \
                  WHERE true ON CONFLICT (stream, key) \
                  DO UPDATE SET generation = timers.generation + excluded.generation, due = excluded.due";
    tx.all(upsert, &set).await?;
    let update = "UPDATE timers SET due = NULL FROM jsonb_each(?) AS given \
                  WHERE timers.stream = value ->> 'stream' AND timers.key = value ->> 'key'";
    tx.all(update, &cancelled).await?;
    Ok(())
}

/// Writes the streams as they are now, the events, and their effects. JSON would be shorter here, but it
/// costs more than the rest.
async fn facts(tx: &mut Tx<'_>, wave: &[Placed<'_>], moved: &[Chain]) -> Result<()> {
    let events: Vec<_> = wave.iter().flat_map(Placed::events).collect();
    let effects: Vec<_> = wave.iter().flat_map(Placed::effects).collect();
    if wave.len() > 1 || events.len().max(effects.len()) > ROWS {
        STREAMS.run(tx, moved, bind_stream).await?;
        EVENTS.run(tx, &events, bind_event).await?;
        return OUTBOX.run(tx, &effects, bind_effect).await;
    }
    // One way there for all that one append writes.
    let text = [
        STREAMS.text(moved.len()),
        EVENTS.text(events.len()),
        OUTBOX.text(effects.len()),
    ];
    let mut query = sqlx::query(AssertSqlSafe(text.concat()));
    query = moved.iter().fold(query, bind_stream);
    query = events.iter().fold(query, bind_event);
    query = effects.iter().fold(query, bind_effect);
    tx.wrote(query).await.map(drop)
}

impl Placed<'_> {
    fn events(&self) -> impl Iterator<Item = EventRow<'_>> {
        let Self { append, becomes, .. } = self;
        let events = (0_u64..).zip(&append.events);
        events.map(|(n, event)| {
            let seq = becomes.first_seq.0 + n;
            EventRow {
                append,
                event,
                seq: Seq(seq),
                version: Version(append.expected.0 + 1 + n),
                prev: if n == 0 { self.last } else { Some(Seq(seq - 1)) },
            }
        })
    }

    fn effects(&self) -> impl Iterator<Item = EffectRow<'_>> {
        let bodies = self.append.events.iter().flat_map(|event| &event.effects);
        let effects = self.becomes.effects.iter().zip(bodies);
        effects.map(|(effect, body)| (self.append, *effect, body))
    }
}
