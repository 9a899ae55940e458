//! LFS objects: the content to which an agent's commits point is copied into the user's own store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::error::{Error, IoContext, Result};
use crate::files::atomic_write::temporary_file;
use crate::files::openat;
use crate::repository::Repository;
use crate::repository::file_settings::{LFS, is_attributes};
use crate::types::change::{Change, Mode};
use crate::types::oid::Oid;
use crate::types::refusal::{Limits, Refusal};
use crate::workspace::Workspace;

/// The first words of a pointer.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
/// The objects of a workspace.
const OBJECTS: &str = ".git/lfs/objects";

/// The content that a file of a commit points to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pointer {
    pub(crate) sha256: String,
    size: u64,
}

impl Repository {
    /// Copies the LFS objects that commits of an agent point to into the user's store, each verified; gives
    /// the paths of `tip` that point to an object which is in neither store. Repeating it changes nothing.
    pub(crate) fn bring_lfs_objects(
        &self,
        workspace: &Workspace,
        tip: &Oid,
        limits: &Limits,
    ) -> Result<Vec<Refusal>> {
        if !self.has_lfs_filter()? {
            return Ok(Vec::new());
        }
        let changes = self.changes(workspace.base(), tip)?;
        let root = workspace.open()?;
        if !self.may_point(workspace, &root, tip, &changes)? {
            return Ok(Vec::new());
        }
        let storage = self.lfs_storage()?;
        let (mut missing, mut room) = (BTreeSet::new(), limits.bytes);
        let pointers = self.new_pointers(workspace.base(), tip, limits.deadline)?;
        for pointer in pointers.values() {
            if pointer.is_in(&storage) {
                continue;
            }
            if pointer.size > room {
                let (what, limit) = ("bytes in LFS objects", limits.bytes);
                let found = limit.saturating_add(pointer.size);
                return Ok(vec![Refusal::TooMuch {
                    what,
                    found,
                    limit,
                    most: None,
                }]);
            }
            match pointer.copy(&root, &storage)? {
                true => room -= pointer.size,
                false => drop(missing.insert(pointer.clone())),
            }
        }
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let pointing: Vec<(&Path, &Pointer)> = changes
            .iter()
            .filter_map(|change| match &change.new {
                Some((Mode::File | Mode::Executable, blob)) => {
                    let pointer = pointers.get(blob).filter(|pointer| missing.contains(*pointer));
                    Some((change.path.as_path(), pointer?))
                }
                _ => None,
            })
            .collect();
        let filters = self.filters_for(tip, pointing.iter().map(|(path, _)| *path))?;
        let is_tracked = |path: &Path| filters.get(path).is_some_and(|filter| filter == LFS);
        let refused = pointing.into_iter().filter(|(path, _)| is_tracked(path));
        Ok(refused
            .map(|(path, pointer)| Refusal::LfsObject {
                path: path.to_owned(),
                object: pointer.sha256.clone(),
            })
            .collect())
    }

    /// Whether commits of the workspace may point to LFS objects: few repositories have any.
    fn may_point(
        &self,
        workspace: &Workspace,
        root: &OwnedFd,
        tip: &Oid,
        changes: &[Change],
    ) -> Result<bool> {
        Ok(openat::folder(root, Path::new(OBJECTS)).is_ok()
            || self.files_of(workspace.base())?.names_lfs()
            || (changes.iter().any(|change| is_attributes(&change.path)) && self.files_of(tip)?.names_lfs()))
    }

