//! tox and nox, which make the environments of their sessions themselves.

use super::super::files::Files;
use super::super::{Detected, Runner};
use super::manifest::{Manifest, PYPROJECT};

pub(super) fn find(files: &Files<'_>, manifest: &Manifest) -> Vec<Detected> {
    tox(files, manifest).into_iter().chain(nox(files)).collect()
}

fn tox(files: &Files<'_>, manifest: &Manifest) -> Option<Detected> {
    let section = |name: &'static str, headers: [&str; 2]| {
        let text = files.text(name)?;
        let mut lines = text.lines();
        lines
            .any(|line| headers.contains(&line.trim_end()))
            .then_some(name)
    };
    let seen_in = section("tox.ini", ["[tox]", "[testenv]"])
        .or_else(|| files.first_of(&["tox.toml"]))
        .or_else(|| manifest.has_tool("tox").then_some(PYPROJECT))
        .or_else(|| section("setup.cfg", ["[tox:tox]", "[testenv]"]))?;
    // Without a name, tox runs every version of Python that it supports, and linters.
    let found = Detected::new(Runner::Tox, seen_in, "tox -e py");
    Some(found.needs("tox").keep(&[".tox"]))
}

fn nox(files: &Files<'_>) -> Option<Detected> {
    const NOXFILE: &str = "noxfile.py";
    let text = files.text(NOXFILE)?;
    let has_session = |name: &&&str| {
        [
            format!("def {name}("),
            format!("name=\"{name}\""),
            format!("name='{name}'"),
        ]
        .iter()
        .any(|part| text.contains(part))
    };
    let session = ["tests", "test", "pytest", "unit"].iter().find(has_session);
    let command = match session {
        Some(session) => format!("nox -s {session}"),
        None => "nox".to_owned(),
    };
    Some(
        Detected::new(Runner::Nox, NOXFILE, command)
            .needs("nox")
            .keep(&[".nox"]),
    )
}
