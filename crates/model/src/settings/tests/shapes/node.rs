//! Repositories of Node: workspaces, and packages that an installation builds.

use super::{first, proposals};

#[test]
fn a_workspace_without_a_test_script_is_tested_by_those_of_its_packages() {
    const ROOT: &str = r#"{"private":true,"workspaces":["./packages/*"]}"#;
    const PNPM: (&str, &str) = ("pnpm-workspace.yaml", "packages:\n  - 'packages/*'\n");
    for (root, files, expected) in [
        (
            ROOT,
            vec![("package-lock.json", "{}")],
            "npm: npm ci => npm test --workspaces --if-present",
        ),
        (
            r#"{"private":true}"#,
            vec![("pnpm-lock.yaml", ""), PNPM],
            "pnpm: pnpm install --frozen-lockfile => pnpm --recursive test",
        ),
        (
            r#"{"packageManager":"pnpm@10.0.0"}"#,
            vec![PNPM],
            "pnpm: pnpm install --no-lockfile => pnpm --recursive test",
        ),
        (
            r#"{"workspaces":{"packages":["packages/a"]}}"#,
            vec![("yarn.lock", "__metadata:\n")],
            "yarn: yarn install --immutable => yarn workspaces foreach --all run test",
        ),
        (
            ROOT,
            vec![("bun.lock", "")],
            "bun: bun install --frozen-lockfile => bun run --filter='*' test",
        ),
    ] {
        let mut all = files.clone();
        all.extend([
            ("package.json", root),
            ("packages/a/package.json", r#"{"scripts":{"test":"node --test"}}"#),
            ("packages/b/package.json", "{}"),
        ]);
        assert_eq!(first(&all), format!("{expected} [node_modules]"), "{files:?}");
    }
}

#[test]
fn packages_beside_a_workspace_are_no_part_of_it() {
    const TESTED: &str = r#"{"scripts":{"test":"node --test"}}"#;
    for (root, package) in [
        (r#"{"workspaces":["packages/*"]}"#, "examples/a/package.json"),
        (r#"{"workspaces":["packages/a"]}"#, "packages/ab/package.json"),
        (r#"{"workspaces":["!packages/*"]}"#, "packages/a/package.json"),
        ("{}", "packages/a/package.json"),
    ] {
        assert!(
            proposals(&[("package.json", root), (package, TESTED)]).is_empty(),
            "{root}"
        );
    }
    // The root's own script decides, and Yarn 1 cannot skip a package without one.
    let root = r#"{"workspaces":["packages/*"],"scripts":{"test":"jest"}}"#;
    let files = [("package.json", root), ("packages/a/package.json", TESTED)];
    assert_eq!(
        first(&files),
        "npm: npm install --no-package-lock => npm test [node_modules]"
    );
    let root = r#"{"workspaces":["packages/*"]}"#;
    let files = [
        ("package.json", root),
        ("yarn.lock", "# yarn lockfile v1\n"),
        ("packages/a/package.json", TESTED),
    ];
    assert!(proposals(&files).is_empty());
}

#[test]
fn a_check_builds_again_what_an_installation_has_built() {
    let package = |scripts: &str| format!(r#"{{"scripts":{{"test":"node --test",{scripts}}}}}"#);
    for (scripts, lock, expected) in [
        (
            r#""prepare":"npm run build""#,
            "package-lock.json",
            "npm: npm ci => npm run prepare && npm test",
        ),
        (
            r#""prepare":"tsc -p .","postinstall":"node-gyp rebuild""#,
            "pnpm-lock.yaml",
            "pnpm: pnpm install --frozen-lockfile => pnpm run postinstall && pnpm run prepare && pnpm test",
        ),
        (
            r#""prepare":"rollup -c""#,
            "yarn.lock",
            "yarn: yarn install --frozen-lockfile => yarn run prepare && yarn test",
        ),
        (
            r#""prepare":"tsc","pretest":"tsc --noEmit""#,
            "package-lock.json",
            "npm: npm ci => npm run prepare && npm test",
        ),
        // The tests do it themselves.
        (
            r#""prepare":"tshy","pretest":"npm run prepare""#,
            "package-lock.json",
            "npm: npm ci => npm test",
        ),
        (
            r#""prepare":"npm run build","pretest":"npm run build && lint""#,
            "package-lock.json",
            "npm: npm ci => npm test",
        ),
        // Scripts that install hooks of git, or apply patches, build nothing of the sources.
        (
            r#""prepare":"husky","postinstall":"patch-package","preinstall":" ""#,
            "package-lock.json",
            "npm: npm ci => npm test",
        ),
    ] {
        let files = [("package.json", &*package(scripts)), (lock, "{}")];
        assert_eq!(first(&files), format!("{expected} [node_modules]"), "{scripts}");
    }
    let later_yarn = [
        (
            "package.json",
            &*package(r#""prepare":"tsc","postinstall":"tsc""#),
        ),
        ("yarn.lock", "__metadata:\n"),
    ];
    assert_eq!(
        first(&later_yarn),
        "yarn: yarn install --immutable => yarn run postinstall && yarn test [node_modules]"
    );
    let without_packages = [("package.json", &*package(r#""prepare":"tsc""#))];
    assert_eq!(first(&without_packages), "npm: npm run prepare && npm test []");
}

#[test]
fn a_test_script_that_would_watch_for_changes_gets_the_variable_that_ends_it() {
    let files = [
        (
            "package.json",
            r#"{"scripts":{"test":"react-scripts test --env=jsdom"}}"#,
        ),
        ("package-lock.json", "{}"),
    ];
    assert_eq!(first(&files), "npm: CI=true; npm ci => npm test [node_modules]");
}
