//! The simulation, for as long as anybody likes: seeds that no test run has, and one that is to be looked
//! into.

use std::path::Path;

use crate::{Outcome, program};

/// Where a seed that fails is written down; every file there is run by every test run.
const REGRESSIONS: &str = "crates/sim/regressions";
/// The seeds of every test run.
const SEEDS: (&str, &str) = ("0", "9999");

/// Which seeds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Options {
    /// From the first to the last.
    Seeds(String, String),
    /// So many hours, each time others.
    Hours(String),
    /// A seed or a written case, printed event by event; with a name, only the lines that mention it.
    Replay(Vec<String>),
}

impl Options {
    /// Reads what follows `cargo xtask sim`; none when it cannot be meant.
    pub(crate) fn read(arguments: &[&str]) -> Option<Self> {
        let number = |text: &str| text.parse::<u64>().is_ok().then(|| text.to_owned());
        Some(match arguments {
            [] => Self::Seeds(SEEDS.0.to_owned(), SEEDS.1.to_owned()),
            ["--seed", seed] => Self::Seeds(number(seed)?, number(seed)?),
            ["--seeds", seeds] => {
                let (first, last) = seeds.split_once("..")?;
                let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
                (first <= last).then(|| Self::Seeds(first.to_string(), last.to_string()))?
            }
            ["--hours", hours] => {
                let some = hours.parse::<f64>().is_ok_and(|hours| hours > 0.0 && hours < 1e4);
                some.then(|| Self::Hours((*hours).to_owned()))?
            }
            ["replay", rest @ ..] if matches!(rest.len(), 1 | 2) => {
                Self::Replay(rest.iter().map(ToString::to_string).collect())
            }
            _ => return None,
        })
    }
}

/// Runs them.
///
/// # Errors
///
/// A seed breaks a promise: the case is shrunk, shown, and written down.
pub(crate) fn run(root: &Path, options: &Options) -> Outcome {
    let night = first_of_tonight().to_string();
    let (example, which): (&str, Vec<&str>) = match options {
        Options::Seeds(first, last) => ("search", vec!["seeds", first, last, REGRESSIONS]),
        Options::Hours(hours) => ("search", vec!["hours", hours, &night, REGRESSIONS]),
        Options::Replay(which) => ("replay", which.iter().map(String::as_str).collect()),
    };
    let cargo = [
        "run",
        "--quiet",
        "--locked",
        "--package=sim",
        "--example",
        example,
        "--",
    ];
    let arguments: Vec<&str> = cargo.into_iter().chain(which).collect();
    program::run(root, "cargo", &arguments)
}

/// Seeds that no night before had, unless it went through a million a second.
#[expect(
    clippy::disallowed_methods,
    reason = "each night takes other seeds, and says which"
)]
fn first_of_tonight() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs()) * 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_and_hours_are_read_and_nothing_else() {
        let seeds = |first: &str, last: &str| Some(Options::Seeds(first.to_owned(), last.to_owned()));
        assert_eq!(Options::read(&[]), seeds("0", "9999"));
        assert_eq!(Options::read(&["--seed", "7"]), seeds("7", "7"));
        assert_eq!(Options::read(&["--seeds", "5..9"]), seeds("5", "9"));
        assert_eq!(
            Options::read(&["--hours", "0.5"]),
            Some(Options::Hours("0.5".to_owned()))
        );
        let replay = |which: &[&str]| Some(Options::Replay(which.iter().map(ToString::to_string).collect()));
        assert_eq!(Options::read(&["replay", "7"]), replay(&["7"]));
        assert_eq!(Options::read(&["replay", "7", "t-1"]), replay(&["7", "t-1"]));
        for wrong in [
            &["--hours", "0"][..],
            &["--seeds", "5"],
            &["--seeds", "9..5"],
            &["--seed", "x"],
            &["7"],
            &["replay"],
            &["replay", "7", "t-1", "x"],
        ] {
            assert_eq!(Options::read(wrong), None, "{wrong:?}");
        }
    }
}
