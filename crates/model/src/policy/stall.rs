//! When a step that runs is given up: over its hard limit, or without any sign of life for too long, be it of
//! the agent or of the shim that holds the agent.

use std::time::Duration;

use crate::Time;

/// More time than this between two looks was not watched: a machine that slept, an engine that was down. It
/// does not count.
const LONGEST_GAP: Duration = Duration::from_secs(15);
/// A shim that is well runs more often than this, even on a machine that has much to do: its heartbeats are
/// five seconds apart.
const LONGEST_PULSE: Duration = Duration::from_secs(15);
/// The time for which a warning is not repeated.
const COOL_DOWN: Duration = Duration::from_secs(60);

/// The observations of one look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The time of the look.
    pub at: Time,
    /// The time at which the processes were last looked at: that happens at a pace of its own, and may have
    /// been delayed.
    pub seen: Time,
    /// Bytes of output so far, both streams; it grows with every output of the agent.
    pub output_bytes: u64,
    /// CPU time of the processes below the agent so far, in milliseconds.
    pub cpu_ms: u64,
    /// A digest of which processes those are.
    pub children: u64,
    /// The process id of the shim; 0 as long as nobody knows it.
    pub shim: u32,
    /// A number that moves whenever the shim runs, which it does at each heartbeat at least. It stands still
    /// while the shim is frozen: suspended by a signal, or stuck in the kernel.
    pub pulse: u64,
}

/// The limits, as the settings give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Silence after which a step is stuck, or its shim frozen; as long again, and the step has stalled.
    pub stall_after: Duration,
    /// The hard limit of a step.
    pub step_timeout: Duration,
}

/// The meaning of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No warning is due.
    Alive,
    /// Neither output nor an active process for the threshold: worth a warning.
    Stuck {
        /// For how long.
        silent: Duration,
    },
    /// The shim has not run at all for the threshold: worth a warning. Nobody sees what the agent does
    /// meanwhile, nor its end.
    Frozen {
        /// For how long.
        silent: Duration,
    },
    /// Either of these, for as long again: to be stopped and started over.
    Stalled,
    /// Over the hard limit: to be stopped.
    TimedOut,
}

/// The memory of a step between two looks. Only watched time counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    last: Option<Sample>,
    ran: Duration,
    silent: Duration,
    idle: Duration,
    shim: ShimWatch,
    warned: Option<Duration>,
}

/// The judge of a frozen shim, by the looks at its pulse. Only watched time counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShimWatch {
    last: Option<(Time, u64)>,
    silent: Duration,
    warned: Option<Duration>,
}

impl ShimWatch {
    /// True if the shim was warned of and has not run since.
    fn is_frozen(&self) -> bool {
        self.warned.is_some()
    }

    /// Takes a look: [`Verdict::Alive`], or [`Verdict::Frozen`] after `stall_after` without a pulse, or
    /// [`Verdict::Stalled`] after as long again.
    pub fn look(&mut self, at: Time, pulse: u64, stall_after: Duration) -> Verdict {
        match self.last.replace((at, pulse)) {
            Some((last_at, last)) if last == pulse => self.silent += at.since(last_at).min(LONGEST_GAP),
            Some(_) | None => (self.silent, self.warned) = (Duration::ZERO, None),
        }
        let threshold = stall_after.max(LONGEST_PULSE);
        let silent = self.silent;
        if silent >= threshold.saturating_mul(2) {
            return Verdict::Stalled;
        }
        let is_warned = self.warned.is_some_and(|at| silent - at < COOL_DOWN);
        if silent < threshold || is_warned {
            return Verdict::Alive;
        }
        self.warned = Some(silent);
        Verdict::Frozen { silent }
    }
}

impl Watch {
    /// Takes a look at the shim alone: whatever it holds may be silent and idle.
    pub fn look_at_shim(&mut self, sample: Sample, stall_after: Duration) -> Verdict {
        self.shim.look(sample.at, sample.pulse, stall_after)
    }

    /// Takes a look.
    pub fn look(&mut self, sample: Sample, limits: Limits) -> Verdict {
        let shim = self.shim.look(sample.at, sample.pulse, limits.stall_after);
        let Some(last) = self.last.replace(sample) else {
            return Verdict::Alive;
        };
        self.ran += sample.at.since(last.at).min(LONGEST_GAP);
        // A gap in the looks counts neither as silence nor as idleness.
        let passed = sample.seen.since(last.seen).min(LONGEST_GAP);
        self.silent = if sample.output_bytes == last.output_bytes {
            self.silent + passed
        } else {
            Duration::ZERO
        };
        let active = sample.cpu_ms != last.cpu_ms || sample.children != last.children;
        self.idle = if active {
            Duration::ZERO
        } else {
            self.idle + passed
        };
        if self.ran >= limits.step_timeout {
            return Verdict::TimedOut;
        }
        if shim != Verdict::Alive {
            return shim;
        }
        // A healthy agent inside a long build is never killed: both must be quiet.
        let quiet = self.silent.min(self.idle);
        if quiet >= limits.stall_after.saturating_mul(2) {
            return Verdict::Stalled;
        }
        if quiet < limits.stall_after {
            self.warned = None;
            return Verdict::Alive;
        }
        if self
            .warned
            .is_some_and(|at| self.ran.saturating_sub(at) < COOL_DOWN)
        {
            return Verdict::Alive;
        }
        if self.shim.is_frozen() {
            // Nothing can be seen of the agent then, and the shim is warned of.
            return Verdict::Alive;
        }
        self.warned = Some(self.ran);
        Verdict::Stuck { silent: quiet }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        stall_after: Duration::from_secs(20),
        step_timeout: Duration::from_secs(100),
    };

