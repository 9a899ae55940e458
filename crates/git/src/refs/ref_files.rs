//! Ref files: refs read as git stores them, without running git.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::paths::path_of;

/// The greatest size of a ref's file in bytes; a longer one is left to git.
const REF_BYTES: u64 = 4 << 10;

impl Repository {
    /// Reads the object of a branch or of a ref of crew's own from its file, else from `packed-refs`. This is
    /// git's own order, so that a ref which is being packed is never missed. `None`: the files alone do not
    /// answer this (another ref storage, a symbolic ref, a broken file), and git has to be asked.
    pub(crate) fn ref_file(&self, name: &str) -> Option<Option<Oid>> {
        let ours = name.starts_with("refs/heads/") || name.starts_with("refs/crew/");
        if !ours || self.common_dir().join("reftable").exists() {
            return None;
        }
        let path = self.common_dir().join(name);
        match path.symlink_metadata() {
            Ok(meta) if meta.is_file() && meta.len() <= REF_BYTES => match std::fs::read(&path) {
                Ok(content) => return self.whole_oid(content.trim_ascii()).map(Some),
                // git packed the ref in this moment.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(_) => return None,
            },
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return None,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(_) => return None,
        }
        let packed = match std::fs::read(self.common_dir().join("packed-refs")) {
            Ok(packed) => packed,
            Err(error) if error.kind() == ErrorKind::NotFound => return Some(None),
            Err(_) => return None,
        };
        let of_name = |line: &&[u8]| {
            line.strip_suffix(name.as_bytes())
                .is_some_and(|rest| rest.last() == Some(&b' '))
        };
        match packed.split(|byte| *byte == b'\n').find(of_name) {
            Some(line) => self.whole_oid(&line[..line.len() - name.len() - 1]).map(Some),
            None => Some(None),
        }
    }

    /// The refs below a folder of crew's own (`prefix` ends in `/`), read from their files where these alone
    /// answer it.
    pub(crate) fn refs_in_folder(&self, prefix: &str) -> Result<Vec<(String, Oid)>> {
        match self.names_in_folder(prefix) {
            Some(names) => {
                let mut found = Vec::new();
                for name in names {
                    if let Some(commit) = self.ref_at(&name)? {
                        found.push((name, commit));
                    }
                }
                Ok(found)
            }
            None => self.refs_under(prefix),
        }
    }

    /// `None`: git has to be asked.
    fn names_in_folder(&self, prefix: &str) -> Option<BTreeSet<String>> {
        if self.common_dir().join("reftable").exists() {
            return None;
        }
        let mut names = BTreeSet::new();
        let mut folders = vec![prefix.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = match std::fs::read_dir(self.common_dir().join(&folder)) {
                Ok(entries) => entries,
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                    continue;
                }
                Err(_) => return None,
            };
            for entry in entries {
                let entry = entry.ok()?;
                let name = entry.file_name().into_string().ok()?;
                // A folder without refs may go at any moment, and then it has none.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(format!("{folder}{name}/"));
                } else if !name.ends_with(".lock") {
                    names.insert(format!("{folder}{name}"));
                }
            }
        }
        // A ref that is being packed is in the new `packed-refs` before its file goes, so this is read last.
        match std::fs::read(self.common_dir().join("packed-refs")) {
            Ok(packed) => {
                for line in packed.split(|byte| *byte == b'\n') {
                    let name = line.splitn(2, |byte| *byte == b' ').nth(1).unwrap_or_default();
                    if name.starts_with(prefix.as_bytes()) {
                        names.insert(String::from_utf8(name.to_vec()).ok()?);
                    }
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => return None,
        }
        Some(names)
    }

    /// Reads the ref that a checkout's HEAD names, empty when HEAD is a commit. `None`: the file alone does
    /// not answer this.
    pub(crate) fn head_file(&self, git_dir: &Path) -> Option<PathBuf> {
        let path = git_dir.join("HEAD");
        let meta = path.symlink_metadata().ok()?;
        if self.common_dir().join("reftable").exists() || !meta.is_file() || meta.len() > REF_BYTES {
            return None;
        }
        let content = std::fs::read(&path).ok()?;
        let text = content.trim_ascii();
        if self.whole_oid(text).is_some() {
            return Some(PathBuf::new());
        }
        let name = text.strip_prefix(b"ref: ")?;
        name.starts_with(b"refs/heads/").then(|| path_of(name).to_owned())
    }

    fn whole_oid(&self, text: &[u8]) -> Option<Oid> {
        let oid = Oid::from_bytes(text).ok()?;
        (oid.as_str().len() == self.format().hex_len() && !oid.is_null()).then_some(oid)
    }
}
