//! Stall watches: what was seen of each step and check that runs, since this core was loaded.

use std::collections::BTreeMap;
use std::time::Duration;

use model::attempt::Silence;
use model::policy::stall::{Limits, Sample, Verdict, Watch};
use model::{RunId, TicketId, Time};

/// A watch for each run that was looked at and has not ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    runs: BTreeMap<RunId, Watch>,
    /// The last end of an agent's step, and before it the last one of a step of another ticket.
    ends: Vec<(TicketId, Time)>,
}

impl Watches {
    /// Takes a look at a run. The first look begins its watch.
    pub(crate) fn look(&mut self, run: &RunId, sample: &Sample, limits: Limits) -> Verdict {
        self.runs.entry(run.clone()).or_default().look(sample, limits)
    }

    /// Takes a look at the shim of a run, and at nothing else of the run.
    pub(crate) fn look_at_shim(&mut self, run: &RunId, sample: &Sample, stall_after: Duration) -> Verdict {
        let watch = self.runs.entry(run.clone()).or_default();
        watch.look_at_shim(sample, stall_after)
    }

    /// Whether the last look at a run found a sign of life, after a silence of this kind.
    pub(crate) fn has_stirred(&self, run: &RunId, how: &Silence) -> bool {
        self.runs.get(run).is_some_and(|watch| watch.has_stirred(how))
    }

    /// The run has ended.
    pub(crate) fn ended(&mut self, run: &RunId, now: Time) {
        self.runs.remove(run);
        if let Some(ticket) = run.ticket().filter(|_| !run.is_check()) {
            self.ends.retain(|(of, _)| *of != ticket);
            self.ends.insert(0, (ticket, now));
            self.ends.truncate(2);
        }
    }

    /// The last ends of agents' steps, each with its ticket, since this core was loaded.
    pub(crate) fn ends(&self) -> impl Iterator<Item = &(TicketId, Time)> {
        self.ends.iter()
    }

    /// The last end of an agent's step of another ticket than this, since this core was loaded.
    pub(crate) fn last_end_beside(&self, ticket: &TicketId) -> Option<Time> {
        let other = self.ends.iter().find(|(of, _)| of != ticket);
        other.map(|(_, at)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(watches: &mut Watches, run: &RunId, seconds: i64) -> Verdict {
        let at = Time(seconds * 1000);
        let sample = Sample {
            at,
            seen: at,
            output_bytes: 0,
            stated: None,
            cpu_ms: 0,
            children: 0,
            child: None,
            shim: 1,
            pulse: u64::try_from(seconds).unwrap(),
        };
        let limits = Limits {
            stall_after: Duration::from_secs(10),
            exit_within: Duration::from_secs(30),
            step_timeout: Duration::from_secs(3600),
            quiet_children: model::settings::QuietChildren::Stop,
        };
        watches.look(run, &sample, limits)
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
        watches.ended(&one, Time(10_000));
        assert_eq!(
            look(&mut watches, &one, 20),
            Verdict::Alive,
            "its watch begins anew"
        );
        assert_eq!(look(&mut watches, &other, 20), stuck);
    }
    #[test]
    fn the_last_end_beside_a_ticket_is_of_a_step_of_another() {
        let mut watches = Watches::default();
        let run = |id: &str| RunId::new(id).unwrap();
        let ticket = |id: &str| TicketId::new(id).unwrap();
        for (id, at) in [("t-1.1.1", 1), ("t-2.2.1", 2), ("t-3.3.1", 3), ("t-3.3.2", 4)] {
            watches.ended(&run(id), Time(at));
        }
        watches.ended(&RunId::of_check(&ticket("t-4"), model::Fence(4), 1, 1), Time(5));
        let beside = |id: &str| watches.last_end_beside(&ticket(id));
        assert_eq!((beside("t-3"), beside("t-1")), (Some(Time(2)), Some(Time(4))));
    }
}
