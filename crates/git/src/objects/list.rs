//! Listing the files of a tree.

use crate::error::Result;
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::paths::fields;

/// A file of a tree, or a submodule's commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Its path from the root.
    pub path: Vec<u8>,
    /// Its mode, kind and object, as git lists them: two files with the same are the same.
    pub content: Vec<u8>,
}

impl TreeFile {
    /// Whether this is the commit of a submodule.
    #[must_use]
    pub fn is_submodule(&self) -> bool {
        self.content.starts_with(b"160000 ")
    }
}

impl Repository {
    /// Every file of a commit or a tree, and every submodule, in the order of git.
    ///
    /// # Errors
    /// [`Error::Failed`](crate::Error::Failed) when there is no such commit.
    pub fn tree_files(&self, of: &Oid) -> Result<Vec<TreeFile>> {
        let listed = self
            .call("ls-tree")
            .args(["-r", "-z", "--full-tree", of.as_str()])
            .output_limit(512 << 20)
            .ok()?;
        let file = |line: &[u8]| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            Some(TreeFile {
                path: line[tab + 1..].to_vec(),
                content: line[..tab].to_vec(),
            })
        };
        Ok(fields(&listed).filter_map(file).collect())
    }
}
