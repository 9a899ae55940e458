//! The outputs of steps and checks: those of closed tickets are kept only up to a limit.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use model::{RunId, TicketId, Time};
use process::{Run, Status};

use crate::Place;
use crate::folders::folders;

/// A check that passed so long ago runs anew when its result is asked for.
const PASSED_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The prefix of a folder that is being removed: a part of the folder must not pass for a run.
const GONE: &str = ".gone-";

/// The suffix of a run of another time that was put away; a number follows.
pub(crate) const ASIDE: &str = "old-";

/// The folder of a run.
struct Printed {
    dir: PathBuf,
    bytes: u64,
    /// When it ended; none: something of it may be alive.
    ended: Option<Time>,
    /// Whether it may go.
    may_go: bool,
}

/// Removes outputs, the oldest first, until all together take no more than `most` bytes, or only those of
/// open tickets are left. Returns the number of runs whose outputs were removed. Outputs that may be alive,
/// or that nobody knows, stay.
pub(crate) fn trim(runs: [&Path; 2], closed: &BTreeSet<TicketId>, most: u64) -> usize {
    let of_closed = |dir: &Path| is_of_target(dir) || ticket_of(dir).is_some_and(|id| closed.contains(&id));
    let mut all = Vec::new();
    for runs in runs {
        finish_taking_away(runs);
        for dir in folders(runs).unwrap_or_default() {
            all.extend(printed(dir, of_closed));
        }
    }
    let mut bytes: u64 = all.iter().map(|run| run.bytes).sum();
    all.retain(|run| run.may_go);
    all.sort_by(|a, b| (a.ended, &a.dir).cmp(&(b.ended, &b.dir)));
    let mut removed = 0;
    for run in all {
        if bytes <= most {
            break;
        }
        match take_away(&run.dir) {
            Ok(()) => {
                bytes = bytes.saturating_sub(run.bytes);
                removed += 1;
            }
            Err(error) => {
                tracing::warn!(
                    "the old output {} cannot be removed: {}",
                    run.dir.display(),
                    text::os_message(&error)
                );
            }
        }
    }
    removed
}

/// Removes the folder of a run: at once, or not at all.
///
/// # Errors
/// It cannot be renamed or removed. One that is not there is as good.
pub fn take_away(dir: &Path) -> io::Result<()> {
    let Some(name) = dir.file_name() else {
        return Err(ErrorKind::InvalidInput.into());
    };
    let mut gone = OsString::from(GONE);
    gone.push(name);
    let gone = dir.with_file_name(gone);
    failpoint::hit("trim.chosen");
    if_there(fs::rename(dir, &gone))?;
    failpoint::hit("trim.renamed");
    if_there(fs::remove_dir_all(&gone))?;
    failpoint::hit("trim.removed");
    Ok(())
}

/// Removes what is left in a folder of those that were to be taken away by somebody who was killed.
pub fn finish_taking_away(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_left = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(GONE.as_bytes());
    for left in entries.filter(is_left).map(|entry| entry.path()) {
        if let Err(error) = if_there(fs::remove_dir_all(&left)) {
            tracing::warn!(
                "{}, which is left of an old output, cannot be removed: {}",
                left.display(),
                text::os_message(&error)
            );
        }
    }
}

/// A folder that is not there need not be removed: another process was faster.
fn if_there(done: io::Result<()>) -> io::Result<()> {
    done.or_else(|error| {
        if error.kind() == ErrorKind::NotFound {
            Ok(())
        } else {
            Err(error)
        }
    })
}

/// The ticket of a run's folder, whose name is its run's; of one that was set aside too.
#[must_use]
pub fn ticket_of(dir: &Path) -> Option<TicketId> {
    let name = dir.file_name()?.to_str()?;
    let run = match name.rsplit_once('.') {
        Some((run, aside)) if aside.starts_with(ASIDE) => run,
        Some(_) | None => name,
    };
    RunId::new(run).ok()?.ticket()
}

