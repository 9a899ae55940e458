//! Random histories: whatever happens in whatever order, these hold after every event.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::Index;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::attempt;
use crate::samples::ticket::{alphabet, first};
use crate::ticket::{
    Change, Deadline, Done, Effect, Event, Filing, SlotChange, Stage, State, Ticket, TimerChange, TimerKey,
    Why,
};
use crate::{AgentName, Fence, RunId, SessionId, Time};

/// One choice: which sample, whether only among those that are accepted, and a number that varies its fields.
type Choice = (Index, bool, u8);

fn history(choices: &[Choice]) {
    let mut watch = Watch::default();
    let mut ticket = first();
    let mut now = Time(1_000);
    for (index, sensible, n) in choices {
        now.0 += i64::from(*n) * 100;
        let events: Vec<Event> = alphabet(&ticket).into_iter().map(|s| s.event).collect();
        // A sensible choice is the first that is accepted, going round from anywhere in strides: most are
        // not.
        let (from, len) = (index.index(events.len()), events.len());
        let mut round = (0..len).map(|k| &events[(from + k * STRIDE) % len]);
        let accepted = |e: &&Event| (*n % 8 == 0 || !cuts_short(e)) && ticket.after(e, now).is_ok();
        let event = if *sensible {
            round.find(accepted)
        } else {
            round.next()
        };
        let Some(event) = event else { continue };
        let event = &varied(event, *n, now);
        let before = ticket.clone();
        match ticket.after(event, now) {
            Ok(change) => {
                assert_eq!(
                    ticket.after(event, now).as_ref(),
                    Ok(&change),
                    "a transition is a function"
                );
                watch.see(&before, event, &change, now);
                ticket = change.ticket;
            }
            Err(no) => {
                assert_eq!(before, ticket, "what is refused changes nothing");
                assert!(!no.why.is_empty() && !no.state.is_empty() && !no.event.is_empty());
            }
        }
    }
}

/// Coprime to any likely number of samples, so that a round meets each of them.
const STRIDE: usize = 37;

/// True if the event ends a story before it has become interesting; chosen less often.
fn cuts_short(event: &Event) -> bool {
    matches!(
        event,
        Event::Dropped { .. }
            | Event::ClosedByPerson { .. }
            | Event::Released { .. }
            | Event::RecoveryNotNeeded
            | Event::FileDrifted
            | Event::FileUnheeded { .. }
            | Event::FileHeeded
            | Event::WorkFound
            | Event::WorkKept { .. }
            | Event::Edited { .. }
    )
}

/// The same event with other limits, times and texts.
fn varied(event: &Event, n: u8, now: Time) -> Event {
    fn vary(value: &mut Value, n: u8, now: Time) {
        let Value::Object(fields) = value else { return };
        for (name, field) in fields {
            match name.as_str() {
                "left" | "steps_left" | "attempts_left" | "errors_left" | "repeats_left"
                | "recoveries_left" | "resolutions_left" => {
                    *field = Value::from(n % 4);
                }
                "retry_at" | "reopen_at" | "at" if field.is_i64() => {
                    *field = Value::from(now.0 + i64::from(n) * 50);
                }
                "due" if field.is_i64() => *field = Value::from(now.0 + 300),
                "cost_micro_usd" | "input_tokens" => *field = Value::from(u64::MAX - u64::from(n)),
                "digest" => *field = Value::from(format!("{}", n % 3)),
                _ => vary(field, n, now),
            }
        }
    }
    let mut value = serde_json::to_value(event).unwrap();
    vary(&mut value, n, now);
    serde_json::from_value(value).unwrap()
}

fn round_trips<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    let back: T = serde_json::from_str(&text).unwrap();
    assert_eq!(&back, value, "{text}");
}

/// The outside view: the tables that changes are applied to, and the orders so far.
#[derive(Default)]
struct Watch {
    slots: BTreeMap<AgentName, Fence>,
    timers: BTreeMap<TimerKey, Time>,
    file: Option<Filing>,
    sessions: BTreeSet<SessionId>,
    runs: BTreeSet<RunId>,
    candidates: BTreeSet<(u32, u32)>,
    edit: Edit,
}

