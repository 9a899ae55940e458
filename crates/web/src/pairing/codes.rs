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
/// The number of wrong codes after which no code that was given before them is valid.
const WRONG: u32 = 5;

/// A code that was given and not used yet.
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
        codes.retain(|given| given.is_valid(now));
        codes.push(Given {
            hash: secret::hash(&code),
            name: called.and_then(name),
            scope,
            ends_ms: now.saturating_add(lasts),
            wrong: 0,
        });
        Ok(())
    })?;
    Ok(code)
}

/// Uses a code up; none where it is not valid, which counts against all that are.
pub(crate) fn redeem(dir: &Path, code: &str) -> client::Result<Option<Given>> {
    let now = clock::now().0;
    let hash = secret::hash(code);
    folder::change(&path(dir), |codes: &mut Vec<Given>| {
        codes.retain(|given| given.is_valid(now));
        // Every hash is compared, so that the time does not tell which one it was.
        let mut found = None;
        for (nth, given) in codes.iter().enumerate() {
            if secret::is_same(&given.hash, &hash) {
                found = Some(nth);
            }
        }
        if found.is_none() {
            for given in codes.iter_mut() {
                given.wrong += 1;
            }
        }
        Ok(found.map(|nth| codes.remove(nth)))
    })
}

impl Given {
    fn is_valid(&self, now: i64) -> bool {
        now < self.ends_ms && self.wrong < WRONG
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
        assert_eq!(redeem(dir, &code).unwrap(), None);

        // Expired.
        let code = give(dir, Scope::Act, None).unwrap();
        folder::change(&path(dir), |codes: &mut Vec<Given>| {
            codes[0].ends_ms = clock::now().0;
            Ok(())
        })
        .unwrap();
        assert_eq!(redeem(dir, &code).unwrap(), None);

        // Four wrong ones leave it valid, a fifth does not.
        for (wrong, is_valid) in [(WRONG - 1, true), (WRONG, false)] {
            let code = give(dir, Scope::Act, None).unwrap();
            for _ in 0..wrong {
                assert_eq!(redeem(dir, "0").unwrap(), None);
            }
            assert_eq!(redeem(dir, &code).unwrap().is_some(), is_valid, "{wrong}");
        }
    }
}
