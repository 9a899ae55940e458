//! Files that git reads otherwise than it wrote them: a fresh checkout shows them as edited although nobody
//! touched them.
//!
//! Attributes do that to content that was committed without them: `text` to a file that has carriage returns
//! in git, a filter such as that of Git LFS to a file that never went through it. git believes the times in
//! its index, except of files that were written in the second in which the index was: those it reads.

use std::path::Path;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, statat, utimensat};

use crate::clock::{Deadline, pause};
use crate::error::{IoContext, Result};
use crate::repository::Repository;
use crate::repository::file_settings::{FilesOf, is_attributes};
use crate::types::paths::{fields, path_of};
use crate::workspace::index::Index;

/// The longest wait for the second after the one in which the files were written; the clock may have been set
/// back in between.
const PATIENCE: Duration = Duration::from_secs(2);
/// The wait between two looks at the clock of the file system.
const LOOK: Duration = Duration::from_millis(20);

impl Repository {
    /// Lets git believe the index of a checkout that was just made, in which nobody has written yet: neither
    /// crew nor the agent's git then commits a file that the agent has not touched. That takes a second where
    /// there is such a file, and else nothing.
    pub(crate) fn mark_untouched(&self, files: &FilesOf, tree: &Path, index: &Path) -> Result<()> {
        let known = Index::read(index, self.format());
        let has_attributes = known.is_none_or(|known| known.has(is_attributes));
        if !has_attributes && !files.convert_without_attributes() {
            return Ok(());
        }
        let listed = self
            .call_for_files("ls-files", files)
            .work_tree(tree)
            .throwaway_index(index)
            .args(["--modified", "-z"])
            .output_limit(512 << 20)
            .deadline(Duration::from_secs(600))
            .ok()?;
        let written = |path: &[u8]| statat(CWD, tree.join(path_of(path)), AtFlags::SYMLINK_NOFOLLOW).ok();
        let Some(newest) = fields(&listed).filter_map(written).map(second).max() else {
            return Ok(());
        };
        let deadline = Deadline::after(PATIENCE);
        // The clock of the file system gave the files their times.
        while touched(index).doing("write", index)? <= newest && !deadline.left().is_zero() {
            pause(LOOK);
        }
        Ok(())
    }
}

/// Gives a file the present time; returns its second.
fn touched(path: &Path) -> std::io::Result<i64> {
    let time = |nanos| Timespec {
        tv_sec: 0,
        tv_nsec: nanos,
    };
    let times = Timestamps {
        last_access: time(UTIME_OMIT),
        last_modification: time(UTIME_NOW),
    };
    utimensat(CWD, path, &times, AtFlags::empty())?;
    Ok(second(statat(CWD, path, AtFlags::empty())?))
}

#[expect(
    clippy::useless_conversion,
    reason = "the type is another one on other machines"
)]
fn second(stat: Stat) -> i64 {
    i64::from(stat.st_mtime)
}
