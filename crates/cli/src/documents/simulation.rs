//! A simulation, replayed.

use schemars::JsonSchema;
use serde::Serialize;
use sim::{Case, Failure, Line, Summary};

/// What happened in a simulation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Simulation {
    /// The seed.
    seed: u64,
    /// The promise that was broken; none when every one held.
    broken: Option<&'static str>,
    /// Where it was found broken.
    what: Option<String>,
    /// Inputs to the engine.
    inputs: u32,
    /// What happened, in order.
    lines: Vec<SimulatedLine>,
}

/// One thing that happened in a simulation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SimulatedLine {
    /// Milliseconds since it began, by the simulated machine's clock.
    at_ms: i64,
    /// Whose doing: `person`, `world`, `hand`, `engine`, `ticket`, or `BROKEN`.
    who: &'static str,
    /// What.
    what: String,
}

impl Simulation {
    pub(crate) fn of(case: &Case, outcome: &Result<Summary, Box<Failure>>, trace: &[Line]) -> Self {
        let failure = outcome.as_ref().err();
        let inputs = |summary: &Summary| summary.inputs;
        Self {
            seed: case.seed,
            broken: failure.map(|failure| failure.invariant),
            what: failure.map(|failure| failure.what.clone()),
            inputs: outcome.as_ref().map_or_else(|failure| failure.inputs, inputs),
            lines: trace
                .iter()
                .map(|line| SimulatedLine {
                    at_ms: line.at_ms,
                    who: line.who.name(),
                    what: line.what.clone(),
                })
                .collect(),
        }
    }
}
