//! An item of a list of maps, as `commitments` has them.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A scalar.
    Text(String),
    /// A map of scalars and of lists of scalars.
    Map(BTreeMap<String, Field>),
}

/// A value in a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// A scalar.
    Text(String),
    /// A list of scalars.
    List(Vec<String>),
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Records)
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Fields)
    }
}

/// The methods that read a scalar: the library tells numbers and truth values from texts.
macro_rules! scalars {
    ($text:path) => {
        fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
            Ok($text(value.to_string()))
        }
        fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
            Ok($text(value.to_string()))
        }
        fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
            Ok($text(value.to_string()))
        }
        fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
            Ok($text(value.to_string()))
        }
        fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
            Ok($text(value.to_owned()))
        }
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok($text(String::new()))
        }
    };
}

struct Records;

impl<'de> Visitor<'de> for Records {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a map")
    }

    scalars!(Record::Text);

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some((key, value)) = map.next_entry::<String, Field>()? {
            fields.insert(key, value);
        }
        Ok(Record::Map(fields))
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Field;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of texts")
    }

    scalars!(Field::Text);

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Field, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<String>()? {
            items.push(item);
        }
        Ok(Field::List(items))
    }
}
