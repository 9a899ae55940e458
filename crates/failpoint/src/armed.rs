//! Armed failpoints: counts the hits of each point, and ends the process at the one that was asked for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// The variable that names the point to die at.
const AT: &str = "CREW_FAILPOINT_AT";
/// The variable that names the folder in which hits are counted.
const LOG: &str = "CREW_FAILPOINT_LOG";

/// The environment's wishes, read once.
struct Armed {
    at: Vec<(String, u64)>,
    log: Option<PathBuf>,
    /// Hits so far, unless a folder counts them.
    hits: Mutex<BTreeMap<String, u64>>,
}

static ARMED: LazyLock<Armed> = LazyLock::new(|| Armed {
    at: variable(AT).map_or_else(Vec::new, |at| {
        at.to_string_lossy().split(',').filter_map(parse).collect()
    }),
    log: variable(LOG).map(PathBuf::from),
    hits: Mutex::default(),
});

#[expect(
    clippy::disallowed_methods,
    reason = "a test arms a failpoint past everything that the program itself may read"
)]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn parse(at: &str) -> Option<(String, u64)> {
    match at.split_once(':') {
        Some((name, hit)) => Some((name.to_owned(), hit.parse().ok()?)),
        None => Some((at.to_owned(), 1)),
    }
}

pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    let known = [AT, LOG].into_iter();
    known
        .filter_map(|name| Some((name.into(), variable(name)?)))
        .collect()
}

/// Held from the count of a hit at a point to die at until the process is dead: a thread that came to another
/// such point meanwhile would count a hit there that nobody dies of.
static DYING: Mutex<()> = Mutex::new(());

pub(crate) fn pass(name: &str) {
    let armed = &*ARMED;
    let is_asked_for = armed.at.iter().any(|(at, _)| at == name);
    let _alone = is_asked_for.then(|| DYING.lock().unwrap_or_else(PoisonError::into_inner));
    let hit = match &armed.log {
        Some(folder) => logged(folder, name),
        None if !armed.at.is_empty() => counted(&armed.hits, name),
        None => return,
    };
    if armed.at.iter().any(|(at, on)| at == name && *on == hit) {
        die();
    }
}

fn counted(hits: &Mutex<BTreeMap<String, u64>>, name: &str) -> u64 {
    let mut hits = hits.lock().unwrap_or_else(PoisonError::into_inner);
    let count = hits.entry(name.to_owned()).or_default();
    *count += 1;
    *count
}

/// The number of a hit among those of all processes: each process appends a byte, and its position is the
/// number. 0, which no test asks for, if it cannot be written.
fn logged(folder: &Path, name: &str) -> u64 {
    let opened = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join(name));
    let counted = opened.and_then(|mut file| file.write_all(b".").and_then(|()| file.stream_position()));
    counted.unwrap_or_default()
}

fn die() -> ! {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).ok();
    // The signal is on its way to every thread.
    loop {
        std::thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_counted_over_all_processes_that_share_a_folder() {
        let folder = std::env::temp_dir().join(format!("failpoint-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let hits: Vec<u64> = ["a.b", "a.b", "a.c", "a.b"]
            .map(|name| logged(&folder, name))
            .into();
        assert_eq!(hits, [1, 2, 1, 3]);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(logged(&folder, "a.b"), 0);
    }

    #[test]
    fn a_point_is_a_name_and_a_hit() {
        assert_eq!(parse("land.moved"), Some(("land.moved".to_owned(), 1)));
        assert_eq!(parse("land.moved:3"), Some(("land.moved".to_owned(), 3)));
        assert_eq!(parse("land.moved:x"), None);
    }
}
