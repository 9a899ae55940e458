//! The web page: its vendored files, its types, the tests of its modules, and crew in a browser.
//!
//! crew is built without any of this. What is needed beside cargo comes from npm, as the page's
//! `package-lock.json` pins it, and the browser from the system.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::scratch::Scratch;
use crate::tiers::Tier;
use crate::{Outcome, npm, program};

/// What `cargo xtask web` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Options {
    /// Everything that needs no browser.
    Check,
    /// The vendored files, written anew.
    Vendor,
    /// The page at each width in both themes, as pictures.
    Pictures,
    /// The scenarios of a tier in a browser; with a name, those whose names it is part of.
    Browse { tier: Tier, only: Option<String> },
}

impl Options {
    /// Reads what follows `cargo xtask web`; none when it cannot be meant.
    pub(crate) fn read(arguments: &[&str]) -> Option<Self> {
        let (mut tier, mut only) = (Tier::First, None);
        match arguments {
            ["--check"] => return Some(Self::Check),
            ["--vendor"] => return Some(Self::Vendor),
            ["--pictures"] => return Some(Self::Pictures),
            _ => {}
        }
        for argument in arguments {
            match *argument {
                "--deep" => tier = Tier::Deep,
                name if !name.starts_with('-') && only.is_none() => only = Some(name.to_owned()),
                _ => return None,
            }
        }
        Some(Self::Browse { tier, only })
    }
}

/// Does it; what is started is `target/debug/crew`, as it was built last.
///
/// # Errors
///
/// Something is missing, or is not as it must be.
pub(crate) fn run(root: &Path, options: &Options) -> Outcome {
    match options {
        Options::Check => check(root),
        Options::Vendor => vendor(root, &["--write"]),
        Options::Pictures => script(root, PICTURES, &[], &[]),
        Options::Browse { tier, only } => browse(root, *tier, only.as_deref()),
    }
}

/// Where the page is.
const PAGE: &str = "crates/web/page";
/// The tests of its modules, and of its vendored files.
const MODULES: &str = "crates/web/tests/page";
/// Where the documents of the schema are written as types, and compared with those that the page says.
const AGREEMENT: &str = "target/web-types";
/// The scenarios, in one program.
const SCENARIOS: &str = "crates/web/tests/browser/main.mjs";
/// What takes the pictures, and the picture of the README.
const PICTURES: &str = "crates/web/tests/browser/pictures.mjs";
/// What measures for `cargo xtask bench web`.
const BENCH: &str = "crates/web/tests/browser/bench.mjs";
/// What npm makes last: a link for each program of a package.
const SIGN: &str = "node_modules/.bin/tsc";

/// Where npm's packages are installed.
fn tools(root: &Path) -> PathBuf {
    root.join("target/web")
}

/// Installs what the page's lock file pins, where it is not there.
fn install(root: &Path) -> Outcome {
    let (pinned, installed) = (root.join(PAGE), tools(root));
    if npm::is_current(&pinned, &installed, SIGN) {
        return Ok(());
    }
    npm::works(root, "to test the web page")?;
    npm::install(&pinned, &installed, |_| Ok(()))?;
    println!(
        "what the page's tests need is installed in {}",
        installed.display()
    );
    Ok(())
}

/// The vendored files against npm's; types, also those of the documents against their schema; and the tests
/// of modules.
///
/// # Errors
///
/// One of them is not as it must be.
pub(crate) fn check(root: &Path) -> Outcome {
    vendor(root, &[])?;
    let compiler = tools(root).join(SIGN);
    let compiler = compiler.to_string_lossy();
    program::run(root, &compiler, &["--project", PAGE])?;
    program::run(root, "node", &[&*format!("{MODULES}/schema.mjs"), AGREEMENT])?;
    program::run(root, &compiler, &["--project", AGREEMENT])?;
    let folder = root.join(MODULES);
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut tests: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".test.mjs"))
        .map(|name| format!("{MODULES}/{name}"))
        .collect();
    tests.sort();
    let arguments = [&["--test", "--test-reporter=spec"].map(str::to_owned)[..], &tests].concat();
    program::run(root, "node", &arguments)
}