    /// The pointers among the objects that the tip needs and that `base` has not, by their blobs.
    pub(crate) fn new_pointers(
        &self,
        base: &Oid,
        tip: &Oid,
        deadline: Duration,
    ) -> Result<BTreeMap<Oid, Pointer>> {
        let listed = self
            .call("rev-list")
            .args([
                "--objects",
                "--no-object-names",
                "--filter=object:type=blob",
                "--filter=blob:limit=1k",
            ])
            .args(["--end-of-options", tip.as_str(), &format!("^{base}")])
            .deadline(deadline)
            .output_limit(512 << 20)
            .ok()?;
        let ids = String::from_utf8_lossy(&listed)
            .lines()
            .map(Oid::parse)
            .collect::<Result<Vec<Oid>>>()?;
        let mut pointers = BTreeMap::new();
        for ids in ids.chunks(200) {
            // One of them may be a large commit, so they are read one by one where all together are not.
            let together = self.objects_of(ids);
            let objects: Vec<_> = match together {
                Some(objects) => objects.into_iter().map(Some).collect(),
                None => ids
                    .iter()
                    .map(|id| self.objects_of([id]).and_then(|mut found| found.pop()))
                    .collect(),
            };
            for (id, object) in ids.iter().zip(objects) {
                if let Some((kind, content)) = object
                    && kind == b"blob"
                    && let Some(pointer) = Pointer::parse(&content)
                {
                    pointers.insert(id.clone(), pointer);
                }
            }
        }
        Ok(pointers)
    }
}

impl Pointer {
    /// Reads a pointer; `None`: the blob is none.
    fn parse(blob: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(blob.starts_with(POINTER).then_some(blob)?).ok()?;
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        let sha256 = value("oid sha256:")?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (sha256.len() == 64 && sha256.bytes().all(is_hex)).then_some(())?;
        Some(Self {
            sha256: sha256.to_owned(),
            size: value("size ")?.parse().ok()?,
        })
    }

    /// Whether a store has the object, by its size.
    pub(crate) fn is_in(&self, storage: &Path) -> bool {
        let stored = storage.join("objects").join(self.place()).metadata();
        stored.is_ok_and(|meta| meta.len() == self.size)
    }

    /// The object's place in a store.
    fn place(&self) -> PathBuf {
        [&self.sha256[..2], &self.sha256[2..4], &self.sha256]
            .iter()
            .collect()
    }

    /// Copies the object from a workspace; `false`: the workspace does not have it, or another content under
    /// its name.
    fn copy(&self, root: &OwnedFd, storage: &Path) -> Result<bool> {
        let from = Path::new(OBJECTS).join(self.place());
        let mut source = match openat::open(root, &from) {
            Ok(Some(source)) => source,
            Ok(None) => return Ok(false),
            Err(error) if openat::is_by_its_writer(&error) => return Ok(false),
            Err(error) => return Err(Error::io("read", from, error)),
        };
        // The folder in which Git LFS keeps what is not whole yet.
        let waiting = storage.join("tmp");
        std::fs::create_dir_all(&waiting).doing("make", &waiting)?;
        let mut copy = temporary_file(&waiting, "crew-")?;
        let (mut digest, mut size) = (Sha256::new(), 0);
        let mut part = vec![0; 1 << 16];
        loop {
            let length = source.read(&mut part).doing("read", &from)?;
            size += length as u64;
            if length == 0 || size > self.size {
                break;
            }
            digest.update(&part[..length]);
            copy.as_file_mut()
                .write_all(&part[..length])
                .doing("write in", &waiting)?;
        }
        let found: String = digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if size != self.size || found != self.sha256 {
            return Ok(false);
        }
        let to = storage.join("objects").join(self.place());
        let folder = to.parent().unwrap_or(storage);
        std::fs::create_dir_all(folder).doing("make", folder)?;
        let file: &File = copy.as_file();
        file.set_permissions(std::fs::Permissions::from_mode(0o644))
            .and_then(|()| file.sync_all())
            .doing("write", &to)?;
        copy.persist(&to)
            .map_err(|error| Error::io("write", &to, error.error))?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_pointer_is_one() {
        let sha256 = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
        let text = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize 12345\n");
        let pointer = Pointer::parse(text.as_bytes()).unwrap();
        assert_eq!((pointer.sha256.as_str(), pointer.size), (sha256, 12345));
        assert_eq!(pointer.place(), Path::new("4d").join("7a").join(sha256));
        assert_eq!(Pointer::parse(text.replace("4d7a", "../..").as_bytes()), None);
        assert_eq!(Pointer::parse(text.replace("size", "weight").as_bytes()), None);
        assert_eq!(Pointer::parse(&text.as_bytes()[1..]), None);
    }
}
