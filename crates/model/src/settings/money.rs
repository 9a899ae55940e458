//! Amounts of money in the file: numbers of US dollars, `5`, `0.25`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serializer;

use crate::money::{MOST, Usd};

/// For serde's `serialize_with`.
#[expect(clippy::ref_option, reason = "serde gives a reference to the field")]
pub(super) fn serialize<S: Serializer>(amount: &Option<Usd>, serializer: S) -> Result<S::Ok, S::Error> {
    match amount {
        Some(amount) => serializer.serialize_f64(amount.dollars()),
        None => serializer.serialize_none(),
    }
}

/// The form of an amount in the schema.
pub(super) struct Number;

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Dollars".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": MOST.dollars(),
            "examples": [5.0, 0.5],
        })
    }
}
