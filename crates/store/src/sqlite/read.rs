//! Reads, in SQL, and how rows become values.

use serde::Serialize;
use sqlx::sqlite::{Sqlite, SqliteConnection, SqliteRow};
use sqlx::{Decode, Row, Type};

use super::fault::sort;
use super::write::int;
use crate::{
    AgentName, Appended, CachedView, Command, CommandId, Effect, EffectId, Error, Event, Fence, Number,
    Record, Result, Seq, Slot, StreamId, TicketId, Time, Timer, TimerRef, Version,
};

/// A statement that reads rows of a table. Each column is named: a damaged schema may have another name for
/// it, and a name that is not even text stops sqlx.
macro_rules! select {
    (events $rest:literal) => {
        concat!(
            "SELECT seq, stream, version, prev, at, cause, kind, schema, event, state_after, checksum FROM events ",
            $rest
        )
    };
    (outbox $rest:literal) => {
        concat!(
            "SELECT seq, \"index\", stream, effect, attempts, run_at, why, done_at, checksum FROM outbox ",
            $rest
        )
    };
    (timers $rest:literal) => {
        concat!("SELECT stream, key, generation, due FROM timers ", $rest)
    };
    (slots $rest:literal) => {
        concat!("SELECT agent, ticket, fence FROM slots ", $rest)
    };
    (keys $rest:literal) => {
        concat!("SELECT key, stream, first_seq, last_seq, version FROM keys ", $rest)
    };
    (commands $rest:literal) => {
        concat!(
            "SELECT number, id, \"by\", at, body, outcome, answered_at, checksum FROM commands ",
            $rest
        )
    };
    (records $rest:literal) => {
        concat!("SELECT stream, version, brief, rest FROM records ", $rest)
    };
}
pub(super) use select;

/// All events, from a place on.
pub(super) const EVENTS: &str = select!(events "WHERE seq > ? ORDER BY seq LIMIT ?");

pub(super) type Query = sqlx::query::Query<'static, Sqlite, sqlx::sqlite::SqliteArguments>;

/// Turns a row into a value, when its checksum matches.
pub(super) trait FromRow: Sized {
    fn from_row(row: &SqliteRow) -> Result<Self>;
}

/// Turns a row into a value, without a look at its checksum.
pub(super) trait Parse: Sized {
    fn parse(row: &SqliteRow) -> Result<Self>;
}

pub(super) fn get<'r, T: Decode<'r, Sqlite> + Type<Sqlite>>(row: &'r SqliteRow, column: &str) -> Result<T> {
    row.try_get(column).map_err(|e| sort("reading the journal", e))
}

/// A number that is never negative.
pub(super) fn number(what: &str, found: i64) -> Result<u64> {
    u64::try_from(found).map_err(|_negative| Error::Damaged {
        what: format!("{what} is {found}"),
    })
}

pub(super) fn unsigned(row: &SqliteRow, column: &str) -> Result<u64> {
    number(column, get(row, column)?)
}

/// A stream's name.
pub(super) fn name(row: &SqliteRow, column: &str) -> Result<StreamId> {
    stream(get(row, column)?)
}

/// The stream of this name.
pub(super) fn stream(name: &str) -> Result<StreamId> {
    StreamId::parse(name).ok_or_else(|| Error::Damaged {
        what: format!("a stream is called {}", text::quoted(name)),
    })
}

#[expect(clippy::needless_pass_by_value, reason = "it stands alone in `map_err`")]
fn not_a_name(error: model::ids::Error) -> Error {
    Error::Damaged {
        what: error.to_string(),
    }
}

fn small(row: &SqliteRow, column: &str) -> Result<u32> {
    let found: i64 = get(row, column)?;
    u32::try_from(found).map_err(|_range| Error::Damaged {
        what: format!("{column} is {found}"),
    })
}

