//! Usage: the tokens and the money of steps.

use serde::{Deserialize, Serialize};

/// The tokens and the cost of a step, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Hash, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars, in millionths: sums stay exact.
    pub cost_micro_usd: u64,
    /// The part of the cost that is estimated, where the client reported no price; in millionths too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_micro_usd: u64,
}

fn is_zero(micro: &u64) -> bool {
    *micro == 0
}

impl Usage {
    /// Tokens, both ways.
    #[must_use]
    pub fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Adds `other`, saturating.
    pub fn add(&mut self, other: Usage) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(other.cost_micro_usd);
        self.estimated_micro_usd = self.estimated_micro_usd.saturating_add(other.estimated_micro_usd);
    }
}
