//! Pauses: the reasons for which no step is started on a harness, in words.

use super::{Snapshot, clock, left};
use crate::Time;
use crate::policy::attention;

impl Snapshot {
    /// The reasons for which no step is started on a harness now, a line for each: not sanitised.
    #[must_use]
    pub fn pauses(&self, now: Time) -> Vec<String> {
        let paused = self.project.paused.iter().filter(|(_, pause)| pause.holds(now));
        paused
            .map(|(harness, pause)| match pause.until {
                Some(until) => format!(
                    "{harness}: {} until {} UTC, in {}: {}",
                    pause.class.name(),
                    clock(until),
                    left(until.since(now)),
                    pause.message
                ),
                None => attention::refused(harness, pause),
            })
            .collect()
    }
}
