//! Fetching an agent's objects: packed with its store beside the user's, checked and stored without it.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::command::call::Call;
use crate::error::{Error, IoContext, Result};
use crate::files::openat;
use crate::repository::Repository;
use crate::repository::memory::Ahead;
use crate::types::oid::Oid;
use crate::types::refusal::{Limits, Refusal};
use crate::types::shortened::shortened;
use crate::workspace::Workspace;

/// A pack of more objects than this stays a pack. The objects of a smaller one become files, since every git
/// looks through every pack.
const LOOSE_OBJECTS: u32 = 100;
/// The greatest number of bytes that zlib makes of one byte, rounded up for the header; a pack without deltas
/// is no larger when unpacked.
const EXPANSION: u64 = 1040;
/// git's words when objects are whole, and its rules refuse one of them.
const FSCK_REFUSES: &str = "fsck error in pack";
/// A later commit that takes the object away again does not help.
const REWRITE: &str = "No commit of the branch may hold it, not even an earlier one: rewrite that commit.";

impl Repository {
    /// Fetches a commit and all that it needs from the objects of the repository in `from` (the workspace or
    /// a folder in it), strictly checked.
    pub(crate) fn fetch_objects(
        &self,
        workspace: &Workspace,
        from: &Path,
        tip: &Oid,
        limits: &Limits,
    ) -> Result<()> {
        let known = [workspace.base(), workspace.start()];
        if known.contains(&tip) {
            return Ok(());
        }
        // The commit of the branch was fetched before, and the branch has kept it since; unless the user's
        // `git gc --prune=now` looked at the refs before the branch moved, and deleted the objects after.
        if self.branch_tip(&workspace.branch())?.as_ref() == Some(tip) && self.is_at_hand(tip) {
            return Ok(());
        }
        let fetch = Fetch {
            repository: self,
            workspace,
            view: ObjectsView::of(workspace, from)?,
            tip,
            known,
            limits,
        };
        let pack = fetch.pack()?;
        failpoint::hit("import.packed");
        fetch.unpack(pack)?;
        failpoint::hit("import.unpacked");
        // The objects are complete without the agent's store: all that the pack leans on is in the user's
        // repository.
        let ahead = self.walk(tip, &known).map_err(|error| fetch.unsound(error))?;
        if !ahead.is_commit && self.require_commits(&[tip]).is_err() {
            return Err(fetch.refused(Refusal::Objects {
                why: format!("{tip} is not a commit"),
            }));
        }
        if workspace.start() == workspace.base() {
            self.memories().ahead.keep(workspace.base(), tip, ahead.of_first);
        }
        Ok(())
    }

    /// Opens the objects of a workspace, to be read beside the repository's own.
    pub(crate) fn agents_objects(&self, workspace: &Workspace) -> Result<ObjectsView> {
        ObjectsView::of(workspace, &workspace.path())
    }

    /// Whether the commit and its tree are in the repository. This costs no process of git's.
    fn is_at_hand(&self, commit: &Oid) -> bool {
        let tree = self.tree_from_cat_file(commit);
        tree.is_some_and(|tree| self.objects_of([&tree]).is_some())
    }

    /// Walks over everything that `tip` needs and `known` lacks; fails if any of it is missing.
    fn walk(&self, tip: &Oid, known: &[&Oid; 2]) -> Result<Walked> {
        let (mut commits, mut is_commit, mut contains_base) = (0, false, false);
        self.call("rev-list")
            .args(["--objects", "--no-object-names", "--left-right", "--boundary"])
            .args(["--end-of-options", tip.as_str()])
            .args(known.map(|oid| format!("^{oid}")))
            .ok_lines(&mut |line| match line.split_first() {
                Some((b'>', commit)) => {
                    commits += 1;
                    is_commit |= commit == tip.as_str().as_bytes();
                }
                // The commit is a child of the base and not part of it, so the way to the base is in the tip
                // alone.
                Some((b'-', boundary)) => contains_base |= boundary == known[0].as_str().as_bytes(),
                _ => {}
            })?;
        Ok(Walked {
            is_commit,
            of_first: Ahead {
                commits,
                contains_base,
            },
        })
    }
}

