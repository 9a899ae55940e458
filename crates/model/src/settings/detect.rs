//! Detection of the test runner of a repository, from its files.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use toml::de::DeTable;

use super::Checks;

/// The test runners that crew knows, in the order in which the first that fits is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Runner {
    /// Python's pytest.
    Pytest,
    /// The `test` script of a `package.json`.
    Npm,
    /// Rust's cargo.
    Cargo,
    /// The `test` target of a makefile, or `check` where there is no `test`.
    Make,
    /// `go test`.
    Go,
}

impl fmt::Display for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pytest => "pytest",
            Self::Npm => "npm",
            Self::Cargo => "cargo",
            Self::Make => "make",
            Self::Go => "go",
        })
    }
}

/// A runner that was seen, and what to write into `[checks]` for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detected {
    /// The runner.
    pub runner: Runner,
    /// The file that gave it away.
    pub seen_in: String,
    /// The proposal for `checks.setup`.
    pub setup: Vec<String>,
    /// The proposal for `checks.keep`.
    pub keep: Vec<String>,
    /// The proposal for `checks.commands`.
    pub commands: Vec<String>,
}

impl Detected {
    /// The `[checks]` table with this runner and the default time limit.
    #[must_use]
    pub fn checks(&self) -> Checks {
        Checks {
            setup: self.setup.clone(),
            keep: self.keep.clone(),
            commands: self.commands.clone(),
            ..Checks::default()
        }
    }
}

/// The test runners of a repository, the first being the one to take; empty when there is none.
///
/// `paths` are the repository's files relative to its root, with `/` (what git tracks, or at least the names
/// at the root and in `tests/`). `read` gives the text of one of them, or `None` where it cannot be read as
/// text; it is asked only for a few small files at the root.
pub fn detect<P: AsRef<str>>(paths: &[P], read: impl Fn(&str) -> Option<String>) -> Vec<Detected> {
    let files = Files {
        paths: paths.iter().map(AsRef::as_ref).collect(),
        read: &read,
    };
    [
        pytest(&files),
        npm(&files),
        cargo(&files),
        make(&files),
        go(&files),
    ]
    .into_iter()
    .flatten()
    .collect()
}

struct Files<'a> {
    paths: Vec<&'a str>,
    read: &'a dyn Fn(&str) -> Option<String>,
}

impl Files<'_> {
    fn has(&self, path: &str) -> bool {
        self.paths.contains(&path)
    }

    /// The text of a file of the repository, if it has it.
    fn text(&self, path: &str) -> Option<String> {
        if self.has(path) { (self.read)(path) } else { None }
    }
}

fn pytest(files: &Files<'_>) -> Option<Detected> {
    let configured = || {
        let own = ["pytest.ini", ".pytest.ini", "conftest.py"]
            .into_iter()
            .find(|name| files.has(name));
        let pyproject = || {
            let text = files.text("pyproject.toml")?;
            let document = DeTable::parse(&text).ok()?.into_inner();
            let tool = document.get("tool")?.get_ref().as_table()?;
            tool.contains_key("pytest").then_some("pyproject.toml")
        };
        let section = |name: &'static str, header: &str| {
            let text = files.text(name)?;
            text.lines().any(|line| line.trim_end() == header).then_some(name)
        };
        own.or_else(pyproject)
            .or_else(|| section("tox.ini", "[pytest]"))
            .or_else(|| section("setup.cfg", "[tool:pytest]"))
            .map(str::to_owned)
    };
    let by_name = || {
        files
            .paths
            .iter()
            .find(|path| is_python_test(path))
            .map(|path| (*path).to_owned())
    };
    let seen_in = configured().or_else(by_name)?;
    // Through the interpreter: the repository's root is then on the import path, as its tests expect.
    let commands = vec!["python3 -m pytest".to_owned()];
    Some(Detected {
        runner: Runner::Pytest,
        seen_in,
        setup: Vec::new(),
        keep: Vec::new(),
        commands,
    })
}

/// pytest's own naming, at the root or below `tests/` or `test/`: elsewhere it may belong to something
/// vendored.
fn is_python_test(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let Some(stem) = name.strip_suffix(".py") else {
        return false;
    };
    let placed = folder.is_empty() || matches!(folder.split('/').next(), Some("tests" | "test"));
    placed && (stem.starts_with("test_") || stem.ends_with("_test"))
}

