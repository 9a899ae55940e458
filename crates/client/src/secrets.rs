//! Secrets of the caller's environment: the values that must stand in nothing that crew keeps.

use std::collections::BTreeMap;

/// Parts of the names of variables that hold a secret.
const NAMES: [&str; 7] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "API_KEY",
    "ACCESS_KEY",
    "CREDENTIAL",
];
/// The length of a secret at least, in bytes: a shorter value is a word that may stand anywhere.
const SHORTEST: usize = 12;

/// The variables that hold secrets, with their values.
pub fn secrets(env: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    env.iter()
        .filter(|(name, value)| {
            let name = name.to_ascii_uppercase();
            value.len() >= SHORTEST && NAMES.iter().any(|part| name.contains(part))
        })
        .map(|(name, value)| (name.as_str(), value.as_str()))
}
