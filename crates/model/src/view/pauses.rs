//! Pauses: the reasons for which no step is started on a harness, or no agent on the target, in words.

use super::{Snapshot, clock, left};
use crate::Time;
use crate::policy::attention;

impl Snapshot {
    /// The reasons for which no agent is started at all, or no step on a harness, a line for each: not
    /// sanitised.
    #[must_use]
    pub fn obstacles(&self, now: Time) -> Vec<String> {
        let target = self.target_in_the_way();
        target.into_iter().chain(self.pauses(now)).collect()
    }

    /// The reason for which no agent is started on the target, as a sentence of one line: not sanitised.
    #[must_use]
    pub fn target_in_the_way(&self) -> Option<String> {
        let why = self.project.target.as_ref()?.in_the_way()?;
        Some(format!("no agent is started: {why}"))
    }

    /// The reasons for which no step is started on a harness now, a line for each: not sanitised.
    #[must_use]
    pub fn pauses(&self, now: Time) -> Vec<String> {
        let paused = self.project.paused.iter().filter(|(_, pause)| pause.holds(now));
        let paused = paused.map(|(harness, pause)| match pause.until {
            Some(until) => format!(
                "{harness}: {} until {} UTC, in {}: {}",
                pause.class.name(),
                clock(until),
                left(until.since(now)),
                pause.message
            ),
            None => attention::refused(harness, pause),
        });
        paused.collect()
    }
}