/// An edit of the ticket's text that the agent does not know.
#[derive(Default)]
struct Edit {
    pending: bool,
    shown: bool,
}

impl Watch {
    fn see(&mut self, before: &Ticket, event: &Event, change: &Change, now: Time) {
        let after = &change.ticket;
        round_trips(event);
        round_trips(after);
        round_trips(&change.effects);
        self.tables(change);
        self.file(before, change);
        self.steps(before, event, change);
        endings(before, change);
        state(before, after, now);
    }

    fn tables(&mut self, change: &Change) {
        for slot in &change.slots {
            match slot {
                SlotChange::Free(agent) => assert!(self.slots.remove(agent).is_some(), "{agent} had a slot"),
                SlotChange::Take(agent, fence) => {
                    assert_eq!(
                        self.slots.insert(agent.clone(), *fence),
                        None,
                        "one ticket per agent"
                    );
                }
            }
        }
        for timer in &change.timers {
            match timer {
                TimerChange::Cancel(key) => assert!(self.timers.remove(key).is_some(), "{key:?} was set"),
                TimerChange::Set(Deadline { key, at }) => {
                    self.timers.insert(*key, *at);
                }
            }
        }
        let ticket = &change.ticket;
        let slots = ticket.slots().map(|(agent, fence)| (agent.clone(), fence));
        assert_eq!(
            self.slots,
            slots.collect(),
            "the slot table is what the state says"
        );
        let author = ticket
            .slot()
            .and(ticket.attempt())
            .map(|attempt| attempt.claim.fence);
        let reviews = ticket.open_reviews().map(|review| review.fence);
        let claims: BTreeSet<Fence> = author.into_iter().chain(reviews).collect();
        assert_eq!(
            self.slots.values().copied().collect::<BTreeSet<_>>(),
            claims,
            "the author has one slot, and each open review has one, under fences of their own"
        );
        assert_eq!(self.slots.len(), claims.len(), "no two slots for one claim");
        let timers = ticket.deadline().map(|d| (d.key, d.at));
        assert_eq!(
            self.timers,
            timers.into_iter().collect(),
            "the timers are what the state says"
        );
    }

    fn file(&mut self, before: &Ticket, change: &Change) {
        let written = change.effects.iter().find_map(|e| match e {
            Effect::WriteFile(filing) => Some(filing.clone()),
            _ => None,
        });
        let lands = |ticket: &Ticket| matches!(ticket.state, State::Done(Done::Landed { .. }));
        let is_noted = written.as_ref().is_some_and(|filing| filing.note.is_some());
        assert_eq!(
            is_noted,
            lands(&change.ticket) && !lands(before),
            "a landing is noted, and nothing else"
        );
        let written = written.map(|filing| Filing { note: None, ..filing });
        if let State::New = before.state {
            assert_eq!(written, None, "a file seen for the first time is a person's");
            self.file = change.ticket.filing();
        }
        self.file = written.or(self.file.take());
        assert_eq!(
            self.file,
            change.ticket.filing(),
            "the file says what the journal holds true"
        );
    }

    fn steps(&mut self, before: &Ticket, event: &Event, change: &Change) {
        if let Event::Claimed { .. } = event {
            self.edit = Edit::default();
            self.sessions.clear();
        }
        let text_changed = change.ticket.spec.digest != before.spec.digest || is_told(before, event);
        if text_changed && before.attempt().is_some_and(|a| a.conversation.runs > 0) {
            self.edit = Edit {
                pending: true,
                shown: false,
            };
        }
        for effect in &change.effects {
            match effect {
                Effect::Attempt(attempt::Effect::StartStep {
                    run,
                    fence,
                    session,
                    new_session,
                    edited,
                    ..
                }) => {
                    assert_eq!(before.live_run(), None, "never two processes of one attempt");
                    let claim = change.ticket.attempt().map(|attempt| attempt.claim.fence);
                    assert_eq!(
                        Some(*fence),
                        claim,
                        "a step is its author's, however many reviews there were"
                    );
                    assert!(self.runs.insert(run.clone()), "{run} was started before");
                    let unseen = self.sessions.insert(session.clone());
                    assert_eq!(
                        unseen, *new_session,
                        "a new session is never resumed, a resumed one existed"
                    );
                    assert_eq!(
                        *edited, self.edit.pending,
                        "an edit is in the prompt of every step until one has ended well"
                    );
                    self.edit.shown = *edited;
                }
                Effect::BuildCandidate { number, round, .. } => {
                    assert!(
                        self.candidates.insert((*number, *round)),
                        "candidate {number}.{round} was built before"
                    );
                }
                _ => {}
            }
        }
        match event {
            Event::Attempt(attempt::Event::StepFinished { .. }) if self.edit.shown => {
                self.edit = Edit::default();
            }
            Event::Attempt(attempt::Event::StepFailed { .. }) => self.edit.shown = false,
            _ => {}
        }
    }
}

