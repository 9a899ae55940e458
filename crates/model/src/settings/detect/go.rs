//! Go: `go test`, in each module of a workspace.

use super::files::{Files, quoted};
use super::{Detected, Runner};

pub(super) fn find(files: &Files<'_>) -> Vec<Detected> {
    let modules = files
        .text("go.work")
        .map(|text| modules(&text))
        .unwrap_or_default();
    let (seen_in, command) = if modules.is_empty() {
        if !files.has("go.mod") {
            return Vec::new();
        }
        ("go.mod", "go test ./...".to_owned())
    } else {
        // In a workspace `./...` means the packages of one module only.
        let patterns: Vec<String> = modules.iter().map(|module| pattern(module)).collect();
        ("go.work", format!("go test {}", patterns.join(" ")))
    };
    vec![Detected::new(Runner::Go, seen_in, command).needs("go")]
}

/// The folders that a `go.work` uses.
fn modules(text: &str) -> Vec<String> {
    let mut modules = Vec::new();
    let mut in_use = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let folder = match line.strip_prefix("use") {
            Some(rest) if rest.starts_with([' ', '\t', '(']) => {
                let rest = rest.trim();
                in_use = rest.starts_with('(');
                rest.trim_start_matches('(').trim()
            }
            _ if line == ")" => {
                in_use = false;
                ""
            }
            _ if in_use => line,
            _ => "",
        };
        let folder = folder.trim_end_matches(')').trim().trim_matches(['"', '`']);
        if !folder.is_empty() {
            modules.push(folder.to_owned());
        }
    }
    modules
}

/// All packages in a module's folder.
fn pattern(folder: &str) -> String {
    let inner = folder.trim_start_matches("./").trim_end_matches('/');
    match inner {
        "" | "." => "./...".to_owned(),
        _ => quoted(&format!("./{inner}/...")),
    }
}
