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
/// How long a git is waited for that has given the index back, and may be about to move HEAD. Mostly somebody
/// has only prepared a commit.
const HEAD_FOLLOWS: Duration = Duration::from_secs(2);

/// How git knows the content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// It has this blob, for the path in the repository.
    Known(PathBuf, git::Oid),
    /// It does not have it.
    New,
    /// It could not be asked.
    Unasked,
}

impl Content {
    /// The blob that git has, with the path in the repository.
    pub(super) fn blob(&self) -> Option<(PathBuf, git::Oid)> {
        match self {
            Content::Known(path, blob) => Some((path.clone(), blob.clone())),
            Content::New | Content::Unasked => None,
        }
    }
}

/// The changes, each by the file's name.
#[derive(Default)]
pub(super) struct Doubtful(BTreeMap<String, Change>);

struct Change {
    since: Stopwatch,
    file: PathBuf,
    /// The text that was read; none if the file is gone.
    text: Option<String>,
    seen: Observation,
}

impl Change {
    /// Whether the file is still as it was seen. If not, another look is on its way.
    fn stands(&self) -> bool {
        match &self.text {
            Some(text) => std::fs::read(&self.file).is_ok_and(|now| now == text.as_bytes()),
            None => self.file.symlink_metadata().is_err(),
        }
    }
}

impl Doubtful {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A change of this file, with the text that was read, was seen as this.
    pub(super) fn put(&mut self, name: String, (file, text): (PathBuf, Option<String>), seen: Observation) {
        let since = Stopwatch::start();
        let change = Change {
            since,
            file,
            text,
            seen,
        };
        self.0.insert(name, change);
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
        if !self.0.values().all(Change::stands) {
            return;
        }
        let files = |is_there: bool| {
            let changes = self
                .0
                .iter()
                .filter(move |(_, change)| change.text.is_some() == is_there);
            changes.map(|(name, change)| (name.as_str(), change.file.clone()))
        };
        let (read, paths): (Vec<&str>, Vec<PathBuf>) = files(true).unzip();
        let contents: BTreeMap<&str, Content> = read.into_iter().zip(origins.contents(paths)).collect();
        let all = self.0.values();
        let paths: Vec<PathBuf> = all
            .map(|change| origins.path_in_repository(&change.file))
            .collect();
        if least.is_some_and(|least| least < HEAD_FOLLOWS) && origins.is_about_to_move(&paths) {
            return;
        }
        // Since the files were hashed: git may have moved, and a person edited its file, just before that.
        // Since the index was looked at: a git that was about to move may have.
        origins.look(false);
        let blobs: Vec<(PathBuf, git::Oid)> = contents.values().filter_map(Content::blob).collect();
        let committed: BTreeSet<PathBuf> = origins.committed(&blobs);
        let is_replaced = origins.is_folder_replaced();
        let gone: Vec<&str> = files(false).map(|(name, _)| name).collect();
        let tracked = origins.tracked(folder, &gone);
        let aside = match gone.is_empty() {
            true => BTreeSet::new(),
            false => aside::names(folder),
        };
        let has_moved = origins.has_moved();
        let edited = self.0.iter().filter_map(|(name, change)| match &change.seen {
            Observation::Read { status, .. } if contents.get(name.as_str()) == Some(&Content::New) => {
                Some((change.file.clone(), *status))
            }
            Observation::Read { .. } | Observation::Unreadable { .. } | Observation::Gone { .. } => None,
        });
        let with_status_of_git = origins.with_status_of_git(has_moved, edited.collect());
        let found: Vec<Origin> = self
            .0
            .iter()
            .map(|(name, change)| match contents.get(name.as_str()) {
                Some(Content::New) if with_status_of_git.contains(&change.file) => Origin::Git,
                Some(Content::New) => Origin::Person,
                None | Some(Content::Known(..) | Content::Unasked) if has_moved => Origin::Git,
                None if is_replaced || aside.contains(name) => Origin::Unknown,
                None => Origin::Person,
                Some(Content::Known(path, _)) if committed.contains(path) => Origin::Person,
                Some(Content::Known(..) | Content::Unasked) => Origin::Unknown,
            })
            .collect();
        for ((name, Change { mut seen, .. }), found) in std::mem::take(&mut self.0).into_iter().zip(found) {
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
