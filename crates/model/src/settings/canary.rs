//! The canary: which files of a tree are broken on purpose, to see whether a check looks at them, and which
//! commands are known to run tests.

use super::{Checks, input};

/// Endings of source files, in lower case.
const SOURCES: &[&str] = &[
    "rs", "py", "pyi", "pyx", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "go",
    "rb", "ex", "exs", "erl", "hrl", "java", "kt", "kts", "scala", "groovy", "clj", "cljs", "cljc", "cs",
    "fs", "vb", "php", "swift", "dart", "hs", "ml", "mli", "jl", "r", "pl", "pm", "lua", "zig", "nim", "cr",
    "elm", "c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "m", "mm", "f90", "d",
];

/// Folders whose files are tests, or belong to them: a check that reads only these proves nothing.
const TEST_FOLDERS: &[&str] = &[
    "test",
    "tests",
    "testing",
    "spec",
    "specs",
    "__tests__",
    "__mocks__",
    "e2e",
    "fixtures",
    "testdata",
    "test-d",
    "androidTest",
];

/// Folders of tools and of other people's code, beside those whose name begins with a dot (`.yarn/releases`
/// has the package manager itself): a check fails without them, whether it looks at the sources or not.
const FOREIGN_FOLDERS: &[&str] = &["buildSrc", "build-logic", "node_modules", "third_party", "vendor"];

/// Stems of files that steer tools or start the tests, beside those that are inputs of the set-up.
const STEERING: &[&str] = &[
    "Gruntfile",
    "gulpfile",
    "jest.setup",
    "vitest.setup",
    "vitest.workspace",
    "setupTests",
    "test-setup",
    "manage",
    "versioneer",
    "hatch_build",
    "fabfile",
    "dodo",
];

/// The text that stands in place of a source: no language accepts it. PHP prints everything up to its mark.
const BROKEN: &str =
    "<?php )]}> crew has put this text here for a moment, to see whether the check reads it <{[( \"'`\n";

/// The first words of commands that run tests, without the programs that only start another one.
const RUNNERS: &[&[&str]] = &[
    &["pytest"],
    &["py.test"],
    &["unittest"],
    &["nose2"],
    &["tox"],
    &["nox"],
    &["hatch", "test"],
    &["npm", "test"],
    &["npm", "t"],
    &["npm", "run", "test"],
    &["pnpm", "test"],
    &["pnpm", "run", "test"],
    &["yarn", "test"],
    &["yarn", "run", "test"],
    &["yarn", "workspaces", "run", "test"],
    &["yarn", "workspaces", "foreach", "run", "test"],
    &["bun", "test"],
    &["bun", "run", "test"],
    &["deno", "test"],
    &["turbo", "test"],
    &["turbo", "run", "test"],
    &["nx", "test"],
    &["lerna", "run", "test"],
    &["node", "--test"],
    &["jest"],
    &["vitest"],
    &["mocha"],
    &["ava"],
    &["cargo", "test"],
    &["cargo", "nextest"],
    &["go", "test"],
    &["gotestsum"],
    &["rspec"],
    &["rake", "test"],
    &["rake", "spec"],
    &["rails", "test"],
    &["mix", "test"],
    &["phpunit"],
    &["pest"],
    &["gradle", "test"],
    &["gradle", "check"],
    &["mvn", "test"],
    &["mvn", "verify"],
    &["dotnet", "test"],
    &["swift", "test"],
    &["dart", "test"],
    &["flutter", "test"],
    &["sbt", "test"],
    &["lein", "test"],
    &["stack", "test"],
    &["cabal", "test"],
    &["dune", "test"],
    &["zig", "build", "test"],
    &["crystal", "spec"],
    &["ctest"],
];

/// Words that start another program: what follows is the command.
const STARTERS: &[&[&str]] = &[
    &["uv", "run"],
    &["poetry", "run"],
    &["pdm", "run"],
    &["pipenv", "run"],
    &["hatch", "run"],
    &["bundle", "exec"],
    &["npx"],
    &["pnpm", "exec"],
    &["yarn", "exec"],
    &["bunx"],
    &["corepack"],
    &["nyc"],
    &["c8"],
    &["python", "-m"],
    &["python3", "-m"],
    &["coverage", "run", "-m"],
    &["mise", "exec"],
    &["mise", "x"],
    &["env"],
    &["exec"],
    &["time"],
];

/// The text that is put in place of a file (its path from the root, with `/`); none for a file that stays as
/// it is: a manifest, a test, or a file that is no source.
#[must_use]
pub fn broken(path: &str, checks: &Checks) -> Option<&'static str> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, ending) = name.rsplit_once('.')?;
    let is_source = SOURCES.contains(&ending.to_lowercase().as_str());
    let in_tests = folders
        .split('/')
        .any(|folder| TEST_FOLDERS.contains(&folder) || folder.to_lowercase().ends_with(".tests"));
    let is_test = ["test", "tests", "spec"].contains(&stem)
        || ["test_", "conftest"].iter().any(|begin| stem.starts_with(begin))
        || ["_test", ".test", ".spec", "_spec", "Test", "Tests", "Spec"]
            .iter()
            .any(|end| stem.ends_with(end));
    let is_foreign = folders
        .split('/')
        .any(|folder| folder.starts_with('.') || FOREIGN_FOLDERS.contains(&folder));
    // A script that steers tools is read before any test is, and says nothing about the sources.
    let steers = [".config", ".conf", ".gradle"]
        .iter()
        .any(|end| stem.ends_with(end))
        || stem.starts_with('.')
        || STEERING.contains(&stem)
        || input(path, checks).is_some();
    (is_source && !in_tests && !is_test && !is_foreign && !steers).then_some(BROKEN)
}