fn vendor(root: &Path, more: &[&str]) -> Outcome {
    install(root)?;
    let modules = tools(root).join("node_modules");
    let vendor = format!("{MODULES}/vendor.mjs");
    program::run(
        root,
        "node",
        &[&[&*vendor, &modules.to_string_lossy()], more].concat(),
    )
}

/// Runs the scenarios.
///
/// # Errors
///
/// One of them failed.
pub(crate) fn browse(root: &Path, tier: Tier, only: Option<&str>) -> Outcome {
    let mut options = vec!["--test-reporter=spec".to_owned()];
    if let Some(only) = only {
        // A name is no pattern: those of scenarios begin with a number in parentheses.
        let escape = |c: char| {
            if c.is_alphanumeric() || c == ' ' {
                c.to_string()
            } else {
                format!("\\{c}")
            }
        };
        let only: String = only.chars().map(escape).collect();
        options.push(format!("--test-name-pattern={only}"));
    }
    let deep = match tier {
        Tier::First => "",
        Tier::Deep => "1",
    };
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    script(root, SCENARIOS, &options, &[("CREW_DEEP", deep)])
}

/// What the script of `cargo xtask bench web` prints of a program.
///
/// # Errors
///
/// Something is missing, or what is measured does not work.
pub(crate) fn measured(root: &Path, crew: &Path, is_quick: bool) -> Result<String, String> {
    install(root)?;
    let scratch = Scratch::in_memory();
    let mut command = node(root, crew, scratch.as_ref(), &[]);
    command
        .arg(BENCH)
        .args(is_quick.then_some("--quick"))
        .stderr(Stdio::inherit());
    let failed = |why: &dyn std::fmt::Display| format!("`node {BENCH}` failed: {why}");
    let output = command.output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| failed(&error))
}

/// Runs one of the scripts beside the scenarios, on the binary that was built last.
fn script(root: &Path, script: &str, options: &[&str], more: &[(&str, &str)]) -> Outcome {
    install(root)?;
    let crew = root.join("target/debug/crew");
    if !crew.is_file() {
        return Err(format!("{} is not there: `cargo build` makes it", crew.display()));
    }
    let scratch = Scratch::in_memory();
    let mut command = node(root, &crew, scratch.as_ref(), options);
    let status = command
        .arg(script)
        .envs(more.iter().copied())
        .status()
        .map_err(|error| format!("`node` cannot be started: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`node {script}` failed ({status})"))
}

/// Node with what a script has to know.
fn node(root: &Path, crew: &Path, scratch: Option<&Scratch>, options: &[&str]) -> Command {
    let mut command = program::command(root, "node", options);
    command
        .env("CREW", crew)
        .env("CREW_WEB_TOOLS", tools(root))
        .envs(scratch.map(|scratch| ("TMPDIR", scratch.path())));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_is_read_and_nothing_else() {
        assert_eq!(Options::read(&["--check"]), Some(Options::Check));
        assert_eq!(Options::read(&["--vendor"]), Some(Options::Vendor));
        let browse = |tier, only: Option<&str>| Options::Browse {
            tier,
            only: only.map(str::to_owned),
        };
        assert_eq!(Options::read(&[]), Some(browse(Tier::First, None)));
        assert_eq!(
            Options::read(&["--deep", "pair"]),
            Some(browse(Tier::Deep, Some("pair")))
        );
        assert_eq!(Options::read(&["--check", "pair"]), None);
        assert_eq!(Options::read(&["one", "two"]), None);
    }

    #[test]
    fn what_comes_from_npm_is_pinned_and_names_no_host() {
        npm::assert_pins(&crate::root().join(PAGE));
    }
}
