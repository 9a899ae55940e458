//! An append: the facts, orders and answers of one decision, which become durable in one transaction.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::{
    AgentName, CommandId, EffectId, Error, Fence, Record, Result, Seq, Stream, StreamId, TicketId, Time,
    TimerRef, Version,
};

/// The largest number that every backend can hold.
const MAX: u64 = i64::MAX as u64;

/// Facts of one stream with everything they order. All of it is written, or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Append {
    /// The stream to append to.
    pub stream: StreamId,
    /// The version that the decision was made on; 0 begins the stream.
    pub expected: Version,
    /// When given, must be the stream's current fence.
    pub fence: Option<Fence>,
    /// When given, becomes the stream's fence; must be greater than the current one.
    pub new_fence: Option<Fence>,
    /// The facts, at least one, in order; they get consecutive versions and places.
    pub events: Vec<NewEvent>,
    /// The time at which they happened.
    pub at: Time,
    /// Timers of this stream to set and cancel, in order, after `fires`.
    pub timers: Vec<TimerChange>,
    /// Slots to take and free, in order.
    pub slots: Vec<SlotChange>,
    /// The effect that these facts report; it must be undone, and is done with them.
    pub completes: Option<EffectId>,
    /// The timer that these facts answer; it must be set, in this generation, and is spent with them.
    pub fires: Option<TimerRef>,
    /// The command that these facts answer; it must be pending, and is answered with them.
    pub answers: Option<Answer>,
    /// Idempotency key, of the whole journal: an append with a known key writes nothing and returns the first
    /// one's result.
    pub key: Option<String>,
}

impl Append {
    /// An append of nothing yet, to be filled in.
    #[must_use]
    pub fn new(stream: StreamId, expected: Version, at: Time) -> Self {
        Self {
            stream,
            expected,
            fence: None,
            new_fence: None,
            events: Vec::new(),
            at,
            timers: Vec::new(),
            slots: Vec::new(),
            completes: None,
            fires: None,
            answers: None,
            key: None,
        }
    }

    /// Refuses an append that no backend may write, before anything is written.
    pub(crate) fn check(&self) -> Result<()> {
        let stream = &self.stream;
        if self.events.is_empty() {
            return Err(Error::Invalid {
                what: format!("an append to `{stream}` without an event"),
            });
        }
        for event in &self.events {
            named("event kind", &event.kind)?;
            json("event", &event.kind, &event.body)?;
            json("state after", &event.kind, &event.state_after)?;
            for effect in &event.effects {
                json("effect of", &event.kind, effect)?;
            }
        }
        for fence in [self.fence, self.new_fence].into_iter().flatten() {
            within("fence", fence.0)?;
        }
        within("expected version", self.expected.0)?;
        for change in &self.timers {
            match change {
                TimerChange::Set { key, .. } | TimerChange::Cancel { key } => named("timer key", key)?,
            }
        }
        for change in &self.slots {
            match change {
                SlotChange::Take { fence, .. } => within("fence", fence.0)?,
                SlotChange::Free { .. } => {}
            }
        }
        if let Some(effect) = self.completes {
            within("effect", effect.seq)?;
        }
        if let Some(timer) = &self.fires {
            within("timer generation", timer.generation)?;
        }
        if let Some(answer) = &self.answers {
            json("answer to", answer.command.as_str(), &answer.outcome)?;
        }
        if let Some(key) = &self.key {
            named("idempotency key", key)?;
        }
        Ok(())
    }

    /// Refuses the append when the stream has another version or fence than it expects; returns the fence
    /// that the stream has afterwards. Every backend calls this before it writes.
    ///
    /// # Errors
    /// [`Error::VersionConflict`], [`Error::StaleFence`].
    pub fn admit(&self, stream: Option<&Stream>) -> Result<Fence> {
        let (version, current) =
            stream.map_or((Version(0), Fence(0)), |stream| (stream.version, stream.fence));
        if version != self.expected {
            let (stream, expected) = (self.stream.clone(), self.expected);
            return Err(Error::VersionConflict {
                stream,
                expected,
                found: version,
            });
        }
        let stale = |given| Error::StaleFence {
            stream: self.stream.clone(),
            given,
            current,
        };
        if let Some(given) = self.fence
            && given != current
        {
            return Err(stale(given));
        }
        match self.new_fence {
            Some(given) if given <= current => Err(stale(given)),
            Some(given) => Ok(given),
            None => Ok(current),
        }
    }
}

