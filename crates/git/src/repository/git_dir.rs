//! A git directory that crew writes itself, and that borrows its objects from the repository.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::{Error, IoContext, Result};
use crate::repository::Repository;
use crate::repository::file_settings::FilesOf;
use crate::types::identity::Identity;
use crate::types::oid::{Format, Oid};
use crate::types::quote;

/// A file in a workspace's git directory, which marks it as none of the user's repositories.
pub(crate) const MARKER: &str = "crew-workspace";
/// The file that names the object stores from which a git directory borrows.
pub(crate) const ALTERNATES: &str = "objects/info/alternates";

/// No more than this is written of the user's tags: a file of refs beyond 4 MiB is not read from a workspace.
const TAGS_BYTES: usize = 2 << 20;

/// The parts in which git directories that crew writes differ.
pub(crate) struct Layout<'a> {
    pub(crate) head: String,
    pub(crate) refs: Vec<(String, Oid)>,
    pub(crate) identity: &'a Identity,
    pub(crate) excludes: &'a [String],
    /// The user's settings for files.
    pub(crate) files: &'a FilesOf,
    /// The git directory of the user's whose objects are borrowed.
    pub(crate) users: &'a Path,
}

impl Repository {
    /// Writes a git directory file by file, without running git: nobody's template or setting gets in.
    pub(crate) fn write_git_dir(&self, git_dir: &Path, layout: &Layout<'_>) -> Result<()> {
        for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"] {
            let folder = git_dir.join(folder);
            std::fs::create_dir_all(&folder).doing("make", &folder)?;
        }
        let (version, extensions) = match self.format() {
            Format::Sha1 => (0, ""),
            Format::Sha256 => (1, "[extensions]\n\tobjectFormat = sha256\n"),
        };
        let config = format!(
            "[core]\n\trepositoryFormatVersion = {version}\n\tfileMode = true\n\tbare = false\n\tlogAllRefUpdates = true\n\
             {extensions}\
             [user]\n\tname = {}\n\temail = {}\n\
             [commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n{}",
            quote::config_value(&layout.identity.name),
            quote::config_value(&layout.identity.email),
            layout.files.config(),
        );
        let users = |file: &str| read(&layout.users.join("info").join(file));
        let mut exclude = users("exclude")?;
        exclude.extend(layout.excludes.join("\n").into_bytes());
        exclude.push(b'\n');
        for (name, oid) in &layout.refs {
            let file = git_dir.join(name);
            let folder = file.parent().unwrap_or(git_dir);
            std::fs::create_dir_all(folder).doing("make", folder)?;
            write(&file, format!("{oid}\n").as_bytes())?;
        }
        // Many projects take their version from the last tag.
        let mut packed = Vec::new();
        for (name, oid) in self.tags(layout.users)? {
            let line = format!("{oid} {name}\n");
            if packed.len() + line.len() > TAGS_BYTES {
                break;
            }
            packed.extend(line.bytes());
        }
        write(&git_dir.join("packed-refs"), &packed)?;
        write(&git_dir.join("config"), config.as_bytes())?;
        write(
            &git_dir.join(ALTERNATES),
            &alternates(&layout.users.join("objects")),
        )?;
        write(&git_dir.join("info/exclude"), &exclude)?;
        write(&git_dir.join("info/attributes"), &users("attributes")?)?;
        write(&git_dir.join(MARKER), b"made by crew\n")?;
        write(&git_dir.join("HEAD"), format!("{}\n", layout.head).as_bytes())
    }

    /// The tags of a git directory of the user's: full names and the objects that they name.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub(crate) fn tags(&self, git_dir: &Path) -> Result<BTreeMap<String, Oid>> {
        let listed = self
            .git()
            .call("for-each-ref")
            .git_dir(git_dir)
            .args(["--format=%(objectname) %(refname)", "refs/tags"])
            .run()?
            .stdout;
        let tags = String::from_utf8_lossy(&listed)
            .lines()
            .filter_map(|line| {
                let (oid, name) = line.split_once(' ')?;
                Some((name.to_owned(), Oid::parse(oid).ok()?))
            })
            .collect();
        Ok(tags)
    }

    /// The content of the file that leads a workspace's git to the user's objects.
    pub(crate) fn alternates(&self) -> Vec<u8> {
        alternates(&self.objects())
    }
}

/// Reads a file that need not be there, up to the end of its last line.
fn read(path: &Path) -> Result<Vec<u8>> {
    let mut content = match std::fs::read(path) {
        Ok(content) => content,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Error::io("read", path, error)),
    };
    if content.last().is_some_and(|last| *last != b'\n') {
        content.push(b'\n');
    }
    Ok(content)
}

fn alternates(objects: &Path) -> Vec<u8> {
    let bytes = objects.as_os_str().as_bytes();
    let mut alternates = if bytes.contains(&b'\n') {
        quote::c_style(objects)
    } else {
        bytes.to_vec()
    };
    alternates.push(b'\n');
    alternates
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    std::fs::write(path, content).doing("write", path)
}
