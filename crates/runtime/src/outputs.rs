//! What steps and checks have printed: of closed tickets, only so much of it is kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{TicketId, Time};
use process::{Run, Status};

/// What the outputs of all steps and checks may take on the disk; above it, the oldest of closed tickets go.
pub(crate) const MOST: u64 = 4 * 1024 * 1024 * 1024;

/// A check that ended so long ago is no open ticket's: what it said of one that failed is in the journal.
const CHECKED: Duration = Duration::from_secs(24 * 60 * 60);

/// A run that has ended.
struct Ended {
    dir: PathBuf,
    at: Time,
    bytes: u64,
    /// Whether it may go.
    may_go: bool,
}

/// Removes outputs, the oldest first, until all together take no more than `most` bytes, or only those of open tickets are left.
/// How many runs' it removed. What may be alive, and what nobody knows, stays.
pub(crate) fn trim(runs: &Path, checks: &Path, closed: &BTreeSet<TicketId>, most: u64, now: Time) -> usize {
    let of_closed = |dir: &Path| ticket_of(dir).is_some_and(|id| closed.contains(&id));
    let mut runs = ended(runs, |dir, _| of_closed(dir));
    for check in folders(checks) {
        runs.extend(ended(&check, |_, at| at + CHECKED < now));
    }
    let mut all: u64 = runs.iter().map(|run| run.bytes).sum();
    if all <= most {
        return 0;
    }
    runs.retain(|run| run.may_go);
    runs.sort_by(|a, b| (a.at, &a.dir).cmp(&(b.at, &b.dir)));
    let mut removed = 0;
    for run in runs {
        if all <= most {
            break;
        }
        match fs::remove_dir_all(&run.dir) {
            Ok(()) => {
                all = all.saturating_sub(run.bytes);
                removed += 1;
            }
            Err(error) => {
                tracing::warn!(folder = %run.dir.display(), error = text::system(&error), "an old output cannot be removed");
            }
        }
    }
    removed
}

/// The runs in a folder that have ended, each with what it takes.
fn ended(folder: &Path, may_go: impl Fn(&Path, Time) -> bool) -> Vec<Ended> {
    let look = |dir: PathBuf| {
        let run = Run::open(&dir).ok()?;
        let Status::Ended(exit) = run.status().ok()? else {
            return None;
        };
        let at = Time(i64::try_from(exit.ended_at).unwrap_or(i64::MAX));
        let files = fs::read_dir(&dir).ok()?.flatten();
        let bytes = files.filter_map(|file| Some(file.metadata().ok()?.len())).sum();
        let may_go = may_go(&dir, at);
        Some(Ended {
            dir,
            at,
            bytes,
            may_go,
        })
    };
    folders(folder).into_iter().filter_map(look).collect()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    dirs.map(|entry| entry.path()).collect()
}

/// The ticket of a step's run, whose name is `<ticket>.<fence>.<n>`.
fn ticket_of(dir: &Path) -> Option<TicketId> {
    let mut parts = dir.file_name()?.to_str()?.rsplitn(3, '.');
    let is_number = |part: &str| part.parse::<u64>().is_ok();
    (is_number(parts.next()?) && is_number(parts.next()?)).then_some(())?;
    TicketId::new(parts.next()?).ok()
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
        let names = folders(folder).into_iter();
        let mut names: Vec<String> = names
            .map(|dir| dir.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
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
        run(&checks.join("tree"), "7-0", 3, 10_000);
        run(&checks.join("tree"), "9-0", 3 * DAY, 10_000);
        // It has no end: something of it may be alive.
        fs::create_dir_all(runs.join("old.1.2")).unwrap();
        fs::write(runs.join("old.1.2/spec.json"), "{}").unwrap();
        fs::write(runs.join("old.1.2/out"), vec![b'x'; 10_000]).unwrap();
        let closed = BTreeSet::from(["old", "young"].map(|id| TicketId::new(id).unwrap()));
        let now = Time(i64::try_from(3 * DAY).unwrap());
        let trim = |most| trim(&runs, &checks, &closed, most, now);

        assert_eq!(trim(100_000), 0, "there is room");
        assert_eq!(trim(45_000), 1);
        assert_eq!(
            names(&runs),
            ["old.1.2", "open.1.1", "young.2.1"],
            "the oldest that may go"
        );
        assert_eq!(trim(0), 2);
        assert_eq!(names(&runs), ["old.1.2", "open.1.1"]);
        assert_eq!(names(&checks.join("tree")), ["9-0"], "it is younger than a day");
        assert_eq!(trim(0), 0);
    }
}
