//! The real agent clients that tests run: pinned, installed below `target/`, whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Outcome, npm, program};

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

/// Installs the clients that are not there, or not as they are pinned.
///
/// # Errors
///
/// npm is missing or fails; nothing half-installed is left where tests look.
pub(crate) fn install(root: &Path) -> Outcome {
    for client in CLIENTS {
        let pinned = root.join("clients").join(client.name);
        let installed = root.join("target/clients").join(client.name);
        if npm::is_current(&pinned, &installed, client.program) {
            println!(
                "{}: {}",
                client.name,
                version(root, &installed.join(client.program))?
            );
            continue;
        }
        npm::works(root, "to install the agent clients that the tests run")?;
        npm::install(&pinned, &installed, |folder| {
            link(folder, client)?;
            let version = version(root, &folder.join(client.program))?;
            println!("{}: {version}, installed in {}", client.name, installed.display());
            Ok(())
        })?;
    }
    Ok(())
}

/// Gives the client's program a name that does not depend on the system: npm takes the package for this
/// system and processor. Its wrapper asks for a newer Node; the program asks for none.
fn link(folder: &Path, client: &Client) -> Outcome {
    let program = find(folder, client)?;
    let link = folder.join(client.program);
    std::os::unix::fs::symlink(&program, &link).map_err(|error| format!("{}: {error}", link.display()))
}

/// The client's program, as a path from its folder.
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
            npm::assert_pins(&crate::root().join("clients").join(client.name));
        }
    }
}