/// Rows for a statement, as the JSON that `jsonb_each` reads.
pub(super) fn given(rows: &[impl Serialize]) -> Result<String> {
    serde_json::to_string(rows).map_err(|e| Error::Invalid {
        what: format!("a list for the journal ({e})"),
    })
}

pub(super) async fn rows(conn: &mut SqliteConnection, query: Query) -> Result<Vec<SqliteRow>> {
    let rows = query.fetch_all(conn).await;
    rows.map_err(|e| sort("reading the journal", e))
}

pub(super) async fn all<T: FromRow>(conn: &mut SqliteConnection, query: Query) -> Result<Vec<T>> {
    rows(conn, query).await?.iter().map(T::from_row).collect()
}

pub(super) async fn first<T: FromRow>(conn: &mut SqliteConnection, query: Query) -> Result<Option<T>> {
    let row = query
        .fetch_optional(conn)
        .await
        .map_err(|e| sort("reading the journal", e))?;
    row.as_ref().map(T::from_row).transpose()
}

async fn scalar(conn: &mut SqliteConnection, query: &'static str) -> Result<Option<i64>> {
    sqlx::query_scalar(query)
        .fetch_one(conn)
        .await
        .map_err(|e| sort("reading the journal", e))
}

impl Parse for Event {
    fn parse(row: &SqliteRow) -> Result<Self> {
        Ok(Self {
            seq: Seq(unsigned(row, "seq")?),
            stream: name(row, "stream")?,
            version: Version(unsigned(row, "version")?),
            at: Time(get(row, "at")?),
            cause: get(row, "cause")?,
            kind: get(row, "kind")?,
            schema: small(row, "schema")?,
            body: get(row, "event")?,
            state_after: get(row, "state_after")?,
        })
    }
}

impl FromRow for CachedView {
    fn from_row(row: &SqliteRow) -> Result<Self> {
        let (first, pieces) = (unsigned(row, "first")?, unsigned(row, "pieces")?);
        Ok(Self {
            shape: small(row, "shape")?,
            seq: Seq(unsigned(row, "seq")?),
            first,
            pieces,
        })
    }
}

impl FromRow for Record {
    fn from_row(row: &SqliteRow) -> Result<Self> {
        Ok(Self {
            stream: name(row, "stream")?,
            version: Version(unsigned(row, "version")?),
            brief: get(row, "brief")?,
            rest: get(row, "rest")?,
        })
    }
}

impl Parse for Effect {
    fn parse(row: &SqliteRow) -> Result<Self> {
        Ok(Self {
            id: EffectId {
                seq: unsigned(row, "seq")?,
                index: small(row, "index")?,
            },
            stream: name(row, "stream")?,
            body: get(row, "effect")?,
            attempts: small(row, "attempts")?,
            run_at: get::<Option<i64>>(row, "run_at")?.map(Time),
            why: get(row, "why")?,
            done_at: get::<Option<i64>>(row, "done_at")?.map(Time),
        })
    }
}

impl FromRow for Timer {
    fn from_row(row: &SqliteRow) -> Result<Self> {
        let (stream, key) = (name(row, "stream")?, get(row, "key")?);
        let timer = TimerRef {
            stream,
            key,
            generation: unsigned(row, "generation")?,
        };
        Ok(Self {
            timer,
            due: Time(get(row, "due")?),
        })
    }
}

impl FromRow for Slot {
    fn from_row(row: &SqliteRow) -> Result<Self> {
        Ok(Self {
            agent: AgentName::new(get::<String>(row, "agent")?).map_err(not_a_name)?,
            ticket: TicketId::new(get::<String>(row, "ticket")?).map_err(not_a_name)?,
            fence: Fence(unsigned(row, "fence")?),
        })
    }
}

impl Parse for Command {
    fn parse(row: &SqliteRow) -> Result<Self> {
        Ok(Self {
            number: Number(unsigned(row, "number")?),
            id: CommandId(get(row, "id")?),
            by: get(row, "by")?,
            at: Time(get(row, "at")?),
            body: get(row, "body")?,
            outcome: get(row, "outcome")?,
            answered_at: get::<Option<i64>>(row, "answered_at")?.map(Time),
        })
    }
}

