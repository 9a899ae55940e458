//! The bytes of an agent's index, as one file: git may have split it in two.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, IoContext, Result};
use crate::files::delete::names;
use crate::files::openat;
use crate::repository::Repository;
use crate::types::oid::Format;
use crate::types::paths::path_of;
use crate::workspace::Workspace;
use crate::workspace::index::{self, Moment};

/// The greatest index that git writes for a checkout: that of some millions of files.
const INDEX_BYTES: u64 = 512 << 20;
/// The beginning of the name of the greater part of an index that was split; the rest is its hash.
const SHARED: &[u8] = b"sharedindex.";

impl Repository {
    /// The bytes of the workspace's index, and the time at which it was written; `None` where there is none
    /// that git wrote for a checkout.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn read_agents_index(&self, workspace: &Workspace) -> Result<Option<(Vec<u8>, Moment)>> {
        let path = Path::new(".git/index");
        let root = workspace.open()?;
        let read = || -> std::io::Result<Option<(Vec<u8>, Moment)>> {
            let Some(file) = openat::open(&root, path)? else {
                return Ok(None);
            };
            let written = index::written(&file.metadata()?);
            Ok(up_to(file, INDEX_BYTES)?.zip(written))
        };
        let (content, written) = match read() {
            Ok(Some(read)) => read,
            Ok(None) => return Ok(None),
            Err(error) if openat::is_by_its_writer(&error) => return Ok(None),
            Err(error) => return Err(Error::io("read", path, error)),
        };
        let git_dir = openat::folder(&root, Path::new(".git"));
        let all = git_dir
            .and_then(|git_dir| Ok(names(&git_dir)?))
            .unwrap_or_default();
        let shared = all.iter().map(|name| name.to_bytes()).find(|name| {
            let hash = name.strip_prefix(SHARED).and_then(raw);
            hash.is_some_and(|hash| content.windows(hash.len()).any(|part| part == hash))
        });
        let content = match shared {
            Some(shared) => self.joined(workspace, &content, path_of(shared))?,
            None => Some(content),
        };
        Ok(content.map(|content| (content, written)))
    }

    /// Joins the two parts of an index, in a git directory of crew's own; `None`: git cannot do it.
    fn joined(&self, workspace: &Workspace, content: &[u8], shared: &Path) -> Result<Option<Vec<u8>>> {
        let file = openat::open(&workspace.open()?, &Path::new(".git").join(shared));
        let Some(part) = file
            .ok()
            .flatten()
            .and_then(|file| up_to(file, INDEX_BYTES).ok()?)
        else {
            return Ok(None);
        };
        let beside = workspace.beside();
        let folder = tempfile::Builder::new()
            .prefix("joined-")
            .tempdir_in(&beside)
            .doing("make in", &beside)?;
        let git_dir = folder.path();
        let extensions = match self.format() {
            Format::Sha1 => "",
            Format::Sha256 => "\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n",
        };
        let made = || -> std::io::Result<()> {
            std::fs::create_dir(git_dir.join("objects"))?;
            std::fs::create_dir(git_dir.join("refs"))?;
            std::fs::write(git_dir.join("HEAD"), "ref: refs/heads/none\n")?;
            std::fs::write(git_dir.join("config"), format!("[core]\n{extensions}"))?;
            std::fs::write(git_dir.join(shared), part)?;
            std::fs::write(git_dir.join("index"), content)
        };
        made().doing("write in", git_dir)?;
        let joined = self.git().call("update-index").git_dir(git_dir);
        let joined = joined
            .throwaway_index(&git_dir.join("index"))
            .cwd(git_dir)
            .args(["--no-split-index", "--force-write-index"])
            .ok();
        Ok(joined
            .ok()
            .and_then(|_| std::fs::read(git_dir.join("index")).ok()))
    }
}

/// The content of a file; `None`: there is more of it.
fn up_to(file: File, limit: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut content = Vec::new();
    file.take(limit + 1).read_to_end(&mut content)?;
    Ok(Some(content).filter(|content| content.len() as u64 <= limit))
}

/// The bytes that hexadecimal digits stand for.
fn raw(hex: &[u8]) -> Option<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    hex.chunks(2)
        .map(byte)
        .collect::<Option<Vec<u8>>>()
        .filter(|raw| raw.len() >= 20)
}
