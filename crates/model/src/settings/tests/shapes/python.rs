//! Repositories in Python.

use super::{first, proposals};

#[test]
fn a_package_in_src_is_installed_with_its_extra_for_tests() {
    let pyproject = "[build-system]\nrequires = ['hatchling']\n[project]\nname = 'x'\n\
         [project.optional-dependencies]\ntest = ['pytest>=8', 'coverage']\ndocs = ['sphinx']\n\
         [tool.pytest.ini_options]\ntestpaths = ['tests']\n";
    let files = [
        ("pyproject.toml", pyproject),
        ("src/x/__init__.py", ""),
        ("tests/test_x.py", ""),
    ];
    assert_eq!(
        first(&files),
        "pytest: python3 -m venv .venv; .venv/bin/pip install -e '.[test]' => .venv/bin/python -m pytest [.venv]"
    );
}

#[test]
fn tests_find_the_programs_that_their_package_installs() {
    let expected = "pytest: python3 -m venv .venv; .venv/bin/pip install -e . pytest \
         => PATH=\"$PWD/.venv/bin:$PATH\" .venv/bin/python -m pytest [.venv]";
    let (project, setup_py) = (
        "[project]\nname = 'x'\n[project.scripts]\nx = 'x:main'\n",
        "setup(name='x', entry_points={'console_scripts': ['x = x:main']})\n",
    );
    for manifest in [("pyproject.toml", project), ("setup.py", setup_py)] {
        assert_eq!(
            first(&[manifest, ("x.py", ""), ("tests/test_x.py", "")]),
            expected
        );
    }
}

#[test]
fn a_package_that_names_pytest_nowhere_gets_it_beside() {
    let files = [
        ("pyproject.toml", "[project]\nname = 'x'\n"),
        ("src/x.py", ""),
        ("tests/test_x.py", ""),
    ];
    assert_eq!(
        first(&files),
        "pytest: python3 -m venv .venv; .venv/bin/pip install -e . pytest => .venv/bin/python -m pytest [.venv]"
    );
}

#[test]
fn groups_need_a_new_pip() {
    let pyproject = "[project]\nname = 'x'\n[dependency-groups]\nunit = ['pytest-cov']\n\
         tests = [{ include-group = 'unit' }, 'hypothesis']\nlint = ['ruff']\n";
    let files = [("pyproject.toml", pyproject), ("tests/test_x.py", "")];
    assert_eq!(
        first(&files),
        "pytest: python3 -m venv --upgrade-deps .venv; .venv/bin/pip install -e . --group tests \
         => .venv/bin/python -m pytest [.venv]"
    );
}

#[test]
fn extras_of_developers_are_taken_where_those_for_tests_have_no_pytest() {
    let pyproject =
        |extras: &str| format!("[project]\nname = 'x'\n[project.optional-dependencies]\n{extras}\n");
    for (extras, installed) in [
        ("dev = ['pytest']", "-e '.[dev]'"),
        ("test = ['hypothesis']\ndev = ['PyTest_Cov']", "-e '.[test,dev]'"),
        ("test = ['pytest']\ndev = ['pytest', 'ruff']", "-e '.[test]'"),
        ("dev = ['ruff']", "-e . pytest"),
        ("all = ['pytest']", "-e '.[all]'"),
        ("'a; rm -rf b' = ['pytest']", "-e . pytest"),
        ("docs = ['sphinx-pytest']", "-e . pytest"),
    ] {
        let files = [("pyproject.toml", &*pyproject(extras)), ("tests/test_x.py", "")];
        assert_eq!(
            first(&files),
            format!(
                "pytest: python3 -m venv .venv; .venv/bin/pip install {installed} => .venv/bin/python -m pytest [.venv]"
            ),
            "{extras}"
        );
    }
}

