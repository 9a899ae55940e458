//! Checksums of rows: SQLite has none, and returns whatever the disk returns.

use crc32fast::Hasher;
use sqlx::sqlite::SqliteRow;

use super::insert::{EffectRow, EventRow};
use super::read::{FromRow, Parse, get};
use crate::{Command, Effect, Error, Event, NewCommand, Result, Stream, StreamId};

/// A row with a checksum of its values that never change.
pub(super) trait Summed: Parse {
    /// The checksum of its values.
    fn checksum(&self) -> u32;
    /// Its name in messages.
    fn name(&self) -> String;
}

impl<T: Summed> FromRow for T {
    fn from_row(row: &SqliteRow) -> Result<Self> {
        let (value, harm) = doubted(row)?;
        harm.map_or(Ok(value), |what| Err(Error::Damaged { what }))
    }
}

/// The values of a row, and its damage in words.
pub(super) fn doubted<T: Summed>(row: &SqliteRow) -> Result<(T, Option<String>)> {
    let value = T::parse(row)?;
    let written: i64 = get(row, "checksum")?;
    let is_other = written != i64::from(value.checksum());
    let harm = is_other.then(|| format!("{} is not as it was written", value.name()));
    Ok((value, harm))
}

/// A value of a row.
enum Part<'a> {
    Number(u64),
    Time(i64),
    Text(&'a str),
    Name(&'a StreamId),
    Nothing,
}

use Part::{Name, Nothing, Number, Text, Time};

/// The checksum of these values in this order; each is separated from the next.
fn sum<const N: usize>(parts: [Part<'_>; N]) -> u32 {
    let mut sum = Hasher::new();
    for part in parts {
        match part {
            Number(number) => sum.update(&number.to_le_bytes()),
            Time(at) => sum.update(&at.to_le_bytes()),
            Text(text) => {
                sum.update(&(text.len() as u64).to_le_bytes());
                sum.update(text.as_bytes());
            }
            Name(StreamId::Project) => {
                sum.update(&7_u64.to_le_bytes());
                sum.update(b"project");
            }
            Name(StreamId::Ticket(id)) => {
                sum.update(&(7 + id.as_str().len() as u64).to_le_bytes());
                sum.update(b"ticket/");
                sum.update(id.as_str().as_bytes());
            }
            Nothing => sum.update(&u64::MAX.to_le_bytes()),
        }
    }
    sum.finalize()
}

fn maybe(text: Option<&str>) -> Part<'_> {
    text.map_or(Nothing, Text)
}

/// The checksum of a stream; `archived` is left out, since it is set without an append.
pub(super) fn of_stream(stream: &Stream) -> u32 {
    sum([
        Name(&stream.id),
        Number(stream.version.0),
        Number(stream.fence.0),
        Text(&stream.state),
    ])
}

/// The checksum of an event that is to be written.
pub(super) fn of_event(row: &EventRow<'_>) -> u32 {
    let EventRow { append, event, .. } = row;
    sum([
        Number(row.seq.0),
        Name(&append.stream),
        Number(row.version.0),
        Time(append.at.0),
        maybe(event.cause.as_deref()),
        Text(&event.kind),
        Number(event.schema.into()),
        Text(&event.body),
        Text(&event.state_after),
    ])
}

/// The checksum of an effect that is to be written; its tries and its end are left out, since they come
/// later.
pub(super) fn of_effect((append, effect, body): &EffectRow<'_>) -> u32 {
    sum([
        Number(effect.seq),
        Number(effect.index.into()),
        Name(&append.stream),
        Text(body),
    ])
}

/// The checksum of a command that is to be written; its number is found as it is written, and its answer
/// comes later.
pub(super) fn of_command(command: &NewCommand) -> u32 {
    sum([
        Text(&command.id.0),
        Text(&command.by),
        Time(command.at.0),
        Text(&command.body),
    ])
}

impl Summed for Event {
    fn checksum(&self) -> u32 {
        sum([
            Number(self.seq.0),
            Name(&self.stream),
            Number(self.version.0),
            Time(self.at.0),
            maybe(self.cause.as_deref()),
            Text(&self.kind),
            Number(self.schema.into()),
            Text(&self.body),
            Text(&self.state_after),
        ])
    }

    fn name(&self) -> String {
        format!("event {} (of stream `{}`)", self.seq, self.stream)
    }
}

impl Summed for Effect {
    fn checksum(&self) -> u32 {
        sum([
            Number(self.id.seq),
            Number(self.id.index.into()),
            Name(&self.stream),
            Text(&self.body),
        ])
    }

    fn name(&self) -> String {
        format!("effect {} (of stream `{}`)", self.id, self.stream)
    }
}

impl Summed for Command {
    fn checksum(&self) -> u32 {
        sum([
            Text(&self.id.0),
            Text(&self.by),
            Time(self.at.0),
            Text(&self.body),
        ])
    }

    fn name(&self) -> String {
        format!("command `{}`", self.id)
    }
}
