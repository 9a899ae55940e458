//! The proposals for repositories of many shapes, each as a real one has it.

use std::collections::BTreeMap;

use crate::settings::{Detected, Proposal, Settings, detect};

/// The proposals, each as `runner: variables; set-up; set-up => command; command [kept]`.
fn proposals(files: &[(&str, &str)]) -> Vec<String> {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let paths: Vec<&str> = files.keys().copied().collect();
    let found = detect(&paths, |path| files.get(path).map(|text| (*text).to_owned()));
    found.iter().map(one).collect()
}

fn one(found: &Detected) -> String {
    let variables = found.env.iter().map(|(name, value)| format!("{name}={value}"));
    let before: Vec<String> = variables.chain(found.setup.clone()).collect();
    let arrow = if before.is_empty() { "" } else { " => " };
    format!(
        "{}: {}{arrow}{} [{}]",
        found.runner,
        before.join("; "),
        found.commands.join("; "),
        found.keep.join(" ")
    )
}

/// The first proposal, which is the one that is taken.
fn first(files: &[(&str, &str)]) -> String {
    proposals(files).swap_remove(0)
}

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
             => .venv/bin/pip install --no-deps -e .; .venv/bin/python -m pytest [.venv]"
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
        "uv: uv sync --locked => uv sync --locked --reinstall-package x; uv run pytest [.venv]"
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

#[test]
fn each_package_manager_of_node_installs_from_its_lock_file() {
    const PACKAGE: &str = r#"{"scripts":{"test":"vitest run"},"devDependencies":{"vitest":"1"}}"#;
    for (files, expected) in [
        (vec![("package-lock.json", "{}")], "npm: npm ci => npm test"),
        (vec![("npm-shrinkwrap.json", "{}")], "npm: npm ci => npm test"),
        (vec![], "npm: npm install --no-package-lock => npm test"),
        (
            vec![("pnpm-lock.yaml", ""), ("pnpm-workspace.yaml", "")],
            "pnpm: pnpm install --frozen-lockfile => pnpm test",
        ),
        (
            vec![("yarn.lock", "# yarn lockfile v1\n")],
            "yarn: yarn install --frozen-lockfile => yarn test",
        ),
        (
            vec![("yarn.lock", "__metadata:\n  version: 8\n")],
            "yarn: yarn install --immutable => yarn test",
        ),
        (
            vec![("yarn.lock", ""), (".yarnrc.yml", "nodeLinker: node-modules\n")],
            "yarn: yarn install --immutable => yarn test",
        ),
        (
            vec![("bun.lock", "{}")],
            "bun: bun install --frozen-lockfile => bun run test",
        ),
        (
            vec![("bun.lockb", "\0")],
            "bun: bun install --frozen-lockfile => bun run test",
        ),
    ] {
        let mut all = files.clone();
        all.push(("package.json", PACKAGE));
        assert_eq!(first(&all), format!("{expected} [node_modules]"), "{files:?}");
    }
}

