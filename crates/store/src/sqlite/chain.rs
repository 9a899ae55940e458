//! Streams, and the events of each: a chain from its first event to its last, in which each event names the
//! one before it.

use sqlx::Row as _;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use super::checksum::{Summed, of_stream};
use super::read::{
    FromRow as _, Parse, Query, all, first, from, get, given, name, number, place, rows, unsigned,
};
use crate::{Error, Event, Fence, Result, Seq, Stream, StreamId, Version, Which};

/// The columns of an event in a statement that reads its stream too.
macro_rules! event {
    () => {
        "events.seq, events.stream, events.version, at, cause, events.kind, schema, event, state_after, events.checksum"
    };
}

/// A statement that gives streams, each with the state after its last event.
macro_rules! streams {
    ($rest:literal) => {
        concat!(
            "SELECT id, streams.version, fence, first, last, archived, streams.checksum, state_after FROM streams LEFT JOIN events \
             ON events.seq = last AND events.stream = id AND events.version = streams.version ",
            $rest
        )
    };
}

/// A statement that gives at most ?2 events of stream ?1 after its event at place ?3, forward from the place
/// that another one gives; with each the version of the event at ?3 and the place of the stream's last event,
/// and those alone where there is no event.
macro_rules! onward {
    ($from:literal) => {
        concat!(
            "WITH RECURSIVE chain (seq) AS (",
            $from,
            " UNION ALL SELECT events.seq FROM chain JOIN events ON prev = chain.seq WHERE events.seq > chain.seq LIMIT ?2) \
             SELECT ",
            event!(),
            ", last, (SELECT events.version FROM events WHERE seq = ?3 AND stream = ?1) AS before \
             FROM streams LEFT JOIN chain LEFT JOIN events ON events.seq = chain.seq \
             WHERE id = ?1 ORDER BY events.seq"
        )
    };
}

/// One stream.
const ONE: &str = streams!("WHERE id = ?");
/// Some streams, of those that were archived.
const NAMED: &str = streams!("WHERE archived = 1 AND id IN (SELECT value FROM json_each(?)) ORDER BY id");
/// All streams, from a place on.
pub(super) const ALL: &str = streams!("WHERE id > ?1 ORDER BY id LIMIT ?2");
/// The streams that are archived or not. A constant, not a bound value: only so can SQLite use the index of
/// the live ones.
const LIVE: &str = streams!("WHERE id > ?1 AND archived = 0 ORDER BY id LIMIT ?2");
const ARCHIVED: &str = streams!("WHERE id > ?1 AND archived = 1 ORDER BY id LIMIT ?2");

/// The events of a stream from its first on.
const FROM_FIRST: &str = onward!("SELECT first FROM streams WHERE id = ?1");
/// The events of a stream after one of them.
const AFTER: &str = onward!("SELECT seq FROM events WHERE prev = ?3");

/// The event that gave stream ?1 version ?2, looked for from its last one back; with it the stream's version
/// and last event, and those without an event where it is not there.
const BACK: &str = concat!(
    "WITH RECURSIVE chain (seq, version, prev) AS (\
     SELECT events.seq, events.version, prev FROM streams JOIN events ON events.seq = last WHERE id = ?1 \
     UNION ALL SELECT events.seq, events.version, events.prev FROM chain JOIN events ON events.seq = chain.prev \
     WHERE chain.version > ?2 AND events.seq < chain.seq) \
     SELECT ",
    event!(),
    ", streams.version AS latest, last FROM streams LEFT JOIN chain ON chain.version = ?2 \
     LEFT JOIN events ON events.seq = chain.seq WHERE id = ?1"
);

/// A stream, and where its events begin and end.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// Its state is empty in a transaction that writes.
    pub(super) stream: Stream,
    pub(super) first: Seq,
    pub(super) last: Seq,
}

impl Parse for Chain {
    fn parse(row: &SqliteRow) -> Result<Self> {
        let stream = Stream {
            id: name(row, "id")?,
            version: Version(unsigned(row, "version")?),
            fence: Fence(unsigned(row, "fence")?),
            // Where the last event is missing, the empty state does not match the checksum, and is no JSON.
            state: get::<Option<String>>(row, "state_after")?.unwrap_or_default(),
            archived: get::<i64>(row, "archived")? != 0,
        };
        Ok(Self {
            stream,
            first: Seq(unsigned(row, "first")?),
            last: Seq(unsigned(row, "last")?),
        })
    }
}

impl Summed for Chain {
    fn checksum(&self) -> u32 {
        of_stream(&self.stream)
    }

    fn name(&self) -> String {
        format!("stream `{}`", self.stream.id)
    }
}

pub(super) async fn stream(conn: &mut SqliteConnection, id: &StreamId) -> Result<Option<Stream>> {
    let query = sqlx::query(ONE).bind(id.to_string());
    let found: Option<Chain> = first(conn, query).await?;
    Ok(found.map(|chain| chain.stream))
}

