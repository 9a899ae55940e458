//! One case: its folder, and whether what the binary answers is what is written there.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::corpus::place::{Base, Place};
use testkit::normal;

/// A folder below `cases/<area>`.
pub(crate) struct Case {
    folder: PathBuf,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/corpus/cases")
}

/// The cases of an area, by name.
pub(crate) fn all(area: &str) -> Vec<Case> {
    let entries = fs::read_dir(root().join(area)).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|e| e.path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    folders.into_iter().map(|folder| Case { folder }).collect()
}

impl Case {
    /// Runs the case in a place of its own.
    ///
    /// # Errors
    ///
    /// The answer is not the expected one, or not one that may be given at all; as text for whoever mends it.
    pub(crate) fn check(&self, base: &Base) -> Result<(), String> {
        let place = Place::new(base, &self.folder, &root().join("words.sh"))?;
        let (answer, ugly) = self.answer(&place);
        let ugly = ugly.into_iter().chain(place.left_running()).collect::<Vec<_>>();
        let name = self.folder.strip_prefix(root()).unwrap().display();
        let expected = self.folder.join("expected.txt");
        if is_writing() {
            fs::write(&expected, &answer).unwrap();
        }
        let wanted = fs::read_to_string(&expected).unwrap_or_default();
        let mut wrong = String::new();
        if answer != wanted {
            write!(wrong, "── {name}: expected\n{wanted}── came\n{answer}").unwrap();
        }
        for why in ugly {
            writeln!(wrong, "── {name}: {why}").unwrap();
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Every command with what it came to, and what no command may ever do.
    fn answer(&self, place: &Place) -> (String, Vec<String>) {
        let mut answer = String::new();
        let mut ugly = Vec::new();
        for command in self.commands().lines() {
            if command.starts_with('#') || command.is_empty() {
                continue;
            }
            let said = place.run(command);
            writeln!(answer, "$ {command}\nexit {}", said.code).unwrap();
            answer.push_str(&ticket_by_ticket(&normal::lines(&said.out)));
            if !said.err.is_empty() {
                write!(answer, "-- stderr\n{}", normal::lines(&said.err)).unwrap();
            }
            for written in &said.written {
                writeln!(answer, "-- wrote {written}").unwrap();
            }
            if command.starts_with("crew ") {
                ugly.extend(said.ugly().map(|why| format!("$ {command}\n{why}")));
            }
        }
        (answer, ugly)
    }

    fn commands(&self) -> String {
        let own = self.folder.join("commands");
        let areas = self.folder.parent().unwrap().join("commands");
        fs::read_to_string(own)
            .or_else(|_| fs::read_to_string(areas))
            .unwrap()
    }
}

/// What a run tells, put together for each ticket: one is landed while the next is worked on, and neither
/// waits for the other.
fn ticket_by_ticket(lines: &str) -> String {
    let mut sorted: Vec<&str> = lines.lines().collect();
    let whose = |line: &str| {
        line.strip_prefix("[time]  ")
            .map(|told| told.split("  ").next().map(str::to_owned))
    };
    for told in sorted.chunk_by_mut(|one, next| whose(one).is_some() && whose(next).is_some()) {
        told.sort_by_key(|line| whose(line));
    }
    sorted.iter().map(|line| format!("{line}\n")).collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one switch of this test, for whoever writes a case"
)]
fn is_writing() -> bool {
    std::env::var_os("CORPUS_WRITE").is_some()
}
