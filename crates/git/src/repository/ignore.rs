//! Ignore rules of the user's repository, and the files that they leave.

use std::path::Path;

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::paths::fields;

impl Repository {
    /// Adds patterns to `.git/info/exclude`, each at most once, so that crew's folders are ignored without
    /// editing a file of the user's. Returns whether anything was added.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn exclude(&self, patterns: &[&str]) -> Result<bool> {
        let path = self.common.join("info/exclude");
        let mut content = match std::fs::read(&path) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        let known = |content: &[u8], pattern: &str| {
            content
                .split(|byte| *byte == b'\n')
                .any(|line| line.trim_ascii_end() == pattern.as_bytes())
        };
        let before = content.len();
        for pattern in patterns {
            if !known(&content, pattern) {
                if content.last().is_some_and(|last| *last != b'\n') {
                    content.push(b'\n');
                }
                content.extend_from_slice(pattern.as_bytes());
                content.push(b'\n');
            }
        }
        if content.len() == before {
            return Ok(false);
        }
        crate::files::atomic_write::replace(&path, &content)?;
        Ok(true)
    }

    /// Whether git ignores this path of the root, by the user's own patterns too. A path that ends in `/` is
    /// a folder, whether it is there or not.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn is_ignored(&self, path: &Path) -> Result<bool> {
        let said = self
            .git
            .call("check-ignore")
            .users_settings()
            .git_dir(&self.root_git_dir)
            .work_tree(&self.root)
            // `check-ignore` takes names only, and refuses a setting that says so.
            .env("GIT_LITERAL_PATHSPECS", "0")
            .args(["--quiet", "--"])
            .arg(path.as_os_str())
            .run()?;
        match said.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(said.failed()),
        }
    }

    /// The files of the root that git tracks or would add, by their path from the root. Names that are not
    /// UTF-8 are left out.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn unignored_files(&self) -> Result<Vec<String>> {
        let listed = self
            .git
            .call("ls-files")
            .users_settings()
            .git_dir(&self.root_git_dir)
            .work_tree(&self.root)
            .args(["--cached", "--others", "--exclude-standard", "-z"])
            .output_limit(512 << 20)
            .ok()?;
        let names = fields(&listed).filter_map(|path| Some(std::str::from_utf8(path).ok()?.to_owned()));
        Ok(names.collect())
    }
}
