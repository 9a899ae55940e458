//! The machines of the model.

use schemars::JsonSchema;
use serde::Serialize;

/// The machines that can be drawn.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Machines {
    /// Their names.
    pub machines: Vec<&'static str>,
}

/// A machine, drawn.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Machine {
    /// Its name.
    pub machine: &'static str,
    /// The diagram, as Mermaid has it.
    pub mermaid: String,
}
