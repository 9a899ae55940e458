//! Tracked files: those of the root that git has in HEAD or in the index, and their contents there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::command::call::Call;
use crate::error::Result;
use crate::repository::Repository;
use crate::types::paths::{fields, path_of};

/// The places other than branches in which git may have a file of the root.
const PLACES: [&str; 5] = ["HEAD", "", "refs/stash", "refs/stash^3", "ORIG_HEAD"];
/// The number of branches that are asked for a file.
const BRANCHES: usize = 200;

impl Repository {
    /// The contents that git has for each path in HEAD and in the index; none for a path that it does not
    /// track, and for all of them if git cannot be asked.
    #[must_use]
    pub fn tracked_contents(&self, paths: &[PathBuf]) -> Vec<Vec<Vec<u8>>> {
        let names = paths
            .iter()
            .flat_map(|path| [named("HEAD", path), named("", path)]);
        let found = self.objects_named(&names.collect::<Vec<_>>());
        found
            .chunks(2)
            .map(|both| both.iter().flatten().cloned().collect())
            .collect()
    }

    /// Whether the index has another content than HEAD for any of the paths: somebody has prepared a commit,
    /// or a git that changes the checkout has given the index back and is about to move HEAD.
    #[must_use]
    pub fn is_index_ahead(&self, paths: &[PathBuf]) -> bool {
        let names = paths
            .iter()
            .flat_map(|path| [named("HEAD", path), named("", path)]);
        let found = self.objects_named(&names.collect::<Vec<_>>());
        found.chunks(2).any(|both| both.first() != both.last())
    }

    /// The contents that git has for a path where a checkout of the root may have had it: in HEAD, the index,
    /// the last stash, the commit before the last move, and the branches with the newest commits.
    #[must_use]
    pub fn past_contents(&self, path: &Path) -> Vec<Vec<u8>> {
        let call = self.git().call("for-each-ref").git_dir(&self.root_git_dir);
        let call = call.args(["--sort=-committerdate", "--format=%(refname)"]);
        let call = call
            .arg(format!("--count={BRANCHES}"))
            .args(["refs/heads", "refs/remotes"]);
        let branches = call.ok().unwrap_or_default();
        let branches = String::from_utf8_lossy(&branches).into_owned();
        let places = PLACES.into_iter().chain(branches.lines());
        let names: Vec<Vec<u8>> = places.map(|place| named(place, path)).collect();
        self.objects_named(&names).into_iter().flatten().collect()
    }

    /// The contents of the objects of these names, in their order; none where there is no such object.
    fn objects_named(&self, names: &[Vec<u8>]) -> Vec<Option<Vec<u8>>> {
        let mut found = vec![None; names.len()];
        let is_one_line = |name: &&Vec<u8>| !name.contains(&b'\n');
        if names.is_empty() || !names.iter().all(|name| is_one_line(&name)) {
            return found;
        }
        let mut question = names.join(&b'\n');
        question.push(b'\n');
        let call = self
            .git()
            .call("cat-file")
            .git_dir(&self.root_git_dir)
            .arg("--batch");
        let call = call.output_limit(512 << 20).input(&question);
        let said = call.and_then(Call::ok).unwrap_or_default();
        let mut rest = said.as_slice();
        for one in &mut found {
            let Some((content, after)) = next_object(rest) else {
                break;
            };
            *one = content.map(<[u8]>::to_vec);
            rest = after;
        }
        found
    }

    /// The files in and below a folder of the root that are in the index, by their path from the root.
    ///
    /// # Errors
    /// [`Error::Failed`](crate::Error::Failed) and the like.
    pub fn tracked_files(&self, folder: &Path) -> Result<BTreeSet<PathBuf>> {
        let call = self
            .git()
            .call("ls-files")
            .git_dir(&self.root_git_dir)
            .work_tree(&self.root);
        let listed = call
            .args(["--cached", "-z", "--"])
            .arg(folder.as_os_str())
            .output_limit(512 << 20)
            .ok()?;
        Ok(fields(&listed).map(|path| path_of(path).to_owned()).collect())
    }
}

/// The name of the object that a path is in a tree.
fn named(tree: &str, path: &Path) -> Vec<u8> {
    let mut name = format!("{tree}:").into_bytes();
    name.extend_from_slice(path.as_os_str().as_encoded_bytes());
    name
}

/// The content of the next object in an answer, none if it is missing, and the rest of the answer.
fn next_object(answer: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let (head, rest) = (&answer[..end], &answer[end + 1..]);
    if head.ends_with(b" missing") {
        return Some((None, rest));
    }
    let size = head.rsplit(|byte| *byte == b' ').next()?;
    let size: usize = std::str::from_utf8(size).ok()?.parse().ok()?;
    let content = rest.get(..size)?;
    Some((Some(content), rest.get(size + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_that_are_missing_or_hold_line_ends_are_read_one_after_the_other() {
        let answer = b"HEAD:a b missing\n0123 blob 4\nx\n\ny\n4567 blob 0\n\n";
        let (first, rest) = next_object(answer).unwrap();
        let (second, rest) = next_object(rest).unwrap();
        let (third, rest) = next_object(rest).unwrap();
        assert_eq!(
            (first, second, third),
            (None, Some(&b"x\n\ny"[..]), Some(&b""[..]))
        );
        assert_eq!(next_object(rest), None);
    }
}
