//! The input of a tool.

use serde::de::MapAccess;

use crate::entry::{Field, VALUE};
use crate::json::{Fields, Scalar};
use text::sanitise;

/// The fields that people recognise a use by, the best one first.
const KEYS: [&str; 11] = [
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "url",
    "query",
    "description",
    "skill",
    "name",
    "prompt",
];
/// The most fields that are kept.
const MOST: usize = 20;

/// The input of a tool, as far as it is kept.
#[derive(Debug, Default)]
pub(super) struct Input {
    /// The value that people recognise the use by, not sanitised.
    pub(super) target: Option<String>,
    /// The place of its name in [`KEYS`].
    rank: usize,
    /// All fields, not sanitised.
    pub(super) arguments: Vec<Field>,
}

impl<'a> Fields<'a> for Input {
    fn field<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        let value = map.next_value::<Scalar<'a>>()?;
        let text = match &value {
            Scalar::Text(text) => &**text,
            Scalar::Count(count) => &count.to_string(),
            Scalar::Number(number) => &number.to_string(),
            Scalar::Truth(truth) => &truth.to_string(),
            Scalar::Other => "…",
        };
        if let Scalar::Text(text) = &value
            && let Some(rank) = KEYS.iter().position(|key| *key == name)
            && (self.target.is_none() || rank < self.rank)
            && !text.trim().is_empty()
        {
            self.target = Some(beginning(text, sanitise::EXCERPT).to_owned());
            self.rank = rank;
        }
        if self.arguments.len() < MOST {
            let kept = beginning(text, VALUE);
            self.arguments.push(Field {
                name: beginning(name, sanitise::EXCERPT).to_owned(),
                value: kept.to_owned(),
                left_out: text.len() - kept.len(),
            });
        }
        Ok(())
    }
}

/// The beginning of a text, of at most this number of bytes.
fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
