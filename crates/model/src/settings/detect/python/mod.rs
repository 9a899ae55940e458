//! Python: pytest in an environment of the checkout's own, or tox, or nox.

mod manifest;
mod needs;
mod session;

use self::manifest::Manifest;
use self::needs::Needs;
use super::files::{Files, quoted};
use super::{Detected, Runner};

/// Where the runners of Python come among those of other languages.
pub(super) enum Place {
    /// Python has a manifest or settings of its own in this repository.
    Main,
    /// There are only files with tests.
    Beside,
}

/// The runners of Python, and their place.
pub(super) fn find(files: &Files<'_>) -> (Vec<Detected>, Place) {
    let manifest = Manifest::read(files);
    let needs = Needs::of(files, &manifest);
    let configured = configured(files, &manifest).map(str::to_owned);
    let named = || needs.pytest_in.clone();
    let by_name = || files.find(is_python_test).map(str::to_owned);
    let seen_in = configured.clone().or_else(named).or_else(by_name);
    let pytest = seen_in.map(|seen_in| with_pytest(files, &manifest, &needs, seen_in));
    let sessions = session::find(files, &manifest);
    // Environments of tox and nox have dependencies that no manifest may name. pytest alone is faster, where
    // what it needs is known.
    let sessions_first = pytest
        .as_ref()
        .is_some_and(|found| found.runner == Runner::Pytest && needs.pytest_in.is_none());
    let has_manifest = manifest.is_package || manifest.is_project || configured.is_some();
    let place = match has_manifest || !sessions.is_empty() {
        true => Place::Main,
        false => Place::Beside,
    };
    let found = match sessions_first {
        true => sessions.into_iter().chain(pytest).collect(),
        false => pytest.into_iter().chain(sessions).collect(),
    };
    (found, place)
}

