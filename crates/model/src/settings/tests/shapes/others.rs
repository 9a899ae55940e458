//! Repositories in other languages, and rules for all.

use std::collections::BTreeMap;

use super::{first, proposals};
use crate::settings::{Proposal, Settings, detect};

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
        ("alias test := unit # the fast ones\n\nunit:\n  y\n", "test"),
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
        "alias test := check-all\nalias check-all := test\n",
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
        (&["Gemfile", ".rspec"], &[".bundle", "vendor/bundle"]),
        (&["Gemfile", ".rspec", ".bundle/config"], &[]),
    ] {
        let mut paths = vec!["tests/test_x.py"];
        if ["pack", "Cargo", "Gemfile"]
            .iter()
            .any(|begin| files[0].starts_with(begin))
        {
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
