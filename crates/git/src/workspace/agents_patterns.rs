//! Ignore patterns of a workspace's own, which are in no commit.
//!
//! They are data: what they name is not saved. Nothing else of a workspace's settings counts for crew.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, IoContext, Result};
use crate::files::openat;
use crate::repository::Repository;
use crate::repository::file_settings::FilesOf;
use crate::types::paths::path_of;
use crate::workspace::Workspace;
use crate::workspace::unchanged::CONFIG_BYTES;

/// The greatest file with patterns.
const PATTERNS_BYTES: u64 = 1 << 20;
/// The setting that names a file with patterns.
const SETTING: &str = "excludesfile";

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
        if patterns.trim_ascii().is_empty() {
            return Ok(None);
        }
        let beside = workspace.beside();
        let mut file = tempfile::Builder::new()
            .prefix("patterns-")
            .tempfile_in(&beside)
            .doing("write in", &beside)?;
        file.write_all(&patterns).doing("write in", &beside)?;
        Ok(Some(file.into_temp_path()))
    }

    /// The content of the file that `core.excludesFile` of the workspace names, if it is in the workspace.
    fn of_excludes_file(&self, workspace: &Workspace, files: &FilesOf) -> Result<Vec<u8>> {
        let config = content(workspace, Path::new(".git/config"), CONFIG_BYTES)?;
        let text = String::from_utf8_lossy(&config).to_lowercase();
        let lines = |text: &str| -> Vec<String> {
            let named = text.lines().filter(|line| line.contains(SETTING));
            named.map(str::to_owned).collect()
        };
        // Nearly always the setting is the user's, as crew wrote it.
        if lines(&text) == lines(&files.config().to_lowercase()) {
            return Ok(Vec::new());
        }
        let said = self
            .git()
            .call("config")
            .args(["--file", "-", "--no-includes", "-z", "--get", "core.excludesFile"])
            .input(&config)?
            .run()?;
        let value = match said.code {
            Some(0) => said.stdout.strip_suffix(b"\0").unwrap_or_default(),
            // The setting is not there, or git cannot read the configuration.
            _ => return Ok(Vec::new()),
        };
        let root = workspace.path();
        let named = root.join(path_of(value));
        match named.strip_prefix(&root) {
            Ok(inside) => content(workspace, inside, PATTERNS_BYTES),
            Err(_) => Ok(Vec::new()),
        }
    }
}

/// The content of a file in the workspace; empty where there is none that crew reads.
fn content(workspace: &Workspace, path: &Path, limit: u64) -> Result<Vec<u8>> {
    match openat::read(&workspace.open()?, path, limit) {
        Ok(content) => Ok(content.unwrap_or_default()),
        Err(error) if openat::is_by_its_writer(&error) => Ok(Vec::new()),
        Err(error) => Err(Error::io("read", workspace.path().join(path), error)),
    }
}
