//! The machines of the model.

use schemars::JsonSchema;
use serde::Serialize;

/// The machines that can be drawn.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Machines {
    /// Their names.
    pub(crate) machines: Vec<&'static str>,
}

/// A machine, drawn.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Machine {
    /// Its name.
    pub(crate) machine: &'static str,
    /// The diagram, as Mermaid has it.
    pub(crate) mermaid: String,
}
