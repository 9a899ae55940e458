//! The usage of steps.

use model::attempt;
use schemars::JsonSchema;
use serde::Serialize;

/// The usage of steps.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Usage {
    /// Tokens read.
    input_tokens: u64,
    /// Tokens written.
    output_tokens: u64,
    /// Millionths of a US dollar.
    cost_micro_usd: u64,
    /// The part of the cost that is estimated, where the client named no price.
    estimated_micro_usd: u64,
}

impl Usage {
    /// The document of the model's usage, whose form in the journal leaves zeros out.
    pub fn of(usage: attempt::Usage) -> Self {
        let attempt::Usage {
            input_tokens,
            output_tokens,
            cost_micro_usd,
            estimated_micro_usd,
        } = usage;
        Self {
            input_tokens,
            output_tokens,
            cost_micro_usd,
            estimated_micro_usd,
        }
    }
}