fn npm(files: &Files<'_>) -> Option<Detected> {
    let text = files.text("package.json")?;
    let package: serde_json::Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let script = package.get("scripts")?.get("test")?.as_str()?;
    // `npm init` writes a script that only prints this message and fails.
    if script.trim().is_empty() || script.contains("no test specified") {
        return None;
    }
    let needs = [
        "dependencies",
        "devDependencies",
        "optionalDependencies",
        "workspaces",
    ];
    let needs = needs.iter().any(|key| match package.get(key) {
        Some(serde_json::Value::Object(entries)) => !entries.is_empty(),
        Some(serde_json::Value::Array(entries)) => !entries.is_empty(),
        _ => false,
    });
    let setup = if files.has("package-lock.json") || files.has("npm-shrinkwrap.json") {
        Some("npm ci")
    } else if files.has("pnpm-lock.yaml") {
        Some("pnpm install --frozen-lockfile")
    } else if files.has("yarn.lock") {
        Some("yarn install --frozen-lockfile")
    } else if needs {
        Some("npm install --no-package-lock")
    } else {
        None
    };
    Some(Detected {
        runner: Runner::Npm,
        seen_in: "package.json".to_owned(),
        keep: setup.iter().map(|_| "node_modules".to_owned()).collect(),
        setup: setup.into_iter().map(str::to_owned).collect(),
        commands: vec!["npm test".to_owned()],
    })
}

fn cargo(files: &Files<'_>) -> Option<Detected> {
    if !files.has("Cargo.toml") {
        return None;
    }
    let manifest = files.text("Cargo.toml").unwrap_or_default();
    let workspace = DeTable::parse(&manifest).is_ok_and(|document| {
        document
            .get_ref()
            .get("workspace")
            .is_some_and(|value| value.get_ref().is_table())
    });
    let command = if workspace {
        "cargo test --workspace"
    } else {
        "cargo test"
    };
    Some(Detected {
        runner: Runner::Cargo,
        seen_in: "Cargo.toml".to_owned(),
        setup: Vec::new(),
        keep: vec!["target".to_owned()],
        commands: vec![command.to_owned()],
    })
}

fn make(files: &Files<'_>) -> Option<Detected> {
    // The order in which make itself looks.
    let name = ["GNUmakefile", "makefile", "Makefile"]
        .into_iter()
        .find(|name| files.has(name))?;
    let makefile = files.text(name)?;
    // GNU's convention names the target `check`.
    let target = ["test", "check"]
        .into_iter()
        .find(|target| has_target(&makefile, target))?;
    Some(Detected {
        runner: Runner::Make,
        seen_in: name.to_owned(),
        setup: Vec::new(),
        keep: Vec::new(),
        commands: vec![format!("make {target}")],
    })
}

/// True if a makefile has a rule for `wanted`: not an assignment, not a recipe's line, not a mention in
/// `.PHONY`.
fn has_target(makefile: &str, wanted: &str) -> bool {
    let joined = makefile.replace("\\\r\n", " ").replace("\\\n", " ");
    let mut in_define = false;
    joined.lines().any(|line| {
        if line.starts_with('\t') {
            return false;
        }
        let line = line.split('#').next().unwrap_or_default().trim();
        let word = line.split_whitespace().next().unwrap_or_default();
        if word == "define" || word == "endef" {
            in_define = word == "define";
            return false;
        }
        let Some((targets, rest)) = line.split_once(':') else {
            return false;
        };
        let rest = rest.trim_start_matches(':');
        // `test := x`, `test ::= x`, and `X = a:b`; `test: X = 1` only sets a variable for a rule that is
        // elsewhere.
        let sets = rest.starts_with('=')
            || targets.contains('=')
            || rest.split(';').next().is_some_and(|needs| needs.contains('='));
        !in_define && !sets && targets.split_whitespace().any(|target| target == wanted)
    })
}

fn go(files: &Files<'_>) -> Option<Detected> {
    files.has("go.mod").then(|| Detected {
        runner: Runner::Go,
        seen_in: "go.mod".to_owned(),
        setup: Vec::new(),
        keep: Vec::new(),
        commands: vec!["go test ./...".to_owned()],
    })
}
