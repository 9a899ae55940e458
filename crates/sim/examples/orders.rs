//! Lands made-up orders of branches by the merge train's own rules, in simulated time, and prints a line an
//! order: `seed=N took=MS runs=N`.
//!
//! `orders BRANCHES CULPRITS BATCH SLOTS SEEDS CHECK BUILD LAND SLOT`: the last four are the milliseconds of
//! a run of the checks, of the merge of a branch, of a landing, and of the start of a run. All branches wait
//! when it begins, and it ends when all but the culprits have landed.

use std::collections::BTreeSet;
use std::error::Error;

use model::policy::train::{self, Entry, Queue, Step, Trial, Window};
use model::{TicketId, Time};

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<f64> = std::env::args()
        .skip(1)
        .map(|one| one.parse())
        .collect::<Result<_, _>>()?;
    let [branches, culprits, batch, slots, seeds, costs @ ..] = &numbers[..] else {
        return Err("usage: orders BRANCHES CULPRITS BATCH SLOTS SEEDS CHECK BUILD LAND SLOT".into());
    };
    let [check, build, land, slot] = costs else {
        return Err("the times of a run, of a merge, of a landing and of a start are missing".into());
    };
    let [branches, culprits, batch, slots, seeds] =
        [branches, culprits, batch, slots, seeds].map(|one| whole(*one));
    for seed in 0..seeds {
        let mut world = World {
            ids: (0..branches)
                .map(|at| TicketId::new(format!("t-{at}")))
                .collect::<Result<_, _>>()?,
            red: drawn(seed as u64, branches, culprits),
            limits: (batch, slots),
            costs: Costs {
                check: *check + *slot,
                build: *build,
                land: *land,
            },
            now: 0.0,
            queue: (0..branches).collect(),
            entries: Vec::new(),
            building: None,
            landing: None,
            landed: BTreeSet::new(),
            passed: BTreeSet::new(),
            size: batch,
            runs: 0,
        };
        world.go(branches - culprits)?;
        println!("seed={seed} took={:.0} runs={}", world.now, world.runs);
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
fn whole(number: f64) -> usize {
    number.max(0.0) as usize
}

/// So many of the branches, the same for a seed for ever.
fn drawn(seed: u64, branches: usize, culprits: usize) -> BTreeSet<usize> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut drawn = BTreeSet::new();
    while drawn.len() < culprits.min(branches) {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        drawn.insert(usize::try_from((state >> 33) % branches as u64).unwrap_or(0));
    }
    drawn
}

/// Milliseconds.
struct Costs {
    check: f64,
    build: f64,
    land: f64,
}

/// An entry of the train that has not landed.
struct Waiting {
    branch: usize,
    trial: Trial,
    joined: f64,
    /// When its run ends.
    until: f64,
}

struct World {
    ids: Vec<TicketId>,
    /// The branches at fault.
    red: BTreeSet<usize>,
    limits: (usize, usize),
    costs: Costs,
    now: f64,
    queue: Vec<usize>,
    entries: Vec<Waiting>,
    building: Option<(usize, f64)>,
    /// The first entries, so many, and when they have landed.
    landing: Option<(usize, f64)>,
    landed: BTreeSet<usize>,
    /// The sets of branches whose merged result has passed.
    passed: BTreeSet<BTreeSet<usize>>,
    size: usize,
    runs: usize,
}

impl World {
    /// Until so many have landed.
    fn go(&mut self, expected: usize) -> Result<(), String> {
        while self.landed.len() < expected {
            let wake = self.follow();
            let times = self.entries.iter().filter(|one| one.trial == Trial::Running);
            let next = times
                .map(|one| one.until)
                .chain(self.building.map(|(_, at)| at))
                .chain(self.landing.map(|(_, at)| at))
                .chain(wake)
                .fold(f64::INFINITY, f64::min);
            if next.is_infinite() {
                return Err(format!(
                    "{} of {expected} have landed, and nothing goes on",
                    self.landed.len()
                ));
            }
            self.now = self.now.max(next);
            self.happen();
        }
        Ok(())
    }

