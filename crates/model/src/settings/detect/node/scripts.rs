//! The scripts of a `package.json`.

use serde_json::Value;

/// Scripts of the package itself that an installation runs, in their order.
const OF_INSTALLATION: [&str; 4] = ["preinstall", "install", "postinstall", "prepare"];
/// Words of scripts that build something from the sources.
const BUILDERS: [&str; 21] = [
    "babel",
    "build",
    "bundle",
    "cmake",
    "compile",
    "esbuild",
    "gyp",
    "microbundle",
    "ncc",
    "parcel",
    "rebuild",
    "rollup",
    "rolldown",
    "swc",
    "tshy",
    "tsc",
    "tsdown",
    "tsup",
    "unbuild",
    "vite",
    "webpack",
];
/// Programs that watch for changes for ever unless the variable `CI` is set.
const WATCHERS: [&str; 3] = ["react-scripts test", "react-app-rewired test", "craco test"];

/// The `test` script, if it is a real one.
pub(super) fn test(package: &Value) -> Option<&str> {
    // `npm init` writes a script that only prints this message and fails.
    script(package, "test").filter(|script| !script.contains("no test specified"))
}

/// The scripts with which an installation builds from the sources. The set-up of checks has the result for
/// the sources of one commit, so each check has to run these scripts again, unless the test script does.
pub(super) fn that_build(package: &Value) -> impl Iterator<Item = &'static str> {
    let is_repeated = |name: &str, text: &str| {
        let mut tests = ["pretest", "test"]
            .into_iter()
            .filter_map(|test| script(package, test));
        tests.any(|test| {
            let mut parts = test.split("&&").map(str::trim);
            parts.any(|part| part == text.trim() || part.ends_with(&format!("run {name}")))
        })
    };
    OF_INSTALLATION.into_iter().filter(move |name| {
        script(package, name).is_some_and(|text| builds(text) && !is_repeated(name, text))
    })
}

/// Whether a test script ends by itself only where `CI` is set.
pub(super) fn watches(test: &str) -> bool {
    WATCHERS.iter().any(|watcher| test.contains(watcher))
}

fn builds(script: &str) -> bool {
    let mut words = script.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| BUILDERS.contains(&word))
}

fn script<'p>(package: &'p Value, name: &str) -> Option<&'p str> {
    let script = package.get("scripts")?.get(name)?.as_str()?;
    (!script.trim().is_empty()).then_some(script)
}
