//! Tools as agents are told of them, with the schemas of their arguments.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{Call, Role};

/// A tool as an agent is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub describes: String,
    /// The JSON schema of its arguments, which is one of an object.
    pub schema: Map<String, Value>,
}

/// The tools of a role, in the order of the table.
#[must_use]
pub fn tools(role: Role) -> Vec<Tool> {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let whole = settings
        .into_generator()
        .into_root_schema_for::<Call>()
        .to_value();
    let of_each = whole.get("oneOf").and_then(Value::as_array);
    let variants: Vec<&Value> = of_each.into_iter().flatten().collect();
    let of = |name: &'static str| -> Option<Tool> {
        let is_it = |variant: &&&Value| variant.pointer("/properties/tool/const") == Some(&json!(name));
        let variant = variants.iter().find(is_it)?;
        let mut schema = variant.pointer("/properties/arguments")?.as_object()?.clone();
        schema.entry("properties").or_insert_with(|| json!({}));
        schema.insert("additionalProperties".to_owned(), json!(false));
        let describes = variant.get("description").and_then(Value::as_str);
        Some(Tool {
            name,
            describes: describes.unwrap_or_default().to_owned(),
            schema,
        })
    };
    role.tools().filter_map(of).collect()
}

/// What a tool takes, in a sentence.
pub(super) fn takes(role: Role, name: &str) -> String {
    let tool = tools(role).into_iter().find(|tool| tool.name == name);
    let Some(Tool { schema, .. }) = tool else {
        return String::new();
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields = schema.get("properties").and_then(Value::as_object);
    let fields: Vec<String> = fields
        .into_iter()
        .flatten()
        .map(|(field, _)| match required.contains(&field.as_str()) {
            true => format!("`{field}`"),
            false => format!("`{field}` (may be left out)"),
        })
        .collect();
    match fields.as_slice() {
        [] => "It takes no arguments".to_owned(),
        fields => format!("It takes {}", fields.join(", ")),
    }
}
