//! A moment as people and other programs read it; the journal keeps milliseconds.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::Time;

/// A moment that is displayed in UTC, to the second, in RFC 3339: `2026-01-02T03:04:05Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Time);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl JsonSchema for Moment {
    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// Writes a time as a moment.
pub(crate) fn one<S: Serializer>(at: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    Moment(*at).serialize(serializer)
}

/// Writes a time, where there is one, as a moment.
pub(crate) fn some<S: Serializer>(at: &Option<Time>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Moment).serialize(serializer)
}
