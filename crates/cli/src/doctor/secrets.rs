//! Secrets of the caller's in what crew keeps: journal, outputs of steps and checks. Every byte is read.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use runtime::Place;

use super::{Area, Finding};
use crate::context::Context;

const AREA: Area = Area::Invariants;
/// In the name of a variable that holds a secret.
const NAMES: [&str; 7] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "API_KEY",
    "ACCESS_KEY",
    "CREDENTIAL",
];
/// A shorter value is a word that may stand anywhere.
const SHORTEST: usize = 12;
/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;
/// What a step is given of the environment, until it has begun: see the leftovers.
const ENVIRONMENT: &str = "env.json";

/// A variable of the caller's, by name.
struct Secret<'a> {
    name: &'a str,
    finder: Finder<'a>,
}

pub(super) fn look(context: &Context, place: &Place, found: &mut Vec<Finding>) {
    let secrets: Vec<Secret<'_>> = context
        .env
        .iter()
        .filter(|(name, value)| {
            let name = name.to_ascii_uppercase();
            value.len() >= SHORTEST && NAMES.iter().any(|part| name.contains(part))
        })
        .map(|(name, value)| Secret {
            name,
            finder: Finder::new(value),
        })
        .collect();
    if secrets.is_empty() {
        return;
    }
    let mut files = Vec::new();
    below(&place.crew_dir, &mut files);
    files.sort();
    let before = found.len();
    for file in files {
        // One that goes while it is read tells nobody anything.
        for secret in within(&file, &secrets).unwrap_or_default() {
            found.push(Finding::wrong(
                AREA,
                format!("the value of {} is in {}", secret.name, file.display()),
                "whoever printed it was given it; give it a new value, and remove the file: `crew clean --older` removes outputs",
            ));
        }
    }
    if found.len() == before {
        let n = secrets.len();
        let what = if n == 1 { "secret" } else { "secrets" };
        found.push(Finding::fine(
            AREA,
            format!("no value of {n} {what} of this environment is in what crew keeps"),
        ));
    }
}

/// The files below a folder; links are not followed.
fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => below(&entry.path(), files),
            Ok(kind) if kind.is_file() && entry.file_name() != ENVIRONMENT => files.push(entry.path()),
            Ok(_) | Err(_) => {}
        }
    }
}

/// The secrets that are in a file.
fn within<'s>(file: &Path, secrets: &'s [Secret<'s>]) -> io::Result<Vec<&'s Secret<'s>>> {
    // One that lies across two pieces is found too.
    let longest = secrets.iter().map(|secret| secret.finder.needle().len()).max();
    let overlap = longest.unwrap_or_default();
    let mut file = File::open(file)?;
    let mut piece = vec![0; PIECE + overlap];
    let mut filled = 0;
    let mut there = vec![false; secrets.len()];
    loop {
        let read = match file.read(&mut piece[filled..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        filled += read;
        if read > 0 && filled < piece.len() {
            continue;
        }
        for (secret, there) in secrets.iter().zip(&mut there) {
            *there = *there || secret.finder.find(&piece[..filled]).is_some();
        }
        if read == 0 {
            let found = secrets.iter().zip(there).filter(|(_, there)| *there);
            return Ok(found.map(|(secret, _)| secret).collect());
        }
        let from = filled.saturating_sub(overlap);
        piece.copy_within(from..filled, 0);
        filled -= from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_wherever_it_lies() {
        let secrets = [
            Secret {
                name: "A",
                finder: Finder::new("0123456789abcdef"),
            },
            Secret {
                name: "B",
                finder: Finder::new("not there at all"),
            },
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        for at in [
            0,
            1,
            PIECE - 20,
            PIECE - 1,
            PIECE,
            PIECE + 15,
            2 * PIECE + 7,
            3 * PIECE,
        ] {
            let mut bytes = vec![b'.'; 3 * PIECE];
            bytes.splice(at..at, *b"0123456789abcdef");
            std::fs::write(&path, bytes).unwrap();
            let found = within(&path, &secrets).unwrap();
            let names: Vec<&str> = found.iter().map(|secret| secret.name).collect();
            assert_eq!(names, ["A"], "at {at}");
        }
        std::fs::write(&path, "012345678").unwrap();
        assert_eq!(within(&path, &secrets).unwrap().len(), 0);
    }
}
