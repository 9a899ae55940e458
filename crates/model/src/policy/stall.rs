//! When a step that runs is stopped: over its hard limit, without any sign of life for too long, be it of the
//! agent or of the shim that holds the agent, or because it has stated its result and does not exit.

use std::time::Duration;

use crate::Time;
use crate::conversation::Silence;
use crate::settings::QuietChildren;

/// More time than this between two looks was not watched: a machine that slept, an engine that was down. It
/// does not count.
const LONGEST_GAP: Duration = Duration::from_secs(15);
/// A shim that is well runs more often than this, even on a machine that has much to do: its heartbeats are
/// five seconds apart.
const LONGEST_PULSE: Duration = Duration::from_secs(15);
/// The time for which a warning is not repeated.
const COOL_DOWN: Duration = Duration::from_secs(60);

/// The observations of one look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The time of the look.
    pub at: Time,
    /// The time at which the processes were last looked at: that happens at a pace of its own, and may have
    /// been delayed.
    pub seen: Time,
    /// Bytes of output so far, both streams; it grows with every output of the agent.
    pub output_bytes: u64,
    /// Bytes of output that were read, once the result of the step is in them and nothing is left to read.
    pub stated: Option<u64>,
    /// CPU time of the processes below the agent so far, in milliseconds.
    pub cpu_ms: u64,
    /// A digest of which processes those are.
    pub children: u64,
    /// The program that runs below the agent, with its first argument; none where nothing does. The agent's
    /// text.
    pub child: Option<String>,
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
    /// Silence after the step has stated its result; then it is to be stopped.
    pub exit_within: Duration,
    /// The hard limit of a step.
    pub step_timeout: Duration,
    /// The meaning of a process below the agent that burns no time.
    pub quiet_children: QuietChildren,
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
    /// It has stated its result, and its process stays: to be stopped, and taken at its word.
    Overstayed,
}

