//! Rust: cargo.

use serde_json::Value;

use super::files::Files;
use super::{Detected, Runner};

pub(super) fn find(files: &Files<'_>) -> Vec<Detected> {
    const MANIFEST: &str = "Cargo.toml";
    if !files.has(MANIFEST) {
        return Vec::new();
    }
    let has_workspace = files
        .toml(MANIFEST)
        .is_some_and(|manifest| manifest.get("workspace").is_some_and(Value::is_object));
    let command = match has_workspace {
        true => "cargo test --workspace",
        false => "cargo test",
    };
    let found = Detected::new(Runner::Cargo, MANIFEST, command);
    vec![found.needs("cargo").keep(&["target"])]
}
