//! What a row was when it was written, as a number: SQLite gives back whatever the disk does.

use crc32fast::Hasher;
use sqlx::sqlite::SqliteRow;

use super::insert::{EffectRow, EventRow};
use super::read::{FromRow, Parse, get};
use crate::{Command, Effect, Error, Event, NewCommand, Result, Stream};

/// A row with a checksum of its values that never change.
pub(super) trait Summed: Parse {
    /// The checksum that it was written with.
    fn checksum(&self) -> u32;
    /// What it is, in words.
    fn name(&self) -> String;
}

impl<T: Summed> FromRow for T {
    fn from_row(row: &SqliteRow) -> Result<Self> {
        let (value, harm) = doubted(row)?;
        harm.map_or(Ok(value), |what| Err(Error::Damaged { what }))
    }
}

/// What a row says, and what speaks against it.
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
    Nothing,
}

use Part::{Nothing, Number, Text, Time};

/// The checksum of these values in this order; each is told apart from the next.
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
            Nothing => sum.update(&u64::MAX.to_le_bytes()),
        }
    }
    sum.finalize()
}

fn maybe(text: Option<&str>) -> Part<'_> {
    text.map_or(Nothing, Text)
}

/// Of a stream; whether it is archived is said without an append.
pub(super) fn of_stream(stream: &Stream) -> u32 {
    sum([
        Text(&stream.id.0),
        Text(&stream.kind),
        Number(stream.version.0),
        Number(stream.fence.0),
        Text(&stream.state),
    ])
}

/// Of an event that is to be written.
pub(super) fn of_event(row: &EventRow<'_>) -> u32 {
    let EventRow { append, event, .. } = row;
    sum([
        Number(row.seq.0),
        Text(&append.stream.0),
        Number(row.version.0),
        Time(append.at.0),
        maybe(event.cause.as_deref()),
        Text(&event.kind),
        Number(event.schema.into()),
        Text(&event.body),
        Text(&event.state_after),
    ])
}

/// Of an effect that is to be written; when it is tried, and done, is said later.
pub(super) fn of_effect((append, effect, body): &EffectRow<'_>) -> u32 {
    sum([
        Number(effect.seq.0),
        Number(effect.index.into()),
        Text(&append.stream.0),
        Text(body),
    ])
}

/// Of a command that is to be written; its number is found as it is written, and its answer comes later.
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
            Text(&self.stream.0),
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
            Number(self.id.seq.0),
            Number(self.id.index.into()),
            Text(&self.stream.0),
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
