//! The processes below another one, and those of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use rustix::io::Errno;

use super::{Process, has_variable, process};
use crate::spec::MARKER;

/// The marker of a run that is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Marker<'a> {
    /// The id of the run.
    pub(crate) run_id: &'a str,
    /// In clock ticks since boot: a process that started earlier is none of the run's. Its environment, the
    /// costliest thing to read here, need not be read.
    pub(crate) since: u64,
}

/// All processes, each looked at once.
///
/// A listing of `/proc` is older than the looks at its processes: one that starts a child and ends in between
/// would be missed, and its child with it. So `/proc` is listed again until no new process is in it.
fn all(marker: Option<Marker<'_>>) -> Result<Vec<Process>, Errno> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for _ in 0..LISTINGS {
        let before = seen.len();
        for entry in
            fs::read_dir("/proc").map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?
        {
            let Ok(entry) = entry else { continue };
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if !seen.insert(pid) {
                continue;
            }
            // A process that went away while it was looked at is not an error: it is gone.
            if let Some(mut process) = process(pid) {
                process.marked = marker.is_some_and(|marker| {
                    process.start >= marker.since && has_variable(pid, MARKER, Some(marker.run_id))
                });
                found.push(process);
            }
        }
        if seen.len() == before {
            break;
        }
    }
    Ok(found)
}

/// Fewer processes than this are found by the lists of children.
const MANY: usize = 64;

/// At most so many listings for one look at `/proc`: on some machines processes start all the time.
const LISTINGS: u32 = 20;

/// The living processes below this one, oldest first. `expected`: about how many these are. Good enough for a
/// heartbeat: a process that starts, or loses its parent, during this call can be missing.
pub(crate) fn descendants(root: u32, expected: usize) -> Result<Vec<Process>, Errno> {
    // A kernel without these lists has no such file: then everybody is asked for its parent. That is cheaper
    // too where most processes are below this one, as each of them has two files to read otherwise.
    let are_most =
        || rustix::system::sysinfo().procs < expected.saturating_mul(2).try_into().unwrap_or(u16::MAX);
    if !std::path::Path::new(&format!("/proc/{root}/task/{root}/children")).exists()
        || expected > MANY && are_most()
    {
        return Ok(below(all(None)?, root));
    }
    let (mut found, mut parents) = (Vec::new(), vec![(root, u32::MAX)]);
    let mut seen = BTreeSet::from([root]);
    while let Some((parent, threads)) = parents.pop() {
        for thread in threads_of(parent, threads) {
            let children = fs::read_to_string(thread.join("children")).unwrap_or_default();
            let children = children
                .split_ascii_whitespace()
                .filter_map(|pid| pid.parse().ok());
            for child in children.filter(|pid| seen.insert(*pid)) {
                let process = process(child);
                let threads = process.as_ref().map_or(u32::MAX, |process| process.threads);
                parents.push((child, threads));
                found.extend(process);
            }
        }
    }
    Ok(in_order(found))
}

/// The folders of a process's threads, of which it has so many. Most processes have one, and need no listing.
fn threads_of(pid: u32, threads: u32) -> Vec<PathBuf> {
    let folder = PathBuf::from(format!("/proc/{pid}/task"));
    if threads == 1 {
        return vec![folder.join(pid.to_string())];
    }
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    listed.map(|thread| thread.path()).collect()
}

fn below(all: Vec<Process>, root: u32) -> Vec<Process> {
    let mut by_parent: BTreeMap<u32, Vec<Process>> = BTreeMap::new();
    for process in all {
        by_parent.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        let children = by_parent.remove(&parent).unwrap_or_default();
        parents.extend(children.iter().map(|child| child.pid));
        found.extend(children);
    }
    in_order(found)
}

/// The living ones, oldest first.
fn in_order(mut found: Vec<Process>) -> Vec<Process> {
    found.retain(|process| !process.dead);
    found.sort_by_key(|process| (process.start, process.pid));
    found
}

/// The living processes of a run: `root` itself if asked for, all processes below it, and all that carry the
/// run's marker, of those whose environment this process may read. Left out is what has one above it of which
/// `is_elsewhere` says that it holds a run in another directory.
pub(crate) fn of_run(
    marker: Marker<'_>,
    root: Option<Root>,
    is_elsewhere: impl Fn(u32) -> bool,
) -> Result<Vec<Process>, Errno> {
    let all = all(Some(marker))?;
    let mut found = root.map_or_else(Vec::new, |root| below(all.clone(), root.pid));
    let known: BTreeSet<u32> = found.iter().map(|process| process.pid).collect();
    let others = all.iter().filter(|process| {
        let counts = match root {
            Some(root) if root.pid == process.pid => root.included,
            _ => process.marked && !known.contains(&process.pid),
        };
        counts && !process.dead
    });
    found.extend(others.cloned());
    if found.is_empty() {
        return Ok(found);
    }
    let parents: BTreeMap<u32, u32> = all.iter().map(|process| (process.pid, process.parent)).collect();
    let mut seen: BTreeMap<u32, bool> = BTreeMap::new();
    found.retain(|process| {
        // A number may come twice, as the processes were looked at one after the other.
        let mut climbed = BTreeSet::new();
        let above = std::iter::successors(Some(process.pid), |pid| parents.get(pid).copied());
        let mut above = above.take_while(|pid| climbed.insert(*pid));
        !above.any(|pid| *seen.entry(pid).or_insert_with(|| is_elsewhere(pid)))
    });
    Ok(found)
}

/// The root of a run's process tree.
#[derive(Clone, Copy)]
pub(crate) struct Root {
    pub(crate) pid: u32,
    /// Whether the root belongs to the run, as its program does, or only holds it, as its shim does.
    pub(crate) included: bool,
}
