//! The audit of a journal in a file: whether all of its rows agree, read from beginning to end.

use sqlx::sqlite::{SqliteConnection, SqliteRow};

use super::chain::{self, Chain};
use super::checksum::{Summed, doubted};
use super::fault::sort;
use super::read::{EVENTS, Key, Parse, Query, all, from, get, number, place, select, slots};
use crate::audit::Audit;
use crate::{Command, Effect, EffectId, Error, Event, Number, Result, Seq, Timer};

/// The number of rows that are taken at once.
const PAGE: u32 = 1000;

/// An event, and the place of the one before it in its stream.
struct Linked {
    event: Event,
    prev: Option<Seq>,
}

impl Parse for Linked {
    fn parse(row: &SqliteRow) -> Result<Self> {
        let prev: Option<i64> = get(row, "prev")?;
        Ok(Self {
            event: Event::parse(row)?,
            prev: prev.map(|seq| number("prev", seq).map(Seq)).transpose()?,
        })
    }
}

impl Summed for Linked {
    fn checksum(&self) -> u32 {
        self.event.checksum()
    }

    fn name(&self) -> String {
        self.event.name()
    }
}

/// Rows for an audit: a row with a wrong checksum is a problem, and is audited all the same.
async fn doubtful<T: Summed>(
    conn: &mut SqliteConnection,
    query: Query,
    problems: &mut Vec<String>,
) -> Result<Vec<T>> {
    let rows = query
        .fetch_all(conn)
        .await
        .map_err(|e| sort("checking the journal", e))?;
    let mut values = Vec::with_capacity(rows.len());
    for row in &rows {
        match doubted(row) {
            Ok((value, harm)) => {
                values.push(value);
                problems.extend(harm);
            }
            Err(Error::Damaged { what }) => problems.push(what),
            Err(error) => return Err(error),
        }
    }
    Ok(values)
}

/// Reads everything, in one transaction of the caller's.
pub(super) async fn verify(conn: &mut SqliteConnection) -> Result<Vec<String>> {
    let told = |e| sort("checking the journal", e);
    let pages: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check")
        .fetch_all(&mut *conn)
        .await
        .map_err(told)?;
    let mut problems: Vec<String> = pages.into_iter().filter(|problem| problem != "ok").collect();
    let mut audit = Audit::default();
    let mut after = Seq(0);
    loop {
        let query = sqlx::query(EVENTS).bind(place(after.0)).bind(PAGE);
        let events: Vec<Linked> = doubtful(conn, query, &mut problems).await?;
        let Some(last) = events.last() else { break };
        after = last.event.seq;
        for Linked { event, prev } in &events {
            audit.link(event, *prev);
            audit.event(event);
        }
    }
    let mut after = None;
    loop {
        let query = sqlx::query(chain::ALL).bind(from(after.as_ref())).bind(PAGE);
        let chains: Vec<Chain> = doubtful(conn, query, &mut problems).await?;
        let Some(last) = chains.last() else { break };
        after = Some(last.stream.id.clone());
        for Chain { stream, first, last } in &chains {
            audit.stream(stream);
            audit.ends(&stream.id, *first, *last);
        }
    }
    let mut after = EffectId { seq: 0, index: 0 };
    loop {
        let select = select!(outbox "WHERE (seq, \"index\") > (?, ?) ORDER BY seq, \"index\" LIMIT ?");
        let query = sqlx::query(select)
            .bind(place(after.seq))
            .bind(after.index)
            .bind(PAGE);
        let effects: Vec<Effect> = doubtful(conn, query, &mut problems).await?;
        let Some(last) = effects.last() else { break };
        after = last.id;
        effects
            .iter()
            .for_each(|effect| audit.effect(effect.id, &effect.body));
    }
    let timers: Vec<Timer> = all(conn, sqlx::query(select!(timers "WHERE due IS NOT NULL"))).await?;
    timers.iter().for_each(|timer| audit.timer(timer));
    slots(conn).await?.iter().for_each(|slot| audit.slot(slot));
    let mut after = String::new();
    loop {
        let query = sqlx::query(select!(keys "WHERE key > ? ORDER BY key LIMIT ?"))
            .bind(after)
            .bind(PAGE);
        let keys: Vec<Key> = all(conn, query).await?;
        let Some(last) = keys.last() else { break };
        after = last.key.clone();
        keys.iter()
            .for_each(|key| audit.key(&key.key, &key.stream, key.first, key.last));
    }
    let mut after = Number(0);
    loop {
        let select = select!(commands "WHERE number > ? ORDER BY number LIMIT ?");
        let query = sqlx::query(select).bind(place(after.0)).bind(PAGE);
        let commands: Vec<Command> = doubtful(conn, query, &mut problems).await?;
        let Some(last) = commands.last() else { break };
        after = last.number;
    }
    problems.extend(audit.problems());
    Ok(problems)
}
