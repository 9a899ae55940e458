//! Why no step is started on a harness, in words.

use super::{Crew, clock, left};
use crate::Time;

impl Crew {
    /// Why no step is started on a harness now, a line for each: not sanitised.
    #[must_use]
    pub fn bars(&self, now: Time) -> Vec<String> {
        let barred = self.project.barred.iter().filter(|(_, bar)| bar.holds(now));
        barred
            .map(|(harness, bar)| match bar.until {
                Some(until) => format!(
                    "{harness}: {} until {} UTC, in {}: {}",
                    bar.class.name(),
                    clock(until),
                    left(until.since(now)),
                    bar.message
                ),
                None => format!(
                    "{harness}: {}: {}; once that is mended, `crew retry {}` goes on",
                    bar.class.name(),
                    bar.message,
                    bar.ticket
                ),
            })
            .collect()
    }
}
