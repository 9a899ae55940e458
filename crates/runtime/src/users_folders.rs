//! Folders of the user: the checkouts of a repository and its git directory. Checks find nothing of them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::{Place, Result};

/// The most of a file that is read to see where a Python package is.
const MOST: u64 = 1 << 20;

/// The roots of the user's checkouts, and the git directory, links resolved.
#[derive(Clone, Debug)]
pub(crate) struct UsersFolders(Vec<PathBuf>);

impl Place {
    /// The user's folders of this repository.
    pub(crate) fn users_folders(&self) -> Result<UsersFolders> {
        let mut roots = self.repository.checkout_roots()?;
        roots.push(self.repository.common_dir().to_owned());
        Ok(UsersFolders(roots.iter().map(|root| resolved(root)).collect()))
    }
}

impl UsersFolders {
    /// The one that a path lies in, by its name or by where its links lead.
    pub(crate) fn holding(&self, path: &Path) -> Option<&Path> {
        let real = resolved(path);
        let holds = |root: &&PathBuf| path.starts_with(root) || real.starts_with(root);
        self.0.iter().find(holds).map(PathBuf::as_path)
    }

    /// Whether a variable that may be a list of paths has one of them.
    pub(crate) fn are_in(&self, value: &OsStr) -> bool {
        paths_of(value).any(|path| self.holding(path).is_some())
    }

    /// Takes the entries that lead into these folders out of a `PATH`, and gives them with the reason: those
    /// that lie in one, and those of an environment whose packages do.
    pub(crate) fn take_out_of(&self, path: &OsStr) -> (OsString, Vec<(PathBuf, &'static str)>) {
        let (mut left, mut out) = (Vec::new(), Vec::new());
        for part in path.as_bytes().split(|byte| *byte == b':') {
            let entry = Path::new(OsStr::from_bytes(part));
            // An entry that is relative means the check's own tree.
            let why = match entry.is_absolute() {
                true if self.holding(entry).is_some() => "it is inside the checkout",
                true if self.is_installed_in(entry) => "it is an environment that has the checkout installed",
                _ => {
                    left.push(part);
                    continue;
                }
            };
            out.push((entry.to_owned(), why));
        }
        (OsStr::from_bytes(&left.join(&b':')).to_owned(), out)
    }

    /// Whether `bin` belongs to a Python environment of its own (a venv, a conda environment) in which
    /// something of these folders is installed: by a path file, as an editable package, or from a folder.
    fn is_installed_in(&self, bin: &Path) -> bool {
        let Some(environment) = resolved(bin).parent().map(Path::to_owned) else {
            return false;
        };
        // A system's own Python is never left out: everything else would go with it.
        if !environment.join("pyvenv.cfg").exists() && !environment.join("conda-meta").exists() {
            return false;
        }
        let libraries = entries(&environment.join("lib"));
        let mut packages = libraries
            .into_iter()
            .flat_map(|lib| entries(&lib.join("site-packages")));
        packages.any(|package| self.points_here(&package))
    }

    /// Whether an entry of a `site-packages` names one of these folders.
    fn points_here(&self, package: &Path) -> bool {
        let name = package.file_name().unwrap_or_default().as_bytes();
        let endings: [&[u8]; 2] = [b".pth", b".egg-link"];
        let is_path_file = endings.iter().any(|ending| name.ends_with(ending));
        let says = if is_path_file || name.starts_with(b"__editable__") {
            package.to_owned()
        } else if name.ends_with(b".dist-info") {
            package.join("direct_url.json")
        } else {
            return package.is_symlink() && self.holding(package).is_some();
        };
        let mut bytes = Vec::new();
        let read = fs::File::open(says).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
        read.is_ok()
            && self
                .0
                .iter()
                .any(|root| mentions(&bytes, root.as_os_str().as_bytes()))
    }
}

/// Whether a text names a folder, or something in it. A URL has some characters written in another way.
fn mentions(text: &[u8], folder: &[u8]) -> bool {
    let is_end =
        |byte: Option<&u8>| !byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte));
    let has = |folder: &[u8]| {
        let mut windows = text.windows(folder.len()).enumerate();
        windows.any(|(at, window)| window == folder && is_end(text.get(at + folder.len())))
    };
    let in_url: Vec<u8> = folder
        .iter()
        .flat_map(|byte| match byte {
            b'/' | b'.' | b'_' | b'-' | b'~' => vec![*byte],
            byte if byte.is_ascii_alphanumeric() => vec![*byte],
            byte => format!("%{byte:02X}").into_bytes(),
        })
        .collect();
    has(folder) || has(&in_url)
}

/// The absolute paths in a variable.
fn paths_of(value: &OsStr) -> impl Iterator<Item = &Path> {
    let parts = value.as_bytes().split(|byte| *byte == b':');
    parts
        .map(|part| Path::new(OsStr::from_bytes(part)))
        .filter(|path| path.is_absolute())
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// A path without links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    for there in path.ancestors() {
        if let Ok(real) = there.canonicalize() {
            return match path.strip_prefix(there) {
                Ok(rest) if rest.as_os_str().is_empty() => real,
                Ok(rest) => real.join(rest),
                Err(_) => path.to_owned(),
            };
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The entries of a `PATH` that stay, of those below a folder where `root` is the checkout.
    fn stay(dir: &Path, entries: &[&str]) -> Vec<String> {
        let dir = dir.canonicalize().unwrap();
        let folders = UsersFolders(vec![dir.join("my repo")]);
        let all: Vec<PathBuf> = entries.iter().map(|entry| dir.join(entry)).collect();
        let (path, _) = folders.take_out_of(&std::env::join_paths(all).unwrap());
        std::env::split_paths(&path)
            .map(|path| path.strip_prefix(&dir).unwrap().to_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn entries_in_the_checkout_are_left_out_also_behind_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("my repo/node_modules/.bin");
        fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(&bin, dir.path().join("link")).unwrap();
        let entries = [
            "my repo/node_modules/.bin",
            "my repo/gone",
            "link",
            "my repository",
            "usr/bin",
        ];
        assert_eq!(stay(dir.path(), &entries), ["my repository", "usr/bin"]);
    }

    #[test]
    fn an_environment_that_has_the_checkout_installed_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("my repo");
        fs::create_dir_all(&root).unwrap();
        let (root, url) = (
            root.display().to_string(),
            root.display().to_string().replace(' ', "%20"),
        );
        let cases = [
            ("a", "x.pth", format!("{root}/src\n")),
            ("b", "x.egg-link", format!("{root}\n.")),
            (
                "c",
                "__editable___x_finder.py",
                format!("M = {{'x': '{root}/x'}}"),
            ),
            (
                "d",
                "x-1.dist-info/direct_url.json",
                format!("{{\"url\": \"file://{url}\"}}"),
            ),
            ("other", "x.pth", format!("{root}sitory/src\n")),
        ];
        for (name, file, text) in &cases {
            put(&dir.path().join(name).join("pyvenv.cfg"), "");
            put(
                &dir.path()
                    .join(name)
                    .join("lib/python3.12/site-packages")
                    .join(file),
                text,
            );
            fs::create_dir_all(dir.path().join(name).join("bin")).unwrap();
        }
        // A system's Python, in which somebody has installed the checkout.
        put(&dir.path().join("usr/lib/python3.12/site-packages/x.pth"), &root);
        fs::create_dir_all(dir.path().join("usr/bin")).unwrap();
        let entries = ["a/bin", "b/bin", "c/bin", "d/bin", "other/bin", "usr/bin"];
        assert_eq!(stay(dir.path(), &entries), ["other/bin", "usr/bin"]);
    }
}