/// Whether a command is known to run tests of the sources.
#[must_use]
pub fn runs_tests(command: &str) -> bool {
    let parts = command.split(['&', ';', '|', '\n', '(', ')']);
    parts.into_iter().any(is_runner)
}

fn is_runner(part: &str) -> bool {
    let mut words: Vec<&str> = part.split_whitespace().collect();
    loop {
        let is_variable = |word: &&str| {
            let name = word.split_once('=').map_or("", |(name, _)| name);
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if words.first().is_some_and(is_variable) {
            words.remove(0);
            continue;
        }
        let Some(starter) = STARTERS.iter().find(|starter| begins(&words, starter)) else {
            break;
        };
        words.drain(..starter.len());
        drop_options(&mut words);
    }
    RUNNERS.iter().any(|runner| begins(&words, runner))
}

/// Drops the options in front of a command, with the value of those that have one: a word that is no command
/// known here.
fn drop_options(words: &mut Vec<&str>) {
    while words.first().is_some_and(|word| word.starts_with('-')) {
        let may_have_value = !words.remove(0).contains('=');
        let is_value = |word: &&str| !word.starts_with('-');
        let is_command = RUNNERS.iter().chain(STARTERS).any(|known| begins(words, known));
        if may_have_value && words.len() > 1 && !is_command && words.first().is_some_and(is_value) {
            words.remove(0);
        }
    }
}

/// Whether a command begins with these words; its program may be named by a path, and options may stand
/// between the program and the next word.
fn begins(words: &[&str], with: &[&str]) -> bool {
    let (Some(program), Some((first, rest))) = (words.first(), with.split_first()) else {
        return false;
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    let name = name
        .strip_suffix('w')
        .filter(|it| *it == "gradle" || *it == "mvn")
        .unwrap_or(name);
    let is_meant = |word: &&&str| !word.starts_with('-') || rest.contains(*word);
    let mut others = words[1..].iter().filter(is_meant);
    name == *first && rest.iter().all(|word| others.next() == Some(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_broken_and_manifests_and_tests_stay() {
        let checks = Checks::default();
        for path in [
            "src/lib.rs",
            "src/click/core.py",
            "index.js",
            "pkg/a.go",
            "lib/x.TS",
            "main.c",
        ] {
            assert!(broken(path, &checks).is_some(), "{path}");
        }
        for path in [
            "Cargo.toml",
            "setup.py",
            "conanfile.py",
            "tests/test_a.py",
            "src/a_test.go",
            "test.js/test/a.js",
            "src/a.test.ts",
            "conftest.py",
            "jest.config.js",
            "README.md",
            "Makefile",
            "data.json",
            "src/Foo.Tests/A.cs",
            "noxfile.py",
            "test.js",
            "shop/tests.py",
            "App.sln",
            ".yarn/releases/yarn-4.4.1.cjs",
            ".pnp.cjs",
            "vendor/lib/a.go",
            "buildSrc/src/main/kotlin/Plugin.kt",
            "gradle/publishing.gradle.kts",
            "karma.conf.js",
            "web/src/setupTests.ts",
            "manage.py",
        ] {
            assert!(broken(path, &checks).is_none(), "{path}");
        }
    }

    #[test]
    fn a_runner_is_known_behind_whatever_starts_it() {
        for command in [
            "pytest",
            "pytest -q tests",
            ".venv/bin/pytest",
            "python -m pytest",
            "python3 -m unittest discover",
            "uv run --frozen pytest",
            "CI=1 npm test",
            "npm run test",
            "cd web && npm test",
            "cargo test --workspace",
            "cargo --locked test",
            "./gradlew test",
            "go test ./...",
            "bundle exec rspec",
            "npx jest --ci",
            // Proposals of `crew init`.
            ".venv/bin/python -m pytest",
            "uv run pytest",
            "uv run --with pytest pytest",
            "uv run --group test --frozen pytest -q",
            "uv run --python=3.12 pytest",
            "poetry run pytest",
            "pipenv run pytest",
            "tox -e py",
            "nox -s tests",
            "pnpm test",
            "yarn test",
            "bun run test",
            "bun test",
            "go test ./... ./tools/...",
            "./gradlew --no-daemon test",
            "mvn --batch-mode --no-transfer-progress test",
            "./mvnw --batch-mode --no-transfer-progress test",
            "dotnet test App.sln",
            "mix test",
            "npm test --workspaces --if-present",
            "pnpm --recursive test",
            "yarn workspaces foreach --all run test",
            "bun run --filter='*' test",
            "PYTHONPATH=src .venv/bin/python -m pytest",
            "PATH=\"$PWD/.venv/bin:$PATH\" .venv/bin/python -m pytest",
            // Others that start a runner.
            "corepack pnpm test",
            "npx nyc --reporter=text mocha",
            "mise exec -- cargo test",
            "npx turbo run test",
            "bundle exec rake spec",
        ] {
            assert!(runs_tests(command), "{command}");
        }
        for command in [
            "make test",
            "just test",
            "uv sync --locked",
            "uv run --group test ruff check",
            ".venv/bin/pip install --no-deps -e .",
            "poetry install --only-root",
            "cargo build",
            "cargo fmt --check",
            "npm run lint",
            "npm run prepare",
            "bundle exec rake",
            "go vet ./...",
            "echo pytest",
            "test ! -e red",
        ] {
            assert!(!runs_tests(command), "{command}");
        }
    }
}