/// The memory of a step between two looks. Only watched time counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    last: Option<Sample>,
    ran: Duration,
    silent: Duration,
    idle: Duration,
    /// Since the last output of a step that has stated its result.
    overstayed: Duration,
    shim: ShimWatch,
    warned: Option<Duration>,
    /// Whether the last look found the agent active, and its shim.
    stirs: (bool, bool),
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

    /// Whether the shim may be frozen: then its agent may have exited, or have printed more.
    fn may_be_frozen(&self) -> bool {
        self.silent >= LONGEST_PULSE
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
    pub fn look_at_shim(&mut self, sample: &Sample, stall_after: Duration) -> Verdict {
        self.shim.look(sample.at, sample.pulse, stall_after)
    }

    /// Whether the last look found a sign of life of a step that has been silent in this way. A process below
    /// the agent that burns nothing is none.
    #[must_use]
    pub fn has_stirred(&self, how: &Silence) -> bool {
        let (agent, shim) = self.stirs;
        match how {
            Silence::Idle { .. } => agent,
            Silence::Frozen { .. } => shim,
        }
    }

    /// Takes a look.
    pub fn look(&mut self, sample: &Sample, limits: Limits) -> Verdict {
        let shim = self.shim.look(sample.at, sample.pulse, limits.stall_after);
        let Some(last) = self.last.replace(sample.clone()) else {
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
        self.stirs = (
            active || sample.output_bytes != last.output_bytes,
            sample.pulse != last.pulse,
        );
        let waits = limits.quiet_children == QuietChildren::Wait && sample.child.is_some();
        let active = active || waits;
        self.idle = if active {
            Duration::ZERO
        } else {
            self.idle + passed
        };
        let is_over = self.ran >= limits.step_timeout;
        if sample.stated.is_some() {
            // No limit takes from a step the result that it has.
            return if self.overstays(sample, &last, limits.exit_within) || is_over {
                Verdict::Overstayed
            } else {
                shim
            };
        }
        if is_over {
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

    /// Whether a step has printed nothing for too long since it has stated its result.
    fn overstays(&mut self, sample: &Sample, last: &Sample, exit_within: Duration) -> bool {
        if sample.stated != last.stated {
            self.overstayed = Duration::ZERO;
        } else if !self.shim.may_be_frozen() {
            self.overstayed += sample.at.since(last.at).min(LONGEST_GAP);
        }
        self.overstayed >= exit_within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        stall_after: Duration::from_secs(20),
        exit_within: Duration::from_secs(15),
        step_timeout: Duration::from_secs(100),
        quiet_children: QuietChildren::Stop,
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
                    stated: None,
                    cpu_ms,
                    children: 0,
                    child: None,
                    shim: 5,
                    pulse: n as u64,
                };
                (n * 5, watch.look(&sample, LIMITS))
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
    fn a_child_that_burns_nothing_is_a_sign_of_life_where_the_settings_say_so() {
        let look = |quiet_children, child: Option<&str>| {
            let limits = Limits {
                quiet_children,
                ..LIMITS
            };
            let mut watch = Watch::default();
            let looks = (0..=8).map(|n| {
                let sample = Sample {
                    at: Time(n * 5000),
                    seen: Time(n * 5000),
                    output_bytes: 1,
                    stated: None,
                    cpu_ms: 1,
                    children: 3,
                    child: child.map(str::to_owned),
                    shim: 5,
                    pulse: n as u64,
                };
                watch.look(&sample, limits)
            });
            looks.last()
        };
        let child = Some("curl");
        assert_eq!(look(QuietChildren::Wait, child), Some(Verdict::Alive));
        assert_eq!(look(QuietChildren::Stop, child), Some(Verdict::Stalled));
        assert_eq!(
            look(QuietChildren::Wait, None),
            Some(Verdict::Stalled),
            "nothing runs"
        );
    }

    #[test]
    fn a_silent_step_stirs_by_output_or_work_and_one_under_a_frozen_shim_with_its_shim() {
        let mut watch = Watch::default();
        let (idle, frozen) = (Silence::Idle { child: None }, Silence::Frozen { shim: 5 });
        let mut look = |n: i64, output_bytes, pulse| {
            let sample = Sample {
                at: Time(n * 5000),
                seen: Time(n * 5000),
                output_bytes,
                stated: None,
                cpu_ms: 1,
                children: 0,
                child: None,
                shim: 5,
                pulse,
            };
            watch.look(&sample, LIMITS);
            (watch.has_stirred(&idle), watch.has_stirred(&frozen))
        };
        assert_eq!(look(0, 7, 7), (false, false), "nobody knows what was before");
        assert_eq!(look(1, 7, 8), (false, true));
        assert_eq!(look(2, 7, 8), (false, false));
        assert_eq!(look(3, 9, 8), (true, false));
        assert_eq!(look(4, 9, 8), (false, false), "only the last look counts");
    }

    #[test]
    fn the_hard_limit_holds_for_the_liveliest_step() {
        assert_eq!(watch(100, |t| (t as u64, t as u64)), [(100, Verdict::TimedOut)]);
    }

    /// A step that burns time, of which so many bytes with its result in them were read at second `t`: when
    /// it has overstayed.
    fn overstays(pulse: impl Fn(i64) -> u64, stated: impl Fn(i64) -> Option<u64>) -> Option<i64> {
        let mut watch = Watch::default();
        (0..=18).map(|n| n * 5).find(|t| {
            let sample = Sample {
                at: Time(t * 1000),
                seen: Time(t * 1000),
                output_bytes: *t as u64,
                stated: stated(*t),
                cpu_ms: *t as u64,
                children: 0,
                child: None,
                shim: 5,
                pulse: pulse(*t),
            };
            watch.look(&sample, LIMITS) == Verdict::Overstayed
        })
    }

    #[test]
    fn a_step_that_stays_after_its_result_is_stopped_before_it_is_silent_for_long() {
        let lives = |t| t as u64;
        assert_eq!(overstays(lives, |_| None), None);
        assert_eq!(overstays(lives, |t| (t >= 10).then_some(9)), Some(25));
        let prints_until_30 = |t: i64| Some(t.min(30) as u64);
        assert_eq!(
            overstays(lives, prints_until_30),
            Some(45),
            "its last output counts"
        );
        let takes_it_back = |t: i64| (t != 10).then_some(9);
        assert_eq!(overstays(lives, takes_it_back), Some(30));
    }

    #[test]
    fn a_step_with_a_result_neither_stalls_nor_times_out() {
        let limits = Limits {
            exit_within: Duration::from_secs(1000),
            ..LIMITS
        };
        let mut watch = Watch::default();
        let mut looks = (0..=20).map(|n| {
            let sample = Sample {
                at: Time(n * 5000),
                seen: Time(n * 5000),
                output_bytes: 4,
                stated: Some(4),
                cpu_ms: 1,
                children: 0,
                child: None,
                shim: 5,
                pulse: n as u64,
            };
            watch.look(&sample, limits)
        });
        assert!(looks.by_ref().take(20).all(|verdict| verdict == Verdict::Alive));
        assert_eq!(looks.next(), Some(Verdict::Overstayed), "the hard limit");
    }

    #[test]
    fn a_step_under_a_frozen_shim_may_have_exited_and_does_not_overstay() {
        let frozen_from_5 = |t: i64| t.min(5) as u64;
        assert_eq!(
            overstays(frozen_from_5, |_| Some(9)),
            Some(15),
            "a shim may be slow"
        );
        assert_eq!(overstays(frozen_from_5, |t| (t >= 20).then_some(9)), None);
    }

    #[test]
    fn time_in_which_nobody_watched_does_not_count() {
        let mut watch = Watch::default();
        let look = |at| Sample {
            at: Time(at),
            seen: Time(at),
            output_bytes: 1,
            stated: None,
            cpu_ms: 1,
            children: 0,
            child: None,
            shim: 5,
            pulse: 1,
        };
        assert_eq!(watch.look(&look(0), LIMITS), Verdict::Alive);
        assert_eq!(
            watch.look(&look(3_600_000), LIMITS),
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
                stated: None,
                cpu_ms: 1,
                children: 0,
                child: None,
                shim: 5,
                pulse: n as u64,
            };
            watch.look(&sample, LIMITS)
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
                stated: None,
                cpu_ms: 1,
                children: 0,
                child: None,
                shim: 5,
                pulse: 7,
            };
            watch.look(&sample, LIMITS)
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
