//! The journal in the model's own terms: what the engine writes, and what frontends ask and follow.

use model::command::{self, Outcome};
use model::journal::{self, Fact, SCHEMA, State, Write};
use model::policy::backoff;
use model::view::Failing;
use model::{TicketId, Time, ticket};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{
    Answer, Append, CommandId, Effect, EffectId, Error, Event, Fence, Journal, Millis, NewCommand, NewEvent,
    Number, Result, Seq, SlotChange, StreamId, TimerChange, TimerRef, Version, Which,
};

mod shelf;
mod view;

use shelf::Shelf;
pub use view::is_worth_it;

/// How many rows are read at a time.
const PAGE: u32 = 1000;

/// A journal whose payloads are the model's values. Clones are handles to one, and what they read they have together.
#[derive(Clone, Debug)]
pub struct Ledger<J>(pub J, Shelf);

/// A stored event, as a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// Its place in the journal.
    pub seq: u64,
    /// Its stream.
    pub stream: journal::Stream,
    /// The stream's version with it.
    pub version: u64,
    /// When it happened.
    pub at: Time,
    /// What led to it.
    pub cause: String,
    /// What happened.
    pub fact: Fact,
    /// The stream's state after it.
    pub after: State,
}

/// An ordered effect that is not done.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered {
    /// Its place.
    pub id: journal::EffectId,
    /// The ticket that ordered it.
    pub ticket: TicketId,
    /// What to do.
    pub effect: ticket::Effect,
}

/// A command in the inbox.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Its place in the inbox.
    pub number: u64,
    /// Its id.
    pub id: String,
    /// Who asked.
    pub by: String,
    /// When.
    pub at: Time,
    /// What.
    pub command: command::Command,
}

impl<J: Journal> Ledger<J> {
    /// The journal in the model's terms.
    pub fn new(journal: J) -> Self {
        Self(journal, Shelf::default())
    }