/// Whether it is the folder of a check of the bare target.
fn is_of_target(dir: &Path) -> bool {
    let name = dir.file_name().and_then(|name| name.to_str());
    name.and_then(|name| RunId::new(name).ok())
        .is_some_and(|run| run.is_of_target())
}

/// When a run ended; none while something of it may be alive.
#[must_use]
pub fn ended_at(run: &Run) -> Option<Time> {
    match run.status() {
        Ok(Status::Ended(exit)) => Some(Time(i64::try_from(exit.ended_at).unwrap_or(i64::MAX))),
        Ok(Status::NotStarted | Status::Running { .. } | Status::Lost { .. }) | Err(_) => None,
    }
}

/// Forgets the checks that passed before `before`: each runs anew when its result is asked for.
pub fn forget_passed_checks(place: &Place, before: Time) {
    for entry in fs::read_dir(place.passed_checks_dir())
        .into_iter()
        .flatten()
        .flatten()
    {
        let changed = entry.metadata().and_then(|meta| meta.modified()).ok();
        let since = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let at = since.and_then(|since| i64::try_from(since.as_millis()).ok());
        if at.is_some_and(|at| Time(at) <= before) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Forgets the checks that passed long ago.
pub(crate) fn forget_old_checks(place: &Place, now: Time) {
    let for_ms = i64::try_from(PASSED_FOR.as_millis()).unwrap_or(i64::MAX);
    forget_passed_checks(place, Time(now.0.saturating_sub(for_ms)));
}

impl Place {
    /// The place of the runs of checks.
    #[must_use]
    pub fn check_runs_dir(&self) -> PathBuf {
        self.checks_dir.join("runs")
    }

    /// The place of a run, be it a step or a check.
    #[must_use]
    pub fn run_dir(&self, run: &RunId) -> PathBuf {
        let runs = match run.is_check() {
            true => self.check_runs_dir(),
            false => self.runs_dir.clone(),
        };
        runs.join(run.as_str())
    }

    /// The place of the notes on checks that have passed.
    #[must_use]
    pub fn passed_checks_dir(&self) -> PathBuf {
        self.checks_dir.join("passed")
    }

    /// The folder of notes on what canaries have shown.
    pub(crate) fn canaries_dir(&self) -> PathBuf {
        self.checks_dir.join("canaries")
    }

    /// The note on a canary, which is named by what it depends on.
    pub(crate) fn canary(&self, key: &str) -> PathBuf {
        self.canaries_dir().join(key)
    }

    /// The note that a check has passed, which is named by what it is about.
    pub(crate) fn passed_check(&self, about: &str) -> PathBuf {
        self.passed_checks_dir().join(about)
    }
}

/// The run in a folder, with what it takes; none where there is no run.
fn printed(dir: PathBuf, may_go: impl Fn(&Path) -> bool) -> Option<Printed> {
    let run = Run::open(&dir).ok()?;
    let ended = ended_at(&run);
    let files = fs::read_dir(&dir).ok()?.flatten();
    let bytes = files.filter_map(|file| Some(file.metadata().ok()?.len())).sum();
    let may_go = ended.is_some() && may_go(&dir);
    Some(Printed {
        dir,
        bytes,
        ended,
        may_go,
    })
}

#[cfg(test)]
mod tests {
    use process::{Captured, Exit, Reason};

    use super::*;

    const DAY: u64 = 24 * 60 * 60 * 1000;

    /// A run that ended then and printed so much.
    fn run(folder: &Path, name: &str, ended_at: u64, printed: usize) {
        let dir = folder.join(name);
        fs::create_dir_all(&dir).unwrap();
        let exit = Exit {
            reason: Reason::Exited,
            code: Some(0),
            signal: None,
            started_at: ended_at,
            ended_at,
            out: Captured::default(),
            err: Captured::default(),
            survivors: 0,
        };
        fs::write(dir.join("spec.json"), "{}").unwrap();
        fs::write(dir.join("exit.json"), serde_json::to_vec(&exit).unwrap()).unwrap();
        fs::write(dir.join("out"), vec![b'x'; printed]).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_oldest_outputs_of_closed_tickets_go_and_no_others() {
        let dir = tempfile::tempdir().unwrap();
        let (runs, checks) = (dir.path().join("runs"), dir.path().join("checks"));
        run(&runs, "open.1.1", 1, 10_000);
        run(&runs, "old.1.1", 2, 10_000);
        run(&runs, "young.2.1", 3 * DAY, 10_000);
        run(&checks, "old.1.check-1-1", 3, 10_000);
        run(&checks, "open.1.check-1-1", 3 * DAY, 10_000);
        run(&checks, "target.0.check-7-1", 1, 10_000);
        // It has no end: something of it may be alive. It stays, and counts.
        fs::create_dir_all(runs.join("old.1.2")).unwrap();
        fs::write(runs.join("old.1.2/spec.json"), "{}").unwrap();
        fs::write(runs.join("old.1.2/out"), vec![b'x'; 10_000]).unwrap();
        let closed = BTreeSet::from(["old", "young"].map(|id| TicketId::new(id).unwrap()));
        let trim = |most| trim([&runs, &checks], &closed, most);

        assert_eq!(trim(100_000), 0, "there is room");
        assert_eq!(trim(65_000), 1);
        assert!(!names(&checks).contains(&"target.0.check-7-1".to_owned()));
        assert_eq!(trim(55_000), 1);
        assert_eq!(
            names(&runs),
            ["old.1.2", "open.1.1", "young.2.1"],
            "the oldest that may go"
        );
        assert_eq!(trim(0), 2);
        assert_eq!(names(&runs), ["old.1.2", "open.1.1"]);
        assert_eq!(names(&checks), ["open.1.check-1-1"]);
        assert_eq!(trim(0), 0);
    }

    #[test]
    fn a_run_that_was_set_aside_is_its_tickets() {
        let dir = tempfile::tempdir().unwrap();
        let (runs, checks) = (dir.path().join("runs"), dir.path().join("checks"));
        run(&runs, "t.1.1.old-1", 2, 10_000);
        run(&runs, "open.1.1.old-2", 1, 10_000);
        run(&checks, "t.1.check-1-1.old-1", 3, 10_000);
        let closed = BTreeSet::from([TicketId::new("t").unwrap()]);
        assert_eq!(trim([&runs, &checks], &closed, 25_000), 1);
        assert_eq!(names(&runs), ["open.1.1.old-2"]);
        assert_eq!(trim([&runs, &checks], &closed, 15_000), 1);
        assert!(names(&checks).is_empty());
    }

    #[test]
    fn what_is_left_of_one_that_was_taken_away_half_goes_with_the_next_look() {
        let dir = tempfile::tempdir().unwrap();
        let (runs, checks) = (dir.path().join("runs"), dir.path().join("checks"));
        // Its record went first.
        for folder in [&runs, &checks] {
            let left = folder.join(".gone-t.1.1");
            fs::create_dir_all(&left).unwrap();
            fs::write(left.join("out"), "x").unwrap();
        }
        run(&checks, "t.1.check-1-1", 1, 10);
        trim([&runs, &checks], &BTreeSet::new(), u64::MAX);
        assert!(names(&runs).is_empty());
        assert_eq!(names(&checks), ["t.1.check-1-1"]);
    }

    #[test]
    fn a_folder_is_known_by_its_name() {
        let of = |name: &str| ticket_of(Path::new(name)).map(|id| id.to_string());
        assert_eq!(of("runs/t-1.3.12").as_deref(), Some("t-1"));
        assert_eq!(of("runs/t-1.3.12.old-7").as_deref(), Some("t-1"));
        assert_eq!(of("a.b.c.3.12").as_deref(), Some("a.b.c"));
        assert_eq!(of("checks/runs/a.b.3.check-1-12").as_deref(), Some("a.b"));
        for name in [
            "t-1",
            "t-1.3",
            "t-1.x.1",
            "t-1.3.",
            "t-1.3.+1",
            ".3.1",
            "t-1.old-1",
            "t-1.3.check-1",
            "t-1.3.check-1-x",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
