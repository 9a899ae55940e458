//! The real agent clients that tests run: pinned, installed below `target/`, whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Outcome, program};

/// A client that comes from npm.
struct Client {
    /// Its folder under `clients/`, and under `target/clients/`.
    name: &'static str,
    /// What the folder of its program below `node_modules` begins with; the system and the processor follow.
    package: &'static str,
    /// Its program in that folder.
    program: &'static str,
}

const CLIENTS: &[Client] = &[Client {
    name: "claude",
    package: "@anthropic-ai/claude-code-linux-",
    program: "claude",
}];

/// What pins a client: both are copied beside what is installed, and the second says whether that is the
/// right one.
const PINS: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs the clients that are not there, or not as they are pinned.
///
/// # Errors
///
/// npm is missing or fails; nothing half-installed is left where tests look.
pub(crate) fn install(root: &Path) -> Outcome {
    let home = root.join("target/clients");
    for client in CLIENTS {
        let pinned = root.join("clients").join(client.name);
        let installed = home.join(client.name);
        if is_current(&pinned, &installed, client.program) {
            println!(
                "{}: {}",
                client.name,
                version(root, &installed.join(client.program))?
            );
            continue;
        }
        npm_works(root)?;
        let part = home.join(format!("{}.part.{}", client.name, std::process::id()));
        let outcome = make(&pinned, &part, client).and_then(|()| {
            let version = version(root, &part.join(client.program))?;
            put(&part, &installed)?;
            println!("{}: {version}, installed in {}", client.name, installed.display());
            Ok(())
        });
        // What is left of it on a failure; on success it has another name by now.
        let _ = fs::remove_dir_all(&part);
        outcome?;
    }
    Ok(())
}

/// Whether what is installed is what is pinned.
fn is_current(pinned: &Path, installed: &Path, program: &str) -> bool {
    let lock = PINS[1];
    let same = match (fs::read(pinned.join(lock)), fs::read(installed.join(lock))) {
        (Ok(pinned), Ok(installed)) => pinned == installed,
        (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
    };
    same && installed.join(program).is_file()
}

fn npm_works(root: &Path) -> Outcome {
    if program::works(root, "npm", &["--version"]) {
        return Ok(());
    }
    Err(
        "`npm` is missing, and needed to install the agent clients that the tests run: install Node.js 20 or newer with \
         npm (on Debian `sudo apt-get install nodejs npm`)"
            .to_owned(),
    )
}

/// Installs a client in a folder of its own.
fn make(pinned: &Path, folder: &Path, client: &Client) -> Outcome {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for pin in PINS {
        let from = pinned.join(pin);
        fs::copy(&from, folder.join(pin)).map_err(|error| failed(&from, error))?;
    }
    // No script of a package is run: the program is in the package for this system, and needs none. Its
    // wrapper asks for a newer Node than it is pinned with; the program asks for none, so a strict npm must
    // not refuse.
    let arguments = [
        "ci",
        "--ignore-scripts",
        "--omit-lockfile-registry-resolved",
        "--no-engine-strict",
        "--include=optional",
        "--no-audit",
        "--no-fund",
        "--no-update-notifier",
        "--loglevel=error",
    ];
    // A registry that does not answer once does the next time.
    let install = || program::run(folder, "npm", &arguments);
    install().or_else(|_| install()).or_else(|_| install())?;
    let program = find(folder, client)?;
    let link = folder.join(client.program);
    std::os::unix::fs::symlink(&program, &link).map_err(|error| failed(&link, error))
}

/// The client's program, as a path from its folder: npm takes the package for this system and processor.
fn find(folder: &Path, client: &Client) -> Result<PathBuf, String> {
    let (scope, prefix) = client.package.rsplit_once('/').unwrap_or((".", client.package));
    let scope = Path::new("node_modules").join(scope);
    let there = folder.join(&scope);
    let entries = fs::read_dir(&there).map_err(|error| format!("{}: {error}", there.display()))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with(prefix))
        .map(|name| scope.join(name).join(client.program))
        .filter(|program| folder.join(program).is_file())
        .collect();
    found.sort();
    found.into_iter().next().ok_or_else(|| {
        format!(
            "npm installed no {} for this system: no {}* in {}",
            client.name,
            prefix,
            there.display()
        )
    })
}

/// Puts a whole client where tests look, in place of an older one.
fn put(part: &Path, installed: &Path) -> Outcome {
    let old = part.with_extension("old");
    let failed = |error: std::io::Error| format!("cannot put the client at {}: {error}", installed.display());
    if installed.exists() {
        fs::rename(installed, &old).map_err(failed)?;
    }
    let outcome = fs::rename(part, installed).map_err(failed);
    let _ = fs::remove_dir_all(&old);
    outcome
}

fn version(root: &Path, program: &Path) -> Result<String, String> {
    let program = program.to_string_lossy();
    Ok(program::output(root, &program, &["--version"])?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_is_pinned_to_one_version_and_names_no_host() {
        for client in CLIENTS {
            let folder = crate::root().join("clients").join(client.name);
            let [package, lock] = PINS.map(|pin| fs::read_to_string(folder.join(pin)).unwrap());
            let package: serde_json::Value = serde_json::from_str(&package).unwrap();
            for (name, version) in package["dependencies"].as_object().unwrap() {
                let version = version.as_str().unwrap();
                let exact = version.chars().all(|c| c.is_ascii_digit() || c == '.');
                assert!(exact, "{name} is pinned to `{version}`, which is no one version");
            }
            assert!(
                !lock.contains("\"resolved\"") && !lock.contains("://"),
                "{} names a host: make it with `npm install --package-lock-only --omit-lockfile-registry-resolved`",
                client.name
            );
            assert!(lock.contains("\"integrity\""));
        }
    }

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
    fn a_client_takes_the_place_of_an_older_one() {
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
