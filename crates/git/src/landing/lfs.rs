//! The content of files in Git LFS goes to the remote before the commits that point to it: the hook of Git
//! LFS that would send it does not run.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::error::{Error, IoContext, Result};
use crate::landing::remote::{Remote, succeeded};
use crate::repository::Repository;
use crate::types::change::Mode;
use crate::types::oid::Oid;
use crate::types::trouble::Trouble;

/// The time for one call that sends objects, which may be large. What has arrived is not sent again.
const SENDING: Duration = Duration::from_mins(30);
/// The time to find the pointers.
const LOOKING: Duration = Duration::from_mins(5);
/// The most objects of one call: their names are arguments.
const AT_ONCE: usize = 500;
/// The file in which a commit says where its objects are.
const SETTINGS: &str = ".lfsconfig";

impl Repository {
    /// Sends the remote the LFS objects to which commits of `tip` point that `base` does not have. Where they
    /// go, the user's settings say, else the `.lfsconfig` of `tip`, else it is where the remote is. Repeating
    /// it is safe, and sends nothing twice.
    ///
    /// # Errors
    /// [`Error::Remote`].
    pub fn send_lfs_objects(&self, remote: &Remote, base: &Oid, tip: &Oid) -> Result<()> {
        if !self.names_lfs(tip)? && !self.names_lfs(base)? {
            return Ok(());
        }
        let pointers = self.new_pointers(base, tip, LOOKING)?;
        if pointers.is_empty() {
            return Ok(());
        }
        if !self.has_lfs_filter()? {
            return Err(no_lfs(remote, "it is not set up for this repository"));
        }
        let storage = self.lfs_storage()?;
        // An object that is not here is the remote's already: no branch comes in without those of its own.
        let here = pointers.values().filter(|pointer| pointer.is_in(&storage));
        let objects: Vec<&str> = here
            .map(|pointer| pointer.sha256.as_str())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        if objects.is_empty() {
            return Ok(());
        }
        let waiting = storage.join("tmp");
        std::fs::create_dir_all(&waiting).doing("make", &waiting)?;
        let shown = tempfile::Builder::new()
            .prefix("crew-")
            .tempdir_in(&waiting)
            .doing("write in", &waiting)?;
        let settings = shown.path().join(SETTINGS);
        std::fs::write(&settings, self.lfs_settings(tip)?).doing("write", &settings)?;
        for objects in objects.chunks(AT_ONCE) {
            // Git LFS reads the settings of commits from the files that it takes for a checkout.
            let call = self.to_remote("lfs")?.env("GIT_WORK_TREE", shown.path());
            let call = call
                .deadline(SENDING)
                .args(["push", "--object-id", remote.name()]);
            let sent = succeeded(remote, call.args(objects).run());
            sent.map(drop).map_err(in_lfs)?;
        }
        Ok(())
    }

    /// The settings of Git LFS in a commit; none where it has no such file.
    fn lfs_settings(&self, commit: &Oid) -> Result<Vec<u8>> {
        let listed = self
            .call("ls-tree")
            .args(["-z", "--full-tree", commit.as_str(), "--", SETTINGS])
            .ok()?;
        let mut words = listed.split(|byte| *byte == b' ' || *byte == b'\t');
        let (mode, blob) = (words.next().and_then(Mode::parse), words.nth(1));
        match (mode, blob) {
            (Some(Mode::File | Mode::Executable), Some(blob)) => {
                let blob = Oid::from_bytes(blob)?;
                self.call("cat-file").args(["blob", blob.as_str()]).ok()
            }
            (Some(Mode::File | Mode::Executable | Mode::Symlink | Mode::Submodule) | None, _) => {
                Ok(Vec::new())
            }
        }
    }
}

fn no_lfs(remote: &Remote, says: &str) -> Error {
    Error::Remote {
        remote: remote.to_string(),
        trouble: Trouble::NoLfs,
        says: says.to_owned(),
    }
}

/// A failure of Git LFS, by its own words.
fn in_lfs(error: Error) -> Error {
    match error {
        Error::Remote {
            remote,
            trouble,
            says,
        } => {
            let trouble = match trouble {
                Trouble::Away | Trouble::Credentials => trouble,
                Trouble::Unnamed
                | Trouble::Addresses
                | Trouble::Gone
                | Trouble::NoBranch
                | Trouble::Refused
                | Trouble::Foreign
                | Trouble::NoLfs
                | Trouble::Lfs
                | Trouble::Other => match says.contains("is not a git command") {
                    true => Trouble::NoLfs,
                    false => Trouble::Lfs,
                },
            };
            Error::Remote {
                remote,
                trouble,
                says,
            }
        }
        other => other,
    }
}
