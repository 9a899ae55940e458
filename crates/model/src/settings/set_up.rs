//! Inputs of the set-up: which files of a repository tell that the check checkout must be set up anew.

use super::Checks;

/// The manifests and lock files of the ecosystems that crew knows, by their name. A `*` stands for any
/// characters.
const MANIFESTS: &[&str] = &[
    // Rust
    "Cargo.toml",
    "Cargo.lock",
    // JavaScript
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "deno.json",
    "deno.jsonc",
    "deno.lock",
    // Python
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements*.txt",
    "requirements*.in",
    "*-requirements.txt",
    "*_requirements.txt",
    "constraints*.txt",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "pylock*.toml",
    "Pipfile",
    "Pipfile.lock",
    "environment.yml",
    "environment.yaml",
    "conda-lock.yml",
    "pixi.toml",
    "pixi.lock",
    // Go
    "go.mod",
    "go.sum",
    "go.work",
    "go.work.sum",
    // Ruby
    "Gemfile",
    "Gemfile.lock",
    "gems.rb",
    "gems.locked",
    "*.gemfile",
    "*.gemspec",
    // Elixir and Erlang
    "mix.exs",
    "mix.lock",
    "rebar.config",
    "rebar.lock",
    // The Java machine
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.properties",
    "gradle-wrapper.properties",
    "gradle.lockfile",
    "*.versions.toml",
    "maven-wrapper.properties",
    "build.sbt",
    "deps.edn",
    "project.clj",
    // .NET
    "*.csproj",
    "*.fsproj",
    "*.vbproj",
    "*.sln",
    "*.slnx",
    "packages.lock.json",
    "packages.config",
    "Directory.Packages.props",
    "Directory.Build.props",
    "Directory.Build.targets",
    "global.json",
    "nuget.config",
    "NuGet.Config",
    "paket.dependencies",
    "paket.lock",
    // PHP, Swift, Dart, Haskell, OCaml, Julia, R, Perl, Zig, Elm, Crystal
    "composer.json",
    "composer.lock",
    "Package.swift",
    "Package.resolved",
    "Podfile",
    "Podfile.lock",
    "pubspec.yaml",
    "pubspec.lock",
    "*.cabal",
    "cabal.project",
    "cabal.project.freeze",
    "stack.yaml",
    "stack.yaml.lock",
    "*.opam",
    "Project.toml",
    "Manifest.toml",
    "renv.lock",
    "cpanfile",
    "cpanfile.snapshot",
    "build.zig.zon",
    "elm.json",
    "shard.yml",
    "shard.lock",
    // C and C++, and tools for any language
    "conanfile.txt",
    "conanfile.py",
    "conan.lock",
    "vcpkg.json",
    "flake.nix",
    "flake.lock",
    "devbox.json",
    "devbox.lock",
    "mise.lock",
    "MODULE.bazel",
    "MODULE.bazel.lock",
];

/// Files that steer a set-up, but from which it cannot be known what that depends on.
const STEERING: &[&str] = &[
    ".gitmodules",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    "bunfig.toml",
    "binding.gyp",
    "*.prisma",
    ".nvmrc",
    ".node-version",
    ".python-version",
    ".ruby-version",
    ".java-version",
    ".sdkmanrc",
    ".go-version",
    ".tool-versions",
    "mise.toml",
    ".mise.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "uv.toml",
    "poetry.toml",
    "hatch.toml",
    "tox.ini",
    "tox.toml",
    "noxfile.py",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    ".justfile",
    "Taskfile.yml",
    "Brewfile",
];

/// What a file is to the set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A manifest or lock file, or one that the settings name: where there is one, set-up is run anew only
    /// when an input has changed.
    Known,
    /// A file that may change what the set-up does, but does not tell all that it depends on.
    Steering,
}

/// Whether a file of the repository (its path from the root, with `/`) is an input of the set-up.
#[must_use]
pub fn input(path: &str, checks: &Checks) -> Option<Input> {
    let is_named = |named: &String| {
        let rest = path.strip_prefix(named.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_one_of = |names: &[&str]| names.iter().any(|pattern| matches(pattern, name));
    let in_requirements = folder.rsplit('/').next() == Some("requirements");
    if checks.setup_inputs.iter().any(is_named)
        || is_one_of(MANIFESTS)
        || (in_requirements && (name.ends_with(".txt") || name.ends_with(".in")))
    {
        return Some(Input::Known);
    }
    // Patches of dependencies: an installation applies them.
    let is_patch = folder.rsplit('/').next() == Some("patches") && name.ends_with(".patch");
    let is_steering =
        is_patch || is_one_of(STEERING) || checks.setup.iter().any(|command| mentions(command, path));
    is_steering.then_some(Input::Steering)
}

/// Whether a command names a file, as a script that it runs or an argument.
fn mentions(command: &str, path: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || "\"'`;&|<>()=".contains(c);
    let mut words = command.split(ends);
    words.any(|word| word.strip_prefix("./").unwrap_or(word) == path)
}

/// Whether a name fits a pattern with at most one `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> Checks {
        Checks {
            setup: vec!["./ci/setup.sh && cp 'deps/list' .deps".to_owned()],
            setup_inputs: vec!["lock".to_owned(), "vendor/pins".to_owned()],
            ..Checks::default()
        }
    }

    #[test]
    fn a_manifest_counts_wherever_it_stands() {
        for path in [
            "Cargo.lock",
            "crates/a/Cargo.toml",
            "web/package.json",
            "requirements.txt",
            "requirements-dev.txt",
            "dev-requirements.txt",
            "test_requirements.txt",
            "bun.lock",
            "App.sln",
            "requirements/test.txt",
            "src/App/App.csproj",
            "gradle/libs.versions.toml",
            "lock",
            "vendor/pins/a/b",
        ] {
            assert_eq!(input(path, &checks()), Some(Input::Known), "{path}");
        }
    }

    #[test]
    fn a_script_that_set_up_runs_is_an_input_which_tells_nothing_of_others() {
        for path in [
            "ci/setup.sh",
            "deps/list",
            "Makefile",
            ".tool-versions",
            "patches/left-pad+1.3.0.patch",
            ".yarn/patches/left-pad.patch",
            "prisma/schema.prisma",
        ] {
            assert_eq!(input(path, &checks()), Some(Input::Steering), "{path}");
        }
        for path in [
            "src/main.rs",
            "locks",
            "vendor/pin",
            "a/lock",
            "setup.sh",
            "Cargo.toml.orig",
            "requirements/README.md",
            "tests/data/a.patch",
        ] {
            assert_eq!(input(path, &checks()), None, "{path}");
        }
    }
}
