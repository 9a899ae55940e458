//! The committed schemas, read strictly: of what a command prints, every key must be there and none that they
//! do not name.

use std::sync::LazyLock;

use serde_json::{Map, Value};

static DOCUMENTS: LazyLock<Value> = LazyLock::new(|| read("json.schema.json"));
static SETTINGS: LazyLock<Value> = LazyLock::new(|| read("crew.schema.json"));

/// The names of all commands that the schema has an entry for.
pub(crate) fn commands() -> Vec<&'static str> {
    object(&DOCUMENTS["properties"])
        .keys()
        .map(String::as_str)
        .collect()
}

/// The entry that what a command line prints must fit; none for a schema, which is no document of its own.
pub(crate) fn command(args: &[&str]) -> Option<String> {
    let words: Vec<&str> = args.iter().copied().filter(|arg| *arg != "--json").collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let name = *words.first()?;
    Some(match name {
        "config" if has(&["--schema"]) => return None,
        "events" if has(&["--leader"]) && has(&["-f", "--follow"]) => "events --leader -f".to_owned(),
        "events" if has(&["--leader"]) => "events --leader".to_owned(),
        "events" | "inbox" if has(&["-f", "--follow"]) => format!("{name} -f"),
        "checks" if has(&["--forget"]) => "checks --forget".to_owned(),
        "clean" if has(&["--older"]) => "clean --older".to_owned(),
        "clean" if has(&["--checks"]) => "clean --checks".to_owned(),
        "run" if has(&["--detach"]) => "run --detach".to_owned(),
        "logs" if has(&["--prompt"]) => "logs --prompt".to_owned(),
        "history" if has(&["--at"]) => "history --at".to_owned(),
        "diagram" if words.len() > 1 => "diagram <machine>".to_owned(),
        "ticket" => match words.get(1) {
            Some(command @ (&"ls" | &"ready" | &"blocked" | &"closed" | &"show")) => {
                format!("ticket {command}")
            }
            Some(_) | None => return None,
        },
        "web" => match words.get(1) {
            Some(command @ (&"pair" | &"devices" | &"revoke")) => format!("web {command}"),
            Some(_) | None => "web".to_owned(),
        },
        name => name.to_owned(),
    })
}

/// Checks all that a command printed.
#[track_caller]
pub(crate) fn check_output(command: &str, out: &str) {
    let is_lines = DOCUMENTS["properties"][command]["description"] == "one a line";
    let documents: Vec<&str> = if is_lines {
        out.lines().collect()
    } else {
        vec![out]
    };
    for text in documents {
        let document = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"));
        check(command, &document);
    }
}

/// Checks one document of a command.
#[track_caller]
pub(crate) fn check(command: &str, document: &Value) {
    let schema = match command {
        "config" => &*SETTINGS,
        _ => object(&DOCUMENTS["properties"])
            .get(command)
            .unwrap_or_else(|| panic!("docs/json.schema.json has no `{command}`")),
    };
    if let Err(why) = fits(schema, document) {
        panic!("`crew {command} --json` is not what docs/json.schema.json says: {why}\n{document:#}");
    }
}