/// Refuses an empty name, and a NUL in one (PostgreSQL cannot hold it).
pub(crate) fn named(what: &str, text: &str) -> Result<()> {
    if text.is_empty() {
        return Err(Error::Invalid {
            what: format!("an empty {what}"),
        });
    }
    if text.contains('\0') {
        return Err(Error::Invalid {
            what: format!("a NUL character in {what} {}", text::quoted(text)),
        });
    }
    Ok(())
}

/// Refuses text that is not one JSON value.
pub(crate) fn json(what: &str, of: &str, text: &str) -> Result<()> {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Ok(()),
        Err(source) => Err(Error::Invalid {
            what: format!("{what} `{of}` that is not JSON ({source})"),
        }),
    }
}

/// Refuses a record that is not JSON.
pub(crate) fn records(records: &[Record]) -> Result<()> {
    for record in records {
        let of = record.stream.to_string();
        json("record of", &of, &record.brief)?;
        json("record of", &of, &record.rest)?;
    }
    Ok(())
}

fn within(what: &str, number: u64) -> Result<()> {
    if number > MAX {
        return Err(Error::Invalid {
            what: format!("{what} {number}, above {MAX}"),
        });
    }
    Ok(())
}

/// A fact to be appended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEvent {
    /// Its name.
    pub kind: String,
    /// The event, JSON.
    pub body: String,
    /// The version of `body`'s shape.
    pub schema: u32,
    /// The cause, in words.
    pub cause: Option<String>,
    /// The stream's state after it, JSON.
    pub state_after: String,
    /// The effects that it orders, JSON each, in order.
    pub effects: Vec<String>,
}

/// A change to a timer of the append's stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerChange {
    /// Set it, or set it anew: its generation grows by one.
    Set {
        /// Its name within the stream.
        key: String,
        /// The time at which it is due.
        due: Time,
    },
    /// Cancel it; one that is not set stays so.
    Cancel {
        /// Its name within the stream.
        key: String,
    },
}

/// A change to the slots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotChange {
    /// Put the agent at the ticket; neither the agent nor the claim may be in a slot.
    Take {
        /// The agent.
        agent: AgentName,
        /// Its ticket.
        ticket: TicketId,
        /// The fence of the attempt or of the review.
        fence: Fence,
    },
    /// Take the agent away from its ticket; one that has none stays so.
    Free {
        /// The agent.
        agent: AgentName,
    },
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The command.
    pub command: CommandId,
    /// The answer, JSON.
    pub outcome: String,
}

/// The places and effects of an append.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Appended {
    /// The place of its first event.
    pub first_seq: Seq,
    /// The place of its last event.
    pub last_seq: Seq,
    /// The stream's version after it.
    pub version: Version,
    /// Its effects, in order.
    pub effects: Vec<EffectId>,
    /// True if its key was known: then this is the first one's result, and nothing was written now.
    pub repeated: bool,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The stream of the ticket with this id.
    pub(crate) fn ticket(id: &str) -> StreamId {
        StreamId::Ticket(TicketId::new(id).unwrap())
    }

    /// The least that begins a stream.
    pub(crate) fn minimal(stream: &str) -> Append {
        let event = NewEvent {
            kind: "happened".to_owned(),
            body: "1".to_owned(),
            schema: 1,
            cause: None,
            state_after: "1".to_owned(),
            effects: Vec::new(),
        };
        Append {
            events: vec![event],
            ..Append::new(ticket(stream), Version(0), Time(0))
        }
    }
}
