//! The version of Claude Code, and the oldest that crew can use.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::product::Product;
use text::sanitise;

/// The oldest version that states the cost of a run of a resumed session (`model_usage_since_last_result`).
pub(super) const OLDEST: Version = Version(2, 1, 316);

/// The client prints its version in well under a second; a machine under load needs longer.
const TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u32, u32, u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The version of a program, from `--version`, which neither starts an agent nor uses the network.
///
/// Errors: [`Error::Version`] when the program is not Claude Code, [`Error::TooOld`].
pub(super) fn of(
    name: &str,
    program: &Path,
    args: &[String],
    env: &Environment,
    product: &'static Product,
) -> Result<Version> {
    let args: Vec<OsString> = args
        .iter()
        .map(OsString::from)
        .chain(["--version".into()])
        .collect();
    let unusable = |why: String| Error::Version {
        name: name.to_owned(),
        program: program.to_owned(),
        product,
        why,
    };
    let answer = process::ask(program, &args, env, TIMEOUT).map_err(unusable)?;
    let version = parse(&answer).ok_or_else(|| {
        let shown = sanitise::fit(&sanitise::line(&answer), 60);
        unusable(format!(
            "`--version` says {}, which is no version of Claude Code",
            text::quoted(&shown)
        ))
    })?;
    if version < OLDEST {
        return Err(Error::TooOld {
            name: name.to_owned(),
            product,
            version: version.to_string(),
            oldest: OLDEST.to_string(),
        });
    }
    Ok(version)
}

/// Parses `2.1.330 (Claude Code)`.
fn parse(answer: &str) -> Option<Version> {
    let (number, what) = answer.trim().split_once(' ')?;
    if what != "(Claude Code)" {
        return None;
    }
    // A suffix such as `-beta.1` does not matter here.
    let mut parts = number.split(['-', '+']).next()?.split('.').map(str::parse);
    let version = Version(parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    parts.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_as_numbers() {
        assert_eq!(parse("2.1.330 (Claude Code)\n"), Some(Version(2, 1, 330)));
        assert_eq!(parse("2.1.330-beta.2 (Claude Code)"), Some(Version(2, 1, 330)));
        assert!(parse("2.1.99 (Claude Code)") < Some(OLDEST));
        assert!(parse("10.0.0 (Claude Code)") > Some(OLDEST));
        for other in [
            "",
            "2.1.330",
            "claude 2.1.330",
            "2.1 (Claude Code)",
            "v2.1.3 (Claude Code)",
            "2.1.3.4 (Claude Code)",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