fn read(name: &str) -> Value {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

/// Whether a value is what a schema says, or why not. What this does not know of schemas is an error, never
/// passed over.
fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    let Value::Object(schema) = schema else {
        return if *schema == Value::Bool(true) {
            Ok(())
        } else {
            Err("nothing may stand here".to_owned())
        };
    };
    for (keyword, says) in schema {
        let is_met = match keyword.as_str() {
            "$ref" => {
                let name = says.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                fits(&DOCUMENTS["$defs"][name], value)?;
                true
            }
            "anyOf" => one_of(says, value, |n| n > 0)?,
            "oneOf" => one_of(says, value, |n| n == 1)?,
            "const" => value == says,
            "enum" => says.as_array().unwrap().contains(value),
            "type" => match says {
                Value::String(name) => is_a(name, value),
                names => names
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|name| is_a(name.as_str().unwrap(), value)),
            },
            "format" => is_formed(says.as_str().unwrap(), value),
            "minimum" => value.as_f64().is_none_or(|n| n >= says.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|n| n <= says.as_f64().unwrap()),
            "exclusiveMinimum" => value.as_f64().is_none_or(|n| n > says.as_f64().unwrap()),
            "minItems" => value
                .as_array()
                .is_none_or(|all| all.len() as u64 >= says.as_u64().unwrap()),
            "uniqueItems" => value
                .as_array()
                .is_none_or(|all| all.iter().enumerate().all(|(n, item)| !all[..n].contains(item))),
            "items" => {
                for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                    fits(says, item).map_err(|why| format!("[{n}]{why}"))?;
                }
                true
            }
            "required" => {
                for key in says.as_array().unwrap() {
                    let key = key.as_str().unwrap();
                    if value.as_object().is_some_and(|value| !value.contains_key(key)) {
                        return Err(format!(": no `{key}`"));
                    }
                }
                true
            }
            "properties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    let one = says.get(key).or_else(|| schema.get("additionalProperties"));
                    let one = one.ok_or_else(|| format!(": it does not name `{key}`"))?;
                    fits(one, value).map_err(|why| format!(".{key}{why}"))?;
                }
                true
            }
            "additionalProperties" => {
                if !schema.contains_key("properties") {
                    for (key, value) in value.as_object().into_iter().flatten() {
                        fits(says, value).map_err(|why| format!(".{key}{why}"))?;
                    }
                }
                true
            }
            "$schema" | "title" | "description" | "default" | "examples" | "pattern" => true,
            unknown => panic!("the test does not know `{unknown}` of schemas"),
        };
        if !is_met {
            return Err(format!(": {value} does not fit {keyword} {says}"));
        }
    }
    Ok(())
}

fn one_of(schemas: &Value, value: &Value, is_enough: fn(usize) -> bool) -> Result<bool, String> {
    let mut whys = Vec::new();
    let schemas = schemas.as_array().unwrap();
    for schema in schemas {
        whys.extend(fits(schema, value).err());
    }
    if is_enough(schemas.len() - whys.len()) {
        Ok(true)
    } else {
        Err(format!(": none of these: {}", whys.join("; nor ")))
    }
}

fn is_a(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("the test does not know the type `{unknown}`"),
    }
}

fn is_formed(format: &str, value: &Value) -> bool {
    let Some(text) = value.as_str() else { return true };
    let shape = match format {
        "date-time" => "0000-00-00T00:00:00Z",
        "date" => "0000-00-00",
        "uuid" => "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
        unknown => panic!("the test does not know the format `{unknown}`"),
    };
    text.len() == shape.len()
        && text.chars().zip(shape.chars()).all(|(c, shape)| match shape {
            '0' => c.is_ascii_digit(),
            'x' => c.is_ascii_hexdigit(),
            fixed => c == fixed,
        })
}

#[test]
fn what_is_missing_added_or_of_another_type_does_not_fit() {
    let kept = serde_json::json!({
        "cleaned": true, "kept_folders": [], "kept_branches": [], "removed_reviews": [], "kept": [{ "ref": "r", "commit": "c" }]
    });
    let clean = &DOCUMENTS["properties"]["clean"];
    assert_eq!(fits(clean, &kept), Ok(()));
    for (change, why) in [
        ("/kept_folders", ": null does not fit type"),
        ("/kept/0/ref", ".kept[0].ref: null does not fit type"),
    ] {
        let mut changed = kept.clone();
        *changed.pointer_mut(change).unwrap() = Value::Null;
        let said = fits(clean, &changed).unwrap_err();
        assert!(said.contains(why), "{said}");
    }
    let mut more = kept.clone();
    more["kept"][0]["more"] = Value::from(1);
    assert_eq!(
        fits(clean, &more),
        Err(".kept[0]: it does not name `more`".to_owned())
    );
    let mut less = kept;
    object_mut(&mut less["kept"][0]).remove("commit");
    assert_eq!(fits(clean, &less), Err(".kept[0]: no `commit`".to_owned()));
}

fn object_mut(value: &mut Value) -> &mut Map<String, Value> {
    value.as_object_mut().unwrap()
}
