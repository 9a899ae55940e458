//! Money in millionths of a US dollar, and the price of tokens.

use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// A bound for tokens and for millionths of a dollar that no step can reach: a greater figure is an error
/// of the client.
pub(crate) const IMPLAUSIBLE: u64 = 1_000_000_000_000;

/// Dollars as millionths; `None` for a figure that is no plausible price.
pub(crate) fn micro(usd: f64) -> Option<u64> {
    (0.0..=1e6).contains(&usd).then(|| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number between 0 and 10^12, by the line above"
        )]
        let micro = (usd * 1e6).round() as u64;
        micro
    })
}

/// The price of tokens, in US dollars per million, which is also millionths of a dollar per token.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Input that is not cached.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input that is read from the service's cache.
    pub cache_read: f64,
    /// Input that is written to the service's cache.
    pub cache_write: f64,
}

/// Numbers of tokens, by price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
}

impl Tokens {
    pub(crate) fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }

    /// All input, cached or not.
    pub(crate) fn all_input(self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }

    /// The tokens as usage, without a cost.
    pub(crate) fn usage(self) -> Usage {
        Usage {
            input_tokens: self.all_input(),
            output_tokens: self.output,
            cost_micro_usd: 0,
        }
    }

    fn all(self) -> u64 {
        self.all_input().saturating_add(self.output)
    }

    pub(crate) fn is_none(self) -> bool {
        self.all() == 0
    }

    /// Estimates the cost in millionths of a dollar: by the price, else by the average cost of the usage
    /// `before`. `None` when neither is known.
    pub(crate) fn estimate(self, price: Option<Price>, before: Usage) -> Option<u64> {
        if let Some(price) = price {
            #[expect(
                clippy::cast_precision_loss,
                reason = "an estimate, and no step has 2^52 tokens"
            )]
            let part = |count: u64, price: f64| count as f64 * price;
            let micro_usd = part(self.input, price.input)
                + part(self.output, price.output)
                + part(self.cache_read, price.cache_read)
                + part(self.cache_write, price.cache_write);
            return micro(micro_usd / 1e6);
        }
        let tokens = before.input_tokens.saturating_add(before.output_tokens);
        if tokens == 0 || before.cost_micro_usd == 0 {
            return None;
        }
        let cost = u128::from(self.all()) * u128::from(before.cost_micro_usd) / u128::from(tokens);
        u64::try_from(cost).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_exact_to_the_millionth_and_nonsense_is_none() {
        assert_eq!(micro(0.425_000_000_000_000_04), Some(425_000));
        assert_eq!(micro(0.0), Some(0));
        for nonsense in [-0.1, f64::NAN, f64::INFINITY, 1e7] {
            assert_eq!(micro(nonsense), None);
        }
    }

    #[test]
    fn an_estimate_is_by_the_price_else_by_what_was_paid_before() {
        let tokens = Tokens {
            input: 1_000,
            output: 100,
            cache_read: 10_000,
            cache_write: 400,
        };
        let price = Price {
            input: 3.0,
            output: 15.0,
            cache_read: 0.3,
            cache_write: 3.75,
        };
        let before = Usage {
            input_tokens: 20_000,
            output_tokens: 3_000,
            cost_micro_usd: 46_000,
        };
        assert_eq!(tokens.estimate(Some(price), before), Some(9_000));
        assert_eq!(tokens.estimate(None, before), Some(23_000));
        assert_eq!(tokens.estimate(None, Usage::default()), None);
    }
}
