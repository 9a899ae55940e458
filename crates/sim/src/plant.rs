//! Bugs that are put between the core and the journal, to see whether the invariants find them.

use std::time::Duration;

use model::Actor;
use model::attempt::{self, Signal};
use model::journal::{Entry, Fact, State, Stream, Write};
use model::project::{self, HarnessPause};
use model::settings::{Budget, Settings};
use model::target::{Target, Verdict};
use model::ticket::{Effect, Event, FileStatus, Filing, SlotChange, Ticket, TimerChange};

/// A bug, as the engine could have it. Production code knows nothing of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// Writes go to the stream whatever it holds: they have neither the expected version nor the fence.
    UnfencedWrite,
    /// The ticket's file is closed before its work is landed.
    CloseBeforeLand,
    /// Timers are forgotten.
    LostTimer,
    /// A step is started twice, as two runs.
    DoubleStep,
    /// A workspace is removed without its work being kept.
    DroppedRescue,
    /// A service's refusal ends ten minutes before the time that was written down.
    ShortWait,
    /// The engine knows of no budget.
    Spendthrift,
    /// The engine knows of more attempts than it may make.
    Tireless,
    /// The engine lets agents take more steps than they may.
    Talkative,
    /// An agent's slot is not taken.
    FreeSlot,
    /// Checks are ordered, and never begun.
    ForgottenCheck,
    /// The report of an effect is written down without a mark in the outbox.
    Unsettled,
    /// Commands are carried out and never answered.
    Mute,
    /// A done ticket's file is left open.
    OpenFile,
    /// A workspace is left where it is when its ticket is done.
    Litter,
    /// The work's landing is reported, and the target is not moved.
    HollowLanding,
    /// Work lands without its checks.
    Unchecked,
    /// Work lands without meeting its commitments.
    Unmet,
    /// Landing overwrites what a person is editing.
    Overwritten,
    /// An event is gone from the journal.
    LostEvent,
    /// A step's cost is written down twice.
    DoubleCost,
    /// A shim that is to stop is asked, and nobody looks whether it is frozen.
    OnlyAsked,
    /// A check is left running when its ticket leaves its checks.
    LeftCheck,
    /// A step or a review is left running when its end is ordered.
    LeftRun,
    /// A check that is slow to end is not ended before the next one begins in the checkout.
    SharedCheckout,
    /// Agents are started on a target whose checks fail.
    RedTarget,
    /// An agent that waits for the target has its first step on one whose checks fail.
    Impatient,
    /// Of a batch that lands, only the tip's ticket is told.
    HalfBatch,
    /// The checks of a merged result in the middle of the train are taken for passed.
    FailedPrefix,
    /// The failure of a merged result in the train is forgotten, and its checks are run again.
    TriedAgain,
    /// The checks of an entry run on the merged result of the one behind it.
    OffByOne,
    /// Work is said to conflict with the entry ahead of it, and does not.
    FalseConflict,
    /// Of two conflicts in the same path each is said to be in another.
    AllResolve,
    /// New work is taken for the tip that was looked at before.
    KeptApproval,
    /// Whatever stands on top of an approved tip is taken for the resolution of its conflict.
    WideResolution,
    /// What a gatekeeper has committed in its checkout is taken over.
    ImportedReview,
    /// A merged result is in no ref.
    Unpinned,
    /// A check that fails is not repeated.
    Unrepeated,
    /// A check that fails is repeated more often than the settings say.
    Restless,
    /// An agent is let loose in the workspace of another one that is at work.
    TwoWriters,
    /// The engine knows of no budget, and only trees of tickets are looked at.
    OwnBudget,
    /// Children are not told that their parent has landed.
    LeftChild,
    /// Children are not told that their parent's attempt is over.
    Orphan,
    /// A child that is to end with its parent is taken for ended as soon as it is asked to.
    Hasty,
    /// A child is ordered, and never written.
    ForgottenChild,
    /// What a step comes to is what its client said last, whatever its agent had called before.
    LastWord,
    /// A call in the name of a step that is over is taken for one of the step that runs.
    AnyRun,
    /// A hook reads on without delivering every notice.
    LostNotice,
    /// A hook's place in the journal is noted too far back.
    OldPlace,
    /// An agent goes on however often its steps have failed.
    Undaunted,
    /// What a child leaves undone stays in its parent's workspace.
    LeftIn,
    /// The work of a child with a workspace of its own is said to be its parent's, and is not merged.
    LeftOut,
    /// The work of a child with a workspace of its own is merged twice.
    MergedAgain,
    /// Work of a child that crew refuses is said to be its parent's.
    RefusedUnified,
    /// The turn of a child is noted from a commit before it.
    WideTurn,
    /// A child that cannot begin in its parent's workspace waits for that to pass.
    Stranded,
}

