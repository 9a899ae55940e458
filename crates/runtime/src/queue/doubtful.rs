//! Doubtful changes: they may be git's own work, and are reported once git has had the time to show that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use engine::{Observation, driver};
use model::ticket::Origin;
use tickets::Folder;

use super::aside;
use super::origins::Origins;
use super::seen::Seen;
use crate::clock::Stopwatch;

/// How long a change stands before it is judged. A git that switches branches writes the files, gives the
/// index back, and only then moves HEAD.
const STANDS: Duration = Duration::from_millis(200);
/// How long a git that holds the index is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// The changes, each by the file's name.
#[derive(Default)]
pub(super) struct Doubtful(BTreeMap<String, Change>);

struct Change {
    since: Stopwatch,
    seen: Observation,
    /// The blob of the file; none if it is gone.
    blob: Option<(PathBuf, git::Oid)>,
}

impl Doubtful {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn put(&mut self, name: String, seen: Observation, blob: Option<(PathBuf, git::Oid)>) {
        let since = Stopwatch::start();
        self.0.insert(name, Change { since, seen, blob });
    }

    /// The names of the files.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// The file has changed again.
    pub(super) fn forget(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Reports the changes, all together, once each has stood for long enough and no git is at work.
    pub(super) fn report<S: Fn(driver::Event)>(
        &mut self,
        folder: &Folder,
        origins: &mut Origins,
        to: &mut Seen<'_, S>,
    ) {
        let elapsed = || self.0.values().map(|change| change.since.elapsed());
        let (least, most) = (elapsed().min(), elapsed().max());
        let is_busy = origins.is_git_at_work() && most.is_some_and(|most| most < PATIENCE);
        if is_busy || least.is_none_or(|least| least < STANDS) {
            return;
        }
        origins.look(false);
        let blobs: Vec<(PathBuf, git::Oid)> =
            self.0.values().filter_map(|change| change.blob.clone()).collect();
        let committed: BTreeSet<PathBuf> = origins.committed(&blobs);
        let is_replaced = origins.is_folder_replaced();
        let is_any_gone = self.0.values().any(|change| change.blob.is_none());
        let gone = self.0.iter().filter(|(_, change)| change.blob.is_none());
        let gone: Vec<&str> = gone.map(|(name, _)| name.as_str()).collect();
        let tracked = origins.tracked(folder, &gone);
        let aside = if is_any_gone {
            aside::names(folder)
        } else {
            BTreeSet::new()
        };
        for (name, Change { mut seen, blob, .. }) in std::mem::take(&mut self.0) {
            let is_committed = blob.as_ref().is_some_and(|(path, _)| committed.contains(path));
            let found = match (origins.has_moved(), is_committed, &blob) {
                (true, _, _) => Origin::Git,
                (false, false, None) if is_replaced || aside.contains(&name) => Origin::Unknown,
                (false, true, _) | (false, false, None) => Origin::Person,
                (false, false, Some(_)) => Origin::Unknown,
            };
            match &mut seen {
                Observation::Read { origin, .. } => *origin = found,
                Observation::Gone {
                    origin, is_tracked, ..
                } => (*origin, *is_tracked) = (found, tracked.contains(&name)),
                Observation::Unreadable { .. } => {}
            }
            to.push(seen);
        }
    }
}
