//! The price of tokens, as the file has it: US dollars per million of them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// The most that a million tokens may cost, in dollars: a guard against a slip of the finger.
pub(super) const MOST: f64 = 10_000.0;

/// US dollars per million tokens, in millionths of a dollar: exact, and comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PerMillion(pub u64);

impl PerMillion {
    /// In dollars.
    #[expect(clippy::cast_precision_loss, reason = "prices are far below 2^53 millionths")]
    #[must_use]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// From dollars.
    ///
    /// # Errors
    ///
    /// What is wrong with it, as the end of a sentence that began with the key.
    pub fn of_dollars(dollars: f64) -> Result<Self, &'static str> {
        if !(0.0..=MOST).contains(&dollars) {
            return Err("is no price of a million tokens");
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number between 0 and 10^10, by the line above"
        )]
        let micro = (dollars * 1e6).round() as u64;
        Ok(Self(micro))
    }
}

impl Serialize for PerMillion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.dollars())
    }
}

impl JsonSchema for PerMillion {
    fn schema_name() -> Cow<'static, str> {
        "DollarsPerMillionTokens".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": MOST, "examples": [3.0, 15.0] })
    }
}

/// `price` of a harness: what tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Price {
    /// US dollars per million tokens that are read.
    pub input: PerMillion,
    /// US dollars per million tokens that are written.
    pub output: PerMillion,
    /// US dollars per million tokens read from the service's cache; without it, a tenth of `input`.
    pub cache_read: PerMillion,
    /// US dollars per million tokens put into the service's cache; without it, five quarters of `input`.
    pub cache_write: PerMillion,
}

impl Price {
    /// With the usual prices of the cache.
    #[must_use]
    pub fn new(input: PerMillion, output: PerMillion) -> Self {
        Self {
            input,
            output,
            cache_read: PerMillion(input.0 / 10),
            cache_write: PerMillion(input.0 / 4 * 5),
        }
    }
}
