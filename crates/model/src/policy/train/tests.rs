//! The plan of the train, against a world of branches of which some are at fault.

use std::collections::BTreeSet;

use super::*;

const BATCH: usize = 16;

/// A world: submitted branches, sets of branches that fail together, and the train's state.
struct World {
    ids: Vec<TicketId>,
    /// A prefix fails that holds all of one of these sets.
    red: Vec<BTreeSet<usize>>,
    queue: Vec<usize>,
    entries: Vec<(usize, Trial)>,
    landed: Vec<usize>,
    blamed: Vec<usize>,
    /// Prefixes that were tried, each by its branches.
    tried: BTreeSet<Vec<usize>>,
    batches: usize,
    halvings: usize,
    voids: usize,
    /// Runs on one entry alone, after it failed with others.
    alone: usize,
    /// The runs that fail by chance, by their numbers from 0.
    flakes: BTreeSet<usize>,
    /// The number of runs that have ended.
    ended: usize,
    window: usize,
    batch: usize,
    slots: usize,
}

impl World {
    fn new(n: usize, red: &[&[usize]], batch: usize, slots: usize) -> Self {
        Self {
            ids: (0..n)
                .map(|at| TicketId::new(format!("t-{at}")).unwrap())
                .collect(),
            red: red.iter().map(|set| set.iter().copied().collect()).collect(),
            queue: (0..n).collect(),
            entries: Vec::new(),
            landed: Vec::new(),
            blamed: Vec::new(),
            tried: BTreeSet::new(),
            batches: 0,
            halvings: 0,
            voids: 0,
            alone: 0,
            flakes: BTreeSet::new(),
            ended: 0,
            window: batch,
            batch,
            slots,
        }
    }

    fn at(&self, ticket: &TicketId) -> usize {
        let is_it = |(one, _): &(usize, Trial)| self.ids[*one] == *ticket;
        self.entries.iter().position(is_it).unwrap()
    }

    fn prefix(&self, at: usize) -> Vec<usize> {
        let mut prefix = self.landed.clone();
        prefix.extend(self.entries[..=at].iter().map(|(one, _)| *one));
        prefix
    }

    fn fails(&self, prefix: &[usize]) -> bool {
        let holds = |set: &BTreeSet<usize>| set.iter().all(|one| prefix.contains(one));
        self.red.iter().any(holds)
    }

    /// Does what the plan says until it says nothing; time has always passed.
    fn follow(&mut self) {
        loop {
            let entries: Vec<Entry<'_>> = self
                .entries
                .iter()
                .map(|(one, trial)| Entry {
                    ticket: &self.ids[*one],
                    trial: *trial,
                    joined_at: Time(0),
                })
                .collect();
            let queue = Queue {
                next: self.queue.first().map(|one| &self.ids[*one]),
                ..Queue::default()
            };
            // A batch is only tried early where nothing more comes.
            let now = if self.queue.is_empty() {
                Time(i64::MAX)
            } else {
                Time(0)
            };
            let window = Window {
                size: self.window,
                now,
            };
            let steps = plan(&entries, queue, self.slots, window).steps;
            if steps.is_empty() {
                return;
            }
            for step in steps {
                self.take(&step);
            }
        }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Couple { ticket } => {
                let one = self.queue.remove(0);
                assert_eq!(self.ids[one], *ticket);
                self.entries.push((one, Trial::Untried));
            }
            Step::Try { ticket } => {
                let at = self.at(ticket);
                assert_eq!(self.entries[at].1, Trial::Untried);
                let is_halving = self.entries.iter().any(|(_, trial)| *trial == Trial::Failed);
                *(if is_halving {
                    &mut self.halvings
                } else {
                    &mut self.batches
                }) += 1;
                self.entries[at].1 = Trial::Running;
                let running = |(_, trial): &&(usize, Trial)| *trial == Trial::Running;
                assert!(self.entries.iter().filter(running).count() <= self.slots);
                assert!(self.tried.insert(self.prefix(at)), "a prefix is tried once");
            }
            Step::Cancel { ticket } => {
                let at = self.at(ticket);
                self.entries[at].1 = Trial::Untried;
                self.voids += 1;
                let prefix = self.prefix(at);
                self.tried.remove(&prefix);
            }
            Step::Land { tip } => {
                let at = self.at(tip);
                assert!(!self.fails(&self.prefix(at)), "only a prefix that passed lands");
                let landed = self.entries.drain(..=at).map(|(one, _)| one);
                self.landed.extend(landed);
                self.window = resized(self.window, true, self.batch);
            }
            Step::TryAlone { ticket } => {
                let at = self.at(ticket);
                assert_eq!(
                    (at, self.entries[at].1),
                    (0, Trial::Failed),
                    "all ahead of it has landed"
                );
                self.entries[at].1 = Trial::Running;
                self.alone += 1;
            }
        }
    }

    /// The first entry has failed by itself: it goes back, and those behind it are merged anew.
    fn blame_first(&mut self) {
        let (one, _) = self.entries.remove(0);
        self.blamed.push(one);
        self.window = resized(self.window, false, self.batch);
        self.queue.extend(self.entries.drain(..).map(|(one, _)| one));
        self.queue.sort_unstable();
    }

    /// Runs to the end; `pick` says which of the running checks ends next.
    fn run(&mut self, mut pick: impl FnMut(usize) -> usize) {
        loop {
            self.follow();
            let running: Vec<usize> = (0..self.entries.len())
                .filter(|at| self.entries[*at].1 == Trial::Running)
                .collect();
            if running.is_empty() {
                assert!(self.entries.is_empty() && self.queue.is_empty());
                return;
            }
            let at = running[pick(running.len()) % running.len()];
            let is_flaky = self.flakes.remove(&self.ended);
            self.ended += 1;
            match is_flaky || self.fails(&self.prefix(at)) {
                true if at == 0 => self.blame_first(),
                true => self.entries[at].1 = Trial::Failed,
                false => self.entries[at].1 = Trial::Passed,
            }
        }
    }

    fn runs(&self) -> usize {
        self.batches + self.halvings + self.alone
    }
}

