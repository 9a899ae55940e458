//! What tests take from npm: pinned by a lock file that names no host, installed below `target/`, whole or
//! not at all.

use std::fs;
use std::path::Path;

use crate::{Outcome, program};

/// What pins a folder's packages: both are copied beside what is installed, and the second says whether that
/// is the right one.
pub(crate) const PINS: [&str; 2] = ["package.json", "package-lock.json"];

/// Whether what is installed is what is pinned; `sign` is a file that is there only when all of it is.
pub(crate) fn is_current(pinned: &Path, installed: &Path, sign: &str) -> bool {
    let lock = PINS[1];
    let same = match (fs::read(pinned.join(lock)), fs::read(installed.join(lock))) {
        (Ok(pinned), Ok(installed)) => pinned == installed,
        (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
    };
    same && installed.join(sign).is_file()
}

/// Fails where there is no npm; `why` says what it is needed for.
pub(crate) fn works(root: &Path, why: &str) -> Outcome {
    if program::works(root, "npm", &["--version"]) {
        return Ok(());
    }
    Err(format!(
        "`npm` is missing, and needed {why}: install Node.js 20 or newer with npm (on Debian `sudo apt-get install nodejs npm`)"
    ))
}

/// Installs what `pinned` names beside its place, lets `finish` complete it, and puts it there.
///
/// # Errors
///
/// npm or `finish` failed; nothing half-installed is left where tests look.
pub(crate) fn install(pinned: &Path, installed: &Path, finish: impl FnOnce(&Path) -> Outcome) -> Outcome {
    let part = installed.with_extension(format!("part.{}", std::process::id()));
    let outcome = make(pinned, &part)
        .and_then(|()| finish(&part))
        .and_then(|()| put(&part, installed));
    // What is left of it on a failure; on success it has another name by now.
    let _ = fs::remove_dir_all(&part);
    outcome
}

/// Installs the packages in a folder of its own.
fn make(pinned: &Path, folder: &Path) -> Outcome {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for pin in PINS {
        let from = pinned.join(pin);
        fs::copy(&from, folder.join(pin)).map_err(|error| failed(&from, error))?;
    }
    // No script of a package is run: what tests use needs none. A wrapper may ask for a newer Node than it is
    // pinned with, so a strict npm must not refuse.
    let arguments = [
        "ci",
        "--ignore-scripts",
        "--omit-lockfile-registry-resolved",
        "--no-engine-strict",
        "--include=optional",
        "--include=dev",
        "--no-audit",
        "--no-fund",
        "--no-update-notifier",
        "--loglevel=error",
    ];
    // A registry that does not answer once does the next time.
    let install = || program::run(folder, "npm", &arguments);
    install().or_else(|_| install()).or_else(|_| install())
}

/// Puts what is whole where tests look, in place of an older one.
fn put(part: &Path, installed: &Path) -> Outcome {
    let old = part.with_extension("old");
    let failed = |error: std::io::Error| format!("cannot put it at {}: {error}", installed.display());
    if installed.exists() {
        fs::rename(installed, &old).map_err(failed)?;
    }
    let outcome = fs::rename(part, installed).map_err(failed);
    let _ = fs::remove_dir_all(&old);
    outcome
}

/// Fails where a folder pins no exact versions, or its lock file names a host.
#[cfg(test)]
pub(crate) fn assert_pins(folder: &Path) {
    let [package, lock] = PINS.map(|pin| fs::read_to_string(folder.join(pin)).unwrap());
    let package: serde_json::Value = serde_json::from_str(&package).unwrap();
    let kinds = ["dependencies", "devDependencies"];
    for (name, version) in kinds
        .iter()
        .filter_map(|kind| package[kind].as_object())
        .flatten()
    {
        let version = version.as_str().unwrap();
        let exact = version.chars().all(|c| c.is_ascii_digit() || c == '.');
        assert!(exact, "{name} is pinned to `{version}`, which is no one version");
    }
    let lock: serde_json::Value = serde_json::from_str(&lock).unwrap();
    let packages = lock["packages"].as_object().unwrap();
    assert!(
        packages.len() > 1 && !packages.values().any(|one| one.get("resolved").is_some()),
        "{} names a host: make it with `npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved`",
        folder.display()
    );
    assert!(
        packages
            .values()
            .skip(1)
            .all(|one| one.get("integrity").is_some())
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pinned_otherwise_or_half_there_is_not_current() {
        let folder = tempfile::tempdir().unwrap();
        let (pinned, installed) = (folder.path().join("pinned"), folder.path().join("installed"));
        fs::create_dir_all(&pinned).unwrap();
        fs::create_dir_all(&installed).unwrap();
        let current = || is_current(&pinned, &installed, "client");
        assert!(!current());
        fs::write(pinned.join("package-lock.json"), "1").unwrap();
        fs::write(installed.join("package-lock.json"), "1").unwrap();
        assert!(!current());
        fs::write(installed.join("client"), "").unwrap();
        assert!(current());
        fs::write(pinned.join("package-lock.json"), "2").unwrap();
        assert!(!current());
    }

    #[test]
    fn what_is_new_takes_the_place_of_what_is_older() {
        let folder = tempfile::tempdir().unwrap();
        let (part, installed) = (folder.path().join("client.part.1"), folder.path().join("client"));
        for text in ["old", "new"] {
            fs::create_dir(&part).unwrap();
            fs::write(part.join("it"), text).unwrap();
            put(&part, &installed).unwrap();
            assert_eq!(fs::read_to_string(installed.join("it")).unwrap(), text);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