/// Marks a refusal whose end was moved.
const LATER: &str = ", later";

impl Plant {
    /// All bugs.
    pub const ALL: &[Plant] = &[
        Self::UnfencedWrite,
        Self::CloseBeforeLand,
        Self::LostTimer,
        Self::DoubleStep,
        Self::DroppedRescue,
        Self::ShortWait,
        Self::Spendthrift,
        Self::Tireless,
        Self::Talkative,
        Self::FreeSlot,
        Self::ForgottenCheck,
        Self::Unsettled,
        Self::Mute,
        Self::OpenFile,
        Self::Litter,
        Self::HollowLanding,
        Self::Unchecked,
        Self::Unmet,
        Self::Overwritten,
        Self::LostEvent,
        Self::DoubleCost,
        Self::OnlyAsked,
        Self::LeftCheck,
        Self::LeftRun,
        Self::SharedCheckout,
        Self::RedTarget,
        Self::Impatient,
        Self::HalfBatch,
        Self::FailedPrefix,
        Self::TriedAgain,
        Self::OffByOne,
        Self::FalseConflict,
        Self::AllResolve,
        Self::KeptApproval,
        Self::WideResolution,
        Self::ImportedReview,
        Self::Unpinned,
        Self::Unrepeated,
        Self::Restless,
        Self::TwoWriters,
        Self::OwnBudget,
        Self::LeftChild,
        Self::Orphan,
        Self::Hasty,
        Self::ForgottenChild,
        Self::LastWord,
        Self::AnyRun,
        Self::LostNotice,
        Self::OldPlace,
        Self::Undaunted,
        Self::LeftIn,
        Self::LeftOut,
        Self::MergedAgain,
        Self::RefusedUnified,
        Self::WideTurn,
        Self::Stranded,
    ];

    /// Changes the engine's settings.
    pub(crate) fn settings(self, settings: &mut Settings) {
        let run = &mut settings.run;
        run.attempts += if self == Plant::Tireless { 4 } else { 0 };
        run.max_steps += if self == Plant::Talkative { 6 } else { 0 };
        for check in &mut settings.check {
            check.retry = if self == Plant::Unrepeated { 0 } else { check.retry };
            check.retry += if self == Plant::Restless { 3 } else { 0 };
        }
        if self == Plant::Spendthrift {
            settings.budget = Budget::default();
        }
        if self == Plant::OwnBudget {
            settings.budget.ticket_usd = None;
        }
    }