    /// What is due at this time.
    fn happen(&mut self) {
        if let Some((branch, _)) = self.building.filter(|(_, at)| *at <= self.now) {
            self.building = None;
            self.entries.push(Waiting {
                branch,
                trial: Trial::Untried,
                joined: self.now,
                until: 0.0,
            });
        }
        if let Some((many, _)) = self.landing.filter(|(_, at)| *at <= self.now) {
            self.landing = None;
            self.landed
                .extend(self.entries.drain(..many).map(|one| one.branch));
        }
        for at in 0..self.entries.len() {
            let one = &self.entries[at];
            if one.trial == Trial::Running && one.until <= self.now {
                let prefix = self.prefix(at);
                let is_red = prefix.iter().any(|branch| self.red.contains(branch));
                if is_red && at == 0 && self.landing.is_none() {
                    self.blame_first();
                    return;
                }
                self.entries[at].trial = if is_red { Trial::Failed } else { Trial::Passed };
                if !is_red {
                    self.passed.insert(prefix);
                    self.size = train::resized(self.size, true, self.limits.0);
                }
            }
        }
    }

    /// The branches of the merged result of an entry.
    fn prefix(&self, at: usize) -> BTreeSet<usize> {
        let entries = self.entries[..=at].iter().map(|one| one.branch);
        self.landed.iter().copied().chain(entries).collect()
    }

    /// Does what the plan says until it says nothing; gives when to look again.
    fn follow(&mut self) -> Option<f64> {
        loop {
            let first = self.landing.map_or(0, |(many, _)| many);
            let entries: Vec<Entry<'_>> = self.entries[first..]
                .iter()
                .map(|one| Entry {
                    ticket: &self.ids[one.branch],
                    trial: one.trial,
                    joined_at: time(one.joined),
                })
                .collect();
            let queue = Queue {
                next: self.queue.first().map(|branch| &self.ids[*branch]),
                is_building: self.building.is_some(),
                is_coming: false,
                is_landing: self.landing.is_some(),
            };
            let window = Window {
                size: self.size,
                now: time(self.now),
            };
            let plan = train::plan(&entries, queue, self.limits.1, window);
            if plan.steps.is_empty() {
                #[expect(clippy::cast_precision_loss, reason = "some minutes, in milliseconds")]
                return plan.wake_at.map(|at| at.0 as f64);
            }
            for step in plan.steps {
                self.take(&step);
            }
        }
    }

    fn at(&self, ticket: &TicketId) -> usize {
        let is_it = |one: &Waiting| self.ids[one.branch] == *ticket;
        self.entries.iter().position(is_it).unwrap_or(0)
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Couple { .. } => {
                let branch = self.queue.remove(0);
                self.building = Some((branch, self.now + self.costs.build));
            }
            Step::Try { ticket } => {
                let at = self.at(ticket);
                if self.passed.contains(&self.prefix(at)) {
                    self.entries[at].trial = Trial::Passed;
                    return;
                }
                self.try_on(at);
            }
            Step::Cancel { ticket } => {
                let at = self.at(ticket);
                self.entries[at].trial = Trial::Untried;
            }
            Step::Land { tip } => {
                self.landing = Some((self.at(tip) + 1, self.now + self.costs.land));
            }
            Step::TryAlone { ticket } => {
                let at = self.at(ticket);
                self.try_on(at);
            }
        }
    }

    fn try_on(&mut self, at: usize) {
        self.runs += 1;
        self.entries[at].trial = Trial::Running;
        self.entries[at].until = self.now + self.costs.check;
    }

    /// The first entry has failed by itself: it goes, and those behind it are merged anew.
    fn blame_first(&mut self) {
        self.entries.remove(0);
        self.size = train::resized(self.size, false, self.limits.0);
        let behind = std::mem::take(&mut self.entries)
            .into_iter()
            .map(|one| one.branch);
        let building = self.building.take().map(|(branch, _)| branch);
        for branch in behind.chain(building) {
            self.requeue(branch);
        }
    }

    fn requeue(&mut self, branch: usize) {
        let place = self.queue.partition_point(|one| *one < branch);
        self.queue.insert(place, branch);
    }
}

fn time(ms: f64) -> Time {
    #[expect(clippy::cast_possible_truncation, reason = "some minutes, in milliseconds")]
    Time(ms.ceil() as i64)
}
