//! The packages of a workspace.

use serde_json::Value;

use super::super::files::Files;
use super::{MANIFEST, parsed, scripts};

/// The file in which pnpm lists them.
pub(super) const OF_PNPM: &str = "pnpm-workspace.yaml";

/// Whether a package of the workspace has a real test script.
pub(super) fn have_tests(files: &Files<'_>, root: &Value) -> bool {
    let folders = folders(files, root);
    let is_member = |path: &str| {
        let folder = path.strip_suffix(MANIFEST).filter(|folder| !folder.is_empty());
        folder.is_some_and(|folder| folders.iter().any(|begin| folder.starts_with(begin.as_str())))
    };
    let manifests = files.all(is_member);
    manifests.into_iter().any(|path| {
        let package = files.text(path).and_then(|text| parsed(&text));
        package.is_some_and(|package| scripts::test(&package).is_some())
    })
}

/// The beginnings of the paths of its packages: the patterns up to their first `*`.
fn folders(files: &Files<'_>, root: &Value) -> Vec<String> {
    let workspaces = root.get("workspaces");
    let listed = workspaces.and_then(|table| table.get("packages")).or(workspaces);
    let patterns = listed.and_then(Value::as_array).into_iter().flatten();
    let of_pnpm = files.text(OF_PNPM).unwrap_or_default();
    let lines = of_pnpm.lines().filter_map(|line| line.trim().strip_prefix("- "));
    let unquoted = lines.map(|line| line.trim().trim_matches(['"', '\'']));
    let patterns = patterns.filter_map(Value::as_str).chain(unquoted);
    let folders = patterns
        .filter(|pattern| !pattern.starts_with('!'))
        .map(|pattern| {
            let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
            match pattern.split_once('*') {
                Some((begin, _)) => begin.to_owned(),
                None => format!("{}/", pattern.trim_end_matches('/')),
            }
        });
    folders.collect()
}
