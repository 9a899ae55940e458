//! An agent's commits come into the user's repository, as objects that were checked, without running git in the
//! agent's git directory.

use std::fmt;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::agent_refs::AgentRefs;
use crate::beneath;
use crate::diff::{Change, Mode};
use crate::error::{Error, IoContext, Result, shortened};
use crate::oid::Oid;
use crate::repository::Repository;
use crate::workspace::Workspace;

/// How much may come in.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Objects (commits, trees, blobs) in one import.
    pub objects: usize,
    /// Their unpacked size together, in bytes.
    pub bytes: u64,
    /// Paths that differ from the base.
    pub paths: usize,
    /// Top folders that no agent may touch, compared without case.
    pub protected: Vec<String>,
    /// Time for each of its git calls.
    pub deadline: Duration,
}

impl Default for Limits {
    /// 200,000 objects, 1 GiB, 20,000 paths, `.crew` and `agents`, 120 s.
    fn default() -> Self {
        Self {
            objects: 200_000,
            bytes: 1 << 30,
            paths: 20_000,
            protected: vec![".crew".to_owned(), "agents".to_owned()],
            deadline: Duration::from_secs(120),
        }
    }
}

/// Why something of an agent's may not come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// HEAD cannot be followed to a commit.
    Head {
        /// What is wrong with it.
        why: String,
    },
    /// git finds the objects broken, missing or malicious.
    Objects {
        /// What git said, shortened.
        why: String,
    },
    /// A path that would harm a checkout (`.git` and its look-alikes).
    DotGit {
        /// The path.
        path: PathBuf,
    },
    /// A path in a folder of crew's.
    Protected {
        /// The path.
        path: PathBuf,
    },
    /// A repository inside the repository, committed as a link to nothing.
    Submodule {
        /// The path.
        path: PathBuf,
    },
    /// More than the [`Limits`] allow.
    TooMuch {
        /// Of what.
        what: &'static str,
        /// How much there is (at least).
        found: u64,
        /// How much may be.
        limit: u64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head { why } => write!(f, "HEAD of the workspace {why}"),
            Self::Objects { why } => write!(f, "git finds the objects unsound: {why}"),
            Self::DotGit { path } => write!(f, "{path:?} is a name of git's own"),
            Self::Protected { path } => write!(f, "{path:?} is in a folder of crew's"),
            Self::Submodule { path } => write!(f, "{path:?} is a repository inside the repository"),
            Self::TooMuch { what, found, limit } => write!(f, "{found} {what}, {limit} are allowed"),
        }
    }
}

pub(crate) fn list(refusals: &[Refusal]) -> String {
    let shown: Vec<String> = refusals.iter().take(5).map(ToString::to_string).collect();
    let more = refusals.len().saturating_sub(5);
    if more == 0 {
        shown.join("; ")
    } else {
        format!("{}; and {more} more", shown.join("; "))
    }
}

/// What an import brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The agent's HEAD, now the tip of the branch in the user's repository.
    pub tip: Oid,
    /// Commits that are in the tip and not in the base.
    pub commits: u32,
    /// Paths in which the tip differs from the base.
    pub changes: Vec<Change>,
    /// The tip that the branch had, if the agent rewrote it away; it is kept under this ref.
    pub replaced: Option<String>,
}

impl Repository {
    /// Brings the commits of the workspace's HEAD into the repository and moves the branch there, by compare-and-swap.
    /// Uncommitted work stays where it is ([`Repository::save`] takes it along). Repeating it changes nothing.
    ///
    /// # Errors
    /// [`Error::Refused`]: nothing moved; [`Error::WorkspaceMissing`]; [`Error::RefMoved`] when somebody else moved the
    /// branch meanwhile; [`Error::Deadline`].
    pub fn import(&self, workspace: &Workspace, limits: &Limits) -> Result<Imported> {
        let _claim = workspace.claim()?;
        self.import_claimed(workspace, limits)
    }

