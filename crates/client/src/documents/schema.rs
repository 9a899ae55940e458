//! The schema of the documents: one file, with an entry per command and the pieces as definitions.

use model::settings::Settings;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Document, PRINTED};

/// A type, and a command that prints it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printed {
    command: &'static str,
    is_line: bool,
    schema: fn(&mut SchemaGenerator) -> schemars::Schema,
}

/// A schema, as a document itself.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Schema(Value);

impl Document for Schema {}

/// Its schema is that of `crew.toml`.
impl Document for Settings {}

impl Printed {
    /// `kind` is the name of the trait by which it is printed.
    pub(crate) const fn new<T: JsonSchema>(command: &'static str, kind: &'static str) -> Self {
        Self {
            command,
            is_line: kind.len() == "Line".len(),
            schema: SchemaGenerator::subschema_for::<T>,
        }
    }
}

/// The schema of `crew.toml`.
pub fn of_settings() -> Schema {
    Schema(Settings::schema())
}

/// The schema of the documents of `--json`: an object with a document for each command, by the command's
/// name.
pub fn of_documents() -> Schema {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut commands: Map<String, Value> = Map::new();
    for printed in PRINTED {
        let one = (printed.schema)(&mut generator).to_value();
        let form = if printed.is_line {
            "one a line"
        } else {
            "one document"
        };
        let entry = commands
            .entry(printed.command)
            .or_insert_with(|| json!({ "description": form, "anyOf": [] }));
        if let Some(all) = entry["anyOf"].as_array_mut() {
            all.push(one);
        }
    }
    commands.insert(
        "config".to_owned(),
        json!({
            "description": "one document: the settings with every default filled in, which crew.schema.json describes",
            "type": "object",
        }),
    );
    for entry in commands.values_mut() {
        // One that is the only one needs no choice.
        if let Some([one]) = entry["anyOf"].as_array().map(Vec::as_slice) {
            *entry = json!({ "description": entry["description"], "$ref": one["$ref"] });
        }
    }
    let mut pieces = generator.take_definitions(true);
    for piece in pieces.values_mut() {
        if let Ok(piece) = piece.try_into() {
            Unbroken.transform(piece);
        }
    }
    Schema(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "crew --json",
        "description": "What the commands of crew print with --json, by the command's name. Keys are added with new versions of crew, \
            not changed or taken away: a reader passes over those that it does not know.",
        "type": "object",
        "properties": commands,
        "additionalProperties": false,
        "$defs": pieces,
    }))
}

/// Takes the line breaks of the source out of descriptions, and removes formats of numbers that only a
/// compiler needs.
struct Unbroken;

impl Transform for Unbroken {
    fn transform(&mut self, schema: &mut schemars::Schema) {
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = text.replace('\n', " ");
        }
        let is_number = |format: &Value| format.as_str().is_some_and(|name| name.starts_with("uint"));
        if schema.get("format").is_some_and(is_number) {
            schema.remove("format");
        }
        transform_subschemas(self, schema);
    }
}
