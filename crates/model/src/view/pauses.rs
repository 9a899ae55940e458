//! Pauses: the reasons for which no step is started on a harness, or no agent on the target, in words.

use super::{Snapshot, clock, left};
use crate::Time;
use crate::policy::attention;

impl Snapshot {
    /// The reasons for which no step of a harness, or no agent at all, is started now, a line for each: not
    /// sanitised.
    #[must_use]
    pub fn pauses(&self, now: Time) -> Vec<String> {
        let paused = self.project.paused.iter().filter(|(_, pause)| pause.holds(now));
        let target = self.project.target.as_ref();
        let target = target.and_then(|target| target.in_the_way());
        let target = target.map(|why| format!("no agent is started: {why}"));
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
        target.into_iter().chain(paused).collect()
    }
}