    pub(crate) fn import_claimed(&self, workspace: &Workspace, limits: &Limits) -> Result<Imported> {
        let refused = |refusal| Error::Refused {
            workspace: workspace.path(),
            refusals: vec![refusal],
        };
        let head = AgentRefs::of(workspace)?
            .head()
            .map_err(|why| refused(Refusal::Head { why }))?;
        self.bring(workspace, &workspace.path(), &head, limits)?;
        self.judge(workspace, &head, limits)?;
        self.advance(workspace, head)
    }

    /// Moves the branch; a tip that the new one does not contain is kept first.
    pub(crate) fn advance(&self, workspace: &Workspace, tip: Oid) -> Result<Imported> {
        let branch = workspace.branch();
        let old = self.branch_tip(&branch)?;
        let (behind, commits) = self.count_commits(workspace.base(), &tip)?;
        let mut replaced = None;
        if let Some(old) = &old {
            // The first time, the branch is where the work began.
            let contained = if old == workspace.base() {
                behind == 0
            } else {
                *old == tip || self.is_ancestor(old, &tip)?
            };
            if !contained {
                replaced = Some(self.keep_rescue(workspace.ticket(), old)?.name);
            }
        }
        if old.as_ref() == Some(&tip) {
            self.settle(&branch.full())?;
        } else {
            self.move_ref(&branch.full(), old.as_ref(), Some(&tip), "crew: import")?;
        }
        let changes = self.changes(workspace.base(), &tip)?;
        Ok(Imported {
            tip,
            commits,
            changes,
            replaced,
        })
    }

    /// Brings a commit and what it needs from the objects of the repository in `from` (the workspace or a folder in
    /// it), strictly checked.
    pub(crate) fn bring(&self, workspace: &Workspace, from: &Path, tip: &Oid, limits: &Limits) -> Result<()> {
        let known = [workspace.base(), workspace.start()];
        // What the branch is at was brought before, and the branch has kept it since.
        if known.contains(&tip) || self.branch_tip(&workspace.branch())?.as_ref() == Some(tip) {
            return Ok(());
        }
        let refused = |refusal| Error::Refused {
            workspace: workspace.path(),
            refusals: vec![refusal],
        };
        let unsound = |error| match error {
            Error::Failed { stderr, .. } => refused(Refusal::Objects {
                why: shortened(&stderr, 500),
            }),
            other => other,
        };
        let view = ObjectsView::of(workspace, from)?;
        let borrowing = |subcommand| {
            self.call(subcommand)
                .alternate(&view.path)
                .deadline(limits.deadline)
        };
        let bases = known.map(|oid| format!("^{oid}"));
        let line = u64::try_from(tip.as_str().len() + 1).unwrap_or(65);
        let listed = borrowing("rev-list")
            .args(["--objects", "--no-object-names", "--end-of-options", tip.as_str()])
            .args(bases)
            .output_limit(limits.objects as u64 * line)
            .ok();
        let list = match listed {
            Err(Error::OutputTooLarge { .. }) => {
                let (found, limit) = (limits.objects as u64 + 1, limits.objects as u64);
                return Err(refused(Refusal::TooMuch {
                    what: "objects",
                    found,
                    limit,
                }));
            }
            other => other.map_err(unsound)?,
        };
        let sizes = borrowing("cat-file")
            .arg("--batch-check=%(objectsize) %(objecttype) %(objectname)")
            .input(&list)?
            .ok()
            .map_err(unsound)?;
        let sizes = String::from_utf8_lossy(&sizes).into_owned();
        let bytes = sizes.lines().fold(0_u64, |sum, line| {
            let size = line.split(' ').next().and_then(|size| size.parse().ok());
            sum.saturating_add(size.unwrap_or(u64::MAX))
        });
        let is_commit = format!(" commit {tip}");
        let is_commit = sizes.lines().any(|line| line.ends_with(&is_commit));
        if bytes > limits.bytes {
            return Err(refused(Refusal::TooMuch {
                what: "bytes",
                found: bytes,
                limit: limits.bytes,
            }));
        }
        let mut pack = tempfile::tempfile_in(workspace.beside()).doing("write in", workspace.beside())?;
        borrowing("pack-objects")
            .args(["--stdout", "-q", "--delta-base-offset"])
            .input(&list)?
            .output_limit(limits.bytes.saturating_add(16 << 20))
            .ok_into(&mut pack)
            .map_err(unsound)?;
        pack.seek(SeekFrom::Start(0))
            .doing("read in", workspace.beside())?;
        // Without the agent's objects: whatever the pack leans on must be in the user's repository.
        self.call("index-pack")
            .args(["--stdin", "--strict"])
            .deadline(limits.deadline)
            .input_file(pack)
            .ok()
            .map_err(unsound)?;
        if is_commit && self.is_whole(tip, &known)? {
            Ok(())
        } else {
            Err(refused(Refusal::Objects {
                why: format!("{tip} is not a commit, or not whole"),
            }))
        }
    }

