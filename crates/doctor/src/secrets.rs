//! Secrets of the caller's in crew's files: journal, outputs of steps and checks. Every byte is read.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use runtime::Place;

use crate::Caller;
use crate::{Area, Finding};

const AREA: Area = Area::Invariants;
/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;
/// The environment that a step is given, until it has begun: see the leftovers.
const ENVIRONMENT: &str = "env.json";

/// A variable of the caller's, by name.
struct Secret<'a> {
    name: &'a str,
    finder: Finder<'a>,
}

pub(super) fn look(caller: &Caller<'_>, place: &Place, found: &mut Vec<Finding>) {
    let secrets: Vec<Secret<'_>> = client::secrets::secrets(caller.env)
        .map(|(name, value)| Secret {
            name,
            finder: Finder::new(value),
        })
        .collect();
    if secrets.is_empty() {
        return;
    }
    let mut seen = Seen::default();
    seen.below(&place.crew_dir);
    seen.files.sort();
    let before = found.len();
    for file in std::mem::take(&mut seen.files) {
        for secret in seen.within(&file, &secrets) {
            found.push(Finding::wrong(
                AREA,
                format!("the value of {} is in {}", secret.name, file.display()),
                "a program that has it in its environment printed it; replace the secret, and remove the file: `crew clean --older` removes outputs",
            ));
        }
    }
    if let Some(first) = seen.unread.first() {
        let more = match seen.unread.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        found.push(Finding::wrong(
            AREA,
            format!(
                "{}{more} cannot be read, and may contain secrets",
                first.display()
            ),
            format!("see whose it is, and who may read it: ls -ld {}", first.display()),
        ));
    }
    if found.len() == before {
        let values = text::counted(secrets.len(), "secret");
        found.push(Finding::fine(
            AREA,
            format!("no value of {values} of this environment is in crew's files"),
        ));
    }
}

/// The files that are looked through, and those that could not be.
#[derive(Debug, Default)]
struct Seen {
    files: Vec<PathBuf>,
    unread: Vec<PathBuf>,
}

impl Seen {
    /// The files below a folder; links are not followed.
    fn below(&mut self, folder: &Path) {
        let entries = self.read(folder, std::fs::read_dir);
        for entry in entries.into_iter().flatten() {
            let Some(entry) = self.read(folder, |_| entry) else {
                continue;
            };
            let path = entry.path();
            match self.read(&path, |_| entry.file_type()) {
                Some(kind) if kind.is_dir() => self.below(&path),
                Some(kind) if kind.is_file() && entry.file_name() != ENVIRONMENT => self.files.push(path),
                Some(_) | None => {}
            }
        }
    }

    /// The secrets that are in a file.
    fn within<'s>(&mut self, file: &Path, secrets: &'s [Secret<'s>]) -> Vec<&'s Secret<'s>> {
        self.read(file, |file| within(file, secrets)).unwrap_or_default()
    }

    /// Reads a file or folder. One that is removed meanwhile holds no secret, and counts as nothing.
    fn read<'p, T>(&mut self, path: &'p Path, read: impl FnOnce(&'p Path) -> io::Result<T>) -> Option<T> {
        match read(path) {
            Ok(read) => Some(read),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    self.unread.push(path.to_owned());
                }
                None
            }
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
    fn what_cannot_be_read_is_not_clean() {
        let folder = tempfile::tempdir().unwrap();
        let mut seen = Seen::default();
        // A folder cannot be read as a file, by nobody.
        assert!(seen.within(folder.path(), &[]).is_empty());
        assert!(seen.within(&folder.path().join("gone"), &[]).is_empty());
        assert_eq!(seen.unread, [folder.path()]);
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        seen.below(&file);
        assert_eq!(seen.unread, [folder.path(), &file]);
    }

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