/// The file that has settings of pytest.
fn configured(files: &Files<'_>, manifest: &Manifest) -> Option<&'static str> {
    let section = |name: &'static str, header: &str| {
        let text = files.text(name)?;
        text.lines().any(|line| line.trim_end() == header).then_some(name)
    };
    files
        .first_of(&[
            "pytest.ini",
            ".pytest.ini",
            "pytest.toml",
            ".pytest.toml",
            "conftest.py",
        ])
        .or_else(|| manifest.has_tool("pytest").then_some(manifest::PYPROJECT))
        .or_else(|| section("tox.ini", "[pytest]"))
        .or_else(|| section("setup.cfg", "[tool:pytest]"))
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

/// pytest, in the environment that the repository's tool makes.
fn with_pytest(files: &Files<'_>, manifest: &Manifest, needs: &Needs, seen_in: String) -> Detected {
    let has_uv = files.has("uv.lock") || manifest.has_tool("uv");
    if has_uv && manifest.is_project {
        return uv(files, manifest, needs);
    }
    // A lock file decides between two manifests.
    let names_poetry = || manifest.tool("poetry", "dependencies").is_some();
    let is_pipenv = || files.has("Pipfile") && (files.has("Pipfile.lock") || !names_poetry());
    if files.has("poetry.lock") || (names_poetry() && !is_pipenv()) {
        return poetry(files, manifest, needs);
    }
    if is_pipenv() {
        return pipenv(files, needs);
    }
    plain(files, manifest, needs, seen_in)
}

fn uv(files: &Files<'_>, manifest: &Manifest, needs: &Needs) -> Detected {
    let is_locked = files.has("uv.lock");
    let mut sync = vec!["uv sync".to_owned()];
    // A lock file that is out of date is an error, as with `npm ci`.
    sync.extend(is_locked.then(|| "--locked".to_owned()));
    sync.extend(
        manifest
            .tool("uv", "workspace")
            .map(|_| "--all-packages".to_owned()),
    );
    // uv takes the group `dev` by itself.
    let groups = needs.groups.iter().filter(|group| *group != "dev");
    sync.extend(groups.map(|group| format!("--group {group}")));
    sync.extend(needs.extras.iter().map(|extra| format!("--extra {extra}")));
    let sync = sync.join(" ");
    let test = match needs.pytest_in {
        Some(_) => "uv run pytest",
        None => "uv run --with pytest pytest",
    };
    let seen_in = if is_locked { "uv.lock" } else { manifest::PYPROJECT };
    let mut found = Detected::new(Runner::Uv, seen_in, test)
        .needs("uv")
        .keep(&[".venv"]);
    if let (true, Some(name)) = (manifest.is_compiled, &manifest.name) {
        found = found.built_by(&format!("{sync} --reinstall-package {}", quoted(name)));
    }
    found.setup([sync])
}

fn poetry(files: &Files<'_>, manifest: &Manifest, needs: &Needs) -> Detected {
    let mut install = vec!["poetry install".to_owned()];
    // Poetry installs every group that is not optional.
    let optional = needs
        .groups
        .iter()
        .filter(|group| manifest.is_optional_group(group));
    install.extend(optional.map(|group| format!("--with {group}")));
    install.extend(needs.extras.iter().map(|extra| format!("--extras {extra}")));
    let seen_in = files.first_of(&["poetry.lock"]).unwrap_or(manifest::PYPROJECT);
    let mut found = Detected::new(Runner::Poetry, seen_in, "poetry run pytest")
        .needs("poetry")
        .setup([install.join(" ")])
        .keep(&[".venv"]);
    if needs.pytest_in.is_none() {
        found = found.setup(["poetry run pip install pytest"]);
    }
    if manifest.is_compiled {
        found = found.built_by("poetry install --only-root");
    }
    let stays_inside = files.toml("poetry.toml").is_some_and(|settings| {
        let inside = settings.pointer("/virtualenvs/in-project");
        inside.and_then(serde_json::Value::as_bool) == Some(true)
    });
    match stays_inside {
        true => found,
        false => found.env("POETRY_VIRTUALENVS_IN_PROJECT", "true"),
    }
}

fn pipenv(files: &Files<'_>, needs: &Needs) -> Detected {
    let install = match files.has("Pipfile.lock") {
        true => "pipenv sync --dev",
        false => "pipenv install --dev --skip-lock",
    };
    let mut found = Detected::new(Runner::Pipenv, "Pipfile", "pipenv run pytest")
        .needs("pipenv")
        .env("PIPENV_VENV_IN_PROJECT", "1")
        .setup([install])
        .keep(&[".venv"]);
    if needs.pytest_in.is_none() {
        found = found.setup(["pipenv run pip install pytest"]);
    }
    found
}

/// pytest in a virtual environment that Python itself makes.
fn plain(files: &Files<'_>, manifest: &Manifest, needs: &Needs, seen_in: String) -> Detected {
    const PIP: &str = ".venv/bin/pip install";
    let make = match needs.groups.is_empty() {
        true => "python3 -m venv .venv",
        // Only a new pip knows groups.
        false => "python3 -m venv --upgrade-deps .venv",
    };
    let mut setup = vec![make.to_owned()];
    // Where some requirements have hashes, pip refuses those that have none.
    let (hashed, listed): (Vec<_>, Vec<_>) = needs.files.iter().partition(|file| file.has_hashes);
    setup.extend(
        hashed
            .iter()
            .map(|file| format!("{PIP} -r {}", quoted(&file.path))),
    );
    let mut wanted = Vec::new();
    if manifest.is_package {
        wanted.push(match needs.extras.as_slice() {
            [] => "-e .".to_owned(),
            extras => format!("-e '.[{}]'", extras.join(",")),
        });
    }
    wanted.extend(needs.groups.iter().map(|group| format!("--group {group}")));
    wanted.extend(listed.iter().map(|file| format!("-r {}", quoted(&file.path))));
    if needs.pytest_in.is_none() {
        wanted.push("pytest".to_owned());
    }
    if !wanted.is_empty() {
        setup.push(format!("{PIP} {}", wanted.join(" ")));
    }
    // Through the interpreter: the repository's root is then on the import path, as its tests expect. Modules
    // in `src` are found only if that folder is on it too, where nothing installs them.
    let in_src = |path: &str| path.starts_with("src/") && path.ends_with(".py");
    let command = if !manifest.is_package && files.find(in_src).is_some() {
        "PYTHONPATH=src .venv/bin/python -m pytest"
    } else if manifest.is_package && manifest.has_programs {
        r#"PATH="$PWD/.venv/bin:$PATH" .venv/bin/python -m pytest"#
    } else {
        ".venv/bin/python -m pytest"
    };
    let mut found = Detected::new(Runner::Pytest, seen_in, command)
        .needs("python3")
        // Only Python 3.13 and later put a rule into it.
        .setup(setup)
        .keep_ignored(&[".venv"]);
    if manifest.is_package && manifest.is_compiled {
        found = found.built_by(&format!("{PIP} --no-deps -e ."));
    }
    found
}
