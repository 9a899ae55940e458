//! Usage: amounts of tokens and money.

use serde::{Deserialize, Serialize};

/// An amount of tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, including those that are read from or written to the service's cache.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// The cost in millionths of a US dollar, so that sums stay exact.
    pub cost_micro_usd: u64,
}

impl Usage {
    /// Adds `other`; each sum stops at the greatest number.
    pub fn add(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(other.cost_micro_usd);
    }

    /// Whether nothing was used.
    pub fn is_zero(self) -> bool {
        self == Self::default()
    }
}
