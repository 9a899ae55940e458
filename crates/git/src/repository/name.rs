//! A repository's name for folders.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::repository::Repository;

impl Repository {
    /// A name for folders: the root's own name and eight digits that identify the git directory,
    /// `website-1f9a03bc`. A copy of the repository gets another name, and so does a repository that was made
    /// anew where one stood. The digits stay the same under every path that leads to the repository, and when
    /// it is moved within a file system.
    #[must_use]
    pub fn folder_name(&self) -> String {
        let name = self
            .root
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let safe: String = name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "._-".contains(c) {
                    c
                } else {
                    '_'
                }
            })
            .take(60)
            .collect();
        let safe = safe.trim_start_matches(['.', '-']);
        // FNV-1a, written out here, so that no library can change the name.
        let hash = self
            .identity()
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            });
        format!(
            "{}-{:08x}",
            if safe.is_empty() { "repository" } else { safe },
            hash >> 32
        )
    }

    fn identity(&self) -> Vec<u8> {
        let Ok(is) = self.common.metadata() else {
            return identity(&self.common, 0, None);
        };
        identity(&self.common, is.ino(), is.created().ok())
    }
}

/// The time at which a folder was made, and its inode, which alone may be given to another folder later.
/// Where the file system does not record that time, the path takes its place; then another folder may be made
/// under the same path.
fn identity(folder: &Path, number: u64, made: Option<SystemTime>) -> Vec<u8> {
    let told = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    match told {
        Some(at) => [u128::from(number), at.as_nanos()]
            .map(u128::to_le_bytes)
            .concat(),
        None => [folder.as_os_str().as_bytes(), &number.to_le_bytes()].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_another_than_the_one_that_stood_there_whether_or_not_it_is_known_when_it_was_made() {
        let (here, there) = (Path::new("/r/.git"), Path::new("/s/.git"));
        let at = UNIX_EPOCH + std::time::Duration::from_nanos(1);
        assert_ne!(identity(here, 1, None), identity(here, 2, None));
        assert_ne!(identity(here, 1, None), identity(there, 1, None));
        assert_ne!(identity(here, 1, Some(at)), identity(here, 1, Some(UNIX_EPOCH)));
        // Moved, it is the same.
        assert_eq!(identity(here, 1, Some(at)), identity(there, 1, Some(at)));
    }
}
