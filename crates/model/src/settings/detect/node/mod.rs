//! Node: the `test` script of a `package.json`, by the package manager that the repository uses.

use serde_json::Value;

use super::files::Files;
use super::{Detected, Runner};

const MANIFEST: &str = "package.json";

pub(super) fn find(files: &Files<'_>) -> Vec<Detected> {
    let Some(package) = package(files) else {
        return Vec::new();
    };
    let manager = Manager::of(files, &package);
    let has_script = has_test_script(&package);
    // Bun finds tests by itself; with the other ones, there are none without the script.
    let is_tested_by_name = manager.program == Program::Bun && files.find(is_bun_test).is_some();
    if !has_script && !is_tested_by_name {
        return Vec::new();
    }
    let command = match (manager.program, has_script) {
        (Program::Npm, _) => "npm test",
        (Program::Pnpm, _) => "pnpm test",
        (Program::Yarn, _) => "yarn test",
        (Program::Bun, true) => "bun run test",
        (Program::Bun, false) => "bun test",
    };
    let runner = manager.program.runner();
    let found = Detected::new(runner, MANIFEST, command).needs(&runner.to_string());
    let install = manager.install(files, &package);
    let kept: &[&str] = if install.is_some() { &["node_modules"] } else { &[] };
    vec![found.setup(install).keep_ignored(kept)]
}

fn package(files: &Files<'_>) -> Option<Value> {
    let text = files.text(MANIFEST)?;
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}

fn has_test_script(package: &Value) -> bool {
    let script = package.get("scripts").and_then(|scripts| scripts.get("test"));
    // `npm init` writes a script that only prints this message and fails.
    script
        .and_then(Value::as_str)
        .is_some_and(|script| !script.trim().is_empty() && !script.contains("no test specified"))
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

    /// The command that installs what the package needs, without writing a lock file; none if it needs
    /// nothing.
    fn install(&self, files: &Files<'_>, package: &Value) -> Option<&'static str> {
        if self.lock.is_none() && !needs_packages(package) {
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
