//! Pairing codes: one use, ten minutes, and void after some wrong ones.

use std::path::{Path, PathBuf};
use std::time::Duration;

use client::clock;
use serde::{Deserialize, Serialize};

use super::device::name;
use super::folder;
use super::secret::{self, CODE};
use crate::app::Scope;

/// The time for which a code can be used.
pub const LASTS: Duration = Duration::from_secs(10 * 60);
/// The time for which a code is known after its end.
const KEPT: Duration = Duration::from_secs(60 * 60);
/// The number of wrong codes after which no code that was given before them is valid.
const WRONG: u32 = 5;

/// A code that was given. It is kept for a while after its end, to say why it is not valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Given {
    hash: String,
    /// The name that the device is to have; none where the device gives its own.
    pub(crate) name: Option<String>,
    /// What the device may do.
    pub(crate) scope: Scope,
    /// The end of its validity, in milliseconds of UNIX time.
    ends_ms: i64,
    /// Wrong codes that came since it was given.
    wrong: u32,
    /// Whether a device was paired with it.
    #[serde(default)]
    used: bool,
}

/// Why a code pairs nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Invalid {
    /// A device was paired with it.
    Used,
    /// Its ten minutes are over.
    Late,
    /// Too many wrong codes came after it was given.
    Void,
    /// It was never given, or long ago.
    Unknown,
}

impl Invalid {
    /// It in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Used => "this link was used already: it pairs one browser, once",
            Self::Late => "this link is older than ten minutes",
            Self::Void => "this link is void, since five wrong ones were tried after it was given",
            Self::Unknown => "this link was never given, or long ago",
        }
    }
}

/// Gives a code to pair a device with, once.
///
/// # Errors
/// The file of codes cannot be changed.
pub fn give(dir: &Path, scope: Scope, called: Option<&str>) -> client::Result<String> {
    let code = secret::random::<CODE>()?;
    let now = clock::now().0;
    let lasts = i64::try_from(LASTS.as_millis()).unwrap_or(i64::MAX);
    folder::change(&path(dir), |codes: &mut Vec<Given>| {
        codes.retain(|given| given.is_kept(now));
        codes.push(Given {
            hash: secret::hash(&code),
            name: called.and_then(name),
            scope,
            ends_ms: now.saturating_add(lasts),
            wrong: 0,
            used: false,
        });
        Ok(())
    })?;
    Ok(code)
}

/// Uses a code up. One that was never given counts against all that are valid.
pub(crate) fn redeem(dir: &Path, code: &str) -> client::Result<Result<Given, Invalid>> {
    let now = clock::now().0;
    let hash = secret::hash(code);
    folder::change(&path(dir), |codes: &mut Vec<Given>| {
        codes.retain(|given| given.is_kept(now));
        // Every hash is compared, so that the time does not tell which one it was.
        let mut found = None;
        for (nth, given) in codes.iter().enumerate() {
            if secret::is_same(&given.hash, &hash) {
                found = Some(nth);
            }
        }
        let Some(given) = found.and_then(|nth| codes.get_mut(nth)) else {
            for given in codes.iter_mut() {
                given.wrong += 1;
            }
            return Ok(Err(Invalid::Unknown));
        };
        Ok(match given {
            Given { used: true, .. } => Err(Invalid::Used),
            Given { ends_ms, .. } if now >= *ends_ms => Err(Invalid::Late),
            Given { wrong, .. } if *wrong >= WRONG => Err(Invalid::Void),
            given => {
                given.used = true;
                Ok(given.clone())
            }
        })
    })
}

impl Given {
    fn is_kept(&self, now: i64) -> bool {
        let kept = i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
        now < self.ends_ms.saturating_add(kept)
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join("codes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_pairs_once_and_only_while_it_is_valid() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        let code = give(dir, Scope::Look, Some("  pho\u{202e}ne ")).unwrap();
        assert_eq!(code.len(), 2 * CODE);
        let kept = std::fs::read_to_string(path(dir)).unwrap();
        assert!(!kept.contains(&code), "{kept}");
        let given = redeem(dir, &code).unwrap().unwrap();
        assert_eq!(given.scope, Scope::Look);
        // A link that is followed twice is no guess.
        let other = give(dir, Scope::Act, None).unwrap();
        for _ in 0..=WRONG {
            assert_eq!(redeem(dir, &code).unwrap(), Err(Invalid::Used));
        }
        assert!(redeem(dir, &other).unwrap().is_ok());

        // Expired.
        let code = give(dir, Scope::Act, None).unwrap();
        folder::change(&path(dir), |codes: &mut Vec<Given>| {
            codes.last_mut().unwrap().ends_ms = clock::now().0;
            Ok(())
        })
        .unwrap();
        assert_eq!(redeem(dir, &code).unwrap(), Err(Invalid::Late));
        folder::change(&path(dir), |codes: &mut Vec<Given>| {
            codes.last_mut().unwrap().ends_ms = 0;
            Ok(())
        })
        .unwrap();
        assert_eq!(redeem(dir, &code).unwrap(), Err(Invalid::Unknown));

        // Four wrong ones leave it valid, a fifth does not.
        for (wrong, is_valid) in [(WRONG - 1, true), (WRONG, false)] {
            let code = give(dir, Scope::Act, None).unwrap();
            for _ in 0..wrong {
                assert_eq!(redeem(dir, "0").unwrap(), Err(Invalid::Unknown));
            }
            let found = redeem(dir, &code).unwrap();
            assert_eq!(found.is_ok(), is_valid, "{wrong}");
            assert!(is_valid || found == Err(Invalid::Void), "{found:?}");
        }
    }
}
