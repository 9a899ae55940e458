//! The number of tests of a check on the trees that it passed on, and what it was on the target.

use std::path::{Path, PathBuf};

use model::Oid;
use model::ticket::{self, CheckOutcome, CheckTask, TestCount};
use process::{Run, Stream, Tail};
use serde::{Deserialize, Serialize};

use super::count::tests_in;
use super::{Check, digest, facts, tail, write};
use crate::Result;
use crate::executor::perform::git_oid;
use crate::executor::{Executor, private_dir};

/// The file in a run's folder that says what its number of tests is compared with.
const FILE: &str = "tests.json";
/// So many of the last trees are remembered with their numbers.
const TREES: usize = 64;
/// So much of the end of each stream is searched for numbers.
const SEARCHED: usize = 4 << 20;

/// A run whose tests are counted.
#[derive(Debug, Serialize, Deserialize)]
struct Counted {
    /// The tree that it runs on.
    tree: String,
    /// The name of the note with the numbers of its check.
    note: String,
    /// The way in which its tests are counted.
    how: TestCount,
    /// The number on the target, for work that is to land there.
    target: Option<u64>,
}

/// The numbers of tests with which a check has passed.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Numbers {
    /// The number on the target, where it was last looked up.
    target: Option<u64>,
    /// The number on each of the last trees.
    trees: Vec<(String, u64)>,
}

impl Numbers {
    fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn on(&self, tree: &str) -> Option<u64> {
        let mut trees = self.trees.iter().rev();
        trees.find(|(of, _)| of == tree).map(|(_, count)| *count)
    }

    fn write(&self, path: &Path) -> Result<()> {
        write(path, serde_json::to_vec(self).unwrap_or_default())
    }
}

impl Executor {
    /// Notes beside a run what its number of tests is compared with. Without the note nothing is compared.
    pub(super) fn note_counted(&self, check: &Check<'_>, tree: &git::Oid, dir: &Path) {
        let noted = self.try_note_counted(check.command, check.task, check.base, tree, dir);
        if let Err(error) = noted {
            tracing::warn!("{}", text::with_causes(&error));
        }
    }

    fn try_note_counted(
        &self,
        command: &ticket::Check,
        task: CheckTask,
        base: Option<&Oid>,
        tree: &git::Oid,
        dir: &Path,
    ) -> Result<()> {
        let is_of_commands = matches!(task, CheckTask::Candidate | CheckTask::Target);
        if !is_of_commands || command.tests == TestCount::None {
            return Ok(());
        }
        let note = digest(&[facts(command).into_bytes()]);
        let path = self.numbers(&note);
        let mut numbers = Numbers::read(&path);
        let base = base.filter(|_| task == CheckTask::Candidate);
        if let Some(base) = base {
            let of_base = self.repository.tree_of(&git_oid(base)?)?.0.to_string();
            // A tree that the check was skipped for has the number of the tree before it.
            if let Some(count) = numbers.on(&of_base) {
                numbers.target = Some(count);
                private_dir(&self.numbers_dir())?;
                numbers.write(&path)?;
            }
        }
        let counted = Counted {
            tree: tree.to_string(),
            note,
            how: command.tests.clone(),
            target: base.and(numbers.target),
        };
        write(&dir.join(FILE), serde_json::to_vec(&counted).unwrap_or_default())
    }

    /// The outcome of a command that passed, after a look at the number of its tests.
    pub(super) fn passed_with_tests(&self, run: &Run) -> CheckOutcome {
        let bytes = std::fs::read(run.dir().join(FILE)).unwrap_or_default();
        let Ok(counted) = serde_json::from_slice::<Counted>(&bytes) else {
            return CheckOutcome::Passed;
        };
        let count = tests_in(&printed(run), &counted.how);
        if let Some(before @ 1..) = counted.target
            && count.unwrap_or(0) == 0
        {
            let tests = if before == 1 { "one test" } else { "tests" };
            let before = if before == 1 {
                String::new()
            } else {
                format!("{before} ")
            };
            return CheckOutcome::Failed {
                output: format!(
                    "{}\n(ran no tests, and on the target it ran {before}{tests})",
                    tail(run.dir())
                ),
            };
        }
        if let Some(count) = count
            && let Err(error) = self.note_number(&counted, count)
        {
            // It only means that nothing is compared with it.
            tracing::warn!("{}", text::with_causes(&error));
        }
        CheckOutcome::Passed
    }

    fn note_number(&self, counted: &Counted, count: u64) -> Result<()> {
        let path = self.numbers(&counted.note);
        let mut numbers = Numbers::read(&path);
        numbers.trees.retain(|(tree, _)| *tree != counted.tree);
        numbers.trees.push((counted.tree.clone(), count));
        let beyond = numbers.trees.len().saturating_sub(TREES);
        numbers.trees.drain(..beyond);
        private_dir(&self.numbers_dir())?;
        numbers.write(&path)
    }

    fn numbers_dir(&self) -> PathBuf {
        self.place.checks_dir.join("tests")
    }

    fn numbers(&self, note: &str) -> PathBuf {
        self.numbers_dir().join(note)
    }
}

/// The end of both streams of a run.
fn printed(run: &Run) -> String {
    let mut text = String::new();
    for stream in [Stream::Out, Stream::Err] {
        let path = run.dir().join(stream.file());
        let length = std::fs::metadata(path).map_or(0, |meta| meta.len());
        let from = length.saturating_sub(SEARCHED as u64);
        let read = Tail::new(run, stream, from).read_ended_text(SEARCHED);
        text.push_str(&read.unwrap_or_default());
        text.push('\n');
    }
    text
}