#[test]
fn a_package_of_setuptools_alone_is_read_in_setup_cfg_and_setup_py() {
    let installed = |files: &[(&str, &str)]| first(files);
    let setup_cfg = "[metadata]\nname = x\n[options.extras_require]\ntesting =\n    pytest>=6\n    mock\n\
         docs = sphinx\n[tool:pytest]\n";
    assert_eq!(
        installed(&[("setup.cfg", setup_cfg), ("setup.py", "setup()")]),
        "pytest: python3 -m venv .venv; .venv/bin/pip install -e '.[testing]' => .venv/bin/python -m pytest [.venv]"
    );
    let setup_py = "setup(name='x', extras_require={'docs': ['sphinx'], \"test\": ['pytest', 'mock']})";
    assert_eq!(
        installed(&[("setup.py", setup_py), ("tests/test_x.py", "")]),
        "pytest: python3 -m venv .venv; .venv/bin/pip install -e '.[test]' pytest => .venv/bin/python -m pytest [.venv]"
    );
}

#[test]
fn files_with_requirements_are_installed() {
    let pip = ".venv/bin/pip install";
    for (files, installed) in [
        // No package: its own requirements are needed too.
        (
            vec![
                ("requirements.txt", "flask\n"),
                ("requirements-dev.txt", "-r requirements.txt\npytest\n"),
            ],
            format!("{pip} -r requirements-dev.txt -r requirements.txt"),
        ),
        (
            vec![("requirements.txt", "flask\n")],
            format!("{pip} -r requirements.txt pytest"),
        ),
        (vec![], format!("{pip} pytest")),
        // A package.
        (
            vec![
                ("setup.py", ""),
                ("requirements.txt", "flask\n"),
                ("requirements/test.txt", "pytest==8\n"),
            ],
            format!("{pip} -e . -r requirements/test.txt"),
        ),
        (
            vec![("setup.py", ""), ("requirements.txt", "pytest\nflask\n")],
            format!("{pip} -e . -r requirements.txt"),
        ),
        (
            vec![
                ("setup.py", ""),
                ("test-requirements.txt", "mock\n"),
                ("dev-requirements.txt", "pytest"),
            ],
            format!("{pip} -e . -r test-requirements.txt pytest"),
        ),
        // Requirements with hashes do not go together with others.
        (
            vec![
                ("setup.py", ""),
                ("requirements_test.txt", "pytest==8 --hash=sha256:00\n"),
            ],
            format!("{pip} -r requirements_test.txt; {pip} -e ."),
        ),
        (
            vec![
                ("setup.py", ""),
                ("docs/requirements.txt", "pytest"),
                ("requirements-docs.txt", "pytest"),
            ],
            format!("{pip} -e . pytest"),
        ),
    ] {
        let mut files = files;
        files.push(("tests/test_x.py", ""));
        assert_eq!(
            first(&files),
            format!("pytest: python3 -m venv .venv; {installed} => .venv/bin/python -m pytest [.venv]"),
            "{files:?}"
        );
    }
}

#[test]
fn a_package_with_compiled_parts_is_installed_again_by_each_check() {
    for (name, text) in [
        (
            "pyproject.toml",
            "[build-system]\nrequires = ['maturin>=1,<2']\n[project]\nname = 'x'\n",
        ),
        ("setup.py", "setup(ext_modules=[Extension('a', ['a.c'])])"),
    ] {
        let files = [(name, text), ("Cargo.toml", ""), ("tests/test_x.py", "")];
        assert_eq!(
            first(&files),
            "pytest: python3 -m venv .venv; .venv/bin/pip install -e . pytest \
             => .venv/bin/pip install --no-deps -e . && .venv/bin/python -m pytest [.venv]"
        );
    }
}

