//! crew's own folder as a repository of its own, with nothing in it: `git clean` with one `-f` passes over
//! repositories, and would take the journal of running work otherwise. `git stash --all` and `git add -f`
//! leave it alone, too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file by which crew knows that repository again.
const MARK: &str = "crew";

/// Makes the repository, unless it is there.
pub(crate) fn make(crew_dir: &Path) -> io::Result<()> {
    let git_dir = crew_dir.join(".git");
    if git_dir.symlink_metadata().is_ok() {
        return Ok(());
    }
    // git takes it for a repository once it is whole.
    let half = crew_dir.join(".git.half");
    for folder in ["objects", "refs", "info"] {
        fs::create_dir_all(half.join(folder))?;
    }
    for (file, text) in [
        ("HEAD", "ref: refs/heads/none\n"),
        // A program that shows the repositories of a folder has nothing to show here.
        ("info/exclude", "*\n"),
        (MARK, "This keeps `git clean` out of crew's folder.\n"),
    ] {
        fs::write(half.join(file), text)?;
    }
    fs::rename(&half, &git_dir)
}

/// The folder to look for the user's repository from, for a command that is called in `dir`: crew's own
/// folder and those below are in the repository around it.
pub(crate) fn outside(dir: &Path) -> PathBuf {
    let holds_git = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    let inner = dir.ancestors().find(holds_git);
    let own = inner.filter(|folder| folder.join(".git").join(MARK).is_file());
    own.and_then(Path::parent).unwrap_or(dir).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_in_crews_folder_is_one_in_the_repository_around_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let crew_dir = root.join(".crew");
        let runs = crew_dir.join("runs/t-1");
        fs::create_dir_all(&runs).unwrap();
        make(&crew_dir).unwrap();
        make(&crew_dir).unwrap();
        assert_eq!(outside(&runs), root);
        assert_eq!(outside(&crew_dir), root);
        assert_eq!(outside(root), root);
        let other = runs.join("workspace");
        fs::create_dir_all(other.join(".git")).unwrap();
        assert_eq!(outside(&other), other, "a repository in it is another one");
    }
}
