//! Results of a simulation: statistics, or a failure.

use std::fmt;
use std::time::Duration;

use crate::chance::{Fault, Site};
use crate::{Case, Line};

/// The number of the last lines of the trace that a failure prints.
const TAIL: usize = 40;
/// The number of the faults that struck that a failure names.
const NAMED: usize = 60;

/// A simulation in which every invariant held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Inputs to the core, of both phases.
    pub inputs: u32,
    /// Landed events.
    pub landed: usize,
    /// Children whose work became their parent's.
    pub unified: u32,
    /// Times that the branch of a child was merged into its parent's.
    pub merged: u32,
    /// Children whose work was in conflict with their parent's.
    pub conflicted: u32,
    /// Turns of children whose work was taken out of their parent's workspace.
    pub put_back: u32,
    /// Times that crew refused the work of a child.
    pub work_refused: u32,
    /// Workspaces that somebody deleted.
    pub lost_workspaces: u32,
    /// Tickets whose agents broke them up.
    pub broken_up: u32,
    /// Steps of which a silence, and its end, was recorded.
    pub stirred: u32,
    /// Tickets that people took back to an earlier commit.
    pub rewound: u32,
    /// Times the engine was killed, or its journal failed it.
    pub crashes: u32,
    /// Writes that the journal refused.
    pub refusals: u32,
    /// Writes tried by an engine that was thought dead.
    pub zombies: u32,
    /// Steps that warned of a budget.
    pub warned: u32,
    /// Times that a spent budget held a ticket.
    pub spent: u32,
    /// Times that a spent budget stopped a day.
    pub paused: u32,
    /// Times that midnight ended that.
    pub midnights: u32,
    /// Times that everything was checked.
    pub checks: u64,
    /// The time until everything had come to rest, once the world was calm.
    pub calm: Duration,
    /// The longest time that this may take.
    pub bound: Duration,
    /// The number of times that each site was passed, in the order of [`Site::ALL`].
    pub passed: [u32; Site::ALL.len()],
    /// The number of times that each site struck.
    pub struck: [u32; Site::ALL.len()],
}

/// Nothing was simulated. Arrays of this length have no default to derive this from.
impl Default for Summary {
    fn default() -> Self {
        Self {
            inputs: 0,
            landed: 0,
            unified: 0,
            merged: 0,
            conflicted: 0,
            put_back: 0,
            work_refused: 0,
            lost_workspaces: 0,
            broken_up: 0,
            stirred: 0,
            rewound: 0,
            crashes: 0,
            refusals: 0,
            zombies: 0,
            warned: 0,
            spent: 0,
            paused: 0,
            midnights: 0,
            checks: 0,
            calm: Duration::ZERO,
            bound: Duration::ZERO,
            passed: [0; Site::ALL.len()],
            struck: [0; Site::ALL.len()],
        }
    }
}

impl Summary {
    /// The share of the bound until everything was at rest, in thousandths.
    fn calm_share(&self) -> u128 {
        self.calm.as_millis() * 1000 / self.bound.as_millis().max(1)
    }

    /// Adds the summary of another run; of the times, the nearest to its bound stays.
    pub fn add(&mut self, other: &Self) {
        self.inputs += other.inputs;
        self.landed += other.landed;
        self.unified += other.unified;
        self.merged += other.merged;
        self.conflicted += other.conflicted;
        self.put_back += other.put_back;
        self.work_refused += other.work_refused;
        self.lost_workspaces += other.lost_workspaces;
        self.broken_up += other.broken_up;
        self.stirred += other.stirred;
        self.rewound += other.rewound;
        self.crashes += other.crashes;
        self.refusals += other.refusals;
        self.zombies += other.zombies;
        self.warned += other.warned;
        self.spent += other.spent;
        self.paused += other.paused;
        self.midnights += other.midnights;
        self.checks += other.checks;
        if other.calm_share() > self.calm_share() {
            (self.calm, self.bound) = (other.calm, other.bound);
        }
        for (sum, one) in self.passed.iter_mut().zip(other.passed) {
            *sum += one;
        }
        for (sum, one) in self.struck.iter_mut().zip(other.struck) {
            *sum += one;
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} inputs, {} landed, {} crashes, {} writes refused, {} by engines thought dead; everything checked {} times",
            self.inputs, self.landed, self.crashes, self.refusals, self.zombies, self.checks
        )?;
        let struck = Site::ALL.iter().zip(self.struck).filter(|(_, times)| *times > 0);
        let struck: Vec<String> = struck.map(|(site, times)| format!("{site} {times}")).collect();
        writeln!(f, "went wrong: {}", struck.join(", "))?;
        writeln!(
            f,
            "{} children unified, {} merged, {} in conflict, {} refused, {} put back, {} workspaces lost; {} tickets broken up, {} rewound, {} silent steps stirred",
            self.unified,
            self.merged,
            self.conflicted,
            self.work_refused,
            self.put_back,
            self.lost_workspaces,
            self.broken_up,
            self.rewound,
            self.stirred
        )?;
        write!(
            f,
            "at rest {:.0?} after the last fault, of at most {:.0?}",
            self.calm, self.bound
        )
    }
}

/// An invariant that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The case.
    pub case: Case,
    /// The options that the seed drew before anything happened.
    pub options: String,
    /// The invariant's name.
    pub invariant: &'static str,
    /// The promise that was broken.
    pub what: String,
    /// Inputs to the core until then.
    pub inputs: u32,
    /// The faults that struck before, in order.
    pub struck: Vec<Fault>,
    /// Everything that happened, in order.
    pub trace: Vec<Line>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} breaks \"{}\": {}", self.case, self.invariant, self.what)?;
        writeln!(f, "drawn:\n{}", self.options)?;
        let named: Vec<String> = self
            .struck
            .iter()
            .rev()
            .take(NAMED)
            .rev()
            .map(Fault::to_string)
            .collect();
        writeln!(f, "went wrong, {} times: {}", self.struck.len(), named.join(" "))?;
        let skipped = self.trace.len().saturating_sub(TAIL);
        writeln!(f, "the last of {} lines:", self.trace.len())?;
        for line in self.trace.iter().skip(skipped) {
            writeln!(f, "  {line}")?;
        }
        write!(f, "again: cargo xtask sim --seed {}", self.case.seed)
    }
}

impl std::error::Error for Failure {}