    /// Makes decisions durable, in one transaction, and gives what they ordered, in order.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub async fn record(&self, writes: Vec<Write>) -> Result<Vec<Ordered>> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        let ordered: Vec<(Option<TicketId>, Vec<ticket::Effect>)> = writes.iter().map(effects).collect();
        let after: Vec<(u64, State)> = writes.iter().filter_map(after).collect();
        let batch = writes.into_iter().map(append).collect::<Result<Vec<Append>>>()?;
        let appended = self.0.append(batch).await?;
        for (version, state) in after {
            drop(self.1.one(version, state));
        }
        let mut out = Vec::new();
        for (appended, (ticket, effects)) in appended.into_iter().zip(ordered) {
            let Some(ticket) = ticket else { continue };
            for (id, effect) in appended.effects.into_iter().zip(effects) {
                out.push(Ordered {
                    id: effect_id(id),
                    ticket: ticket.clone(),
                    effect,
                });
            }
        }
        Ok(out)
    }

    /// Every live stream, with its version and state.
    ///
    /// # Errors
    /// [`Error::Damaged`] when one cannot be understood; the backend's failure.
    pub async fn streams(&self) -> Result<Vec<(journal::Stream, u64, State)>> {
        let mut out = Vec::new();
        let mut after: Option<StreamId> = None;
        loop {
            let page = self.0.streams(Which::Live, after.as_ref(), PAGE).await?;
            let Some(last) = page.last() else { return Ok(out) };
            after = Some(last.id.clone());
            for row in page {
                let stream = stream(&row.id)?;
                let state = self.1.one(row.version.0, state(&stream, &row.state)?);
                out.push((stream, row.version.0, state));
            }
        }
    }

    /// Every effect that is ordered and not done, whenever it may be tried.
    ///
    /// # Errors
    /// [`Error::Damaged`] when one cannot be understood; the backend's failure.
    pub async fn pending(&self, now: Time) -> Result<Vec<Ordered>> {
        let rows = self.0.pending(Millis(now.0), u32::MAX >> 1).await?;
        rows.iter().map(ordered).collect()
    }

    /// When an effect was decided on.
    ///
    /// # Errors
    /// [`Error::Damaged`]: nothing was decided there; the backend's failure.
    pub async fn decided_at(&self, id: journal::EffectId) -> Result<Time> {
        let row = self.0.events(Seq(id.seq.saturating_sub(1)), 1).await?.pop();
        row.filter(|row| row.seq.0 == id.seq)
            .map(|row| Time(row.at.0))
            .ok_or_else(|| Error::Damaged {
                what: format!("effect {}-{} was ordered by nothing", id.seq, id.index),
            })
    }

    /// Notes that effects are finished without a fact.
    ///
    /// # Errors
    /// As [`Journal::done`].
    pub async fn finish(&self, ids: &[journal::EffectId], now: Time) -> Result<()> {
        for id in ids {
            self.0.done(stored_effect_id(*id), Millis(now.0)).await?;
        }
        Ok(())
    }

    /// Notes that an effect is to be tried again at `at`; and why it fails, where a person is to know.
    ///
    /// # Errors
    /// As [`Journal::tried`].
    pub async fn postpone(&self, id: journal::EffectId, at: Time, why: Option<String>) -> Result<()> {
        self.0.tried(stored_effect_id(id), Millis(at.0), why).await
    }

    /// What was tried in vain so often that a person is to mend something, whichever engines tried.
    ///
    /// # Errors
    /// [`Error::Damaged`] when an effect cannot be understood; the backend's failure.
    pub async fn failing(&self) -> Result<Vec<Failing>> {
        let rows = self.0.pending(Millis(i64::MAX), u32::MAX >> 1).await?;
        let mut told = Vec::new();
        for mut row in rows {
            let Some(why) = row.why.take().filter(|_| row.attempts >= backoff::IN_VAIN) else {
                continue;
            };
            let ordered = ordered(&row)?;
            told.push(Failing {
                since: self.decided_at(ordered.id).await?,
                of: ordered.id,
                ticket: ordered.ticket,
                is_file: ordered.effect.is_of_file(),
                why,
                until: row.run_at.map(|at| Time(at.0)),
            });
        }
        Ok(told)
    }

    /// Timers that are due.
    ///
    /// # Errors
    /// The backend's failure.
    pub async fn due(&self, now: Time) -> Result<Vec<journal::TimerRef>> {
        let rows = self.0.due(Millis(now.0), PAGE).await?;
        rows.into_iter()
            .map(|row| {
                let stream = stream(&row.timer.stream)?;
                Ok(journal::TimerRef {
                    stream,
                    key: row.timer.key,
                    generation: row.timer.generation,
                })
            })
            .collect()
    }

    /// Asks the engine for something. The same id asks once.
    ///
    /// # Errors
    /// As [`Journal::submit`].
    pub async fn submit(&self, id: &str, by: &str, at: Time, command: &command::Command) -> Result<()> {
        let (id, by, body) = (CommandId(id.to_owned()), by.to_owned(), text("command", command)?);
        self.0
            .submit(NewCommand {
                id,
                by,
                at: Millis(at.0),
                body,
            })
            .await?;
        Ok(())
    }

    /// What became of a command; nothing while it is pending.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such command; the backend's failure.
    pub async fn outcome(&self, id: &str) -> Result<Option<Outcome>> {
        let Some(row) = self.0.command(&CommandId(id.to_owned())).await? else {
            return Err(Error::NotFound {
                what: format!("command `{id}`"),
            });
        };
        row.outcome.map(|text| read("outcome", &text)).transpose()
    }

    /// Commands without an answer, after a place in the inbox. One that cannot be understood is answered so.
    ///
    /// # Errors
    /// The backend's failure.
    pub async fn asked(&self, after: u64, now: Time) -> Result<Vec<Asked>> {
        let mut out = Vec::new();
        for row in self.0.pending_commands(Number(after), PAGE).await? {
            match read("command", &row.body) {
                Ok(command) => out.push(Asked {
                    number: row.number.0,
                    id: row.id.0,
                    by: row.by,
                    at: Time(row.at.0),
                    command,
                }),
                Err(_) => {
                    let why = "this engine does not know the command; is it an older crew?".to_owned();
                    self.answer(&row.id.0, &Outcome::Refused { why }, now).await?;
                }
            }
        }
        Ok(out)
    }

    /// Answers a command without a fact.
    ///
    /// # Errors
    /// As [`Journal::settle`].
    pub async fn answer(&self, id: &str, outcome: &Outcome, now: Time) -> Result<()> {
        self.0
            .settle(
                &CommandId(id.to_owned()),
                text("outcome", outcome)?,
                Millis(now.0),
            )
            .await
    }

    /// The tail: events after a place, of all streams, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::NewerSchema`]; the backend's failure.
    pub async fn tail(&self, after: u64, limit: u32) -> Result<Vec<Fold>> {
        self.0
            .events(Seq(after), limit)
            .await?
            .into_iter()
            .map(|row| self.fold(row))
            .collect()
    }

    /// The event at a place.
    ///
    /// # Errors
    /// As [`Ledger::tail`]; [`Error::NotFound`] when there is none.
    pub async fn row(&self, seq: u64) -> Result<Fold> {
        let rows = self.tail(seq.saturating_sub(1), 1).await?;
        let found = rows.into_iter().find(|row| row.seq == seq);
        found.ok_or_else(|| Error::NotFound {
            what: format!("event {seq}"),
        })
    }

    /// Every event of one stream.
    ///
    /// # Errors
    /// As [`Ledger::tail`].
    pub async fn history(&self, of: &journal::Stream) -> Result<Vec<Fold>> {
        self.history_after(of, 0).await
    }

    /// The events of one stream that came after it had a version.
    ///
    /// # Errors
    /// As [`Ledger::tail`].
    pub async fn history_after(&self, of: &journal::Stream, version: u64) -> Result<Vec<Fold>> {
        let mut out = Vec::new();
        self.each_of(of, version, |fold| out.push(fold)).await?;
        Ok(out)
    }

    /// As [`Ledger::history_after`], one event after the other.
    ///
    /// # Errors
    /// As [`Ledger::tail`].
    pub async fn each_of(
        &self,
        of: &journal::Stream,
        version: u64,
        mut each: impl FnMut(Fold),
    ) -> Result<()> {
        let id = StreamId(of.to_string());
        let mut after = Seq(0);
        if version > 0 {
            let Some(event) = self.0.event_of(&id, Version(version)).await? else {
                return Ok(());
            };
            after = event.seq;
        }
        loop {
            let page = self.0.events_of(&id, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.seq;
            for event in page {
                each(self.fold(event)?);
            }
        }
    }

    fn fold(&self, row: Event) -> Result<Fold> {
        if row.schema > SCHEMA {
            return Err(Error::NewerSchema {
                found: i64::from(row.schema),
                known: i64::from(SCHEMA),
            });
        }
        let stream = stream(&row.stream)?;
        let fact = match stream {
            journal::Stream::Project => Fact::Project(read("event", &row.body)?),
            journal::Stream::Ticket(_) => Fact::Ticket(read("event", &row.body)?),
        };
        Ok(Fold {
            seq: row.seq.0,
            version: row.version.0,
            at: Time(row.at.0),
            cause: row.cause.unwrap_or_default(),
            after: self.1.one(row.version.0, state(&stream, &row.state_after)?),
            stream,
            fact,
        })
    }
}

