//! Backoff: the wait before another try. It is pure doubling: retries are spread since each has its own
//! start.

use std::time::Duration;

/// The first and the longest wait between a failed step and the next.
const STEP: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));
/// The first and the longest wait before a ticket that came back is dispatched again.
const REOPEN: (Duration, Duration) = (Duration::from_secs(30), Duration::from_mins(10));

/// The shortest and the longest wait between two looks at a pull request.
const PROPOSAL: (Duration, Duration) = (Duration::from_mins(1), Duration::from_mins(10));

/// The first and the longest wait for a service that names neither the time at which it has room again nor
/// the end of a limit.
const SERVICE: (Duration, Duration) = (Duration::from_secs(30), Duration::from_mins(10));
/// The longest wait for a service, whatever it asks for: then it is tried again.
pub const LONGEST_SERVICE: Duration = Duration::from_hours(24);

/// The wait before an effect that failed for a reason outside crew (a full disk, for example) is performed
/// again.
pub const EFFECT_RETRY: Duration = Duration::from_secs(5);
/// The number of failed tries of one effect before a person must mend it: another program may have been at
/// the file, or the repository.
pub const FAILED_TRIES: u32 = 2;
/// The longest wait before one is performed again that fails for another reason than the machine's moment.
const EFFECT_RETRY_LONGEST: Duration = Duration::from_mins(1);
/// The time for which a candidate keeps its place in the queue to the target while the machine hinders its
/// build or its checks.
pub const HINDERED: Duration = Duration::from_mins(1);
/// The number of tries in a row after which nobody waits any more for work that could not be set up or
/// checked: the last of them comes a quarter of an hour after the first for a ticket, and half an hour after
/// it for the bare target.
pub const HINDERED_TRIES: u32 = 6;
/// The time for which a run waits for a git of a person's that is at work: a hook ends, and an editor may
/// have been left open.
pub const GIT_AT_WORK: Duration = Duration::from_mins(15);
/// The shortest and the longest wait before landing is tried again while a person's edits are in the way.
const LANDING: (Duration, Duration) = (Duration::from_secs(2), Duration::from_mins(1));

/// The wait after the `errors`-th failed step in a row (from 1): 2, 4, 8, 16, 32, then 60 seconds.
#[must_use]
pub fn step(errors: u32) -> Duration {
    doubling(STEP, errors)
}

/// The wait for a service that refused for the `times`-th time in a row (from 1) and named no time: 30
/// seconds, doubling to 10 minutes.
#[must_use]
pub fn service(times: u32) -> Duration {
    doubling(SERVICE, times)
}

/// The wait before a ticket is dispatched again after its `tries`-th attempt (from 1): 30 seconds, doubling
/// to 10 minutes.
#[must_use]
pub fn reopen(tries: u32) -> Duration {
    doubling(REOPEN, tries)
}

/// The wait before a submission that could not be checked, or whose target is red, is built for the next
/// time, after its `round`-th candidate (from 1): 30 seconds, doubling to 10 minutes.
#[must_use]
pub fn hold(round: u32) -> Duration {
    doubling(REOPEN, round)
}

/// The wait before a review is dispatched again after its `tries`-th end without a verdict (from 1): 30
/// seconds, doubling to 10 minutes.
#[must_use]
pub fn review(tries: u32) -> Duration {
    doubling(REOPEN, tries)
}

/// The wait before landing is tried again after it has waited for `waited` already: a quarter of that, from 2
/// seconds to a minute. A person who makes way at once is followed at once, and edits that stay over night do
/// not fill the journal.
#[must_use]
pub fn landing(waited: Duration) -> Duration {
    let (shortest, longest) = LANDING;
    (waited / 4).clamp(shortest, longest)
}

/// The wait before a pull request is looked at again, after `looks` in a row that saw no change: a minute,
/// doubling to 10 minutes.
#[must_use]
pub fn proposal(looks: u32) -> Duration {
    doubling(PROPOSAL, looks.saturating_add(1))
}

/// The wait before an effect that has failed for `waited` already, for another reason than the machine's
/// moment, is performed again: a quarter of that, from [`EFFECT_RETRY`] to a minute.
#[must_use]
pub fn effect(waited: Duration) -> Duration {
    (waited / 4).clamp(EFFECT_RETRY, EFFECT_RETRY_LONGEST)
}

fn doubling((first, longest): (Duration, Duration), nth: u32) -> Duration {
    let factor = 2_u32.saturating_pow(nth.saturating_sub(1));
    first.saturating_mul(factor).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_steps_wait_2_4_8_16_32_seconds_and_never_more_than_a_minute() {
        let waits: Vec<u64> = (1..=8).map(|n| step(n).as_secs()).collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(step(u32::MAX).as_secs(), 60);
    }

    #[test]
    fn landing_is_tried_again_ever_more_rarely() {
        let waits = |waited| landing(Duration::from_secs(waited)).as_secs();
        assert_eq!([0, 8, 40, 240, 100_000].map(waits), [2, 2, 10, 60, 60]);
    }

    #[test]
    fn a_ticket_that_came_back_waits_30_seconds_doubling_to_10_minutes() {
        let waits: Vec<u64> = (1..=7).map(|n| reopen(n).as_secs()).collect();
        assert_eq!(waits, [30, 60, 120, 240, 480, 600, 600]);
        assert_eq!(reopen(0).as_secs(), 30, "a count that was lost is the first");
        assert_eq!(hold(u32::MAX).as_secs(), 600);
    }
}
