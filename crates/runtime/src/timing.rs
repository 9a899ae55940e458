//! Durations, for measurements: spans of the target `timing`. Without a subscriber that asks for them they
//! cost nothing.

use model::attempt;
use model::ticket::Effect;
use model::{TicketId, Time};

use crate::clock::Stopwatch;

/// An effect was performed: since it was ordered, and since a hand began with it.
pub(crate) fn performed(ticket: &TicketId, effect: &Effect, ordered: Stopwatch, begun: Stopwatch) {
    let (since_ordered, took) = (ordered.micros(), begun.micros());
    tracing::trace!(
        target: "timing",
        what = name(effect),
        %ticket,
        waited = since_ordered.saturating_sub(took),
        took,
    );
}

/// Decisions were made durable.
pub(crate) fn recorded(writes: usize, watch: Stopwatch) {
    if writes > 0 {
        tracing::trace!(target: "timing", what = "record", writes, took = watch.micros());
    }
}

/// The end of a run's processes was heard of; both by the clock, in whole milliseconds.
pub(crate) fn noticed(run: &model::RunId, ended: Time, noticed: Time) {
    tracing::trace!(target: "timing", what = "exit notice", %run, took = noticed.since(ended).as_micros());
}

/// A run that has ended was swept and read.
pub(crate) fn read(run: &model::RunId, watch: Stopwatch) {
    tracing::trace!(target: "timing", what = "read run", %run, took = watch.micros());
}

/// Submitted work was taken over ahead of its turn in the line to the target.
pub(crate) fn saved(ticket: &TicketId, watch: Stopwatch) {
    tracing::trace!(target: "timing", what = "save ahead", %ticket, took = watch.micros());
}

/// The name of an effect in a measurement.
pub(crate) fn name(effect: &Effect) -> &'static str {
    match effect {
        Effect::PrepareWorkspace { .. } => "prepare workspace",
        Effect::Attempt(attempt::Effect::StartStep { .. }) => "start step",
        Effect::Attempt(attempt::Effect::StopRun { .. }) => "stop run",
        Effect::Attempt(attempt::Effect::InspectWorkspace { .. }) => "inspect workspace",
        Effect::Attempt(attempt::Effect::CreateChild { .. }) => "create child",
        Effect::Unify { .. } => "unify",
        Effect::BuildCandidate { .. } => "build candidate",
        Effect::StartCheck { .. } => "start check",
        Effect::StartReview { .. } => "start review",
        Effect::RemoveReview { .. } => "remove review",
        Effect::Land { .. } => "land",
        Effect::LookAtProposal { .. } => "look at proposal",
        Effect::KeepWork { .. } => "keep work",
        Effect::RemoveWorkspace { .. } => "remove workspace",
        Effect::WriteFile(_) => "write file",
        Effect::AddNote { .. } => "add note",
        Effect::CreateTicket(_) => "create ticket",
    }
}
