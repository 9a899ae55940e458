//! The contents of a journal in memory, and how an append changes them.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use super::table::Table;
use crate::append::json;
use crate::audit::Audit;
use crate::{
    AgentName, Append, Appended, CachedView, Command, CommandId, Effect, EffectId, Error, Event, Fence,
    NewCommand, NewView, Number, Record, Result, Seq, Slot, SlotChange, Stream, StreamId, Submitted, Time,
    Timer, TimerChange, TimerRef, Version,
};

/// A timer's row outlives the timer: the generation must never come back.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    pub(super) generation: u64,
    pub(super) due: Option<Time>,
}

/// The first append under an idempotency key.
#[derive(Clone, Debug)]
struct Key {
    stream: StreamId,
    first: Seq,
    last: Seq,
    version: Version,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    pub(super) streams: Table<StreamId, Stream>,
    pub(super) events: Table<Seq, Arc<Event>>,
    by_stream: Table<(StreamId, Seq), ()>,
    pub(super) outbox: Table<EffectId, Effect>,
    pub(super) undone: Table<EffectId, ()>,
    pub(super) timers: Table<(StreamId, String), Clock>,
    pub(super) armed: Table<(Time, StreamId, String), u64>,
    pub(super) slots: Table<AgentName, Slot>,
    keys: Table<String, Key>,
    pub(super) commands: Table<Number, Command>,
    pub(super) numbers: Table<CommandId, Number>,
    pub(super) unanswered: Table<Number, ()>,
    pub(super) meta: Table<String, String>,
    pub(super) cached_view: Table<(), CachedView>,
    pub(super) pieces: Table<u64, String>,
    pub(super) records: Table<StreamId, Record>,
}

macro_rules! every_table {
    ($contents:ident, $method:ident) => {{
        $contents.streams.$method();
        $contents.events.$method();
        $contents.by_stream.$method();
        $contents.outbox.$method();
        $contents.undone.$method();
        $contents.timers.$method();
        $contents.armed.$method();
        $contents.slots.$method();
        $contents.keys.$method();
        $contents.commands.$method();
        $contents.numbers.$method();
        $contents.unanswered.$method();
        $contents.meta.$method();
        $contents.cached_view.$method();
        $contents.pieces.$method();
        $contents.records.$method();
    }};
}