/// The result of a walk from a tip.
struct Walked {
    is_commit: bool,
    /// How far the tip is ahead of the first known commit, if the other one is the same.
    of_first: Ahead,
}

/// A fetch of one commit.
struct Fetch<'a> {
    repository: &'a Repository,
    workspace: &'a Workspace,
    view: ObjectsView,
    tip: &'a Oid,
    known: [&'a Oid; 2],
    limits: &'a Limits,
}

impl Fetch<'_> {
    fn refused(&self, refusal: Refusal) -> Error {
        Error::Refused {
            workspace: self.workspace.path(),
            refusals: vec![refusal],
        }
    }

    fn too_much(&self, what: &'static str, found: u64, limit: u64) -> Error {
        self.refused(Refusal::TooMuch {
            what,
            found,
            limit,
            most: None,
        })
    }

    fn unsound(&self, error: Error) -> Error {
        match error {
            // A full disk proves nothing about the objects.
            passing if passing.is_passing() => passing,
            Error::Failed { stderr, .. } => {
                let why = shortened(&stderr, 500);
                self.refused(if stderr.contains(FSCK_REFUSES) {
                    let why = format!("{}\n{REWRITE}", why.trim_end());
                    Refusal::Unsound { why }
                } else {
                    Refusal::Objects { why }
                })
            }
            other => other,
        }
    }

    fn borrowing(&self, subcommand: &'static str) -> Call {
        self.repository
            .call(subcommand)
            .alternate(&self.view.path)
            .deadline(self.limits.deadline)
    }

    /// Lists the tip and what it needs beyond the known commits, as git's revisions and as its list of
    /// objects.
    fn revisions(&self) -> impl Iterator<Item = String> {
        let known = self.known.map(|oid| format!("^{oid}"));
        std::iter::once(self.tip.to_string()).chain(known)
    }

    fn list(&self) -> Result<Vec<u8>> {
        let (limit, line) = (self.limits.objects as u64, self.tip.as_str().len() as u64 + 1);
        let listed = self
            .borrowing("rev-list")
            .args(["--objects", "--no-object-names", "--end-of-options"])
            .args(self.revisions())
            .output_limit(limit * line)
            .ok();
        listed.map_err(|error| match error {
            Error::OutputTooLarge { .. } => self.too_much("objects", limit + 1, limit),
            other => self.unsound(other),
        })
    }

    /// Packs the objects, within the limits: the count is in the pack's own head, and the unpacked size is
    /// looked up only if the pack could hold more than is allowed.
    fn pack(&self) -> Result<Pack> {
        let beside = self.workspace.beside();
        let limit = self.limits.bytes;
        // One pack of an agent's may hold millions of objects, while each loose object costs the agent a
        // file.
        if self.view.has_packs {
            self.list()?;
        }
        let revisions: String = self.revisions().map(|one| one + "\n").collect();
        let mut file = tempfile::tempfile_in(&beside).doing("write in", &beside)?;
        let packed = self
            .borrowing("pack-objects")
            .args(["--revs", "--stdout", "-q", "--no-use-bitmap-index"])
            .args(["--window=0", "--no-reuse-delta"])
            .input(revisions.as_bytes())?
            .output_limit(limit.saturating_add(16 << 20))
            .ok_into(&mut file);
        packed.map_err(|error| match error {
            Error::OutputTooLarge { .. } => self.too_much("bytes", limit + 1, limit),
            other => self.unsound(other),
        })?;
        let size = file.stream_position().doing("write in", &beside)?;
        let mut head = [0; 12];
        file.rewind()
            .and_then(|()| file.read_exact(&mut head))
            .and_then(|()| file.rewind())
            .doing("read in", &beside)?;
        let objects = u32::from_be_bytes([head[8], head[9], head[10], head[11]]);
        if objects as usize > self.limits.objects {
            return Err(self.too_much("objects", objects.into(), self.limits.objects as u64));
        }
        if size.saturating_mul(EXPANSION) > limit {
            let found = self.unpacked_size()?;
            if found > limit {
                return Err(self.too_much("bytes", found, limit));
            }
        }
        if size.saturating_mul(EXPANSION) > self.limits.file_bytes {
            self.refuse_large_files()?;
        }
        Ok(Pack { file, objects })
    }

    fn refuse_large_files(&self) -> Result<()> {
        let call = |subcommand| self.borrowing(subcommand);
        let refusals = self
            .repository
            .large_files(self.workspace, &call, self.tip, &self.known, self.limits)
            .map_err(|error| self.unsound(error))?;
        if refusals.is_empty() {
            return Ok(());
        }
        Err(Error::Refused {
            workspace: self.workspace.path(),
            refusals,
        })
    }

    fn unpacked_size(&self) -> Result<u64> {
        let sizes = self
            .borrowing("cat-file")
            .arg("--batch-check=%(objectsize)")
            .input(&self.list()?)?
            .ok()
            .map_err(|error| self.unsound(error))?;
        let size = |line: &str| line.parse::<u64>().ok();
        let sizes = String::from_utf8_lossy(&sizes).into_owned();
        Ok(sizes.lines().fold(0_u64, |sum, line| {
            sum.saturating_add(size(line).unwrap_or(u64::MAX))
        }))
    }

    /// Stores the objects, each checked by git's rules, without the agent's store: whatever they lean on must
    /// be in the user's repository.
    fn unpack(&self, pack: Pack) -> Result<()> {
        let store = |call: Call| {
            let stored = call.deadline(self.limits.deadline).input_file(pack.file).ok();
            stored.map(drop).map_err(|error| self.unsound(error))
        };
        match pack.objects {
            0 => Ok(()),
            1..=LOOSE_OBJECTS => store(self.repository.call("unpack-objects").args(["-q", "--strict"])),
            _ => {
                store(self.repository.call("index-pack").args(["--stdin", "--strict"]))?;
                // git fsyncs a pack and its index, but not the folder entries with the names that it then
                // gives them.
                let folder = self.repository.objects().join("pack");
                File::open(&folder)
                    .and_then(|opened| opened.sync_all())
                    .doing("make durable", &folder)
            }
        }
    }
}

