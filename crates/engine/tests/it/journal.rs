//! The journal in memory: it records what a core decides, and panics where the store would refuse.

use std::collections::{BTreeMap, BTreeSet};

use engine::Loaded;
use model::journal::{EffectId, Ordered, State, Stream, TimerRef, Write};
use model::ticket::{Effect, SlotChange, TimerChange};
use model::{AgentName, Fence, TicketId, Time};

/// Everything that is durable.
#[derive(Clone, Default)]
pub(crate) struct Journal {
    seq: u64,
    streams: BTreeMap<Stream, (u64, State)>,
    fences: BTreeMap<Stream, Fence>,
    pending: BTreeMap<EffectId, (TicketId, Effect)>,
    timers: BTreeMap<(Stream, &'static str), Time>,
    /// How often a timer was set: it numbers the settings.
    settings: BTreeMap<(Stream, &'static str), u64>,
    slots: BTreeMap<AgentName, TicketId>,
    answered: BTreeSet<String>,
}

impl Journal {
    /// Makes a decision durable. Returns the effects that are ordered with it, in order.
    pub(crate) fn record(&mut self, write: &Write) -> Vec<Ordered> {
        let mut all_ordered = Vec::new();
        let stream = &write.stream;
        let version = self.streams.get(stream).map_or(0, |(version, _)| *version);
        assert_eq!(write.expected, version, "{stream}: decided on another version");
        let fence = self.fences.get(stream).copied().unwrap_or_default();
        if let Some(decided_under) = write.fence {
            assert_eq!(decided_under, fence, "{stream}: decided under another fence");
        }
        if let Some(new) = write.new_fence {
            assert!(new > fence, "{stream}: a claim needs a newer fence");
            self.fences.insert(stream.clone(), new);
        }
        assert!(!write.entries.is_empty(), "{stream}: a write without a fact");
        for (version, entry) in (version + 1..).zip(&write.entries) {
            self.seq += 1;
            self.streams
                .insert(stream.clone(), (version, entry.after.clone()));
            for (index, effect) in (0..).zip(&entry.effects) {
                let Stream::Ticket(ticket) = stream else {
                    panic!("the project orders nothing")
                };
                let id = EffectId { seq: self.seq, index };
                self.pending.insert(id, (ticket.clone(), effect.clone()));
                all_ordered.push(Ordered {
                    id,
                    ticket: ticket.clone(),
                    effect: effect.clone(),
                });
            }
        }
        if let Some(timer) = &write.fires {
            assert!(self.is_set(timer), "{timer:?} was not set");
            self.timers
                .retain(|(stream, key), _| *stream != timer.stream || *key != timer.key);
        }
        for change in &write.timers {
            match change {
                TimerChange::Cancel(key) => drop(self.timers.remove(&(stream.clone(), key.as_str()))),
                TimerChange::Set(deadline) => {
                    let key = (stream.clone(), deadline.key.as_str());
                    *self.settings.entry(key.clone()).or_default() += 1;
                    self.timers.insert(key, deadline.at);
                }
            }
        }
        for change in &write.slots {
            let Stream::Ticket(ticket) = stream else {
                panic!("the project has no slot")
            };
            match change {
                SlotChange::Free(agent) => {
                    assert_eq!(self.slots.remove(agent).as_ref(), Some(ticket), "{agent}'s slot");
                }
                SlotChange::Take(agent, _) => {
                    let before = self.slots.insert(agent.clone(), ticket.clone());
                    assert_eq!(before, None, "{agent}'s slot is taken");
                }
            }
        }
        if let Some(effect) = write.completes {
            assert!(
                self.finish(effect),
                "{effect} was not ordered, or is done already"
            );
        }
        if let Some((command, _)) = &write.answers {
            self.answer(command);
        }
        all_ordered
    }

    /// Whether the effect was pending.
    pub(crate) fn finish(&mut self, effect: EffectId) -> bool {
        self.pending.remove(&effect).is_some()
    }

    pub(crate) fn answer(&mut self, command: &str) {
        assert!(
            self.answered.insert(command.to_owned()),
            "{command} is answered twice"
        );
    }

    pub(crate) fn has_answered(&self, command: &str) -> bool {
        self.answered.contains(command)
    }

    pub(crate) fn pending(&self) -> impl Iterator<Item = (EffectId, &TicketId, &Effect)> {
        self.pending
            .iter()
            .map(|(id, (ticket, effect))| (*id, ticket, effect))
    }

    /// The timer of this key, as it is set now.
    pub(crate) fn timer(&self, ticket: &TicketId, key: &'static str) -> TimerRef {
        let stream = Stream::Ticket(ticket.clone());
        let generation = self
            .settings
            .get(&(stream.clone(), key))
            .copied()
            .unwrap_or_default();
        TimerRef {
            stream,
            key: key.to_owned(),
            generation,
        }
    }

    /// The timers that are due at `now`, the earliest first.
    pub(crate) fn due(&self, now: Time) -> Vec<TimerRef> {
        let mut due: Vec<_> = self.timers.iter().filter(|(_, at)| **at <= now).collect();
        due.sort_by_key(|(_, at)| **at);
        let refs = due.into_iter().map(|((stream, key), _)| {
            let Stream::Ticket(ticket) = stream else {
                panic!("the project has no timer")
            };
            self.timer(ticket, key)
        });
        refs.collect()
    }

    fn is_set(&self, timer: &TimerRef) -> bool {
        let set = |((stream, key), generation): (&(Stream, &'static str), &u64)| {
            *stream == timer.stream && *key == timer.key && *generation == timer.generation
        };
        let key = self
            .timers
            .keys()
            .find(|(stream, key)| *stream == timer.stream && *key == timer.key);
        key.is_some() && self.settings.iter().any(set)
    }

    /// Everything that the next core is loaded from.
    pub(crate) fn loaded(&self) -> Loaded {
        let streams = self.streams.iter();
        Loaded {
            streams: streams
                .map(|(stream, (version, state))| (stream.clone(), *version, state.clone()))
                .collect(),
            pending: self
                .pending
                .iter()
                .map(|(id, (ticket, effect))| Ordered {
                    id: *id,
                    ticket: ticket.clone(),
                    effect: effect.clone(),
                })
                .collect(),
        }
    }

    /// The ticket as it is durable, with its version.
    pub(crate) fn ticket(&self, ticket: &TicketId) -> Option<(u64, std::sync::Arc<model::ticket::Ticket>)> {
        match self.streams.get(&Stream::Ticket(ticket.clone())) {
            Some((version, State::Ticket(ticket))) => Some((*version, ticket.clone())),
            Some((_, State::Project(_))) | None => None,
        }
    }
}