/// The first append under an idempotency key.
pub(super) struct Key {
    pub(super) key: String,
    pub(super) stream: StreamId,
    pub(super) first: Seq,
    pub(super) last: Seq,
    version: Version,
}

impl FromRow for Key {
    fn from_row(row: &SqliteRow) -> Result<Self> {
        Ok(Self {
            key: get(row, "key")?,
            stream: name(row, "stream")?,
            first: Seq(unsigned(row, "first_seq")?),
            last: Seq(unsigned(row, "last_seq")?),
            version: Version(unsigned(row, "version")?),
        })
    }
}

/// A place for the database; beyond its range there is nothing.
pub(super) fn place(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A stream's place in a listing; before the first, which is never empty.
pub(super) fn from(after: Option<&StreamId>) -> String {
    after.map(StreamId::to_string).unwrap_or_default()
}

pub(super) async fn cached_view(conn: &mut SqliteConnection) -> Result<Option<CachedView>> {
    first(
        conn,
        sqlx::query("SELECT shape, seq, first, pieces FROM cached_view"),
    )
    .await
}

pub(super) async fn piece(conn: &mut SqliteConnection, number: u64) -> Result<Option<String>> {
    let found = sqlx::query_scalar("SELECT body FROM view_pieces WHERE number = ?")
        .bind(place(number))
        .fetch_optional(conn)
        .await;
    found.map_err(|e| sort("reading the journal", e))
}

pub(super) async fn record(conn: &mut SqliteConnection, id: &StreamId) -> Result<Option<Record>> {
    let select = select!(records "WHERE stream = ?");
    first(conn, sqlx::query(select).bind(id.to_string())).await
}

pub(super) async fn records(
    conn: &mut SqliteConnection,
    after: Option<&StreamId>,
    limit: u32,
) -> Result<Vec<Record>> {
    let select = select!(records "WHERE stream > ? ORDER BY stream LIMIT ?");
    all(conn, sqlx::query(select).bind(from(after)).bind(limit)).await
}

pub(super) async fn briefs(
    conn: &mut SqliteConnection,
    after: Option<&StreamId>,
    limit: u32,
) -> Result<Vec<Record>> {
    let select =
        "SELECT stream, version, brief, '' AS rest FROM records WHERE stream > ? ORDER BY stream LIMIT ?";
    all(conn, sqlx::query(select).bind(from(after)).bind(limit)).await
}

pub(super) async fn events(conn: &mut SqliteConnection, after: Seq, limit: u32) -> Result<Vec<Event>> {
    all(conn, sqlx::query(EVENTS).bind(place(after.0)).bind(limit)).await
}

pub(super) async fn head(conn: &mut SqliteConnection) -> Result<Seq> {
    let head = scalar(conn, "SELECT max(seq) FROM events").await?;
    Ok(Seq(number("the last event", head.unwrap_or(0))?))
}

pub(super) async fn pending(conn: &mut SqliteConnection, now: Time, limit: u32) -> Result<Vec<Effect>> {
    let select = select!(outbox "WHERE done_at IS NULL AND (run_at IS NULL OR run_at <= ?) \
                  ORDER BY seq, \"index\" LIMIT ?");
    all(conn, sqlx::query(select).bind(now.0).bind(limit)).await
}

pub(super) async fn next_run(conn: &mut SqliteConnection) -> Result<Option<Time>> {
    Ok(
        scalar(conn, "SELECT min(run_at) FROM outbox WHERE done_at IS NULL")
            .await?
            .map(Time),
    )
}

pub(super) async fn effect(conn: &mut SqliteConnection, id: EffectId) -> Result<Option<Effect>> {
    let select = select!(outbox "WHERE seq = ? AND \"index\" = ?");
    first(conn, sqlx::query(select).bind(place(id.seq)).bind(id.index)).await
}

pub(super) async fn due(conn: &mut SqliteConnection, now: Time, limit: u32) -> Result<Vec<Timer>> {
    let select = select!(timers "WHERE due IS NOT NULL AND due <= ? ORDER BY due, stream, key LIMIT ?");
    all(conn, sqlx::query(select).bind(now.0).bind(limit)).await
}

pub(super) async fn next_due(conn: &mut SqliteConnection) -> Result<Option<Time>> {
    Ok(scalar(conn, "SELECT min(due) FROM timers WHERE due IS NOT NULL")
        .await?
        .map(Time))
}

pub(super) async fn timers_of(conn: &mut SqliteConnection, stream: &StreamId) -> Result<Vec<Timer>> {
    let select = select!(timers "WHERE stream = ? AND due IS NOT NULL ORDER BY key");
    all(conn, sqlx::query(select).bind(stream.to_string())).await
}

pub(super) async fn slots(conn: &mut SqliteConnection) -> Result<Vec<Slot>> {
    all(conn, sqlx::query(select!(slots "ORDER BY agent"))).await
}

/// The slot that keeps the agent from a claim of the ticket: its own, else that of the same claim.
pub(super) async fn slot_in_the_way(
    conn: &mut SqliteConnection,
    agent: &AgentName,
    ticket: &TicketId,
    fence: Fence,
) -> Result<Slot> {
    let select = select!(slots "WHERE agent = ?1 OR ticket = ?2 AND fence = ?3 ORDER BY agent <> ?1 LIMIT 1");
    let query = sqlx::query(select)
        .bind(agent.to_string())
        .bind(ticket.to_string())
        .bind(int(fence.0));
    let none = || Error::Damaged {
        what: format!("agent `{agent}` cannot take a free slot"),
    };
    first(conn, query).await?.ok_or_else(none)
}

pub(super) async fn pending_commands(
    conn: &mut SqliteConnection,
    after: Number,
    limit: u32,
) -> Result<Vec<Command>> {
    let select = select!(commands "WHERE outcome IS NULL AND number > ? ORDER BY number LIMIT ?");
    all(conn, sqlx::query(select).bind(place(after.0)).bind(limit)).await
}

pub(super) async fn command(conn: &mut SqliteConnection, id: &CommandId) -> Result<Option<Command>> {
    first(
        conn,
        sqlx::query(select!(commands "WHERE id = ?")).bind(id.0.clone()),
    )
    .await
}

pub(super) async fn meta(conn: &mut SqliteConnection, key: &str) -> Result<Option<String>> {
    let select = "SELECT value FROM meta WHERE key = ?";
    let query = sqlx::query_scalar(select).bind(key.to_owned());
    query
        .fetch_optional(conn)
        .await
        .map_err(|e| sort("reading the journal", e))
}

/// The result of the first append under this known key.
pub(super) async fn repeated(conn: &mut SqliteConnection, key: &str, stream: &StreamId) -> Result<Appended> {
    let query = sqlx::query(select!(keys "WHERE key = ?")).bind(key.to_owned());
    let lost = || Error::Damaged {
        what: format!("idempotency key `{key}` is both there and not"),
    };
    let found: Key = first(conn, query).await?.ok_or_else(lost)?;
    if found.stream != *stream {
        return Err(Error::KeyReused {
            key: found.key,
            stream: found.stream,
        });
    }
    let select = select!(outbox "WHERE seq BETWEEN ? AND ? ORDER BY seq, \"index\"");
    let query = sqlx::query(select)
        .bind(place(found.first.0))
        .bind(place(found.last.0));
    let effects: Vec<Effect> = all(conn, query).await?;
    Ok(Appended {
        first_seq: found.first,
        last_seq: found.last,
        version: found.version,
        effects: effects.into_iter().map(|effect| effect.id).collect(),
        repeated: true,
    })
}
