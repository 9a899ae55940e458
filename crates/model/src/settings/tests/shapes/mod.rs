//! The proposals for repositories of many shapes, each as a real one has it.

mod node;
mod others;
mod python;

use std::collections::BTreeMap;

use crate::settings::{Detected, detect};

/// The proposals, each as `runner: variables; set-up; set-up => command; command [kept]`.
fn proposals(files: &[(&str, &str)]) -> Vec<String> {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let paths: Vec<&str> = files.keys().copied().collect();
    let found = detect(&paths, |path| files.get(path).map(|text| (*text).to_owned()));
    found.iter().map(one).collect()
}

fn one(found: &Detected) -> String {
    let variables = found.env.iter().map(|(name, value)| format!("{name}={value}"));
    let before: Vec<String> = variables.chain(found.setup.clone()).collect();
    let arrow = if before.is_empty() { "" } else { " => " };
    format!(
        "{}: {}{arrow}{} [{}]",
        found.runner,
        before.join("; "),
        found.commands.join("; "),
        found.keep.join(" ")
    )
}

/// The first proposal, which is the one that is taken.
fn first(files: &[(&str, &str)]) -> String {
    proposals(files).swap_remove(0)
}
