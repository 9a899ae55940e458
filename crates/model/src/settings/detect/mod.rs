//! Detection of the test runners of a repository, from its files.

mod dotnet;
mod elixir;
mod files;
mod go;
mod java;
mod node;
mod python;
mod ruby;
mod rust;
mod tasks;

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use self::files::Files;
use super::Checks;

/// The test runners that crew knows. docs/settings.md says in which order one of several is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Runner {
    /// pytest in the environment of uv.
    Uv,
    /// pytest in the environment of Poetry.
    Poetry,
    /// pytest in the environment of Pipenv.
    Pipenv,
    /// pytest in a virtual environment of its own.
    Pytest,
    /// Python's tox.
    Tox,
    /// Python's nox.
    Nox,
    /// The `test` script of a `package.json`, by npm.
    Npm,
    /// The same, by pnpm.
    Pnpm,
    /// The same, by Yarn.
    Yarn,
    /// The same, by Bun, or Bun's own test runner.
    Bun,
    /// Rust's cargo.
    Cargo,
    /// `go test`.
    Go,
    /// Gradle, by the repository's wrapper where there is one.
    Gradle,
    /// Maven, by the repository's wrapper where there is one.
    Maven,
    /// `dotnet test`.
    Dotnet,
    /// Ruby's RSpec, through Bundler.
    Rspec,
    /// Elixir's mix.
    Mix,
    /// The `test` target of a makefile, or `check` where there is no `test`.
    Make,
    /// The `test` recipe of a justfile, or `check` where there is no `test`.
    Just,
}

impl Runner {
    /// Every runner.
    pub const ALL: [Self; 19] = [
        Self::Uv,
        Self::Poetry,
        Self::Pipenv,
        Self::Pytest,
        Self::Tox,
        Self::Nox,
        Self::Npm,
        Self::Pnpm,
        Self::Yarn,
        Self::Bun,
        Self::Cargo,
        Self::Go,
        Self::Gradle,
        Self::Maven,
        Self::Dotnet,
        Self::Rspec,
        Self::Mix,
        Self::Make,
        Self::Just,
    ];
}

impl fmt::Display for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uv => "uv",
            Self::Poetry => "poetry",
            Self::Pipenv => "pipenv",
            Self::Pytest => "pytest",
            Self::Tox => "tox",
            Self::Nox => "nox",
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
            Self::Cargo => "cargo",
            Self::Go => "go",
            Self::Gradle => "gradle",
            Self::Maven => "maven",
            Self::Dotnet => "dotnet",
            Self::Rspec => "rspec",
            Self::Mix => "mix",
            Self::Make => "make",
            Self::Just => "just",
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
    /// The programs on `PATH` that the commands need.
    pub needs: Vec<String>,
    /// The proposal for `checks.env`.
    pub env: BTreeMap<String, String>,
    /// The proposal for `checks.setup`: it makes an environment inside the checkout.
    pub setup: Vec<String>,
    /// The proposal for `checks.keep`.
    pub keep: Vec<String>,
    /// The proposal for `checks.commands`.
    pub commands: Vec<String>,
    /// The folders that set-up fills and that git lists if no rule of the repository ignores them: some
    /// programs put a rule of their own into the folder that they make.
    pub to_ignore: Vec<String>,
}

impl Detected {
    /// A runner without set-up.
    fn new(runner: Runner, seen_in: impl Into<String>, command: impl Into<String>) -> Self {
        Self {
            runner,
            seen_in: seen_in.into(),
            needs: Vec::new(),
            env: BTreeMap::new(),
            setup: Vec::new(),
            keep: Vec::new(),
            commands: vec![command.into()],
            to_ignore: Vec::new(),
        }
    }

    /// Builds what is tested first. That is one command with the tests: with broken sources they would else run
    /// on what the set-up has built, pass, and look blind.
    fn built_by(mut self, build: &str) -> Self {
        if let Some(test) = self.commands.first_mut() {
            *test = format!("{build} && {test}");
        }
        self
    }

    fn needs(mut self, program: &str) -> Self {
        self.needs.push(program.to_owned());
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    fn setup(mut self, commands: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.setup.extend(commands.into_iter().map(Into::into));
        self
    }

    fn keep(mut self, folders: &[&str]) -> Self {
        self.keep
            .extend(folders.iter().map(|folder| (*folder).to_owned()));
        self
    }

    /// Keeps folders that only a rule of the repository ignores.
    fn keep_ignored(mut self, folders: &[&str]) -> Self {
        self.to_ignore
            .extend(folders.iter().map(|folder| (*folder).to_owned()));
        self.keep(folders)
    }

    /// The `[checks]` table with this runner and the default time limit.
    #[must_use]
    pub fn checks(&self) -> Checks {
        Checks {
            setup: self.setup.clone(),
            keep: self.keep.clone(),
            env: self.env.clone(),
            commands: self.commands.clone(),
            ..Checks::default()
        }
    }

    /// The proposal for `workspace.setup`. That table has no variables, so each command sets those it needs.
    /// `unignored`: those of [`to_ignore`](Self::to_ignore) that git does not ignore, and that get a rule of
    /// their own, since an agent would commit them.
    #[must_use]
    pub fn workspace_setup(&self, unignored: &[String]) -> Vec<String> {
        let variables: String = self
            .env
            .iter()
            .map(|(name, value)| format!("{name}={value} "))
            .collect();
        let set_up = self.setup.iter().map(|command| format!("{variables}{command}"));
        let ignore = unignored
            .iter()
            .map(|folder| format!("mkdir -p {folder} && echo '*' > {folder}/.gitignore"));
        set_up.chain(ignore).collect()
    }
}

/// The test runners of a repository, the first being the one to take; empty when there is none.
///
/// `paths` are the repository's files relative to its root, with `/`. `read` gives the text of one of them,
/// or `None` where it cannot be read as text; it is asked only for a few small files.
///
/// A runner of a language comes before make and just, which run any other one. Among languages the order is
/// fixed, but tests of Python in a repository without any manifest or setting of Python come last: they often
/// try a program in another language.
pub fn detect<P: AsRef<str>>(paths: &[P], read: impl Fn(&str) -> Option<String>) -> Vec<Detected> {
    let files = Files::new(paths.iter().map(AsRef::as_ref).collect(), &read);
    let (python, late_python) = match python::find(&files) {
        (found, python::Place::Main) => (found, Vec::new()),
        (found, python::Place::Beside) => (Vec::new(), found),
    };
    [
        python,
        node::find(&files),
        rust::find(&files),
        go::find(&files),
        java::find(&files),
        dotnet::find(&files),
        ruby::find(&files),
        elixir::find(&files),
        late_python,
        tasks::find(&files),
    ]
    .into_iter()
    .flatten()
    .collect()
}
