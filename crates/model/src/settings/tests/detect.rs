//! The runner of a repository, from its files.

use std::collections::BTreeMap;

use crate::settings::{Detected, Runner};

fn detect(files: &[(&str, &str)]) -> Vec<Detected> {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let paths: Vec<&str> = files.keys().copied().collect();
    crate::settings::detect(&paths, |path| files.get(path).map(|text| (*text).to_owned()))
}

fn runners(files: &[(&str, &str)]) -> Vec<Runner> {
    detect(files)
        .into_iter()
        .map(|detected| detected.runner)
        .collect()
}

fn commands(files: &[(&str, &str)]) -> Vec<String> {
    detect(files).remove(0).commands
}

#[test]
fn nothing_in_nothing() {
    assert_eq!(detect(&[]), []);
    assert_eq!(
        detect(&[("README.md", "pytest npm cargo make go"), ("src/main.c", "")]),
        []
    );
}

#[test]
fn all_come_in_crews_order() {
    let files = [
        ("go.mod", "module x"),
        ("Makefile", "test:\n\ttrue\n"),
        ("Cargo.toml", "[package]\nname = 'x'"),
        ("package.json", r#"{"scripts":{"test":"jest"}}"#),
        ("pytest.ini", "[pytest]"),
    ];
    assert_eq!(
        runners(&files),
        [
            Runner::Pytest,
            Runner::Npm,
            Runner::Cargo,
            Runner::Go,
            Runner::Make
        ]
    );
}

#[test]
fn pytest_is_seen_by_its_settings_or_its_tests() {
    for files in [
        [("pytest.ini", "")],
        [(".pytest.ini", "")],
        [("conftest.py", "")],
        [("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-q'")],
        [("pyproject.toml", "[tool.pytest]\n")],
        [("tox.ini", "[flake8]\n[pytest]\n")],
        [("setup.cfg", "[metadata]\n[tool:pytest] \r\n")],
        [("tests/test_x.py", "")],
        [("tests/unit/deep/x_test.py", "")],
        [("test/test_x.py", "")],
        [("test_x.py", "")],
    ] {
        assert_eq!(runners(&files), [Runner::Pytest], "{files:?}");
        assert_eq!(commands(&files), [".venv/bin/python -m pytest"]);
    }
    for files in [
        [("pyproject.toml", "[tool.ruff]\n")],
        [("pyproject.toml", "# [tool.pytest]\n")],
        [("pyproject.toml", "[tool.pytest")],
        [("setup.cfg", "[metadata]\n")],
        [("tests/helper.py", "")],
        [("tests/test_data.txt", "")],
        [("vendor/tests/test_x.py", "")],
        [("src/contest_x.py", "")],
        [("sub/pytest.ini", "")],
    ] {
        assert_eq!(detect(&files), [], "{files:?}");
    }
}

#[test]
fn npm_needs_a_real_test_script() {
    assert_eq!(
        commands(&[("package.json", "\u{feff}{\"scripts\":{\"test\":\"node --test\"}}")]),
        ["npm test"]
    );
    for package in [
        r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#,
        r#"{"scripts":{"test":"  "}}"#,
        r#"{"scripts":{"test":["a"]}}"#,
        r#"{"scripts":{"tests":"jest"}}"#,
        r#"{"name":"test"}"#,
        r#"["test"]"#,
        r#"{"scripts":{"test":"jest""#,
        "",
    ] {
        assert_eq!(detect(&[("package.json", package)]), [], "{package}");
    }
    assert_eq!(
        detect(&[("app/package.json", r#"{"scripts":{"test":"jest"}}"#)]),
        []
    );
}

#[test]
fn npm_is_set_up_by_what_the_repository_locks_with() {
    let setup = |package: &'static str, lock: &'static str| {
        detect(&[("package.json", package), (lock, "")]).remove(0).setup
    };
    let package = r#"{"scripts":{"test":"jest"},"devDependencies":{"jest":"1"}}"#;
    assert_eq!(setup(package, "package-lock.json"), ["npm ci"]);
    assert_eq!(
        setup(package, "pnpm-lock.yaml"),
        ["pnpm install --frozen-lockfile"]
    );
    assert_eq!(setup(package, "yarn.lock"), ["yarn install --frozen-lockfile"]);
    assert_eq!(setup(package, "other"), ["npm install --no-package-lock"]);
    let none: [&str; 0] = [];
    assert_eq!(
        setup(r#"{"scripts":{"test":"node --test"},"dependencies":{}}"#, "other"),
        none
    );
}

#[test]
fn cargo_tests_the_whole_workspace() {
    assert_eq!(
        commands(&[("Cargo.toml", "[package]\nname = 'x'")]),
        ["cargo test"]
    );
    assert_eq!(
        commands(&[("Cargo.toml", "[workspace]\nmembers = ['a']")]),
        ["cargo test --workspace"]
    );
    assert_eq!(commands(&[("Cargo.toml", "[package")]), ["cargo test"]);
    assert_eq!(detect(&[("sub/Cargo.toml", "")]), []);
}

#[test]
fn make_needs_a_rule_for_test() {
    for makefile in [
        "test:\n\tpytest\n",
        "test: build\n\t./run\n",
        "check test : build # both\n\t./run\n",
        "test::\n\t./run\n",
        "all \\\n  test:\n\t./run\n",
        "ifdef X\n  test:\n\t./run\nendif\n",
        "test: ; ./run X=1\n",
        ".PHONY: test\r\ntest:\r\n\t./run\r\n",
    ] {
        assert_eq!(runners(&[("Makefile", makefile)]), [Runner::Make], "{makefile:?}");
    }
    for makefile in [
        "",
        "all:\n\ttest: no\n",
        ".PHONY: test\n",
        "test := yes\n",
        "test ::= yes\n",
        "X = a test:b\n",
        "# test:\n",
        "tests:\n\t./run\n",
        "checks: test-unit\n",
        ".PHONY: check\n",
        "check := yes\n",
        "test: CFLAGS = -g\n",
        "define help\ntest: runs the tests\nendef\n",
    ] {
        assert_eq!(detect(&[("Makefile", makefile)]), [], "{makefile:?}");
    }
}

#[test]
fn make_takes_check_only_where_there_is_no_test() {
    for (makefile, command) in [
        ("check: test-unit\n", "make check"),
        ("all: prog\ncheck: all\n\t./run-tests\n", "make check"),
        ("test := yes\ncheck:\n\t./run $(test)\n", "make check"),
        ("check:\n\t./lint\ntest:\n\t./run\n", "make test"),
        ("check test: build\n\t./run\n", "make test"),
    ] {
        let detected = detect(&[("Makefile", makefile)]).remove(0);
        assert_eq!(detected.commands, [command], "{makefile:?}");
        assert!(detected.setup.is_empty(), "{makefile:?}");
        assert!(detected.keep.is_empty(), "{makefile:?}");
    }
}

#[test]
fn make_reads_the_file_that_make_would() {
    let files = [("GNUmakefile", "all:\n"), ("Makefile", "test:\n\ttrue\n")];
    assert_eq!(detect(&files), []);
    assert_eq!(detect(&[("makefile", "test:\n")])[0].seen_in, "makefile");
}

#[test]
fn go_tests_every_package() {
    assert_eq!(commands(&[("go.mod", "module x")]), ["go test ./..."]);
    assert_eq!(detect(&[("tools/go.mod", "module x")]), []);
}

#[test]
fn a_file_that_cannot_be_read_is_not_guessed_at() {
    let paths = ["package.json", "Makefile", "pyproject.toml", "Cargo.toml"];
    let detected = crate::settings::detect(&paths, |_| None);
    assert_eq!(detected.len(), 1);
    assert_eq!(detected[0].runner, Runner::Cargo);
}

#[test]
fn what_is_detected_goes_into_the_checks() {
    let detected = detect(&[
        ("package.json", r#"{"scripts":{"test":"jest"}}"#),
        ("package-lock.json", "{}"),
    ])
    .remove(0);
    let checks = detected.checks();
    assert_eq!(
        (checks.setup, checks.commands, checks.keep),
        (
            vec!["npm ci".to_owned()],
            vec!["npm test".to_owned()],
            vec!["node_modules".to_owned()]
        )
    );
    let cargo = detect(&[("Cargo.toml", "[package]\nname = 'x'")]).remove(0);
    assert_eq!(cargo.checks().keep, ["target"]);
    assert_eq!(detected.seen_in, "package.json");
}