fn ordered(row: &Effect) -> Result<Ordered> {
    let journal::Stream::Ticket(ticket) = stream(&row.stream)? else {
        return Err(Error::Damaged {
            what: format!("effect {} was ordered by no ticket", row.id),
        });
    };
    Ok(Ordered {
        id: effect_id(row.id),
        ticket,
        effect: read("effect", &row.body)?,
    })
}

/// The stream's version and state once it is written.
fn after(write: &Write) -> Option<(u64, State)> {
    let last = write.entries.last()?;
    Some((write.expected + write.entries.len() as u64, last.after.clone()))
}

fn effects(write: &Write) -> (Option<TicketId>, Vec<ticket::Effect>) {
    let ticket = match &write.stream {
        journal::Stream::Ticket(id) => Some(id.clone()),
        journal::Stream::Project => None,
    };
    (
        ticket,
        write
            .entries
            .iter()
            .flat_map(|e| e.effects.iter().cloned())
            .collect(),
    )
}

fn append(write: Write) -> Result<Append> {
    let stream = &write.stream;
    let mut out = Append::new(
        StreamId(stream.to_string()),
        stream.kind(),
        Version(write.expected),
        Millis(write.at.0),
    );
    out.fence = write.fence.map(|f| Fence(f.0));
    out.new_fence = write.new_fence.map(|f| Fence(f.0));
    let cause = (!write.cause.is_empty()).then_some(write.cause);
    for entry in &write.entries {
        out.events.push(NewEvent {
            kind: entry.fact.name().to_owned(),
            body: match &entry.fact {
                Fact::Project(event) => text("event", event)?,
                Fact::Ticket(event) => text("event", event)?,
            },
            schema: SCHEMA,
            cause: cause.clone(),
            state_after: match &entry.after {
                State::Project(project) => text("state", project)?,
                State::Ticket(ticket) => text("state", ticket.as_ref())?,
            },
            effects: entry
                .effects
                .iter()
                .map(|e| text("effect", e))
                .collect::<Result<_>>()?,
        });
    }
    out.timers = write
        .timers
        .iter()
        .map(|change| match change {
            ticket::TimerChange::Set(d) => TimerChange::Set {
                key: d.key.as_str().to_owned(),
                due: Millis(d.at.0),
            },
            ticket::TimerChange::Cancel(key) => TimerChange::Cancel {
                key: key.as_str().to_owned(),
            },
        })
        .collect();
    let ticket_id = match stream {
        journal::Stream::Ticket(id) => id.to_string(),
        journal::Stream::Project => String::new(),
    };
    out.slots = write
        .slots
        .iter()
        .map(|change| match change {
            ticket::SlotChange::Free(agent) => SlotChange::Free {
                agent: agent.to_string(),
            },
            ticket::SlotChange::Take(agent, fence) => SlotChange::Take {
                agent: agent.to_string(),
                ticket: ticket_id.clone(),
                fence: Fence(fence.0),
            },
        })
        .collect();
    out.completes = write.completes.map(stored_effect_id);
    out.fires = write.fires.map(|timer| TimerRef {
        stream: StreamId(timer.stream.to_string()),
        key: timer.key,
        generation: timer.generation,
    });
    if let Some((id, outcome)) = write.answers {
        out.answers = Some(Answer {
            command: CommandId(id),
            outcome: text("outcome", &outcome)?,
        });
    }
    Ok(out)
}

fn state(stream: &journal::Stream, text: &str) -> Result<State> {
    match stream {
        journal::Stream::Project => Ok(State::Project(read("state", text)?)),
        journal::Stream::Ticket(_) => Ok(State::Ticket(read("state", text)?)),
    }
}

fn stream(id: &StreamId) -> Result<journal::Stream> {
    journal::Stream::parse(id.as_str()).ok_or_else(|| Error::Damaged {
        what: format!("a stream is called {}", text::quoted(id.as_str())),
    })
}

fn effect_id(id: EffectId) -> journal::EffectId {
    journal::EffectId {
        seq: id.seq.0,
        index: id.index,
    }
}

fn stored_effect_id(id: journal::EffectId) -> EffectId {
    EffectId {
        seq: Seq(id.seq),
        index: id.index,
    }
}

fn text<T: Serialize>(what: &str, value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|source| Error::Invalid {
        what: format!("a {what} that is not JSON ({source})"),
    })
}

fn read<T: DeserializeOwned>(what: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|source| Error::Damaged {
        what: format!("a stored {what} cannot be read: {source}"),
    })
}
