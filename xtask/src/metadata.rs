//! What cargo knows about the workspace and all that it is built from.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program;

/// A crate, ours or a third party's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The SPDX expression, if it has one.
    pub(crate) licence: Option<String>,
    /// Where it comes from; `None` for ours.
    pub(crate) source: Option<String>,
    pub(crate) manifest: PathBuf,
    /// Its features that are on when nobody asks for any.
    pub(crate) default_features: Vec<String>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A line of a crate's manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Whether it is a path, which is to say ours.
    pub(crate) ours: bool,
    /// The features that it asks for.
    pub(crate) features: Vec<String>,
}

/// What a dependency is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

impl Package {
    pub(crate) fn is_ours(&self) -> bool {
        self.source.is_none()
    }
}

/// Asks cargo, with the lock file as it is, about what is built on this machine.
pub(crate) fn read(root: &Path) -> Result<Vec<Package>, String> {
    let version = program::output(root, "rustc", &["-vV"])?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or("`rustc -vV` names no host")?;
    let arguments = [
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--filter-platform",
        host,
    ];
    let text = program::output(root, "cargo", &arguments).map_err(|why| {
        format!(
            "{why}\nif Cargo.lock is behind a Cargo.toml: run `cargo check`, look at the change and commit it"
        )
    })?;
    let json = serde_json::from_str(&text).map_err(|error| format!("`cargo metadata`: {error}"))?;
    packages(&json).ok_or_else(|| "`cargo metadata` has another shape than expected".to_owned())
}

/// The packages of `cargo metadata`'s format 1.
pub(crate) fn packages(json: &Value) -> Option<Vec<Package>> {
    json.get("packages")?.as_array()?.iter().map(package).collect()
}

fn package(json: &Value) -> Option<Package> {
    let text = |key: &str| json.get(key)?.as_str().map(str::to_owned);
    Some(Package {
        name: text("name")?,
        version: text("version")?,
        licence: text("license"),
        source: text("source"),
        manifest: PathBuf::from(text("manifest_path")?),
        default_features: texts(json.get("features").and_then(|all| all.get("default"))),
        dependencies: json
            .get("dependencies")?
            .as_array()?
            .iter()
            .map(dependency)
            .collect::<Option<_>>()?,
    })
}

fn dependency(json: &Value) -> Option<Dependency> {
    let kind = match json.get("kind")?.as_str() {
        None | Some("normal") => Kind::Normal,
        Some("build") => Kind::Build,
        Some("dev") => Kind::Dev,
        Some(_) => return None,
    };
    let ours = json.get("path").is_some_and(Value::is_string);
    Some(Dependency {
        name: json.get("name")?.as_str()?.to_owned(),
        kind,
        ours,
        features: texts(json.get("features")),
    })
}

/// A list of texts; of what is not there, none.
fn texts(json: Option<&Value>) -> Vec<String> {
    let list = json.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|text| text.as_str().map(str::to_owned)).collect()
}