/// The most runs that cutting a prefix of `n` entries takes, with so many runs at once: each cuts what is
/// left into `slots + 1` parts.
fn cuts(n: usize, slots: usize) -> usize {
    let (mut left, mut runs) = (n, 0);
    while left > 1 {
        let at_once = slots.min(MOST_CUTS).min(left - 1);
        runs += at_once;
        left = left.div_ceil(at_once + 1);
    }
    runs
}

#[test]
fn every_set_of_culprits_is_found_within_the_bound_and_every_innocent_branch_lands() {
    for n in 1..=9_usize {
        for culprits in 0..1_usize << n {
            let at_fault: Vec<[usize; 1]> = (0..n)
                .filter(|at| culprits >> at & 1 == 1)
                .map(|at| [at])
                .collect();
            let red: Vec<&[usize]> = at_fault.iter().map(<[usize; 1]>::as_slice).collect();
            for (slots, batch, order) in [(1, 4, 0), (1, 9, 0), (2, 4, 0), (2, 4, 1), (3, 3, 2), (2, 1, 1)] {
                let mut world = World::new(n, &red, batch, slots);
                world.run(|running| order % running);
                let blamed: BTreeSet<usize> = world.blamed.iter().copied().collect();
                assert_eq!(blamed, at_fault.iter().map(|one| one[0]).collect());
                assert_eq!(world.landed.len() + world.blamed.len(), n);
                assert!(world.alone <= at_fault.len());
                let bound = at_fault.len() * cuts(batch.min(n) * slots, slots);
                assert!(
                    world.halvings <= bound + world.voids,
                    "{n} branches, culprits {culprits:b}, {slots} slots, batches of {batch}: {} halvings",
                    world.halvings
                );
            }
        }
    }
}

#[test]
fn sixteen_branches_need_one_run_without_a_culprit_and_at_most_nine_with_one() {
    for slots in [1, 2, 4] {
        let mut world = World::new(BATCH, &[], BATCH, slots);
        world.run(|_| 0);
        assert_eq!((world.runs(), world.landed.len()), (1, BATCH));
        for culprit in 0..BATCH {
            let mut world = World::new(BATCH, &[&[culprit]], BATCH, slots);
            world.run(|_| 0);
            assert!(world.runs() <= 9, "culprit {culprit}: {} runs", world.runs());
            assert_eq!(
                (world.blamed.as_slice(), world.landed.len()),
                (&[culprit][..], BATCH - 1)
            );
        }
    }
}

#[test]
fn one_failure_by_chance_among_others_sends_nobody_back() {
    for (slots, order) in [(1, 0), (2, 0), (2, 1)] {
        for n in 2..=9 {
            let mut world = World::new(n, &[], n, slots);
            world.flakes.insert(0);
            world.run(|running| order % running);
            assert_eq!((world.blamed.as_slice(), world.landed.len()), (&[][..], n));
            assert_eq!(world.alone, 1, "the last of {n} is tried by itself");
        }
    }
}

