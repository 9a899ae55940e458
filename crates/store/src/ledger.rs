//! The ledger: the journal in the model's own terms, for the engine and for frontends.

use model::command::{self, Asked, Outcome};
use model::journal::{self, Fact, Ordered, SCHEMA, State, Write};
use model::policy::backoff;
use model::view::Failing;
use model::{TicketId, Time, ticket};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{
    Answer, Any, Append, CommandId, Effect, Error, Event, Journal, NewCommand, NewEvent, Number, Result, Seq,
    SlotChange, Subscription, TimerChange, Version, Which,
};

mod archive;
mod hooks;
mod interner;

pub use archive::is_worth_archiving;
pub use hooks::{Delivered, FailedHook};
use interner::Interner;

/// The number of rows that are read at a time.
const PAGE: u32 = 1000;

/// A journal whose payloads are the model's values. Clones are handles to one, and share the states that they
/// read.
#[derive(Clone, Debug)]
pub struct Ledger<J = Any>(pub J, Interner);

/// A stored event, as a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its place in the journal.
    pub seq: u64,
    /// Its stream.
    pub stream: journal::Stream,
    /// The stream's version with it.
    pub version: u64,
    /// The time at which it happened.
    pub at: Time,
    /// The cause, in words.
    pub cause: String,
    /// The event.
    pub fact: Fact,
    /// The stream's state after it.
    pub after: State,
}

impl<J: Journal> Ledger<J> {
    /// The journal in the model's terms.
    pub fn new(journal: J) -> Self {
        Self(journal, Interner::default())
    }

    /// Closes the journal, as [`Journal::close`] does.
    pub async fn close(&self) {
        self.0.close().await;
    }

    /// Subscribes to every write, as [`Journal::subscribe`] does.
    #[must_use]
    pub fn subscribe(&self) -> Subscription {
        self.0.subscribe()
    }