    /// A look every five seconds; `at` gives the observation at second `t`.
    fn watch(seconds: i64, at: impl Fn(i64) -> (u64, u64)) -> Vec<(i64, Verdict)> {
        let mut watch = Watch::default();
        (0..=seconds / 5)
            .map(|n| {
                let (output_bytes, cpu_ms) = at(n * 5);
                let sample = Sample {
                    at: Time(n * 5000),
                    seen: Time(n * 5000),
                    output_bytes,
                    cpu_ms,
                    children: 0,
                    shim: 5,
                    pulse: n as u64,
                };
                (n * 5, watch.look(sample, LIMITS))
            })
            .filter(|(_, verdict)| *verdict != Verdict::Alive)
            .collect()
    }

    #[test]
    fn silence_is_warned_of_once_then_the_step_has_stalled() {
        let silent = Duration::from_secs(20);
        assert_eq!(
            watch(40, |_| (1, 1)),
            [(20, Verdict::Stuck { silent }), (40, Verdict::Stalled)]
        );
    }

    #[test]
    fn output_or_a_busy_child_is_a_sign_of_life() {
        assert_eq!(watch(95, |t| (t as u64, 1)), []);
        assert_eq!(
            watch(95, |t| (1, t as u64)),
            [],
            "a long build prints nothing and burns cpu"
        );
    }

    #[test]
    fn the_hard_limit_holds_for_the_liveliest_step() {
        assert_eq!(watch(100, |t| (t as u64, t as u64)), [(100, Verdict::TimedOut)]);
    }

    #[test]
    fn time_in_which_nobody_watched_does_not_count() {
        let mut watch = Watch::default();
        let look = |at| Sample {
            at: Time(at),
            seen: Time(at),
            output_bytes: 1,
            cpu_ms: 1,
            children: 0,
            shim: 5,
            pulse: 1,
        };
        assert_eq!(watch.look(look(0), LIMITS), Verdict::Alive);
        assert_eq!(
            watch.look(look(3_600_000), LIMITS),
            Verdict::Alive,
            "an hour's sleep is one look"
        );
    }

    #[test]
    fn a_gap_in_the_looks_counts_for_nothing() {
        let mut watch = Watch::default();
        let mut looks = (0..=20).map(|n| {
            let sample = Sample {
                at: Time(n * 5000),
                seen: Time(0),
                output_bytes: 1,
                cpu_ms: 1,
                children: 0,
                shim: 5,
                pulse: n as u64,
            };
            watch.look(sample, LIMITS)
        });
        assert!(looks.by_ref().take(20).all(|verdict| verdict == Verdict::Alive));
        assert_eq!(looks.next(), Some(Verdict::TimedOut));
    }

    /// A shim that is looked at every five seconds for so long; `pulse` gives its pulse at each second.
    fn shim(seconds: i64, stall_after: u64, pulse: impl Fn(i64) -> u64) -> Vec<(i64, Verdict)> {
        let (mut watch, stall_after) = (ShimWatch::default(), Duration::from_secs(stall_after));
        (0..=seconds / 5)
            .map(|n| (n * 5, watch.look(Time(n * 5000), pulse(n * 5), stall_after)))
            .filter(|(_, verdict)| *verdict != Verdict::Alive)
            .collect()
    }

    #[test]
    fn a_frozen_shim_is_warned_of_every_minute_then_the_step_has_stalled() {
        let frozen = |silent| Verdict::Frozen {
            silent: Duration::from_secs(silent),
        };
        assert_eq!(
            shim(200, 100, |_| 7),
            [(100, frozen(100)), (160, frozen(160)), (200, Verdict::Stalled)]
        );
    }

    #[test]
    fn a_frozen_shim_that_goes_on_begins_anew() {
        assert_eq!(
            shim(390, 100, |t| u64::from(t >= 195)).len(),
            4,
            "warned twice, and twice again"
        );
        assert!(!shim(390, 100, |t| u64::from(t >= 195)).contains(&(390, Verdict::Stalled)));
    }

    #[test]
    fn a_shim_is_not_frozen_between_two_heartbeats_however_short_the_threshold() {
        assert_eq!(shim(100, 1, |t| t as u64 / 10), []);
        let first = shim(100, 1, |_| 7).into_iter().next();
        assert_eq!(first.map(|(at, _)| at), Some(15));
    }

    #[test]
    fn time_in_which_nobody_looked_at_the_shim_does_not_count() {
        let mut watch = ShimWatch::default();
        let stall_after = Duration::from_secs(60);
        for hour in 0..4 {
            assert_eq!(watch.look(Time(hour * 3_600_000), 7, stall_after), Verdict::Alive);
        }
    }

    #[test]
    fn a_step_whose_shim_is_frozen_stalls_though_nothing_is_seen_of_its_agent() {
        let mut watch = Watch::default();
        let mut looks = (0..=8).map(|n| {
            let sample = Sample {
                at: Time(n * 5000),
                // The last heartbeat there was, over and over.
                seen: Time(0),
                output_bytes: 1,
                cpu_ms: 1,
                children: 0,
                shim: 5,
                pulse: 7,
            };
            watch.look(sample, LIMITS)
        });
        let silent = LIMITS.stall_after;
        assert_eq!(
            looks.find(|verdict| *verdict != Verdict::Alive),
            Some(Verdict::Frozen { silent })
        );
        assert_eq!(
            looks.find(|verdict| *verdict != Verdict::Alive),
            Some(Verdict::Stalled)
        );
    }
}