#[test]
fn of_two_branches_that_fail_together_the_later_one_is_blamed() {
    for slots in [1, 2] {
        for one in 0..7 {
            for other in one + 1..8 {
                let mut world = World::new(8, &[&[one, other]], 8, slots);
                world.run(|_| 0);
                assert_eq!(world.blamed, [other], "{one} and {other}");
            }
        }
    }
}

#[test]
fn a_tip_is_not_blamed_before_the_entry_ahead_of_it_has_passed() {
    let ids = ["a", "b"].map(|id| TicketId::new(id).unwrap());
    let entry = |at: usize, trial| Entry {
        ticket: &ids[at],
        trial,
        joined_at: Time(0),
    };
    let window = Window {
        size: 2,
        now: Time(0),
    };
    let entries = [entry(0, Trial::Untried), entry(1, Trial::Failed)];
    let steps = plan(&entries, Queue::default(), 1, window).steps;
    assert_eq!(
        steps,
        [Step::Try {
            ticket: ids[0].clone()
        }]
    );
    // While what is ahead of it lands, it waits: then it is tried by itself.
    let landing = Queue {
        is_landing: true,
        ..Queue::default()
    };
    let entries = [entry(0, Trial::Passed), entry(1, Trial::Failed)];
    assert_eq!(plan(&entries, landing, 1, window).steps, []);
    assert_eq!(plan(&entries[1..], landing, 1, window).steps, []);
    assert_eq!(
        plan(&entries[1..], Queue::default(), 1, window).steps,
        [Step::TryAlone {
            ticket: ids[1].clone()
        }]
    );
}

#[test]
fn a_batch_that_is_not_full_waits_two_seconds_for_a_branch_that_is_coming() {
    let ids = ["a", "b", "c"].map(|id| TicketId::new(id).unwrap());
    let entries: Vec<Entry<'_>> = [Time(1_000), Time(1_500)]
        .into_iter()
        .zip(&ids)
        .map(|(joined_at, ticket)| Entry {
            ticket,
            trial: Trial::Untried,
            joined_at,
        })
        .collect();
    let coming = Queue {
        is_building: true,
        ..Queue::default()
    };
    let at = |size, now, queue| plan(&entries, queue, 2, Window { size, now: Time(now) });
    let tries_b = vec![Step::Try {
        ticket: ids[1].clone(),
    }];
    assert_eq!(at(8, 1_500, Queue::default()).steps, tries_b, "nothing is coming");
    assert_eq!(at(2, 1_500, coming).steps, tries_b, "it is full");
    let waits = at(8, 3_499, coming);
    assert_eq!((waits.steps, waits.wake_at), (Vec::new(), Some(Time(3_500))));
    assert_eq!(
        at(8, 3_500, coming).steps,
        tries_b,
        "it has waited since the last one joined"
    );
    // Behind checks that run, a batch waits until it has not grown for as long.
    let mut behind = entries.clone();
    behind[0].trial = Trial::Running;
    let at = |now| {
        plan(
            &behind,
            Queue::default(),
            2,
            Window {
                size: 8,
                now: Time(now),
            },
        )
    };
    assert_eq!(at(3_499).wake_at, Some(Time(3_500)));
    assert_eq!(at(3_500).steps, tries_b);
}

#[test]
fn the_checks_of_a_prefix_are_ended_once_a_longer_one_has_passed_or_a_shorter_one_failed() {
    let ids = ["a", "b"].map(|id| TicketId::new(id).unwrap());
    let steps = |first, second| {
        let entries: Vec<Entry<'_>> = [first, second]
            .into_iter()
            .zip(&ids)
            .map(|(trial, ticket)| Entry {
                ticket,
                trial,
                joined_at: Time(0),
            })
            .collect();
        let window = Window {
            size: 1,
            now: Time(9_000),
        };
        plan(&entries, Queue::default(), 2, window).steps
    };
    let cancel = |at: usize| Step::Cancel {
        ticket: ids[at].clone(),
    };
    assert_eq!(
        steps(Trial::Running, Trial::Passed),
        [cancel(0), Step::Land { tip: ids[1].clone() }]
    );
    assert_eq!(
        steps(Trial::Failed, Trial::Running),
        [
            cancel(1),
            Step::TryAlone {
                ticket: ids[0].clone()
            }
        ]
    );
}

#[test]
fn the_window_grows_by_one_and_is_halved() {
    assert_eq!([resized(7, true, 8), resized(8, true, 8)], [8, 8]);
    assert_eq!([resized(8, false, 8), resized(1, false, 8)], [4, 1]);
}
