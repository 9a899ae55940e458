//! `[workspace]`: what a new workspace gets beside the repository's files.

use schemars::JsonSchema;
use serde::Serialize;

use super::parse::inner_path;
use super::reader::{Reader, Table, Value};

/// `[workspace]`: what a new workspace gets beside the repository's files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Workspace {
    /// Shell commands that set up each new workspace, before the first step in it. Each may take as long as
    /// a step (`run.step_timeout`). Where one fails, the ticket is held, and that costs no attempt. Files
    /// that they make are never part of the agent's work.
    pub setup: Vec<String>,
    /// Ignored files of the checkout, relative to the repository's root, such as `".env"`, which each new
    /// workspace gets as copies. A folder stands for all ignored files in it; `*` and `?` stand for any
    /// characters but `/`, and `**` as a whole part for any folders. A path that is not there is skipped.
    pub copy: Vec<String>,
}

pub(super) fn read<'t>(reader: &mut Reader<'t>, mut table: Table<'t>) -> Workspace {
    let mut workspace = Workspace::default();
    let mut list = |key, read: fn(&mut Reader<'t>, Value<'t>) -> Option<String>| {
        let listed = table.take(key).and_then(|value| reader.each(value, read));
        listed.unwrap_or_default()
    };
    workspace.setup = list("setup", |r, v| r.filled(&v));
    workspace.copy = list("copy", |r, v| copied(r, &v));
    reader.finish("workspace", table);
    workspace
}

/// A path or pattern inside of the repository, and not in a folder that crew fills by itself.
fn copied(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let path = inner_path(reader, value)?;
    let first = path.split('/').next().unwrap_or_default();
    if [".crew", ".tickets"]
        .iter()
        .any(|own| first.eq_ignore_ascii_case(own))
    {
        let hint = "name ignored files that the work needs, such as \".env\"".to_owned();
        reader.refuse(value, &path, "is where crew keeps something else", Some(hint));
        return None;
    }
    if path.contains(['[', '{', '!']) {
        let hint = "only `*`, `?` and `**` are understood in patterns".to_owned();
        reader.refuse(value, &path, "has a pattern that crew does not know", Some(hint));
        return None;
    }
    Some(path)
}