    /// Changes the core's decision; `version` gives the version of a stream, `stored` its ticket.
    pub(crate) fn spoil(
        self,
        writes: &mut Vec<Write>,
        version: impl Fn(&Stream) -> u64,
        stored: impl Fn(&Stream) -> Option<Ticket>,
    ) {
        if self == Plant::LastWord {
            writes
                .iter_mut()
                .for_each(|write| rewrite(write, &stored, take_last_word));
        }
        if self == Plant::Undaunted {
            writes.iter_mut().for_each(|write| rewrite(write, &stored, go_on));
        }
        if self == Plant::HalfBatch {
            writes.retain(|write| write.completes.is_some() || !has_landed(write));
        }
        if self == Plant::LeftChild {
            writes.retain(|write| !has_landed_with_parent(write));
        }
        if self == Plant::Orphan {
            writes.retain(|write| !has_dropped_child(write));
        }
        let mut at = std::collections::BTreeMap::new();
        let mut entries = writes.iter().flat_map(|write| &write.entries);
        let begins = entries.clone().any(passes_target) && entries.any(is_first_step);
        for write in writes {
            match self {
                Plant::UnfencedWrite => {
                    let at = at
                        .entry(write.stream.clone())
                        .or_insert_with(|| version(&write.stream));
                    (write.expected, write.fence) = (*at, None);
                    *at += write.entries.len() as u64;
                }
                Plant::LostTimer => write
                    .timers
                    .retain(|change| matches!(change, TimerChange::Cancel(_))),
                Plant::ShortWait => {
                    // The state that an engine has read from the journal is later already.
                    let later = |pause: &mut HarnessPause| {
                        if !pause.message.ends_with(LATER) {
                            pause.message.push_str(LATER);
                            pause.until = pause.until.map(|until| until + Duration::from_mins(10));
                        }
                    };
                    for entry in &mut write.entries {
                        if let Fact::Project(project::Event::HarnessPaused { pause, .. }) = &mut entry.fact {
                            later(pause);
                        }
                        if let State::Project(project) = &mut entry.after {
                            project.paused.values_mut().for_each(later);
                        }
                    }
                }
                Plant::RedTarget => fail_target(write),
                Plant::Impatient if begins => fail_target(write),
                Plant::FreeSlot => write.slots.retain(|change| matches!(change, SlotChange::Free(_))),
                Plant::Unsettled => write.completes = None,
                Plant::Mute => write.answers = None,
                Plant::DoubleCost => write.entries.iter_mut().for_each(|entry| {
                    if let Fact::Ticket(Event::Attempt(
                        attempt::Event::StepFinished { usage, .. } | attempt::Event::StepFailed { usage, .. },
                    )) = &mut entry.fact
                    {
                        usage.cost_micro_usd *= 2;
                    }
                }),
                Plant::TwoWriters
                | Plant::OwnBudget
                | Plant::LastWord
                | Plant::AnyRun
                | Plant::LostNotice
                | Plant::OldPlace
                | Plant::Undaunted
                | Plant::LeftIn
                | Plant::LeftOut
                | Plant::MergedAgain
                | Plant::RefusedUnified
                | Plant::WideTurn
                | Plant::Stranded
                | Plant::LeftChild
                | Plant::Orphan
                | Plant::Hasty
                | Plant::HalfBatch
                | Plant::FailedPrefix
                | Plant::TriedAgain
                | Plant::OffByOne
                | Plant::FalseConflict
                | Plant::AllResolve
                | Plant::KeptApproval
                | Plant::WideResolution
                | Plant::ImportedReview
                | Plant::Unpinned
                | Plant::Unrepeated
                | Plant::Restless
                | Plant::Impatient
                | Plant::Spendthrift
                | Plant::DoubleStep
                | Plant::OnlyAsked
                | Plant::SharedCheckout
                | Plant::Tireless
                | Plant::Talkative
                | Plant::HollowLanding
                | Plant::Unchecked
                | Plant::Unmet
                | Plant::Overwritten
                | Plant::LostEvent => {}
                Plant::CloseBeforeLand
                | Plant::DroppedRescue
                | Plant::ForgottenCheck
                | Plant::ForgottenChild
                | Plant::LeftCheck
                | Plant::LeftRun
                | Plant::OpenFile
                | Plant::Litter => {
                    for entry in &mut write.entries {
                        let State::Ticket(_) = &entry.after else { continue };
                        let effects = std::mem::take(&mut entry.effects);
                        entry.effects = effects
                            .into_iter()
                            .flat_map(|effect| self.spoil_effect(effect))
                            .collect();
                    }
                }
            }
        }
    }

    fn spoil_effect(self, effect: Effect) -> Vec<Effect> {
        match (self, effect) {
            (Plant::CloseBeforeLand, land @ Effect::Land { .. }) => {
                let filing = Filing {
                    status: FileStatus::Closed,
                    tags: std::collections::BTreeSet::new(),
                    deps: std::collections::BTreeSet::new(),
                    note: None,
                };
                vec![Effect::WriteFile(filing), land]
            }
            (Plant::DroppedRescue, Effect::KeepWork { agent, number }) => {
                vec![Effect::RemoveWorkspace { agent, number }]
            }
            (Plant::ForgottenCheck, Effect::StartCheck { .. })
            | (Plant::ForgottenChild, Effect::Attempt(attempt::Effect::CreateChild { .. }))
            | (Plant::Litter, Effect::RemoveWorkspace { .. } | Effect::KeepWork { .. }) => Vec::new(),
            (Plant::LeftCheck, Effect::Attempt(attempt::Effect::StopRun { run })) if run.is_check() => {
                Vec::new()
            }
            (Plant::LeftRun, Effect::Attempt(attempt::Effect::StopRun { run })) if !run.is_check() => {
                Vec::new()
            }
            (Plant::OpenFile, Effect::WriteFile(filing)) if filing.status == FileStatus::Closed => Vec::new(),
            (_, effect) => vec![effect],
        }
    }
}

