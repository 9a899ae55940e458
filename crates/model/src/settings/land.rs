//! `[land]`: where work lands, and the limits of the work that lands by itself.

use schemars::JsonSchema;
use serde::Serialize;

use super::FILE_NAME;
use super::reader::{Reader, Table, Value};

/// `[land]`: where work lands, and the limits of the work that lands by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Land {
    /// Where work lands.
    pub mode: LandMode,
    /// The name of the remote to which `mode = "push"` pushes, as `git remote` lists it.
    pub remote: String,
    /// Files, and folders with all that is in them, relative to the repository's root: work that changes one
    /// of them waits for a person. `crew.toml` is always among them, listed or not.
    pub hold_paths: Vec<String>,
    /// The size of the largest file, in MiB, that the work may bring in. Hosts such as GitHub refuse a push
    /// with a larger one. Files that the target has in that size, and content that Git LFS keeps, do not
    /// count.
    #[schemars(range(min = 1, max = 1024))]
    pub max_file_mib: u32,
}

/// Where work lands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LandMode {
    /// On the target branch of this repository.
    #[default]
    Local,
    /// On the target branch of the remote, which the branch of this repository follows.
    Push,
}

impl Default for Land {
    fn default() -> Self {
        Self {
            mode: LandMode::Local,
            remote: "origin".to_owned(),
            hold_paths: vec![FILE_NAME.to_owned()],
            max_file_mib: 100,
        }
    }
}

impl Land {
    /// The remote whose branch is the target; none where work lands in this repository alone.
    #[must_use]
    pub fn pushes_to(&self) -> Option<&str> {
        match self.mode {
            LandMode::Local => None,
            LandMode::Push => Some(&self.remote),
        }
    }
}

/// Takes `mode` and `remote` out of the table.
pub(super) fn place<'t>(reader: &mut Reader<'t>, table: &mut Table<'t>, land: &mut Land) {
    table.set(reader, "mode", &mut land.mode, |r, v| mode(r, &v));
    table.set(reader, "remote", &mut land.remote, |r, v| remote(r, &v));
}

fn mode(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<LandMode> {
    let mode = reader.string(value)?;
    match mode.as_str() {
        "local" => Some(LandMode::Local),
        "push" => Some(LandMode::Push),
        "pr" => {
            let message = "`land.mode` = \"pr\" is not in this build: pull requests come later; it has: \"local\", \"push\"";
            let hint = "write mode = \"push\" to land on the remote's branch".to_owned();
            reader.report(value.span.clone(), message.to_owned(), Some(hint));
            None
        }
        _ => {
            let hint = Some("\"local\" or \"push\"".to_owned());
            reader.refuse(value, &mode, "is no way to land", hint);
            None
        }
    }
}

/// The name becomes a part of refs and an argument of git; an address is none.
fn remote(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let name = reader.filled(value)?;
    let sound = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let is_part = |part: &str| {
        !part.is_empty() && !part.starts_with(['.', '-']) && !part.ends_with('.') && !part.ends_with(".lock")
    };
    if name.len() <= 100 && name.chars().all(sound) && !name.contains("..") && name.split('/').all(is_part) {
        return Some(name);
    }
    let hint = "name a remote as `git remote` lists it, such as \"origin\"; not its address".to_owned();
    reader.refuse(value, &name, "is no name of a remote", Some(hint));
    None
}