    /// Makes decisions durable, in one transaction, and returns the effects that they ordered, in order.
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
                    id,
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
        let mut after: Option<journal::Stream> = None;
        loop {
            let page = self.0.streams(Which::Live, after.as_ref(), PAGE).await?;
            let Some(last) = page.last() else { return Ok(out) };
            after = Some(last.id.clone());
            for row in page {
                let state = self.1.one(row.version.0, state(&row.id, &row.state)?);
                out.push((row.id, row.version.0, state));
            }
        }
    }

    /// Every effect that is ordered and not done, whenever it may be tried.
    ///
    /// # Errors
    /// [`Error::Damaged`] when one cannot be understood; the backend's failure.
    pub async fn pending(&self, now: Time) -> Result<Vec<Ordered>> {
        let rows = self.0.pending(now, u32::MAX >> 1).await?;
        rows.iter().map(ordered).collect()
    }

    /// The time of the decision that ordered an effect.
    ///
    /// # Errors
    /// [`Error::Damaged`]: nothing was decided there; the backend's failure.
    pub async fn decided_at(&self, id: journal::EffectId) -> Result<Time> {
        let row = self.0.events(Seq(id.seq.saturating_sub(1)), 1).await?.pop();
        row.filter(|row| row.seq.0 == id.seq)
            .map(|row| row.at)
            .ok_or_else(|| Error::Damaged {
                what: format!("effect {id} was ordered by nothing"),
            })
    }

    /// Notes that effects are finished, without a fact to report.
    ///
    /// # Errors
    /// As [`Journal::done`].
    pub async fn finish(&self, ids: &[journal::EffectId], now: Time) -> Result<()> {
        for id in ids {
            self.0.done(*id, now).await?;
        }
        Ok(())
    }

    /// Notes that an effect is to be tried again at `at`; and why it fails, where a person must know.
    ///
    /// # Errors
    /// As [`Journal::tried`].
    pub async fn postpone(&self, id: journal::EffectId, at: Time, why: Option<String>) -> Result<()> {
        self.0.tried(id, at, why).await
    }

    /// The effects that failed so often that a person must mend something, whichever engines tried.
    ///
    /// # Errors
    /// [`Error::Damaged`] when an effect cannot be understood; the backend's failure.
    pub async fn failing(&self) -> Result<Vec<Failing>> {
        let rows = self.0.pending(Time(i64::MAX), u32::MAX >> 1).await?;
        let mut told = Vec::new();
        for mut row in rows {
            let Some(why) = row.why.take().filter(|_| row.attempts >= backoff::FAILED_TRIES) else {
                continue;
            };
            let ordered = ordered(&row)?;
            told.push(Failing {
                since: self.decided_at(ordered.id).await?,
                of: ordered.id,
                ticket: ordered.ticket,
                is_file: ordered.effect.is_of_file(),
                why,
                until: row.run_at,
            });
        }
        Ok(told)
    }

    /// Timers that are due.
    ///
    /// # Errors
    /// The backend's failure.
    pub async fn due(&self, now: Time) -> Result<Vec<journal::TimerRef>> {
        let rows = self.0.due(now, PAGE).await?;
        Ok(rows.into_iter().map(|row| row.timer).collect())
    }

    /// Asks the engine for something. The same id asks once.
    ///
    /// # Errors
    /// As [`Journal::submit`].
    pub async fn submit(&self, id: &str, by: &str, at: Time, command: &command::Command) -> Result<()> {
        let (id, by, body) = (CommandId(id.to_owned()), by.to_owned(), text("command", command)?);
        self.0.submit(NewCommand { id, by, at, body }).await?;
        Ok(())
    }

    /// The outcome of a command; none while it is pending.
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

    /// Commands without an answer, after a place in the inbox. A command that cannot be understood is refused
    /// with that answer.
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
                    at: row.at,
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
    /// As [`Journal::answer`].
    pub async fn answer(&self, id: &str, outcome: &Outcome, now: Time) -> Result<()> {
        let id = CommandId(id.to_owned());
        self.0.answer(&id, text("outcome", outcome)?, now).await
    }

    /// The tail: events after a place, of all streams, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::NewerSchema`]; the backend's failure.
    pub async fn tail(&self, after: u64, limit: u32) -> Result<Vec<Recorded>> {
        self.0
            .events(Seq(after), limit)
            .await?
            .into_iter()
            .map(|row| self.recorded(row))
            .collect()
    }

    /// The event at a place.
    ///
    /// # Errors
    /// As [`Ledger::tail`]; [`Error::NotFound`] when there is none.
    pub async fn row(&self, seq: u64) -> Result<Recorded> {
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
    pub async fn history(&self, of: &journal::Stream) -> Result<Vec<Recorded>> {
        self.history_after(of, 0).await
    }

    /// The events of one stream that came after it had a version.
    ///
    /// # Errors
    /// As [`Ledger::tail`].
    pub async fn history_after(&self, of: &journal::Stream, version: u64) -> Result<Vec<Recorded>> {
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
        mut each: impl FnMut(Recorded),
    ) -> Result<()> {
        let mut after = Seq(0);
        if version > 0 {
            let Some(event) = self.0.event_of(of, Version(version)).await? else {
                return Ok(());
            };
            after = event.seq;
        }
        loop {
            let page = self.0.events_of(of, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.seq;
            for event in page {
                each(self.recorded(event)?);
            }
        }
    }

    fn recorded(&self, row: Event) -> Result<Recorded> {
        if row.schema > SCHEMA {
            return Err(Error::NewerSchema {
                found: i64::from(row.schema),
                known: i64::from(SCHEMA),
            });
        }
        let stream = row.stream;
        let fact = match stream {
            journal::Stream::Project => Fact::Project(read("event", &row.body)?),
            journal::Stream::Ticket(_) => Fact::Ticket(read("event", &row.body)?),
        };
        Ok(Recorded {
            seq: row.seq.0,
            version: row.version.0,
            at: row.at,
            cause: row.cause.unwrap_or_default(),
            after: self.1.one(row.version.0, state(&stream, &row.state_after)?),
            stream,
            fact,
        })
    }
}

fn ordered(row: &Effect) -> Result<Ordered> {
    let journal::Stream::Ticket(ticket) = row.stream.clone() else {
        return Err(Error::Damaged {
            what: format!("effect {} was ordered by no ticket", row.id),
        });
    };
    Ok(Ordered {
        id: row.id,
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
    let mut out = Append::new(write.stream, Version(write.expected), write.at);
    out.fence = write.fence;
    out.new_fence = write.new_fence;
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
            ticket::TimerChange::Set(deadline) => TimerChange::Set {
                key: deadline.key.as_str().to_owned(),
                due: deadline.at,
            },
            ticket::TimerChange::Cancel(key) => TimerChange::Cancel {
                key: key.as_str().to_owned(),
            },
        })
        .collect();
    out.slots = write
        .slots
        .into_iter()
        .map(|change| slot(&out.stream, change))
        .collect::<Result<_>>()?;
    out.completes = write.completes;
    out.fires = write.fires;
    if let Some((id, outcome)) = write.answers {
        out.answers = Some(Answer {
            command: CommandId(id),
            outcome: text("outcome", &outcome)?,
        });
    }
    Ok(out)
}

fn slot(stream: &journal::Stream, change: ticket::SlotChange) -> Result<SlotChange> {
    match (change, stream) {
        (ticket::SlotChange::Free(agent), _) => Ok(SlotChange::Free { agent }),
        (ticket::SlotChange::Take(agent, fence), journal::Stream::Ticket(ticket)) => Ok(SlotChange::Take {
            agent,
            ticket: ticket.clone(),
            fence,
        }),
        (ticket::SlotChange::Take(agent, _), journal::Stream::Project) => Err(Error::Invalid {
            what: format!("a slot of {agent} without a ticket"),
        }),
    }
}

fn state(stream: &journal::Stream, text: &str) -> Result<State> {
    match stream {
        journal::Stream::Project => Ok(State::Project(read("state", text)?)),
        journal::Stream::Ticket(_) => Ok(State::Ticket(read("state", text)?)),
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
