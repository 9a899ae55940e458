//! crew's own folder as a repository of its own, with nothing in it: `git clean` with one `-f` passes over
//! repositories, and would take the journal of running work otherwise. `git stash --all` and `git add -f`
//! leave it alone, too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::place::{CREW_DIR, its_own_folder};

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
    let own = repository_around(dir).filter(|folder| folder.join(".git").join(MARK).is_file());
    own.and_then(Path::parent).unwrap_or(dir).to_path_buf()
}

/// The root of the repository that `dir` (absolute) is in, where crew's own folder shows it without a call of
/// git: crew has found it before. None where only git knows.
#[must_use]
pub fn known_root(dir: &Path) -> Option<PathBuf> {
    let dir = outside(dir);
    let root = repository_around(&dir)?;
    let crew_dir = root.join(CREW_DIR);
    let has_crew = its_own_folder(&crew_dir).is_ok() && crew_dir.join(".git").join(MARK).is_file();
    (has_crew && git::is_plain_main(root)).then(|| root.to_owned())
}

/// The nearest folder, `dir` or one above it, that holds a repository.
fn repository_around(dir: &Path) -> Option<&Path> {
    let holds_git = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    dir.ancestors().find(holds_git)
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

    #[test]
    fn git_is_asked_for_the_root_but_where_crew_has_been_in_a_main_checkout() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let place = crate::place::tests::place_in(&root);
        let deep = root.join("src/deep");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(known_root(&deep), None);
        fs::create_dir_all(&place.crew_dir).unwrap();
        assert_eq!(known_root(&deep), None, "a folder of somebody else's");
        make(&place.crew_dir).unwrap();
        for dir in [&deep, &root, &place.crew_dir] {
            assert_eq!(known_root(dir).as_ref(), Some(&place.root));
        }
        let inner = deep.join("inner");
        fs::create_dir_all(inner.join(".git")).unwrap();
        assert_eq!(known_root(&inner), None, "another repository");
        for name in ["crew.root", "crew-workspace"] {
            let file = root.join(".git").join(name);
            fs::write(&file, "").unwrap();
            assert_eq!(known_root(&root), None, "{name}");
            fs::remove_file(&file).unwrap();
        }
        let git_dir = root.join("git-dir");
        fs::rename(root.join(".git"), &git_dir).unwrap();
        fs::write(root.join(".git"), "gitdir: git-dir\n").unwrap();
        assert_eq!(known_root(&root), None, "a linked worktree, perhaps");
        fs::remove_file(root.join(".git")).unwrap();
        fs::rename(&git_dir, root.join(".git")).unwrap();
        fs::rename(&place.crew_dir, root.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", &place.crew_dir).unwrap();
        assert_eq!(known_root(&root), None, "it leads elsewhere");
    }
}
