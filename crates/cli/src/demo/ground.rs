//! The temporary folder that everything of a demonstration stands in.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::context::Context;
use crate::error::{Error, Result};
use client::error::Doing as _;

/// Where a folder is tried to be made when `TMPDIR` names none that can be written.
const COMMON: [&str; 2] = ["/tmp", "/var/tmp"];
/// Where programs are looked for when `PATH` is not set.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The part of the caller's environment that a demonstration needs. Nothing else has a part in it: no git
/// settings, no identity, no hooks, no queue of the caller's.
const TAKEN: [&str; 5] = ["LANG", "TERM", "USER", "SHELL", "PATH"];

/// The folder. Gone with this value, unless it is kept.
#[derive(Debug)]
pub(crate) struct Ground {
    folder: TempDir,
    /// The folder, without symbolic links.
    root: PathBuf,
    /// The environment that everything in it is run with.
    pub(crate) env: BTreeMap<String, String>,
}

impl Ground {
    /// Makes the folder, readable by its owner only.
    pub(crate) fn make(context: &Context) -> Result<Self> {
        let given = context.var("TMPDIR").map(|dir| context.dir.join(dir));
        let mut refused = None;
        for parent in given.into_iter().chain(COMMON.map(PathBuf::from)) {
            match tempfile::Builder::new().prefix("crew-demo-").tempdir_in(&parent) {
                Ok(folder) => return Self::of(folder, context),
                Err(error) => refused = refused.or(Some((parent, error))),
            }
        }
        let why = refused.map_or_else(String::new, |(parent, error)| {
            format!(" ({}: {})", parent.display(), text::os_message(&error))
        });
        Err(Error::refused(
            format!("there is no room for the demonstration{why}"),
            "set TMPDIR to a folder that can be written",
        ))
    }

    fn of(folder: TempDir, context: &Context) -> Result<Self> {
        let root = folder.path().canonicalize().doing("find", folder.path())?;
        if root.to_str().is_none() {
            return Err(Error::refused(
                format!("the name of {} is not text", root.display()),
                "set TMPDIR to another folder",
            ));
        }
        for name in ["home", "notes", "textkit"] {
            let path = root.join(name);
            std::fs::create_dir(&path).doing("make", path)?;
        }
        let mut env: BTreeMap<String, String> = TAKEN
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), context.var(name)?.to_owned())))
            .collect();
        env.entry("PATH".to_owned()).or_insert_with(|| PATH.to_owned());
        env.insert(
            "HOME".to_owned(),
            root.join("home").to_string_lossy().into_owned(),
        );
        Ok(Self { folder, root, env })
    }

    /// A place in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The repository.
    pub(crate) fn repository(&self) -> PathBuf {
        self.path("textkit")
    }

    /// The environment, as an engine takes it.
    pub(crate) fn whole_env(&self) -> BTreeMap<OsString, OsString> {
        self.env
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    /// Leaves the folder where it is.
    pub(crate) fn keep(self) -> PathBuf {
        drop(self.folder.keep());
        self.root
    }

    /// Takes it away.
    pub(crate) fn remove(self) -> Result<()> {
        let path = self.root;
        Ok(self.folder.close().doing("remove", path)?)
    }
}

/// A text file.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).doing("make", parent)?;
    }
    // The mode does not depend on the umask: settings that others may change are refused.
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o644)
        .open(path)
        .doing("write", path)?;
    Ok(file.write_all(text.as_bytes()).doing("write", path)?)
}
