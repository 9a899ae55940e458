//! Bound: the time that it may take, once nothing goes wrong any more, until everything has come to rest.

use std::time::Duration;

use model::policy::{backoff, conflict};
use model::settings::Settings;

/// The interval at which somebody looks whether the crew needs a person, in the calm phase.
pub(crate) const HELP: Duration = Duration::from_secs(10);
/// The number of times that somebody tries to help with one ticket before it is dropped, and the dropping.
pub(crate) const HELPS: u32 = 4;
/// The longest step of a calm agent, with the time to notice its start and its end.
const STEP: Duration = Duration::from_secs(30);
/// The time to build, check and land a candidate, or to learn that it cannot be.
const LANDING: Duration = Duration::from_secs(15);
/// The longest time that an agent or a check takes to end after it was asked to stop.
const GRACE: Duration = Duration::from_secs(12);

/// The bound under these settings: the sum of
///
/// * the work under way when the last fault is over: a step that prints nothing, or whose shim is frozen, is
///   stopped after twice `stall_after`, any step after `step_timeout`, and takes its grace;
/// * the longest wait that its end can leave behind: for the service, for another attempt, for another check;
/// * for each ticket, one after the other (there may be one agent, or a chain of dependencies): every wait
///   for another attempt, a step for every conflict, and as often as a person helps, that person, a step and
///   the queue to the target;
/// * as much as the clock was set back: waits end by the machine's clock.
pub(crate) fn of(settings: &Settings, tickets: usize, set_back: Duration) -> Duration {
    let run = &settings.run;
    let under_way = run.step_timeout + run.stall_after * 2 + GRACE;
    let wait = backoff::reopen(u32::MAX)
        .max(backoff::service(u32::MAX))
        .max(backoff::hold(u32::MAX));
    let attempts: Duration = (1..=run.attempts).map(backoff::reopen).sum();
    let helped = (HELP + STEP + LANDING) * HELPS;
    let resolutions = run.conflict_resolutions * (1 + conflict::OVERTAKEN_FOR_EACH);
    let each = attempts + STEP * resolutions + helped;
    under_way + wait + each * u32::try_from(tickets).unwrap_or(u32::MAX) + set_back
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_grows_with_what_may_be_waited_for() {
        let settings = Settings::default();
        let few = of(&settings, 1, Duration::ZERO);
        assert!(of(&settings, 2, Duration::ZERO) > few);
        assert_eq!(
            of(&settings, 1, Duration::from_hours(1)),
            few + Duration::from_hours(1)
        );
    }
}