/// Has a step whose agent has called its result end without any.
fn take_last_word(before: &Ticket, event: &mut attempt::Event) -> bool {
    let attempt = before.attempt();
    let has_called = attempt.is_some_and(|attempt| attempt.conversation.result.is_some());
    if let attempt::Event::StepFinished { signal, .. } = event
        && has_called
    {
        *signal = Signal::None;
        return true;
    }
    false
}

/// Has an agent whose step has failed go on, however often that was.
fn go_on(_: &Ticket, event: &mut attempt::Event) -> bool {
    if let attempt::Event::StepFailed {
        errors_left,
        repeats_left,
        ..
    } = event
        && (*errors_left == 0 || *repeats_left == 0)
    {
        (*errors_left, *repeats_left) = (1, 1);
        return true;
    }
    false
}

/// Writes down another event of an attempt than the one decided on, with what that comes to, where `change`
/// changes the first one.
fn rewrite(
    write: &mut Write,
    stored: impl Fn(&Stream) -> Option<Ticket>,
    change: fn(&Ticket, &mut attempt::Event) -> bool,
) {
    let Some(Entry { fact, after, effects }) = write.entries.first_mut() else {
        return;
    };
    let (Fact::Ticket(Event::Attempt(event)), Some(before)) = (&mut *fact, stored(&write.stream)) else {
        return;
    };
    if !change(&before, event) {
        return;
    }
    let Fact::Ticket(event) = fact else { return };
    let Ok(change) = before.after(event, write.at) else {
        return;
    };
    *after = State::Ticket(change.ticket.into());
    *effects = change.effects;
    write.entries.truncate(1);
}

/// Has the target fail its checks where it passes them.
fn fail_target(write: &mut Write) {
    let fail = |target: &mut Target| {
        if target.verdict == Verdict::Passed {
            let (which, output) = ("test".to_owned(), "1 failed".to_owned());
            target.verdict = Verdict::Failed { which, output };
        }
    };
    for entry in &mut write.entries {
        if let Fact::Project(project::Event::Target(target)) = &mut entry.fact {
            fail(target);
        }
        if let State::Project(project) = &mut entry.after {
            project.target.iter_mut().for_each(|target| fail(target));
        }
    }
}

/// True where a ticket lands.
fn has_landed(write: &Write) -> bool {
    let lands = |entry: &Entry| matches!(entry.fact, Fact::Ticket(Event::Landed { .. }));
    write.entries.iter().any(lands)
}

/// True where a child lands with its parent.
fn has_landed_with_parent(write: &Write) -> bool {
    let lands = |entry: &Entry| matches!(entry.fact, Fact::Ticket(Event::LandedWithParent { .. }));
    write.entries.iter().any(lands)
}

/// True where a child that waited for something else is dropped by crew.
fn has_dropped_child(write: &Write) -> bool {
    let is_child = |after: &State| matches!(after, State::Ticket(ticket) if ticket.delegated().is_some());
    let drops = |entry: &Entry| {
        matches!(
            entry.fact,
            Fact::Ticket(Event::Dropped {
                by: Actor::Engine,
                ..
            })
        )
    };
    write.completes.is_none()
        && write
            .entries
            .iter()
            .any(|entry| drops(entry) && is_child(&entry.after))
}

/// True where the target passes its checks.
fn passes_target(entry: &Entry) -> bool {
    match &entry.fact {
        Fact::Project(project::Event::Target(target)) => target.verdict == Verdict::Passed,
        Fact::Project(_) | Fact::Ticket(_) => false,
    }
}

/// True for the first step of an attempt.
fn is_first_step(entry: &Entry) -> bool {
    let starts = matches!(
        entry.fact,
        Fact::Ticket(Event::Attempt(attempt::Event::StepStarted { .. }))
    );
    let State::Ticket(ticket) = &entry.after else {
        return false;
    };
    starts
        && ticket
            .attempt()
            .is_some_and(|attempt| attempt.conversation.runs == 1)
}
