//! Settings of a workspace's own that count for crew: ignore patterns, and the names of filters.
//!
//! They are data: files that the patterns name are not saved, and files for such a filter are refused. crew
//! runs no program that a workspace names.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use crate::error::{Error, IoContext, Result};
use crate::files::openat;
use crate::repository::Repository;
use crate::repository::file_settings::FilesOf;
use crate::types::paths::{fields, path_of};
use crate::workspace::Workspace;
use crate::workspace::unchanged::CONFIG_BYTES;

/// The greatest file with patterns.
const PATTERNS_BYTES: u64 = 1 << 20;

impl Repository {
    /// The patterns of the workspace's `info/exclude`, and those of the file in the workspace that its
    /// configuration names, copied into a file of crew's; `None` where there are none.
    pub(crate) fn agents_patterns(
        &self,
        workspace: &Workspace,
        files: &FilesOf,
    ) -> Result<Option<tempfile::TempPath>> {
        let mut patterns = self.of_excludes_file(workspace, files)?;
        patterns.push(b'\n');
        patterns.extend(content(
            workspace,
            Path::new(".git/info/exclude"),
            PATTERNS_BYTES,
        )?);
        copied(workspace, &patterns)
    }

    /// The content of the file that `core.excludesFile` of the workspace names, if it is in the workspace.
    fn of_excludes_file(&self, workspace: &Workspace, files: &FilesOf) -> Result<Vec<u8>> {
        let named = self.agents_settings(workspace, files, "excludesfile", r"^core\.excludesfile$")?;
        let Some((_, value)) = named.last() else {
            return Ok(Vec::new());
        };
        let root = workspace.path();
        match root.join(path_of(value)).strip_prefix(&root) {
            Ok(inside) => content(workspace, inside, PATTERNS_BYTES),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// The filters that the workspace's configuration has and crew did not write there.
    pub(crate) fn agents_filters(&self, workspace: &Workspace, files: &FilesOf) -> Result<BTreeSet<String>> {
        let set = self.agents_settings(workspace, files, "[filter", r"^filter\..*\.(clean|process)$")?;
        let name = |key: &[u8]| {
            let key = String::from_utf8_lossy(key);
            Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0.to_owned())
        };
        Ok(set.iter().filter_map(|(key, _)| name(key)).collect())
    }

    /// Attributes of the workspace's own, copied into a file of crew's; `None` where there are none.
    pub(crate) fn agents_attributes(&self, workspace: &Workspace) -> Result<Option<tempfile::TempPath>> {
        copied(
            workspace,
            &content(workspace, Path::new(".git/info/attributes"), PATTERNS_BYTES)?,
        )
    }

    /// Keys and values of the workspace's configuration, unless all lines with `word` (in small letters) are
    /// those that crew wrote there.
    fn agents_settings(
        &self,
        workspace: &Workspace,
        files: &FilesOf,
        word: &str,
        keys: &str,
    ) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let config = content(workspace, Path::new(".git/config"), CONFIG_BYTES)?;
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().map(str::to_lowercase);
            lines.filter(|line| line.contains(word)).collect()
        };
        if lines(&String::from_utf8_lossy(&config)) == lines(&files.config()) {
            return Ok(Vec::new());
        }
        let said = self
            .git()
            .call("config")
            .args(["--file", "-", "--no-includes", "-z", "--get-regexp", keys])
            .input(&config)?
            .run()?;
        // Any other end says that there are none, or that git cannot read the configuration.
        let listed = match said.code {
            Some(0) => said.stdout,
            _ => Vec::new(),
        };
        let pair = |field: &[u8]| {
            let end = field.iter().position(|byte| *byte == b'\n');
            let (key, value) = field.split_at(end.unwrap_or(field.len()));
            (
                key.to_vec(),
                value.strip_prefix(b"\n").unwrap_or_default().to_vec(),
            )
        };
        Ok(fields(&listed).map(pair).collect())
    }
}

/// Copies bytes into a file of crew's; `None` where there is nothing in them.
fn copied(workspace: &Workspace, bytes: &[u8]) -> Result<Option<tempfile::TempPath>> {
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    let beside = workspace.beside();
    let mut file = tempfile::Builder::new()
        .prefix("copied-")
        .tempfile_in(&beside)
        .doing("write in", &beside)?;
    file.write_all(bytes).doing("write in", &beside)?;
    Ok(Some(file.into_temp_path()))
}

/// The content of a file in the workspace; empty where there is none that crew reads.
fn content(workspace: &Workspace, path: &Path, limit: u64) -> Result<Vec<u8>> {
    match openat::read(&workspace.open()?, path, limit) {
        Ok(content) => Ok(content.unwrap_or_default()),
        Err(error) if openat::is_by_its_writer(&error) => Ok(Vec::new()),
        Err(error) => Err(Error::io("read", workspace.path().join(path), error)),
    }
}