#[test]
fn uv_installs_what_is_locked() {
    let project = "[project]\nname = 'x'\n[dependency-groups]\ndev = ['pytest']\n";
    assert_eq!(
        first(&[("pyproject.toml", project), ("uv.lock", ""), ("src/x.py", "")]),
        "uv: uv sync --locked => uv run pytest [.venv]"
    );
    let no_lock = "[project]\nname = 'x'\n[tool.uv]\ndev-dependencies = ['pytest']\n";
    assert_eq!(
        first(&[("pyproject.toml", no_lock)]),
        "uv: uv sync => uv run pytest [.venv]"
    );
}

#[test]
fn uv_is_asked_for_groups_and_extras_that_it_does_not_take_by_itself() {
    let project = "[project]\nname = 'x'\n[project.optional-dependencies]\ntest = ['pytest']\n\
         [dependency-groups]\ntests = ['hypothesis']\n[tool.uv.workspace]\nmembers = ['a']\n";
    assert_eq!(
        first(&[("pyproject.toml", project), ("uv.lock", "")]),
        "uv: uv sync --locked --all-packages --group tests --extra test => uv run pytest [.venv]"
    );
    let without = [
        ("pyproject.toml", "[project]\nname = 'x'\n"),
        ("uv.lock", ""),
        ("tests/test_x.py", ""),
    ];
    assert_eq!(
        first(&without),
        "uv: uv sync --locked => uv run --with pytest pytest [.venv]"
    );
    let compiled = "[build-system]\nrequires = ['maturin']\n[project]\nname = 'x'\n\
         [dependency-groups]\ndev = ['pytest']\n";
    assert_eq!(
        first(&[("pyproject.toml", compiled), ("uv.lock", "")]),
        "uv: uv sync --locked => uv sync --locked --reinstall-package x && uv run pytest [.venv]"
    );
    // There is nothing to test.
    assert!(proposals(&[("pyproject.toml", "[project]\nname = 'x'\n"), ("uv.lock", "")]).is_empty());
}

#[test]
fn poetry_makes_its_environment_inside_the_checkout() {
    let project = "[tool.poetry]\nname = 'x'\n[tool.poetry.dependencies]\npython = '^3.9'\n\
         [tool.poetry.group.dev.dependencies]\npytest = '^8'\n";
    assert_eq!(
        first(&[("pyproject.toml", project), ("poetry.lock", "")]),
        "poetry: POETRY_VIRTUALENVS_IN_PROJECT=true; poetry install => poetry run pytest [.venv]"
    );
    assert_eq!(
        first(&[
            ("pyproject.toml", project),
            ("poetry.toml", "[virtualenvs]\nin-project = true\n")
        ]),
        "poetry: poetry install => poetry run pytest [.venv]"
    );
    let optional = "[tool.poetry.dependencies]\n[tool.poetry.extras]\ntest = ['mock']\n\
         [tool.poetry.group.test]\noptional = true\n[tool.poetry.group.test.dependencies]\npytest = '*'\n";
    assert_eq!(
        first(&[("pyproject.toml", optional), ("poetry.lock", "")]),
        "poetry: POETRY_VIRTUALENVS_IN_PROJECT=true; poetry install --with test --extras test \
         => poetry run pytest [.venv]"
    );
    let old = "[tool.poetry.dependencies]\npython = '*'\n[tool.poetry.dev-dependencies]\npytest = '*'\n";
    assert_eq!(
        first(&[("pyproject.toml", old)]),
        "poetry: POETRY_VIRTUALENVS_IN_PROJECT=true; poetry install => poetry run pytest [.venv]"
    );
}

#[test]
fn pipenv_makes_its_environment_inside_the_checkout() {
    let files = [
        ("Pipfile", "[dev-packages]\npytest = '*'\n"),
        ("Pipfile.lock", ""),
        ("requirements.txt", "a"),
    ];
    assert_eq!(
        first(&files),
        "pipenv: PIPENV_VENV_IN_PROJECT=1; pipenv sync --dev => pipenv run pytest [.venv]"
    );
}