/// Whether its agent is told what the ticket demands by now, though its text is the same.
fn is_told(before: &Ticket, event: &Event) -> bool {
    match event {
        Event::CommitmentWaived { .. } => matches!(before.state, State::InProgress(_)),
        _ => matches!(event, Event::Attempt(attempt::Event::TicketEdited)),
    }
}

/// An attempt that ends without landing leaves its work behind under a ref; nothing else removes a workspace.
fn endings(before: &Ticket, change: &Change) {
    let after = &change.ticket;
    let kept: Vec<u32> = change.effects.iter().filter_map(kept).collect();
    let removed = change
        .effects
        .iter()
        .filter(|e| matches!(e, Effect::RemoveWorkspace { .. }))
        .count();
    match (before.attempt(), after.attempt(), &after.state) {
        // A child works in its parent's workspace, which stays.
        (Some(old), None, State::Done(Done::Landed { .. })) if old.shared().is_some() => {
            assert_eq!((kept.len(), removed), (0, 0), "its work is its parent's");
        }
        (Some(_), None, State::Done(Done::Landed { .. })) => {
            assert_eq!(
                (kept.len(), removed),
                (0, 1),
                "landed: nothing is left to be kept"
            );
        }
        (Some(old), None, _) => assert_eq!((kept, removed), (vec![old.claim.number], 0), "its work is kept"),
        (None, _, _) | (Some(_), Some(_), _) => assert_eq!((kept.len(), removed), (0, 0), "it goes on"),
    }
}

fn kept(effect: &Effect) -> Option<u32> {
    match effect {
        Effect::KeepWork { number, .. } => Some(*number),
        _ => None,
    }
}

fn state(before: &Ticket, after: &Ticket, now: Time) {
    assert!(after.fence >= before.fence, "a fence is never minted twice");
    assert!(after.tries <= after.attempts);
    if let Some(attempt) = after.attempt() {
        assert_eq!(attempt.claim.number, after.attempts);
        assert!(attempt.claim.fence <= after.fence, "only reviews mint later ones");
        assert!(
            attempt.conversation.session.number >= 1
                && attempt.conversation.steps <= attempt.conversation.runs
        );
    }
    if !matches!(after.state, State::InProgress(_)) {
        assert_eq!(after.live_run(), None, "no process is alive outside in_progress");
    }
    if after.held.is_some() {
        assert_eq!(
            (after.slots().next(), after.live_run()),
            (None, None),
            "a held ticket frees its agents"
        );
    }
    if after.is_done() {
        assert_eq!(
            (after.slots().next(), &after.held, after.deadline(), after.due),
            (None, &None, None, None)
        );
    }
    if let State::Done(Done::Landed { acceptance, .. }) = &after.state {
        assert!(
            !acceptance.trim().is_empty(),
            "what has landed was accepted somehow"
        );
        // A pull request is merged by its host.
        // A child lands with its parent.
        let lands = |stage: &Stage| {
            matches!(
                stage,
                Stage::Landing { .. } | Stage::Proposed(_) | Stage::Unified { is_saved: true }
            )
        };
        let landing = matches!(&before.state, State::Verify(v) if lands(&v.stage));
        assert!(landing || before.is_done(), "nothing else lands");
        assert!(after.labels.is_empty() && after.feedback.is_empty());
    }
    if after.state_name() != before.state_name() {
        assert_eq!(after.since, now);
    }
    match (&before.held, &after.held) {
        (None, Some(held)) => assert_eq!(held.since, now),
        (Some(old), Some(held)) if old.why != held.why => assert_eq!(held.since, now),
        (Some(old), Some(held)) => assert_eq!(held.since, old.since),
        (None | Some(_), None) => {}
    }
    if let (State::Verify(verify), State::InProgress(_)) = (&after.state, &before.state) {
        assert_eq!(verify.submitted_at, now);
    }
    held_where(after);
    deadlines(after);
}

