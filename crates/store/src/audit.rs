//! The audit: whether the rows of a journal agree with each other.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};

use crate::{EffectId, Event, Seq, Slot, Stream, StreamId, Timer, Version};

/// Rows go in, in the order of the methods; problems come out.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    problems: Vec<String>,
    head: u64,
    /// Of each stream the last event's version, and a digest of the state after it: the states take much more room.
    last: BTreeMap<StreamId, (Version, u64)>,
    digests: RandomState,
    known: BTreeSet<StreamId>,
    fences: BTreeMap<StreamId, u64>,
    agents: BTreeMap<String, String>,
    tickets: BTreeMap<String, String>,
}

impl Audit {
    /// Every event, by its place.
    pub(crate) fn event(&mut self, event: &Event) {
        if event.seq.0 != self.head + 1 {
            self.problems
                .push(format!("event {} follows event {}", event.seq, self.head));
        }
        self.head = event.seq.0;
        let before = self.last.get(&event.stream).map_or(0, |(version, _)| version.0);
        if event.version.0 != before + 1 {
            self.problems.push(format!(
                "event {} has version {} of stream `{}`, after version {before}",
                event.seq, event.version, event.stream
            ));
        }
        for (what, text) in [("body", &event.body), ("state after", &event.state_after)] {
            if crate::append::json(what, &event.kind, text).is_err() {
                self.problems
                    .push(format!("the {what} of event {} is not JSON", event.seq));
            }
        }
        self.last.insert(
            event.stream.clone(),
            (event.version, self.digests.hash_one(&event.state_after)),
        );
    }

    /// Every stream.
    pub(crate) fn stream(&mut self, stream: &Stream) {
        match self.last.get(&stream.id) {
            None => self
                .problems
                .push(format!("stream `{}` has no events", stream.id)),
            Some((version, state)) => {
                if *version != stream.version {
                    self.problems.push(format!(
                        "stream `{}` says version {}; its last event has {version}",
                        stream.id, stream.version
                    ));
                }
                if *state != self.digests.hash_one(&stream.state) {
                    self.problems.push(format!(
                        "the state of stream `{}` is not the one after its last event",
                        stream.id
                    ));
                }
            }
        }
        self.fences.insert(stream.id.clone(), stream.fence.0);
        self.known.insert(stream.id.clone());
    }

    /// Every entry of the outbox: which event ordered it.
    pub(crate) fn effect(&mut self, effect: EffectId, body: &str) {
        if effect.seq.0 == 0 || effect.seq.0 > self.head {
            self.problems.push(format!("effect {effect} refers to no event"));
        }
        if crate::append::json("effect", "", body).is_err() {
            self.problems.push(format!("effect {effect} is not JSON"));
        }
    }

    /// Every timer that is set.
    pub(crate) fn timer(&mut self, timer: &Timer) {
        let timer = &timer.timer;
        if !self.known.contains(&timer.stream) {
            self.problems.push(format!(
                "timer `{}` refers to stream `{}`, which is not there",
                timer.key, timer.stream
            ));
        }
    }

    /// Every slot.
    pub(crate) fn slot(&mut self, slot: &Slot) {
        if let Some(other) = self.agents.insert(slot.agent.clone(), slot.ticket.clone()) {
            self.problems.push(format!(
                "agent `{}` is at tickets `{other}` and `{}`",
                slot.agent, slot.ticket
            ));
        }
        if let Some(other) = self.tickets.insert(slot.ticket.clone(), slot.agent.clone()) {
            self.problems.push(format!(
                "agents `{other}` and `{}` are at ticket `{}`",
                slot.agent, slot.ticket
            ));
        }
        // A ticket's stream is usually named as the ticket; then the slot cannot be ahead of it.
        if let Some(fence) = self.fences.get(&StreamId(slot.ticket.clone()))
            && slot.fence.0 > *fence
        {
            self.problems.push(format!(
                "agent `{}` holds ticket `{}` with fence {}; its stream has {fence}",
                slot.agent, slot.ticket, slot.fence
            ));
        }
    }

    /// Every idempotency key.
    pub(crate) fn key(&mut self, key: &str, stream: &StreamId, first: Seq, last: Seq) {
        if !self.known.contains(stream) || first.0 == 0 || first > last || last.0 > self.head {
            self.problems
                .push(format!("idempotency key `{key}` refers to no event"));
        }
    }

    /// What does not agree, in words.
    pub(crate) fn problems(mut self) -> Vec<String> {
        for (stream, (version, _)) in &self.last {
            if !self.known.contains(stream) {
                self.problems.push(format!(
                    "stream `{stream}` is not there; it has events up to version {version}"
                ));
            }
        }
        self.problems
    }
}
