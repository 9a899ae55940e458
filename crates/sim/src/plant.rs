//! Bugs that are put between the core and the journal, to see whether the invariants find them.

use std::time::Duration;

use model::RunId;
use model::attempt;
use model::journal::{Fact, State, Stream, Write};
use model::project::{self, Bar};
use model::ticket::{Effect, FileStatus, Filing, TimerChange};

/// A bug, as the engine could have it. Production code knows nothing of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// Writes go to the stream whatever it holds: neither the expected version nor the fence is told.
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
}

/// Marks a refusal whose end was moved.
const LATER: &str = ", later";

impl Plant {
    /// Every bug.
    pub const ALL: [Plant; 7] = [
        Self::UnfencedWrite,
        Self::CloseBeforeLand,
        Self::LostTimer,
        Self::DoubleStep,
        Self::DroppedRescue,
        Self::ShortWait,
        Self::Spendthrift,
    ];

    /// Changes what the core decided; `version` tells where a stream is.
    pub(crate) fn spoil(self, writes: &mut [Write], version: impl Fn(&Stream) -> u64) {
        let mut at = std::collections::BTreeMap::new();
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
                    // What an engine has read from the journal is later already.
                    let later = |bar: &mut Bar| {
                        if !bar.message.ends_with(LATER) {
                            bar.message.push_str(LATER);
                            bar.until = bar.until.map(|until| until + Duration::from_mins(10));
                        }
                    };
                    for entry in &mut write.entries {
                        if let Fact::Project(project::Event::HarnessBarred { bar, .. }) = &mut entry.fact {
                            later(bar);
                        }
                        if let State::Project(project) = &mut entry.after {
                            project.barred.values_mut().for_each(later);
                        }
                    }
                }
                Plant::Spendthrift => {}
                Plant::CloseBeforeLand | Plant::DoubleStep | Plant::DroppedRescue => {
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
                };
                vec![Effect::WriteFile(filing), land]
            }
            (Plant::DoubleStep, Effect::Attempt(start @ attempt::Effect::StartStep { .. })) => {
                let mut twin = start.clone();
                if let attempt::Effect::StartStep { run, .. } = &mut twin
                    && let Ok(other) = RunId::new(format!("{run}-again"))
                {
                    *run = other;
                }
                vec![Effect::Attempt(start), Effect::Attempt(twin)]
            }
            (Plant::DroppedRescue, Effect::KeepWork { agent, number }) => {
                vec![Effect::RemoveWorkspace { agent, number }]
            }
            (_, effect) => vec![effect],
        }
    }
}