/// Each reason to be held belongs to one state.
fn held_where(ticket: &Ticket) {
    let Some(held) = &ticket.held else { return };
    let fits = match held.why {
        Why::Failed | Why::Blocked | Why::Killed | Why::Reaped => matches!(ticket.state, State::Open),
        Why::NoProgress => matches!(ticket.state, State::InProgress(_)),
        // A gatekeeper's credentials may be refused too.
        Why::Auth => matches!(ticket.state, State::InProgress(_)) || ticket.reviewing().is_some(),
        Why::CouldNotRun => matches!(ticket.state, State::Open | State::Verify(_)),
        Why::TargetRed
        | Why::Paths { .. }
        | Why::Secrets { .. }
        | Why::Commitments { .. }
        | Why::Tests { .. }
        | Why::Landing
        | Why::Conflict
        | Why::Review
        | Why::Hold
        | Why::Closed
        | Why::Diverged => {
            matches!(ticket.state, State::Verify(_))
        }
        Why::Budget { .. } => match &ticket.state {
            State::Open => true,
            State::InProgress(attempt) => {
                let between = matches!(attempt.state, attempt::State::Ready | attempt::State::Working(_));
                between && !attempt.conversation.has_live_worker() && !attempt.claim.has_slot()
            }
            State::New | State::Verify(_) | State::Done(_) => false,
        },
    };
    assert!(fits, "{} for {}", ticket.state_name(), held.why.name());
    assert!(Why::NAMES.contains(&held.why.name()));
}

/// Every state that goes on by itself has a deadline.
fn deadlines(ticket: &Ticket) {
    let key = ticket.deadline().map(|d| d.key);
    if let Some(held) = &ticket.held {
        let timed = matches!(
            held.why,
            Why::CouldNotRun | Why::TargetRed | Why::Landing | Why::Diverged
        );
        assert_eq!(key, timed.then_some(TimerKey::Retry), "{held:?}");
        return;
    }
    match &ticket.state {
        State::New | State::Done(_) => assert_eq!(key, None),
        State::Open => assert_eq!(key, ticket.due.map(|_| TimerKey::Due)),
        State::InProgress(attempt) => match &attempt.state {
            attempt::State::WaitingForWakeup { at, .. } => {
                assert_eq!(
                    ticket.deadline(),
                    Some(Deadline {
                        key: TimerKey::Wakeup,
                        at: *at
                    })
                );
            }
            attempt::State::WaitingForInput { until, .. } => {
                assert_eq!(key, until.map(|_| TimerKey::Answer));
            }
            state => {
                let waits = matches!(state, attempt::State::Working(w) if w.due.is_some());
                assert_eq!(key, waits.then_some(TimerKey::Step));
            }
        },
        State::Verify(verify) => {
            let wanted = match &verify.stage {
                Stage::Queued
                | Stage::Building
                | Stage::Checking(_)
                | Stage::InTrain(_)
                | Stage::Unified { .. } => None,
                Stage::Reviewing(reviewing) => {
                    reviewing.waits_until().map(|_| match ticket.open_question() {
                        Some(_) => TimerKey::Answer,
                        None => TimerKey::Review,
                    })
                }
                Stage::Landing { waiting, .. } => waiting.as_ref().map(|_| TimerKey::Land),
                Stage::Proposed(proposal) => proposal.due.map(|_| TimerKey::Proposal),
            };
            assert_eq!(key, wanted);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hold_whatever_happens(choices in prop::collection::vec((any::<Index>(), prop::bool::weighted(0.95), any::<u8>()), 1..120)) {
        history(&choices);
    }
}