impl Contents {
    /// Runs `write` as a transaction: when it fails, nothing has changed.
    pub(super) fn transaction<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let result = write(self);
        if result.is_ok() {
            every_table!(self, commit);
        } else {
            every_table!(self, rollback);
        }
        result
    }

    pub(super) fn head(&self) -> Seq {
        self.events
            .rows()
            .last_key_value()
            .map_or(Seq(0), |(seq, _)| *seq)
    }

    /// The events of a stream after a place.
    pub(super) fn events_of(&self, stream: &StreamId, after: Seq) -> impl DoubleEndedIterator<Item = &Event> {
        let from = Bound::Excluded((stream.clone(), after));
        let to = Bound::Included((stream.clone(), Seq(u64::MAX)));
        let rows = self.by_stream.rows().range((from, to));
        rows.filter_map(|((_, seq), ())| self.events.get(seq))
            .map(Arc::as_ref)
    }

    pub(super) fn append(&mut self, append: &Append) -> Result<Appended> {
        if let Some(appended) = self.repeated(append)? {
            return Ok(appended);
        }
        let before = self.streams.get(&append.stream).cloned();
        let fence = append.admit(before.as_ref())?;
        if let Some(timer) = &append.fires {
            self.spend(timer)?;
        }
        if let Some(effect) = append.completes {
            self.complete(effect, append.at)?;
        }
        for change in &append.slots {
            self.slot(change)?;
        }
        if let Some(answer) = &append.answers {
            self.answer_once(&answer.command, &answer.outcome, append.at)?;
        }
        for change in &append.timers {
            self.timer(&append.stream, change);
        }
        Ok(self.write(append, fence))
    }

    fn repeated(&self, append: &Append) -> Result<Option<Appended>> {
        let Some((key, first)) = append
            .key
            .as_ref()
            .and_then(|key| Some((key, self.keys.get(key)?)))
        else {
            return Ok(None);
        };
        if first.stream != append.stream {
            return Err(Error::KeyReused {
                key: key.clone(),
                stream: first.stream.clone(),
            });
        }
        let from = EffectId {
            seq: first.first.0,
            index: 0,
        };
        let to = EffectId {
            seq: first.last.0,
            index: u32::MAX,
        };
        Ok(Some(Appended {
            first_seq: first.first,
            last_seq: first.last,
            version: first.version,
            effects: self.outbox.rows().range(from..=to).map(|(id, _)| *id).collect(),
            repeated: true,
        }))
    }

    fn write(&mut self, append: &Append, fence: Fence) -> Appended {
        let first_seq = Seq(self.head().0 + 1);
        let mut seq = self.head();
        let mut version = append.expected;
        let mut effects = Vec::new();
        let mut state = String::new();
        for event in &append.events {
            seq.0 += 1;
            version.0 += 1;
            state.clone_from(&event.state_after);
            self.by_stream.put((append.stream.clone(), seq), ());
            self.events.put(
                seq,
                Arc::new(Event {
                    seq,
                    stream: append.stream.clone(),
                    version,
                    at: append.at,
                    cause: event.cause.clone(),
                    kind: event.kind.clone(),
                    schema: event.schema,
                    body: event.body.clone(),
                    state_after: event.state_after.clone(),
                }),
            );
            for (index, body) in (0_u32..).zip(&event.effects) {
                let id = EffectId { seq: seq.0, index };
                let stream = append.stream.clone();
                let body = body.clone();
                self.outbox.put(
                    id,
                    Effect {
                        id,
                        stream,
                        body,
                        attempts: 0,
                        run_at: None,
                        why: None,
                        done_at: None,
                    },
                );
                self.undone.put(id, ());
                effects.push(id);
            }
        }
        self.streams.put(
            append.stream.clone(),
            Stream {
                id: append.stream.clone(),
                version,
                fence,
                state,
                archived: false,
            },
        );
        if let Some(key) = &append.key {
            let stream = append.stream.clone();
            self.keys.put(
                key.clone(),
                Key {
                    stream,
                    first: first_seq,
                    last: seq,
                    version,
                },
            );
        }
        Appended {
            first_seq,
            last_seq: seq,
            version,
            effects,
            repeated: false,
        }
    }

    fn timer(&mut self, stream: &StreamId, change: &TimerChange) {
        match change {
            TimerChange::Set { key, due } => {
                let generation = self.disarm(stream, key) + 1;
                self.timers.put(
                    (stream.clone(), key.clone()),
                    Clock {
                        generation,
                        due: Some(*due),
                    },
                );
                self.armed.put((*due, stream.clone(), key.clone()), generation);
            }
            TimerChange::Cancel { key } => {
                self.disarm(stream, key);
            }
        }
    }

    /// Unsets a timer and returns its last generation, 0 when it never had one.
    fn disarm(&mut self, stream: &StreamId, key: &str) -> u64 {
        let row = (stream.clone(), key.to_owned());
        let Some(Clock { generation, due }) = self.timers.get(&row).cloned() else {
            return 0;
        };
        if let Some(due) = due {
            self.armed.remove(&(due, stream.clone(), key.to_owned()));
            self.timers.put(
                row,
                Clock {
                    generation,
                    due: None,
                },
            );
        }
        generation
    }

    fn spend(&mut self, timer: &TimerRef) -> Result<()> {
        let set = self
            .timers
            .get(&(timer.stream.clone(), timer.key.clone()))
            .is_some_and(|clock| clock.generation == timer.generation && clock.due.is_some());
        if !set {
            return Err(Error::StaleTimer { timer: timer.clone() });
        }
        self.disarm(&timer.stream, &timer.key);
        Ok(())
    }

    fn complete(&mut self, id: EffectId, at: Time) -> Result<()> {
        let mut effect = self.undone(id)?;
        effect.done_at = Some(at);
        self.outbox.put(id, effect);
        self.undone.remove(&id);
        Ok(())
    }

    fn undone(&self, id: EffectId) -> Result<Effect> {
        match self.outbox.get(&id) {
            None => Err(Error::NotFound {
                what: format!("effect {id}"),
            }),
            Some(effect) if effect.done_at.is_some() => Err(Error::AlreadyDone { effect: id }),
            Some(effect) => Ok(effect.clone()),
        }
    }

    pub(super) fn done(&mut self, id: EffectId, at: Time) -> Result<()> {
        match self.complete(id, at) {
            Err(Error::AlreadyDone { .. }) => Ok(()),
            result => result,
        }
    }

    pub(super) fn tried(&mut self, id: EffectId, run_at: Time, why: Option<String>) -> Result<()> {
        let mut effect = self.undone(id)?;
        effect.attempts = effect.attempts.saturating_add(1);
        effect.run_at = Some(run_at);
        effect.why = why;
        self.outbox.put(id, effect);
        Ok(())
    }

    fn slot(&mut self, change: &SlotChange) -> Result<()> {
        match change {
            SlotChange::Take { agent, ticket, fence } => {
                let is_same = |slot: &&Slot| slot.ticket == *ticket && slot.fence == *fence;
                let by_claim = || self.slots.rows().values().find(is_same);
                if let Some(by) = self.slots.get(agent).or_else(by_claim).cloned() {
                    return Err(Error::SlotTaken {
                        agent: agent.clone(),
                        ticket: ticket.clone(),
                        by,
                    });
                }
                let slot = Slot {
                    agent: agent.clone(),
                    ticket: ticket.clone(),
                    fence: *fence,
                };
                self.slots.put(agent.clone(), slot);
            }
            SlotChange::Free { agent } => self.slots.remove(agent),
        }
        Ok(())
    }

    pub(super) fn submit(&mut self, new: NewCommand) -> Submitted {
        if let Some(command) = self.command(&new.id) {
            return Submitted {
                command,
                repeated: true,
            };
        }
        let number = Number(
            self.commands
                .rows()
                .last_key_value()
                .map_or(0, |(number, _)| number.0)
                + 1,
        );
        let NewCommand { id, by, at, body } = new;
        let command = Command {
            number,
            id,
            by,
            at,
            body,
            outcome: None,
            answered_at: None,
        };
        self.numbers.put(command.id.clone(), number);
        self.unanswered.put(number, ());
        self.commands.put(number, command.clone());
        Submitted {
            command,
            repeated: false,
        }
    }

    pub(super) fn command(&self, id: &CommandId) -> Option<Command> {
        self.numbers
            .get(id)
            .and_then(|number| self.commands.get(number))
            .cloned()
    }

    fn answer_once(&mut self, id: &CommandId, outcome: &str, at: Time) -> Result<()> {
        let Some(mut command) = self.command(id) else {
            return Err(Error::NotFound {
                what: format!("command `{id}`"),
            });
        };
        if command.outcome.is_some() {
            return Err(Error::AlreadyAnswered { command: id.clone() });
        }
        command.outcome = Some(outcome.to_owned());
        command.answered_at = Some(at);
        self.unanswered.remove(&command.number);
        self.commands.put(command.number, command);
        Ok(())
    }

    pub(super) fn answer(&mut self, id: &CommandId, outcome: &str, at: Time) -> Result<()> {
        match self.command(id).and_then(|command| command.outcome) {
            Some(before) if before == outcome => Ok(()),
            _ => self.answer_once(id, outcome, at),
        }
    }

    pub(super) fn archive(&mut self, id: &StreamId) -> Result<()> {
        let Some(stream) = self.streams.get(id).cloned() else {
            return Err(Error::NotFound {
                what: format!("stream `{id}`"),
            });
        };
        self.streams.put(
            id.clone(),
            Stream {
                archived: true,
                ..stream
            },
        );
        Ok(())
    }

    fn cache(&mut self, view: &NewView) -> Result<()> {
        let NewView {
            shape,
            seq,
            ref pieces,
        } = *view;
        let first = self
            .cached_view
            .get(&())
            .map_or(0, |last| last.first + last.pieces);
        let old: Vec<u64> = self.pieces.rows().keys().copied().collect();
        old.iter().for_each(|number| self.pieces.remove(number));
        let mut next = first;
        for piece in pieces.each() {
            let piece = piece?;
            json("view up to", &seq.to_string(), &piece)?;
            self.pieces.put(next, piece);
            next += 1;
        }
        let pieces = next - first;
        self.cached_view.put(
            (),
            CachedView {
                shape,
                seq,
                first,
                pieces,
            },
        );
        Ok(())
    }

    pub(super) fn save_view(&mut self, view: &NewView, records: &[Record]) -> Result<Option<Vec<StreamId>>> {
        if self
            .cached_view
            .get(&())
            .is_some_and(|last| view.is_behind(*last))
        {
            return Ok(None);
        }
        self.cache(view)?;
        let undone: BTreeSet<StreamId> = self
            .undone
            .rows()
            .keys()
            .filter_map(|id| self.outbox.get(id))
            .map(|effect| effect.stream.clone())
            .collect();
        let mut archived = Vec::new();
        for record in records {
            let id = &record.stream;
            self.records.put(id.clone(), record.clone());
            let is_armed = self.armed.rows().keys().any(|(_, stream, _)| stream == id);
            let there = self.streams.get(id).is_some_and(|s| s.version == record.version);
            if there && !is_armed && !undone.contains(id) {
                self.archive(id)?;
                archived.push(id.clone());
            }
        }
        Ok(Some(archived))
    }

    pub(super) fn verify(&self) -> Vec<String> {
        let mut audit = Audit::default();
        self.events.rows().values().for_each(|event| audit.event(event));
        self.streams
            .rows()
            .values()
            .for_each(|stream| audit.stream(stream));
        self.outbox
            .rows()
            .values()
            .for_each(|effect| audit.effect(effect.id, &effect.body));
        for ((due, stream, key), generation) in self.armed.rows() {
            let timer = TimerRef {
                stream: stream.clone(),
                key: key.clone(),
                generation: *generation,
            };
            audit.timer(&Timer { timer, due: *due });
        }
        self.slots.rows().values().for_each(|slot| audit.slot(slot));
        for (name, key) in self.keys.rows() {
            audit.key(name, &key.stream, key.first, key.last);
        }
        audit.problems()
    }
}
