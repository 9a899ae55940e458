//! Node: the `test` script of a `package.json`, by the package manager that the repository uses.

mod members;
mod scripts;

use serde_json::Value;

use super::files::Files;
use super::{Detected, Runner};

const MANIFEST: &str = "package.json";

pub(super) fn find(files: &Files<'_>) -> Vec<Detected> {
    let Some(package) = files.text(MANIFEST).and_then(|text| parsed(&text)) else {
        return Vec::new();
    };
    let manager = Manager::of(files, &package);
    let script = scripts::test(&package);
    let Some(command) = manager.test(files, &package, script) else {
        return Vec::new();
    };
    let runner = manager.program.runner();
    let mut found = Detected::new(runner, MANIFEST, command).needs(&runner.to_string());
    if script.is_some_and(scripts::watches) {
        found = found.env("CI", "true");
    }
    // Yarn 2 and later do not run this one when they install.
    let is_run = |name: &&str| *name != "prepare" || !manager.is_later_yarn(files);
    let builds: Vec<&str> = scripts::that_build(&package).filter(is_run).collect();
    for build in builds.into_iter().rev() {
        found = found.built_by(&format!("{runner} run {build}"));
    }
    let install = manager.install(files, &package);
    let kept: &[&str] = if install.is_some() { &["node_modules"] } else { &[] };
    vec![found.setup(install).keep_ignored(kept)]
}

fn parsed(manifest: &str) -> Option<Value> {
    serde_json::from_str(manifest.trim_start_matches('\u{feff}')).ok()
}

/// Bun's own naming of files with tests.
fn is_bun_test(path: &str) -> bool {
    let Some((stem, ending)) = path.rsplit_once('.') else {
        return false;
    };
    let is_script = matches!(
        ending,
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts"
    );
    is_script
        && [".test", "_test", ".spec", "_spec"]
            .iter()
            .any(|end| stem.ends_with(end))
}

/// A program that manages packages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl Program {
    fn runner(self) -> Runner {
        match self {
            Self::Npm => Runner::Npm,
            Self::Pnpm => Runner::Pnpm,
            Self::Yarn => Runner::Yarn,
            Self::Bun => Runner::Bun,
        }
    }
}

/// The package manager of a repository.
struct Manager {
    program: Program,
    /// The lock file that the repository has.
    lock: Option<&'static str>,
    /// Whether `packageManager` names Yarn 2 or later.
    is_later_yarn: bool,
}

/// Lock files, in the order in which one of several is believed.
const LOCKS: [(&str, Program); 6] = [
    ("package-lock.json", Program::Npm),
    ("npm-shrinkwrap.json", Program::Npm),
    ("pnpm-lock.yaml", Program::Pnpm),
    ("yarn.lock", Program::Yarn),
    ("bun.lock", Program::Bun),
    ("bun.lockb", Program::Bun),
];

impl Manager {
    /// `packageManager` decides, else the lock file.
    fn of(files: &Files<'_>, package: &Value) -> Self {
        let named = package.get("packageManager").and_then(Value::as_str);
        let (name, version) = named.unwrap_or_default().split_once('@').unwrap_or_default();
        let by_name = match name {
            "npm" => Some(Program::Npm),
            "pnpm" => Some(Program::Pnpm),
            "yarn" => Some(Program::Yarn),
            "bun" => Some(Program::Bun),
            _ => None,
        };
        let mut locks = LOCKS.iter().filter(|(lock, _)| files.has(lock));
        let lock = locks.find(|(_, program)| by_name.is_none_or(|named| named == *program));
        Self {
            program: by_name
                .or(lock.map(|(_, program)| *program))
                .unwrap_or(Program::Npm),
            lock: lock.map(|(lock, _)| *lock),
            is_later_yarn: name == "yarn" && !version.is_empty() && !version.starts_with("1."),
        }
    }

    /// The command that runs the tests: by the test script, by those of the packages of a workspace, or by
    /// Bun, which finds tests by itself.
    fn test(&self, files: &Files<'_>, package: &Value, script: Option<&str>) -> Option<&'static str> {
        if script.is_some() {
            return Some(match self.program {
                Program::Npm => "npm test",
                Program::Pnpm => "pnpm test",
                Program::Yarn => "yarn test",
                Program::Bun => "bun run test",
            });
        }
        if members::have_tests(files, package) {
            match self.program {
                Program::Npm => return Some("npm test --workspaces --if-present"),
                Program::Pnpm => return Some("pnpm --recursive test"),
                Program::Yarn if self.is_later_yarn(files) => {
                    return Some("yarn workspaces foreach --all run test");
                }
                // Yarn 1 fails where one of the packages has no test script.
                Program::Yarn => return None,
                Program::Bun => return Some("bun run --filter='*' test"),
            }
        }
        let finds_tests = self.program == Program::Bun && files.find(is_bun_test).is_some();
        finds_tests.then_some("bun test")
    }

    /// The command that installs what the package needs, without writing a lock file; none if it needs
    /// nothing.
    fn install(&self, files: &Files<'_>, package: &Value) -> Option<&'static str> {
        if self.lock.is_none() && !needs_packages(package) && !files.has(members::OF_PNPM) {
            return None;
        }
        let is_locked = self.lock.is_some();
        Some(match self.program {
            Program::Pnpm if is_locked => "pnpm install --frozen-lockfile",
            Program::Pnpm => "pnpm install --no-lockfile",
            Program::Yarn => match (self.is_later_yarn(files), is_locked) {
                (true, true) => "yarn install --immutable",
                (true, false) => "yarn install --no-immutable",
                (false, true) => "yarn install --frozen-lockfile",
                (false, false) => "yarn install --no-lockfile",
            },
            Program::Bun if is_locked => "bun install --frozen-lockfile",
            Program::Bun => "bun install --no-save",
            Program::Npm if is_locked => "npm ci",
            Program::Npm => "npm install --no-package-lock",
        })
    }

    /// Whether this is Yarn 2 or later, whose options are others.
    fn is_later_yarn(&self, files: &Files<'_>) -> bool {
        let has_later_lock = || {
            files
                .text("yarn.lock")
                .is_some_and(|lock| lock.lines().any(|line| line.starts_with("__metadata:")))
        };
        self.is_later_yarn || files.has(".yarnrc.yml") || has_later_lock()
    }
}

/// Whether a package names others that it needs.
fn needs_packages(package: &Value) -> bool {
    let keys = [
        "dependencies",
        "devDependencies",
        "optionalDependencies",
        "workspaces",
    ];
    keys.iter().any(|key| match package.get(key) {
        Some(Value::Object(entries)) => !entries.is_empty(),
        Some(Value::Array(entries)) => !entries.is_empty(),
        _ => false,
    })
}
