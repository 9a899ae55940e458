//! When a fault strikes: by chance alone, or by chance just after something has happened, where the windows
//! are small.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::kill::rng::Rng;
use crate::kill::world::World;
use testkit::wait;

/// What is waited for before a fault. Not for ever: with nothing left to happen, any moment will do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// Nothing.
    Any,
    /// The target has moved: it is landed, and nobody knows yet.
    Landed,
    /// A ref of the repository has moved: something is made, taken over, landed or removed.
    RefMoved,
    /// A workspace came or went.
    Workspace,
    /// A run has its directory, and perhaps no shim yet.
    Run,
    /// A decision is durable, and nothing of it is done.
    Decided,
}

impl Moment {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let all = [
            Self::Any,
            Self::Landed,
            Self::RefMoved,
            Self::Workspace,
            Self::Run,
            Self::Decided,
        ];
        *rng.pick(&all)
    }

    /// Lets it come.
    pub(crate) fn await_in(self, world: &World, rng: &mut Rng) {
        wait::pause(rng.millis(0, 500));
        if let Some(folder) = self.folder(world) {
            let before = look(&folder);
            let deadline = Instant::now() + Duration::from_secs(3);
            while look(&folder) == before && Instant::now() < deadline {
                wait::pause(Duration::from_micros(200));
            }
        }
        wait::pause(Duration::from_micros(rng.between(0, 20_000)));
    }

    fn folder(self, world: &World) -> Option<PathBuf> {
        match self {
            Self::Any => None,
            Self::Landed => Some(world.repo().join(".git/refs/heads/main")),
            Self::RefMoved => Some(world.repo().join(".git/refs")),
            Self::Workspace => Some(world.state()),
            Self::Run => Some(world.repo().join(".crew/runs")),
            Self::Decided => Some(world.repo().join(".crew/journal.db-wal")),
        }
    }
}

/// A file, or everything in a folder three levels deep, with the time at which it changed.
fn look(at: &Path) -> Vec<(PathBuf, Option<SystemTime>)> {
    let mut seen = Vec::new();
    let mut open = vec![(at.to_owned(), 0)];
    while let Some((path, depth)) = open.pop() {
        let changed = path.metadata().and_then(|meta| meta.modified()).ok();
        if depth < 3 {
            let below = std::fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(below.map(|entry| (entry.path(), depth + 1)));
        }
        seen.push((path, changed));
    }
    seen
}
