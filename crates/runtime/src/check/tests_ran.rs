//! The number of tests of a check on the trees that it passed on, and what it was on the target.
//!
//! Each number is a file of its own, named by the check and the tree, and is written whole: checks of several
//! checkouts end at once, and nothing that one of them notes is lost to another.

use std::fs;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use model::Oid;
use model::ticket::{self, CheckOutcome, CheckTask, FewerTests, TestCount};
use process::{Run, Stream};
use serde::{Deserialize, Serialize};

use super::count::tests_in;
use super::{Check, digest, facts, tail, write};
use crate::executor::perform::git_oid;
use crate::executor::{Executor, private_dir};
use crate::{Place, Result};

/// The file in a run's folder that says what its number of tests is compared with.
const FILE: &str = "tests.json";
/// The folder with the numbers of all checks.
const FOLDER: &str = "tests";
/// So many of the last trees are remembered with their numbers, for each check.
const TREES: usize = 1_000;
/// A check that was skipped for more commits of the target in a row has no number there.
const COMMITS: usize = 1_000;

/// A run whose tests are counted.
#[derive(Debug, Serialize, Deserialize)]
struct Counted {
    /// The tree that it runs on.
    tree: String,
    /// The name of the folder with the numbers of its check.
    check: String,
    /// The way in which its tests are counted.
    how: TestCount,
    /// The number on the target, for work that is to land there.
    target: Option<u64>,
    /// Whether a person has let the work pass with fewer tests.
    is_approved: bool,
}

impl Executor {
    /// Notes beside a run what its number of tests is compared with. Without the note nothing is compared.
    pub(super) fn note_counted(&self, check: &Check<'_>, tree: &git::Oid, dir: &Path) {
        if let Err(error) = self.try_note_counted(check, tree, dir) {
            tracing::warn!("{}", text::with_causes(&error));
        }
    }

    fn try_note_counted(&self, check: &Check<'_>, tree: &git::Oid, dir: &Path) -> Result<()> {
        let is_of_commands = matches!(check.task, CheckTask::Candidate | CheckTask::Target);
        if !is_of_commands || check.command.tests == TestCount::None {
            return Ok(());
        }
        let name = name_of(check.command);
        let base = check.base.filter(|_| check.task == CheckTask::Candidate);
        let target = base.map(|base| self.number_below(&name, base)).transpose()?;
        let counted = Counted {
            tree: tree.to_string(),
            check: name,
            how: check.command.tests.clone(),
            target: target.flatten(),
            is_approved: check.may_run_fewer_tests,
        };
        write(&dir.join(FILE), serde_json::to_vec(&counted).unwrap_or_default())
    }

    /// The number on a commit. A commit for which the check was skipped has that of the commit before it, and
    /// so has an entry of the train that was not tried.
    fn number_below(&self, check: &str, base: &Oid) -> Result<Option<u64>> {
        let base = git_oid(base)?;
        let tree = self.repository.tree_of(&base)?.0.to_string();
        if let Some(number) = number(&self.place, check, &tree) {
            return Ok(Some(number));
        }
        if !numbers(&self.place, check).is_dir() {
            return Ok(None);
        }
        let before = self.repository.first_parent_trees(&base, COMMITS)?;
        let mut before = before.iter().map(ToString::to_string);
        Ok(before.find_map(|tree| number(&self.place, check, &tree)))
    }

    /// The outcome of a command that passed, after a look at the number of its tests, and that number.
    pub(super) fn passed_with_tests(&self, run: &Run) -> (CheckOutcome, Option<u64>) {
        let bytes = fs::read(run.dir().join(FILE)).unwrap_or_default();
        let Ok(counted) = serde_json::from_slice::<Counted>(&bytes) else {
            return (CheckOutcome::Passed, None);
        };
        let count = tests_in(printed(run), &counted.how);
        let ran = count.unwrap_or(0);
        let before = counted.target.unwrap_or(0);
        if ran == 0 && before > 0 {
            let before = match before {
                1 => "one test".to_owned(),
                _ => format!("{before} tests"),
            };
            let output = format!(
                "{}\n(ran no tests, and on the target it ran {before})",
                tail(run.dir())
            );
            return (CheckOutcome::Failed { output }, count);
        }
        if let Some(tests) = FewerTests::of(ran, before)
            && !counted.is_approved
        {
            let output = format!("{}\n({tests})", tail(run.dir()));
            return (CheckOutcome::FewerTests { tests, output }, count);
        }
        if let Some(count) = count
            && let Err(error) = self.note_number(&counted, count)
        {
            // It only means that nothing is compared with it.
            tracing::warn!("{}", text::with_causes(&error));
        }
        (CheckOutcome::Passed, count)
    }

    /// Notes the number with which a check has passed on a tree. Work that nobody let pass leaves none: the
    /// next work is not compared with it.
    fn note_number(&self, counted: &Counted, count: u64) -> Result<()> {
        let dir = numbers(&self.place, &counted.check);
        private_dir(&self.place.checks_dir.join(FOLDER))?;
        private_dir(&dir)?;
        write(&dir.join(&counted.tree), count.to_string())?;
        forget_oldest(&dir);
        Ok(())
    }
}

/// The number of tests with which a check has passed on the target, where that is known.
///
/// # Errors
/// The target cannot be read.
pub fn tests_on_target(place: &Place, check: &ticket::Check, target: &str) -> Result<Option<u64>> {
    let commit = place.repository.target(&git::Branch::parse(target)?)?;
    let tree = place.repository.tree_of(&commit)?.0;
    Ok(number(place, &name_of(check), &tree.to_string()))
}

/// The name of the folder with the numbers of a check.
fn name_of(check: &ticket::Check) -> String {
    digest(&[facts(check).into_bytes()])
}

/// The folder with the numbers of the check of this name.
fn numbers(place: &Place, check: &str) -> PathBuf {
    place.checks_dir.join(FOLDER).join(check)
}

fn number(place: &Place, check: &str, tree: &str) -> Option<u64> {
    let text = fs::read_to_string(numbers(place, check).join(tree)).ok()?;
    text.parse().ok()
}

/// Removes the oldest numbers where there are too many: half of them, so that this is seldom.
fn forget_oldest(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    if paths.len() <= TREES {
        return;
    }
    let written = |path: &PathBuf| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let mut dated: Vec<_> = paths.into_iter().map(|path| (written(&path), path)).collect();
    dated.sort();
    for (_, path) in &dated[..TREES / 2] {
        // What stays is only removed later.
        drop(fs::remove_file(path));
    }
}

/// All that is kept of both streams of a run, which is bounded.
fn printed(run: &Run) -> impl std::io::BufRead {
    let open = |stream: Stream| fs::File::open(run.dir().join(stream.file())).ok();
    let all = |stream| -> Box<dyn std::io::Read> {
        match open(stream) {
            Some(file) => Box::new(file),
            None => Box::new(std::io::empty()),
        }
    };
    let between: &[u8] = b"\n";
    BufReader::new(all(Stream::Out).chain(between).chain(all(Stream::Err)))
}