/// A pack in a file, and the number of its objects.
struct Pack {
    file: File,
    objects: u32,
}

/// The agent's objects under a folder of crew's own: its `info/` (alternates that lead elsewhere, a forged
/// commit graph) is left out.
pub(crate) struct ObjectsView {
    path: PathBuf,
    has_packs: bool,
    _folder: tempfile::TempDir,
}

impl ObjectsView {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn of(workspace: &Workspace, from: &Path) -> Result<Self> {
        let beside = workspace.beside();
        let folder = tempfile::Builder::new()
            .prefix("objects-")
            .tempdir_in(&beside)
            .doing("make in", &beside)?;
        let root = workspace.open()?;
        let objects = from.join(".git/objects");
        let relative = objects
            .strip_prefix(workspace.path())
            .unwrap_or(Path::new(".git/objects"));
        let mut has_packs = false;
        let stands = match openat::folder(&root, relative) {
            Ok(_) => true,
            Err(error) if openat::is_by_its_writer(&error) => false,
            Err(error) => return Err(Error::io("open", &objects, error)),
        };
        if stands {
            // If the packs cannot be listed, there may be some.
            has_packs = objects
                .join("pack")
                .read_dir()
                .map_or(true, |mut entries| entries.next().is_some());
            let fans = (0..=255_u8).map(|number| format!("{number:02x}"));
            for name in fans.chain(["pack".to_owned()]) {
                let real = objects.join(&name);
                match real.symlink_metadata() {
                    Ok(meta) if meta.is_dir() => {
                        symlink(&real, folder.path().join(&name)).doing("make in", folder.path())?;
                    }
                    Ok(_) => {}
                    Err(error) if openat::is_by_its_writer(&error) => {}
                    Err(error) => return Err(Error::io("look at", &real, error)),
                }
            }
        }
        Ok(Self {
            path: folder.path().to_owned(),
            has_packs,
            _folder: folder,
        })
    }
}
