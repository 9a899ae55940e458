//! What a simulation comes to.

use std::fmt;

use crate::Plant;

/// How much of the trace a failure prints.
const TAIL: usize = 40;

/// A simulation in which every invariant held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Inputs to the core, of both phases.
    pub inputs: u32,
    /// Landed events.
    pub landed: usize,
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
    /// Simulated hours.
    pub hours: i64,
}

/// An invariant that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// The bug that was planted.
    pub plant: Option<Plant>,
    /// What the seed drew before anything happened.
    pub options: String,
    /// The invariant's name.
    pub invariant: &'static str,
    /// What was found.
    pub what: String,
    /// Everything that happened, in order.
    pub trace: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {} breaks \"{}\": {}",
            self.seed, self.invariant, self.what
        )?;
        if let Some(plant) = self.plant {
            writeln!(f, "with a planted bug: {plant:?}")?;
        }
        writeln!(f, "options: {}", self.options)?;
        let skipped = self.trace.len().saturating_sub(TAIL);
        writeln!(f, "the last of {} lines:", self.trace.len())?;
        for line in self.trace.iter().skip(skipped) {
            writeln!(f, "  {line}")?;
        }
        write!(
            f,
            "replay: SIM_SEED={} cargo test -p sim replay -- --nocapture",
            self.seed
        )
    }
}

impl std::error::Error for Failure {}
