//! The audit: whether the rows of a journal agree with each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::{AgentName, EffectId, Event, Fence, Seq, Slot, Stream, StreamId, TicketId, Timer, Version};

/// The events of a stream, as the audit met them.
#[derive(Debug)]
struct Seen {
    /// The places of the first and of the last.
    first: Seq,
    last: Seq,
    /// The last one's.
    version: Version,
}

/// Rows go in, in the order of the methods; problems come out.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    problems: Vec<String>,
    head: u64,
    seen: BTreeMap<StreamId, Seen>,
    known: BTreeSet<StreamId>,
    fences: BTreeMap<StreamId, u64>,
    agents: BTreeMap<AgentName, TicketId>,
    claims: BTreeMap<(TicketId, Fence), AgentName>,
}

impl Audit {
    /// The link of an event to the one before it in its stream, where a backend has links. Called before
    /// [`event`](Self::event).
    pub(crate) fn link(&mut self, event: &Event, prev: Option<Seq>) {
        let seen = self.seen.get(&event.stream);
        let before = seen.map(|seen| seen.last);
        // A missing event is a problem of its own.
        let follows = event.version.0 == seen.map_or(0, |seen| seen.version.0) + 1;
        if follows && prev != before {
            let words = |seq: Option<Seq>| seq.map_or("none".to_owned(), |seq| format!("event {seq}"));
            self.problems.push(format!(
                "event {} of stream `{}` names {} as the one before it, not {}",
                event.seq,
                event.stream,
                words(prev),
                words(before)
            ));
        }
    }

    /// Every event, by its place.
    pub(crate) fn event(&mut self, event: &Event) {
        if event.seq.0 != self.head + 1 {
            self.problems
                .push(format!("event {} follows event {}", event.seq, self.head));
        }
        self.head = event.seq.0;
        let before = self.seen.get(&event.stream).map_or(0, |seen| seen.version.0);
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
        let (first, last, version) = (event.seq, event.seq, event.version);
        let seen = self.seen.entry(event.stream.clone());
        seen.and_modify(|seen| (seen.last, seen.version) = (last, version))
            .or_insert(Seen { first, last, version });
    }

    /// Every stream.
    pub(crate) fn stream(&mut self, stream: &Stream) {
        match self.seen.get(&stream.id) {
            None => self
                .problems
                .push(format!("stream `{}` has no events", stream.id)),
            Some(seen) if seen.version != stream.version => self.problems.push(format!(
                "stream `{}` has version {}; its last event has {}",
                stream.id, stream.version, seen.version
            )),
            Some(_) => {}
        }
        self.fences.insert(stream.id.clone(), stream.fence.0);
        self.known.insert(stream.id.clone());
    }

    /// The first and last event of every stream, where a backend stores them.
    pub(crate) fn ends(&mut self, stream: &StreamId, first: Seq, last: Seq) {
        if let Some(seen) = self.seen.get(stream)
            && (seen.first, seen.last) != (first, last)
        {
            self.problems.push(format!(
                "stream `{stream}` records its events as {first} to {last}; they are {} to {}",
                seen.first, seen.last
            ));
        }
    }

    /// Every entry of the outbox.
    pub(crate) fn effect(&mut self, effect: EffectId, body: &str) {
        if effect.seq == 0 || effect.seq > self.head {
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
        let claim = (slot.ticket.clone(), slot.fence);
        if let Some(other) = self.claims.insert(claim, slot.agent.clone()) {
            self.problems.push(format!(
                "agents `{other}` and `{}` are at ticket `{}` with fence {}",
                slot.agent, slot.ticket, slot.fence
            ));
        }
        // A slot is taken with the fence that its ticket's stream gets, and cannot be ahead of it.
        if let Some(fence) = self.fences.get(&StreamId::Ticket(slot.ticket.clone()))
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

    /// The problems, in words.
    pub(crate) fn problems(mut self) -> Vec<String> {
        for (stream, Seen { version, .. }) in &self.seen {
            if !self.known.contains(stream) {
                self.problems.push(format!(
                    "stream `{stream}` is not there; it has events up to version {version}"
                ));
            }
        }
        self.problems
    }
}
