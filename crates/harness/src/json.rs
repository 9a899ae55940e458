//! Lenient reading of JSON, without a tree of it in memory.
//!
//! Fields are looked up by name, in any order; all others are skipped. A field of an unexpected type counts
//! as missing. What was read is kept although the document breaks off, so that the beginning of a line that
//! was cut can be used.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess,
    Visitor,
};

/// A value of which some parts are read. What is not overridden is skipped.
pub(crate) trait Fields<'de> {
    /// Reads the value of one field of an object, which must be taken from the map in any case.
    fn field<A: MapAccess<'de>>(&mut self, _name: &str, map: &mut A) -> Result<(), A::Error> {
        skip(map)
    }

    /// Reads a list.
    fn items<A: SeqAccess<'de>>(&mut self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    /// Takes a text.
    fn text(&mut self, _text: &str) {}
}

/// Skips the value of a field.
pub(crate) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}

/// A list of objects; each is appended before it is read.
impl<'de, T: Fields<'de> + Default> Fields<'de> for Vec<T> {
    fn items<A: SeqAccess<'de>>(&mut self, mut seq: A) -> Result<(), A::Error> {
        loop {
            self.push(T::default());
            if let Some(last) = self.last_mut()
                && seq.next_element_seed(Into(last))?.is_none()
            {
                self.pop();
                return Ok(());
            }
        }
    }
}

/// Reads the fields of a document into `into`, and says whether it is a whole JSON object.
pub(crate) fn read<'de, T: Fields<'de>>(bytes: &'de [u8], into: &mut T) -> bool {
    let mut document = serde_json::Deserializer::from_slice(bytes);
    let is_object = Into(into).deserialize(&mut document);
    is_object.is_ok_and(|is_object| is_object) && document.end().is_ok()
}

/// Reads a whole value from a line, which is mended where it is no JSON as it stands.
pub(crate) fn value<T: DeserializeOwned>(line: &str) -> serde_json::Result<T> {
    serde_json::from_str(line).or_else(|error| {
        let better = text::mended_json(line);
        serde_json::from_str(&better).map_err(|_| error)
    })
}

/// Reads a value into one that is there; says whether it was an object.
pub(crate) struct Into<'a, T>(pub(crate) &'a mut T);

impl<'de, T: Fields<'de>> DeserializeSeed<'de> for Into<'_, T> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de, T: Fields<'de>> Visitor<'de> for Into<'_, T> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            self.0.field(&name, &mut map)?;
        }
        Ok(true)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<bool, A::Error> {
        self.0.items(seq)?;
        Ok(false)
    }

    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        self.0.text(text);
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}

/// The name of a field.
struct Name<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let name = json.deserialize_str(AnyScalar)?;
        match name {
            Scalar::Text(name) => Ok(Self(name)),
            Scalar::Count(_) | Scalar::Number(_) | Scalar::Truth(_) | Scalar::Other => {
                Err(D::Error::custom("a name is a string"))
            }
        }
    }
}

/// A value that is no object or list; those are skipped.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Scalar<'de> {
    Text(Cow<'de, str>),
    Count(u64),
    Number(f64),
    Truth(bool),
    #[default]
    Other,
}

impl<'de> Scalar<'de> {
    pub(crate) fn text(self) -> Option<Cow<'de, str>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Count(_) | Self::Number(_) | Self::Truth(_) | Self::Other => None,
        }
    }

    pub(crate) fn count(self) -> Option<u64> {
        match self {
            Self::Count(count) => Some(count),
            Self::Text(_) | Self::Number(_) | Self::Truth(_) | Self::Other => None,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a figure of this size is refused as implausible"
    )]
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Self::Count(count) => Some(count as f64),
            Self::Number(number) => Some(number),
            Self::Text(_) | Self::Truth(_) | Self::Other => None,
        }
    }

    pub(crate) fn truth(self) -> Option<bool> {
        match self {
            Self::Truth(truth) => Some(truth),
            Self::Text(_) | Self::Count(_) | Self::Number(_) | Self::Other => None,
        }
    }
}

impl<'de> Deserialize<'de> for Scalar<'de> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(AnyScalar)
    }
}

struct AnyScalar;

impl<'de> Visitor<'de> for AnyScalar {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Truth(truth))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a figure of this size is refused as implausible"
    )]
    fn visit_i64<E>(self, number: i64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Number(number as f64))
    }

    fn visit_u64<E>(self, count: u64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Count(count))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Number(number))
    }

    fn visit_unit<E>(self) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}