#[test]
fn the_named_package_manager_decides() {
    let package = |manager: &str| {
        format!(r#"{{"scripts":{{"test":"jest"}},"dependencies":{{"a":"1"}},"packageManager":"{manager}"}}"#)
    };
    for (manager, lock, expected) in [
        (
            "pnpm@9.1.0+sha512.00",
            "pnpm-lock.yaml",
            "pnpm: pnpm install --frozen-lockfile => pnpm test",
        ),
        (
            "pnpm@9.1.0",
            "package-lock.json",
            "pnpm: pnpm install --no-lockfile => pnpm test",
        ),
        (
            "yarn@4.1.0",
            "yarn.lock",
            "yarn: yarn install --immutable => yarn test",
        ),
        (
            "yarn@4.1.0",
            "other",
            "yarn: yarn install --no-immutable => yarn test",
        ),
        (
            "yarn@1.22.22",
            "yarn.lock",
            "yarn: yarn install --frozen-lockfile => yarn test",
        ),
        (
            "yarn@1.22.22",
            "other",
            "yarn: yarn install --no-lockfile => yarn test",
        ),
        ("bun@1.1.0", "other", "bun: bun install --no-save => bun run test"),
        ("npm@10.0.0", "package-lock.json", "npm: npm ci => npm test"),
        ("other@1", "package-lock.json", "npm: npm ci => npm test"),
    ] {
        let files = [("package.json", &*package(manager)), (lock, "")];
        assert_eq!(
            first(&files),
            format!("{expected} [node_modules]"),
            "{manager} {lock}"
        );
    }
}

#[test]
fn bun_finds_tests_without_a_script() {
    let files = [("package.json", "{}"), ("bun.lock", "{}"), ("src/a.test.ts", "")];
    assert_eq!(
        first(&files),
        "bun: bun install --frozen-lockfile => bun test [node_modules]"
    );
    assert!(proposals(&[("package.json", "{}"), ("bun.lock", "{}")]).is_empty());
    assert!(proposals(&[("package.json", "{}"), ("yarn.lock", ""), ("src/a.test.ts", "")]).is_empty());
}

#[test]
fn a_workspace_of_go_is_tested_module_by_module() {
    for (text, command) in [
        (
            "go 1.22\n\nuse (\n\t. // here\n\t./tools\n\t\"./my lib\"\n)\n",
            "./... ./tools/... './my lib/...'",
        ),
        ("go 1.22\nuse ./a\nuse b/\n", "./a/... ./b/..."),
        ("go 1.22\nuse (./a)\n", "./a/..."),
    ] {
        assert_eq!(
            first(&[("go.work", text), ("go.mod", "module x")]),
            format!("go: go test {command} []"),
            "{text}"
        );
    }
    assert_eq!(
        first(&[("go.work", "go 1.22\n"), ("go.mod", "")]),
        "go: go test ./... []"
    );
}

#[test]
fn gradle_and_maven_are_run_by_their_wrapper_where_there_is_one() {
    for (files, expected) in [
        (
            vec![("build.gradle.kts", ""), ("gradlew", "")],
            "gradle: ./gradlew --no-daemon test [.gradle build]",
        ),
        (
            vec![("settings.gradle", "")],
            "gradle: gradle --no-daemon test [.gradle build]",
        ),
        (
            vec![("pom.xml", ""), ("mvnw", "")],
            "maven: ./mvnw --batch-mode --no-transfer-progress test []",
        ),
        (
            vec![("pom.xml", "")],
            "maven: mvn --batch-mode --no-transfer-progress test []",
        ),
    ] {
        assert_eq!(first(&files), expected, "{files:?}");
    }
}

#[test]
fn dotnet_gets_the_name_of_one_of_several() {
    assert_eq!(
        first(&[("App.sln", ""), ("src/App.csproj", "")]),
        "dotnet: dotnet test []"
    );
    assert_eq!(first(&[("App.fsproj", "")]), "dotnet: dotnet test []");
    assert_eq!(
        first(&[("All Apps.slnx", ""), ("App.csproj", "")]),
        "dotnet: dotnet test 'All Apps.slnx' []"
    );
    assert!(proposals(&[("src/App.sln", "")]).is_empty());
}

#[test]
fn rspec_runs_through_bundler_and_writes_no_tracked_file() {
    assert_eq!(
        first(&[("Gemfile", ""), ("Gemfile.lock", ""), (".rspec", "")]),
        "rspec: bundle config set --local path vendor/bundle; BUNDLE_FROZEN=true bundle install \
         => bundle exec rspec [vendor/bundle]"
    );
    assert_eq!(
        first(&[
            ("Gemfile", ""),
            ("spec/models/a_spec.rb", ""),
            (".bundle/config", "")
        ]),
        "rspec: bundle install => bundle exec rspec []"
    );
    assert_eq!(first(&[(".rspec", "")]), "rspec: rspec []");
    assert!(proposals(&[("Gemfile", ""), ("test/a_test.rb", "")]).is_empty());
}

#[test]
fn mix_fetches_its_dependencies_first() {
    assert_eq!(
        first(&[("mix.exs", ""), ("mix.lock", "")]),
        "mix: mix deps.get => mix test [deps _build]"
    );
}

#[test]
fn just_needs_a_recipe_that_takes_no_argument() {
    for (justfile, recipe) in [
        ("build:\n  x\n\ntest: build\n  y\n", "test"),
        ("@test *args:\n  y {{args}}\n", "test"),
        ("test filter='':\n  y\n", "test"),
        ("check:\n  y\n", "check"),
        ("test name:\n  y\ncheck:\n  y\n", "check"),
    ] {
        for name in ["justfile", "Justfile", ".justfile"] {
            assert_eq!(
                first(&[(name, justfile)]),
                format!("just: just {recipe} []"),
                "{justfile}"
            );
        }
    }
    for justfile in [
        "test := 'x'\n",
        "tests:\n  y\n",
        "a:\n  test: y\n",
        "alias t := test\n",
        "test-all:\n  y",
    ] {
        assert!(proposals(&[("justfile", justfile)]).is_empty(), "{justfile}");
    }
}

#[test]
fn a_language_comes_before_the_tasks_that_run_any() {
    let files = [
        ("Makefile", "test:\n\tgo test ./...\n"),
        ("justfile", "test:\n  make test\n"),
        ("go.mod", "module x"),
        ("package.json", r#"{"scripts":{"test":"jest"}}"#),
        ("mix.exs", ""),
    ];
    let runners: Vec<String> = proposals(&files)
        .iter()
        .map(|proposal| proposal.split(':').next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(runners, ["npm", "go", "mix", "make", "just"]);
}

#[test]
fn set_up_of_a_workspace_sets_the_variables_itself() {
    let paths = ["Pipfile", "tests/test_x.py"];
    let found = detect(&paths, |_| None).swap_remove(0);
    assert_eq!(
        found.workspace_setup(&[]),
        [
            "PIPENV_VENV_IN_PROJECT=1 pipenv install --dev --skip-lock",
            "PIPENV_VENV_IN_PROJECT=1 pipenv run pip install pytest"
        ]
    );
}

#[test]
fn folders_that_ignore_themselves_need_no_rule() {
    for (files, to_ignore) in [
        (&["uv.lock", "pyproject.toml"][..], &[][..]),
        (&["poetry.lock"], &[]),
        (&["setup.py"], &[".venv"]),
        (&["package.json", "package-lock.json"], &["node_modules"]),
        (&["Cargo.toml"], &[]),
    ] {
        let mut paths = vec!["tests/test_x.py"];
        if files[0].starts_with("pack") || files[0].starts_with("Cargo") {
            paths.clear();
        }
        paths.extend(files);
        let read = |path: &str| match path {
            "package.json" => Some(r#"{"scripts":{"test":"jest"}}"#.to_owned()),
            "pyproject.toml" => Some("[project]\nname = 'x'\n".to_owned()),
            _ => None,
        };
        assert_eq!(detect(&paths, read)[0].to_ignore, to_ignore, "{files:?}");
    }
}

#[test]
fn a_folder_that_git_does_not_ignore_gets_a_rule_of_its_own_in_workspaces() {
    let found = detect(&["mix.exs"], |_| None).swap_remove(0);
    assert_eq!(
        found.workspace_setup(&["_build".to_owned()]),
        ["mix deps.get", "mkdir -p _build && echo '*' > _build/.gitignore"]
    );
    assert_eq!(found.checks().setup, ["mix deps.get"]);
}

#[test]
fn each_proposal_is_good_settings() {
    let shapes: [&[(&str, &str)]; 5] = [
        &[(
            "pyproject.toml",
            "[project]\nname='x'\n[project.optional-dependencies]\ntest=['pytest']\n",
        )],
        &[("Pipfile", ""), ("tests/test_x.py", "")],
        &[("Gemfile", ""), (".rspec", "")],
        &[("build.gradle", "")],
        &[("mix.exs", "")],
    ];
    for files in shapes {
        let known: BTreeMap<&str, &str> = files.iter().copied().collect();
        let paths: Vec<&str> = known.keys().copied().collect();
        let found = detect(&paths, |path| known.get(path).map(|text| (*text).to_owned())).swap_remove(0);
        let proposal = Proposal {
            checks: found.checks(),
            ..Proposal::default()
        };
        let text = Settings::template("main", &proposal, None);
        assert_eq!(
            Settings::parse(&text, "crew.toml").unwrap().checks,
            found.checks()
        );
    }
}