#[test]
fn the_lock_file_decides_between_poetry_and_pipenv() {
    let project = "[tool.poetry]\nname = 'x'\n[tool.poetry.dependencies]\npytest = '*'\n";
    for (locks, expected) in [
        (
            vec![],
            "poetry: POETRY_VIRTUALENVS_IN_PROJECT=true; poetry install => poetry run pytest",
        ),
        (
            vec![("Pipfile.lock", "{}")],
            "pipenv: PIPENV_VENV_IN_PROJECT=1; pipenv sync --dev => pipenv run pytest",
        ),
        (
            vec![("Pipfile.lock", "{}"), ("poetry.lock", "")],
            "poetry: POETRY_VIRTUALENVS_IN_PROJECT=true; poetry install => poetry run pytest",
        ),
    ] {
        let mut files = locks.clone();
        files.extend([("pyproject.toml", project), ("Pipfile", "[packages]\n")]);
        assert_eq!(first(&files), format!("{expected} [.venv]"), "{locks:?}");
    }
}

#[test]
fn modules_in_src_that_nothing_installs_are_put_on_the_import_path() {
    let files = [
        ("src/app.py", ""),
        ("tests/test_app.py", ""),
        ("requirements.txt", "pytest\n"),
    ];
    assert_eq!(
        first(&files),
        "pytest: python3 -m venv .venv; .venv/bin/pip install -r requirements.txt \
         => PYTHONPATH=src .venv/bin/python -m pytest [.venv]"
    );
    let installed = [("src/app.py", ""), ("tests/test_app.py", ""), ("setup.py", "")];
    assert!(first(&installed).contains("=> .venv/bin/python -m pytest"));
}

#[test]
fn tox_and_nox_come_behind_pytest_where_its_requirements_are_known() {
    let known = "[project]\nname = 'x'\n[project.optional-dependencies]\ntest = ['pytest']\n";
    assert_eq!(
        proposals(&[
            ("pyproject.toml", known),
            ("tox.ini", "[tox]\nenvlist = py3\n"),
            ("noxfile.py", "@nox.session\ndef tests(session):\n  pass\n"),
        ])[1..],
        ["tox: tox -e py [.tox]", "nox: nox -s tests [.nox]"]
    );
    let unknown = [
        ("setup.py", ""),
        ("tox.ini", "[testenv]\ndeps = pytest\n  mock\n"),
        ("tests/test_x.py", ""),
    ];
    assert_eq!(first(&unknown), "tox: tox -e py [.tox]");
    assert_eq!(proposals(&unknown).len(), 2);
    for file in [
        ("tox.toml", ""),
        ("pyproject.toml", "[tool.tox]\nenv_list = ['3.12']\n"),
    ] {
        assert_eq!(first(&[file]), "tox: tox -e py [.tox]", "{file:?}");
    }
    for (noxfile, command) in [
        ("@nox.session(name='test')\ndef t(session): pass\n", "nox -s test"),
        ("@nox.session\ndef lint(session): pass\n", "nox"),
    ] {
        assert_eq!(
            first(&[("noxfile.py", noxfile)]),
            format!("nox: {command} [.nox]")
        );
    }
    // Here it only holds settings of other tools.
    assert!(proposals(&[("tox.ini", "[flake8]\nmax-line-length = 100\n")]).is_empty());
}

#[test]
fn tests_in_python_beside_another_language_come_behind_it() {
    let files = [
        ("Cargo.toml", "[package]\nname = 'x'\n"),
        ("tests/test_cli.py", ""),
        ("requirements-dev.txt", "pytest\n"),
        ("Makefile", "test:\n\ttrue\n"),
    ];
    assert_eq!(
        proposals(&files),
        [
            "cargo: cargo test [target]",
            "pytest: python3 -m venv .venv; .venv/bin/pip install -r requirements-dev.txt \
             => .venv/bin/python -m pytest [.venv]",
            "make: make test []",
        ]
    );
}