    /// Whether an object and everything it needs beyond `known` is in the repository's own objects.
    fn is_whole(&self, tip: &Oid, known: &[&Oid]) -> Result<bool> {
        let said = self
            .call("rev-list")
            .args(["--objects", "--quiet", "--end-of-options", tip.as_str()])
            .args(known.iter().map(|oid| format!("^{oid}")))
            .run()?;
        Ok(said.code == Some(0))
    }

    /// Whether the tip's difference from the base may land at all.
    pub(crate) fn judge(&self, workspace: &Workspace, tip: &Oid, limits: &Limits) -> Result<()> {
        let changes = self.changes(workspace.base(), tip)?;
        let mut refusals: Vec<Refusal> = changes
            .iter()
            .filter_map(|change| judge(change, limits))
            .take(100)
            .collect();
        if changes.len() > limits.paths {
            let (found, limit) = (changes.len() as u64, limits.paths as u64);
            refusals.push(Refusal::TooMuch {
                what: "paths",
                found,
                limit,
            });
        }
        if refusals.is_empty() {
            Ok(())
        } else {
            Err(Error::Refused {
                workspace: workspace.path(),
                refusals,
            })
        }
    }

    /// Commits that are in the base and not in the tip, and in the tip and not in the base.
    fn count_commits(&self, base: &Oid, tip: &Oid) -> Result<(u32, u32)> {
        let said = self
            .call("rev-list")
            .args([
                "--count",
                "--left-right",
                "--end-of-options",
                &format!("{base}...{tip}"),
            ])
            .ok()?;
        let text = String::from_utf8_lossy(&said).trim().to_owned();
        let counts = text
            .split_once('\t')
            .and_then(|(left, right)| Some((left.parse().ok()?, right.parse().ok()?)));
        counts.ok_or_else(|| Error::unreadable("rev-list", text))
    }
}

fn judge(change: &Change, limits: &Limits) -> Option<Refusal> {
    let path = || change.path.clone();
    let parts: Vec<String> = change
        .path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().to_ascii_lowercase())
        .collect();
    let sound = change
        .path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !sound || parts.iter().any(|part| matches!(part.as_str(), ".git" | "git~1")) {
        return Some(Refusal::DotGit { path: path() });
    }
    let first = parts.first()?;
    if limits
        .protected
        .iter()
        .any(|name| name.to_ascii_lowercase() == *first)
    {
        return Some(Refusal::Protected { path: path() });
    }
    match change.new {
        Some((Mode::Submodule, _)) => Some(Refusal::Submodule { path: path() }),
        _ => None,
    }
}

/// The agent's objects under a folder of crew's own: its `info/` (alternates that lead elsewhere, a forged commit
/// graph) is left out.
struct ObjectsView {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl ObjectsView {
    fn of(workspace: &Workspace, from: &Path) -> Result<Self> {
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
        if beneath::folder(&root, relative).is_ok() {
            let fans = (0..=255_u8).map(|number| format!("{number:02x}"));
            for name in fans.chain(["pack".to_owned()]) {
                let real = objects.join(&name);
                if real.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                    symlink(&real, folder.path().join(&name)).doing("make in", folder.path())?;
                }
            }
        }
        Ok(Self {
            path: folder.path().to_owned(),
            _folder: folder,
        })
    }
}
