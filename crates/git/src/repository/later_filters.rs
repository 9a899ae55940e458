//! Filters that a repository's configuration has got since its settings were read.
//!
//! git reads that file in each call, while crew works under the settings that it read once.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::Result;
use crate::repository::Repository;
use crate::types::paths::fields;

/// The configuration files of a git directory, as they were at one moment; only to be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content(Vec<u8>);

impl Content {
    pub(crate) fn read(git_dir: &Path) -> Self {
        let file = |name: &str| std::fs::read(git_dir.join(name)).unwrap_or_default();
        Self([file("config"), file("config.worktree")].join(&0))
    }

    /// Whether other files may belong to it.
    fn may_include(&self) -> bool {
        let word = b"include";
        let is_word = |window: &[u8]| window.eq_ignore_ascii_case(word);
        self.0.windows(word.len()).any(is_word)
    }
}

impl Repository {
    /// The names of all filters that the configuration of a git directory has, where it may be another than
    /// `before`.
    pub(crate) fn filters_since(&self, git_dir: &Path, before: &Content) -> Result<BTreeSet<String>> {
        if !before.may_include() && Content::read(git_dir) == *before {
            return Ok(BTreeSet::new());
        }
        let said = self
            .git()
            .call("config")
            .git_dir(git_dir)
            .cwd(git_dir)
            .args(["-z", "--name-only", "--get-regexp", r"^filter\."])
            .run()?;
        match said.code {
            Some(0) => {
                let name = |key: &[u8]| {
                    let key = String::from_utf8_lossy(key).into_owned();
                    let (name, _) = key.strip_prefix("filter.")?.rsplit_once('.')?;
                    Some(name.to_owned())
                };
                Ok(fields(&said.stdout).filter_map(name).collect())
            }
            Some(1) => Ok(BTreeSet::new()),
            _ => Err(said.failed()),
        }
    }
}
