//! The tables of docs/json.md: what docs/json.schema.json says, for people.

use std::collections::BTreeMap;

use serde_json::Value;

const BEGIN: &str = "<!-- From here on: made from json.schema.json by `cargo xtask generate`, as the types in crates/client/src/documents have it. -->";
const END: &str = "<!-- Until here. -->";

/// The page with the tables between its marks made anew. `schema` is the text of the schema's file.
pub(crate) fn fill(page: &str, schema: &[u8]) -> Result<String, String> {
    let (before, rest) = page
        .split_once(BEGIN)
        .ok_or_else(|| format!("docs/json.md has no line {BEGIN}"))?;
    let (_, after) = rest
        .split_once(END)
        .ok_or_else(|| format!("docs/json.md has no line {END}"))?;
    let schema: Value =
        serde_json::from_slice(schema).map_err(|error| format!("docs/json.schema.json: {error}"))?;
    Ok(format!("{before}{BEGIN}\n\n{}{END}{after}", tables(&schema)))
}

fn tables(schema: &Value) -> String {
    let mut page = String::from("## Commands\n\n| command | prints |\n|---|---|\n");
    // Commands that print the same stand together, where the first of them does.
    let mut rows: Vec<(Vec<String>, String)> = Vec::new();
    for (command, printed) in members(schema, "properties") {
        let mut what = text(printed, "description").to_owned();
        if printed.get("type").is_none() {
            what.push_str(&format!(": {}", value(printed)));
        }
        let command = format!("`{command}`");
        match rows.iter_mut().find(|(_, same)| *same == what) {
            Some((commands, _)) => commands.push(command),
            None => rows.push((vec![command], what)),
        }
    }
    for (commands, what) in rows {
        row(&mut page, &[&commands.join(", "), &what]);
    }
    page.push_str("\n## Pieces\n");
    for (name, piece) in members(schema, "$defs") {
        page.push_str(&format!("\n### {name}\n\n{}\n\n", text(piece, "description")));
        match piece["oneOf"].as_array() {
            Some(kinds) => alternatives(&mut page, kinds),
            None => keys(&mut page, piece),
        }
    }
    page.push('\n');
    page
}

/// The keys of an object, in the order in which they are printed.
fn keys(page: &mut String, piece: &Value) {
    page.push_str("| key | value | |\n|---|---|---|\n");
    for (key, one) in ordered(piece) {
        row(
            page,
            &[&format!("`{key}`"), &value(one), text(one, "description")],
        );
    }
}

/// What something is one of: words, or objects that are told apart by the word at one of their keys.
fn alternatives(page: &mut String, kinds: &[Value]) {
    let tag = kinds
        .iter()
        .flat_map(|kind| members(kind, "properties"))
        .find_map(|(key, one)| one.get("const").map(|_| key));
    let Some(tag) = tag else {
        page.push_str("| value | |\n|---|---|\n");
        for kind in kinds {
            row(page, &[&value(kind), text(kind, "description")]);
        }
        return;
    };
    page.push_str(&format!("| `{tag}` | | other keys |\n|---|---|---|\n"));
    for kind in kinds {
        let others = ordered(kind).into_iter().filter(|(key, _)| *key != tag);
        let others: Vec<String> = others
            .map(|(key, one)| {
                let says = text(one, "description").trim_end_matches('.');
                format!("`{key}` ({}): {says}", value(one))
            })
            .collect();
        let word = value(&kind["properties"][tag]);
        row(page, &[&word, text(kind, "description"), &others.join("; ")]);
    }
}

/// The properties of an object as they are printed. A schema's own order is the alphabet's, but for what is
/// required.
fn ordered(piece: &Value) -> Vec<(&str, &Value)> {
    let required = piece["required"].as_array().into_iter().flatten();
    required
        .filter_map(Value::as_str)
        .map(|key| (key, &piece["properties"][key]))
        .collect()
}

/// What may stand there.
fn value(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.trim_start_matches("#/$defs/");
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(one) = schema["const"].as_str() {
        return format!("`{one}`");
    }
    if let Some(all) = schema["anyOf"].as_array().or_else(|| schema["enum"].as_array()) {
        let word = |one: &Value| {
            one.as_str()
                .map_or_else(|| value(one), |word| format!("`{word}`"))
        };
        let all: Vec<String> = all.iter().map(word).collect();
        return all.join(", ");
    }
    match &schema["type"] {
        Value::String(name) => named(name, schema),
        Value::Array(names) => {
            let names: Vec<String> = names
                .iter()
                .filter_map(Value::as_str)
                .map(|name| named(name, schema))
                .collect();
            names.join(", ")
        }
        _ => "free form".to_owned(),
    }
}

fn named(name: &str, schema: &Value) -> String {
    match (name, schema["format"].as_str()) {
        ("string", Some("date-time")) => "moment".to_owned(),
        ("string", Some("date")) => "day".to_owned(),
        ("string", _) => "text".to_owned(),
        ("integer" | "number", _) => "number".to_owned(),
        ("boolean", _) => "boolean".to_owned(),
        ("null", _) => "`null`".to_owned(),
        ("array", _) => format!("list of {}", value(&schema["items"])),
        (other, _) => other.to_owned(),
    }
}

fn members<'v>(schema: &'v Value, of: &str) -> BTreeMap<&'v str, &'v Value> {
    schema[of]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value))
        .collect()
}

fn text<'v>(schema: &'v Value, key: &str) -> &'v str {
    schema[key].as_str().unwrap_or_default()
}

fn row(page: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    page.push_str(&format!("| {} |\n", cells.join(" | ")));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_page_keeps_its_words_and_gets_its_tables() {
        let schema = json!({
            "properties": {
                "b": { "description": "one document", "anyOf": [{ "$ref": "#/$defs/Piece" }] },
                "c": { "description": "one document", "anyOf": [{ "$ref": "#/$defs/Piece" }] },
            },
            "$defs": { "Piece": {
                "description": "A piece.",
                "required": ["z", "a"],
                "properties": {
                    "a": { "type": ["string", "null"], "format": "date-time", "description": "When | then." },
                    "z": { "type": "array", "items": { "type": "integer" }, "description": "Last." },
                },
            } },
        });
        let page = format!("words\n{BEGIN}\nold\n{END}\nmore\n");
        let filled = fill(&page, schema.to_string().as_bytes()).unwrap();
        for wanted in [
            "words\n",
            "| `b`, `c` | one document: [Piece](#piece) |\n",
            "### Piece\n\nA piece.\n\n| key | value | |\n|---|---|---|\n| `z` | list of number | Last. |\n| `a` | moment, `null` | When \\| then. |\n",
            "\nmore\n",
        ] {
            assert!(filled.contains(wanted), "no {wanted:?} in\n{filled}");
        }
        assert!(!filled.contains("old"));
        assert_eq!(fill(&filled, schema.to_string().as_bytes()).unwrap(), filled);
        assert!(fill("words", b"{}").is_err());
    }
}
