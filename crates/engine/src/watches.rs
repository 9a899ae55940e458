//! Stall watches: what was seen of each step and check that runs, since this core was loaded.

use std::collections::BTreeMap;
use std::time::Duration;

use model::RunId;
use model::policy::stall::{Limits, Sample, Verdict, Watch};

/// A watch for each run that was looked at and has not ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    runs: BTreeMap<RunId, Watch>,
}

impl Watches {
    /// Takes a look at a run. The first look begins its watch.
    pub(crate) fn look(&mut self, run: &RunId, sample: Sample, limits: Limits) -> Verdict {
        self.runs.entry(run.clone()).or_default().look(sample, limits)
    }

    /// Takes a look at the shim of a run, and at nothing else of the run.
    pub(crate) fn look_at_shim(&mut self, run: &RunId, sample: Sample, stall_after: Duration) -> Verdict {
        let watch = self.runs.entry(run.clone()).or_default();
        watch.look_at_shim(sample, stall_after)
    }

    /// The run has ended.
    pub(crate) fn ended(&mut self, run: &RunId) {
        self.runs.remove(run);
    }
}

#[cfg(test)]
mod tests {
    use model::Time;

    use super::*;

    fn look(watches: &mut Watches, run: &RunId, seconds: i64) -> Verdict {
        let at = Time(seconds * 1000);
        let sample = Sample {
            at,
            seen: at,
            output_bytes: 0,
            cpu_ms: 0,
            children: 0,
            shim: 1,
            pulse: u64::try_from(seconds).unwrap(),
        };
        let limits = Limits {
            stall_after: Duration::from_secs(10),
            step_timeout: Duration::from_secs(3600),
        };
        watches.look(run, sample, limits)
    }

    #[test]
    fn each_run_has_a_watch_of_its_own_that_ends_with_it() {
        let mut watches = Watches::default();
        let (one, other) = (RunId::new("t-1.1.1").unwrap(), RunId::new("t-2.2.1").unwrap());
        assert_eq!(look(&mut watches, &one, 0), Verdict::Alive);
        let stuck = Verdict::Stuck {
            silent: Duration::from_secs(10),
        };
        assert_eq!(look(&mut watches, &one, 10), stuck);
        assert_eq!(look(&mut watches, &other, 10), Verdict::Alive, "its first look");
        watches.ended(&one);
        assert_eq!(
            look(&mut watches, &one, 20),
            Verdict::Alive,
            "its watch begins anew"
        );
        assert_eq!(look(&mut watches, &other, 20), stuck);
    }
}