pub(super) async fn streams(
    conn: &mut SqliteConnection,
    which: Which,
    after: Option<&StreamId>,
    limit: u32,
) -> Result<Vec<Stream>> {
    let select = match which {
        Which::Live => LIVE,
        Which::Archived => ARCHIVED,
        Which::All => ALL,
    };
    listed(conn, sqlx::query(select).bind(from(after)).bind(limit)).await
}

pub(super) async fn archived(conn: &mut SqliteConnection, streams: &[StreamId]) -> Result<Vec<Stream>> {
    let names: Vec<String> = streams.iter().map(StreamId::to_string).collect();
    listed(conn, sqlx::query(NAMED).bind(given(&names)?)).await
}

async fn listed(conn: &mut SqliteConnection, query: Query) -> Result<Vec<Stream>> {
    let found: Vec<Chain> = all(conn, query).await?;
    Ok(found.into_iter().map(|chain| chain.stream).collect())
}

pub(super) async fn events_of(
    conn: &mut SqliteConnection,
    stream: &StreamId,
    after: Seq,
    limit: u32,
) -> Result<Vec<Event>> {
    let select = if after.0 == 0 { FROM_FIRST } else { AFTER };
    let query = sqlx::query(select)
        .bind(stream.to_string())
        .bind(limit)
        .bind(place(after.0));
    let found = rows(conn, query).await?;
    let Some(row) = found.first() else {
        return Ok(Vec::new());
    };
    let (last, before) = (unsigned(row, "last")?, get::<Option<i64>>(row, "before")?);
    if after.0 > 0 && before.is_none() {
        return Err(broken(stream, after));
    }
    let (mut end, mut version) = (after, number("version", before.unwrap_or(0))?);
    let mut events: Vec<Event> = Vec::with_capacity(found.len());
    for row in found.iter().filter(|row| is_there(row)) {
        let event = Event::from_row(row)?;
        if event.stream != *stream || event.version.0 != version + 1 {
            return Err(broken(stream, event.seq));
        }
        (end, version) = (event.seq, event.version.0);
        events.push(event);
    }
    // There is no stream without an event.
    let is_whole = end.0 >= last.max(1) || events.len() as u64 == u64::from(limit);
    if is_whole {
        Ok(events)
    } else {
        Err(broken(stream, end))
    }
}

pub(super) async fn event_of(
    conn: &mut SqliteConnection,
    stream: &StreamId,
    version: Version,
) -> Result<Option<Event>> {
    if version.0 == 0 {
        return Ok(None);
    }
    let query = sqlx::query(BACK).bind(stream.to_string()).bind(place(version.0));
    let found = rows(conn, query).await?;
    let Some(row) = found.first() else {
        return Ok(None);
    };
    if unsigned(row, "latest")? < version.0 {
        return Ok(None);
    }
    if !is_there(row) {
        return Err(broken(stream, Seq(unsigned(row, "last")?)));
    }
    let event = Event::from_row(row)?;
    if event.stream == *stream {
        Ok(Some(event))
    } else {
        Err(broken(stream, event.seq))
    }
}

/// True if there is an event in the row.
fn is_there(row: &SqliteRow) -> bool {
    matches!(row.try_get::<Option<i64>, _>("seq"), Ok(Some(_)))
}

/// Damage: the chain of this stream does not go on as it should at this place.
pub(super) fn broken(stream: &StreamId, at: Seq) -> Error {
    Error::Damaged {
        what: format!("the events of stream `{stream}` do not follow each other at event {at}"),
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{AssertSqlSafe, ConnectOptions as _};

    use super::super::schema;
    use super::*;

    /// The cost of reading a stream does not grow with the rest of the journal.
    #[tokio::test]
    async fn nothing_of_a_stream_is_looked_for_in_all_events() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        schema::create(&path, "id", schema::STEPS).await.unwrap();
        let mut conn = schema::options(&path).connect().await.unwrap();
        for statement in [ONE, NAMED, ALL, LIVE, ARCHIVED, FROM_FIRST, AFTER, BACK] {
            let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
            let rows = sqlx::query(explain).fetch_all(&mut conn).await.unwrap();
            let steps: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
            let reads_all = |step: &&String| {
                let is_of_table = step.contains("events") || step.contains("streams");
                is_of_table && (!step.starts_with("SEARCH") || step.contains("AUTOMATIC"))
            };
            assert_eq!(steps.iter().find(reads_all), None, "{statement}: {steps:?}");
            let is_by_place =
                |step: &String| step.starts_with("SEARCH events USING INTEGER PRIMARY KEY (rowid=?)");
            assert!(steps.iter().any(is_by_place), "{steps:?}");
        }
    }
}
