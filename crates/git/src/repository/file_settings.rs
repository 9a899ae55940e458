//! The user's settings that decide how git reads and writes files: ignore rules, line endings, links,
//! filters.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::command::call::Call;
use crate::command::settings::{AS_THE_USERS, IN_THE_CHECKOUT};
use crate::error::Result;
use crate::repository::Repository;
use crate::repository::later_filters::Content;
use crate::types::oid::Oid;
use crate::types::paths::fields;
use crate::types::quote::{config_text, config_value};

/// The keys whose values are taken as they stand, besides those of filters.
const KEYS: &str = r"^(core\.(autocrlf|eol|symlinks)|filter\..*\.(clean|smudge|process|required)|lfs\.storage|merge\..*\.(driver|recursive))$";
/// The keys whose values are paths, which git completes.
const PATHS: &str = r"^core\.(excludesfile|attributesfile)$";
/// The values of git where nothing is set. They are passed on too, since git reads the repository's file
/// itself, which may change meanwhile.
const UNSET: [(&str, &str); 3] = [
    ("core.autocrlf", "false"),
    ("core.eol", "native"),
    ("core.symlinks", "true"),
];
/// The name under which Git LFS stands in attributes.
pub(crate) const LFS: &str = "lfs";

/// The settings, from the files of the system, of the user and of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileSettings {
    /// `core.autocrlf`, `core.eol`, `core.symlinks`.
    plain: BTreeMap<String, String>,
    excludes_file: Option<PathBuf>,
    attributes_file: Option<PathBuf>,
    filters: BTreeMap<String, Filter>,
    lfs_storage: Option<PathBuf>,
    /// The settings of merge drivers, by their keys.
    drivers: BTreeMap<String, String>,
}

/// The settings of one filter: `clean`, `smudge`, `process`, `required`, those that are set.
type Filter = BTreeMap<String, String>;

/// Settings of a git directory that were read, and the configuration in which they stood.
#[derive(Debug)]
pub(crate) struct Read {
    settings: FileSettings,
    content: Content,
}

/// The settings that were read, each once, by the git directories of the repository and of its submodules.
pub(crate) type ReadOnce = Arc<Mutex<BTreeMap<PathBuf, Arc<Read>>>>;

/// The settings for files as they count on a certain base: only filters that its attributes name.
#[derive(Clone, Debug)]
pub(crate) struct FilesOf {
    read: Arc<Read>,
    /// The user's checkout, in which filters are run.
    checkout: PathBuf,
    named: BTreeSet<String>,
    /// Filters that the repository's configuration has got since.
    later: BTreeSet<String>,
    /// The user's own attributes, which are in no commit.
    attributes: Vec<u8>,
}

impl FileSettings {
    /// Reads the settings as git finds them from `folder`.
    fn read(repository: &Repository, git_dir: &Path, folder: &Path) -> Result<Self> {
        let ask = |arguments: &[&str]| -> Result<Vec<(String, String)>> {
            let call = repository.git().call("config").users_settings();
            let said = call
                .git_dir(git_dir)
                .cwd(folder)
                .arg("-z")
                .args(arguments)
                .run()?;
            match said.code {
                Some(0) => Ok(fields(&said.stdout).map(pair).collect()),
                Some(1) => Ok(Vec::new()),
                _ => Err(said.failed()),
            }
        };
        let mut read = Self {
            plain: UNSET
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
            ..Self::default()
        };
        for (key, value) in ask(&["--get-regexp", KEYS])? {
            match key.strip_prefix("filter.").and_then(|key| key.rsplit_once('.')) {
                Some((name, of)) => {
                    let filter = read.filters.entry(name.to_owned()).or_default();
                    filter.insert(of.to_owned(), value);
                }
                None if key == "lfs.storage" => {
                    read.lfs_storage =
                        Some(value.into()).filter(|path: &PathBuf| !path.as_os_str().is_empty());
                }
                None if key.starts_with("merge.") => {
                    read.drivers.insert(key, value);
                }
                None => {
                    read.plain.insert(key, value);
                }
            }
        }
        let around = repository.git().surroundings();
        let config_home = around.config_home.clone().filter(|home| home.is_absolute());
        let home = || around.home.as_ref().map(|home| home.join(".config"));
        let usual = |name: &str| Some(config_home.clone().or_else(home)?.join("git").join(name));
        read.excludes_file = usual("ignore");
        read.attributes_file = usual("attributes");
        for (key, value) in ask(&["--type=path", "--get-regexp", PATHS])? {
            let path = (!value.is_empty()).then(|| folder.join(value));
            match key.as_str() {
                "core.excludesfile" => read.excludes_file = path,
                _ => read.attributes_file = path,
            }
        }
        Ok(read)
    }

    /// The pairs of a call that merges. A driver runs only if the attributes of the merge name it.
    fn for_merges(&self) -> Vec<(String, String)> {
        let drivers = self.drivers.iter().map(|(key, value)| {
            let before = if key.ends_with(".driver") {
                AS_THE_USERS
            } else {
                ""
            };
            (key.clone(), format!("{before}{value}"))
        });
        self.core().into_iter().chain(drivers).collect()
    }

    /// The pairs of `core.*` with which git gets these settings.
    fn core(&self) -> Vec<(String, String)> {
        let mut pairs: Vec<_> = self.plain.clone().into_iter().collect();
        let files = [
            ("core.excludesFile", &self.excludes_file),
            ("core.attributesFile", &self.attributes_file),
        ];
        for (key, file) in files {
            let path = file.as_ref().and_then(|path| path.to_str());
            pairs.push((key.to_owned(), path.unwrap_or("/dev/null").to_owned()));
        }
        pairs
    }
}

impl FilesOf {
    fn settings(&self) -> &FileSettings {
        &self.read.settings
    }

    /// Whether the attributes name Git LFS, and the user has it.
    pub(crate) fn names_lfs(&self) -> bool {
        self.named.contains(LFS)
    }

    /// Whether a filter is run: the user has it and the attributes name it, or it is Git LFS. An agent may be
    /// asked to bring that into a repository, and it does nothing but move content.
    pub(crate) fn has(&self, filter: &str) -> bool {
        self.named.contains(filter) || (filter == LFS && self.settings().filters.contains_key(LFS))
    }

    /// Whether content may differ from its files although no commit has attributes.
    pub(crate) fn convert_without_attributes(&self) -> bool {
        let autocrlf = self.settings().plain.get("core.autocrlf");
        autocrlf.is_some_and(|value| value != "false") || !self.attributes.trim_ascii().is_empty()
    }

    /// All that decides how content of a commit is written into files, beside the commit's own attributes;
    /// only to be compared.
    pub(crate) fn form(&self) -> Vec<u8> {
        let filters = self.settings().filters.iter();
        let named: Vec<_> = filters.filter(|(name, _)| self.has(name)).collect();
        let mut form = format!("{:?}\n{named:?}\n", self.settings().plain).into_bytes();
        form.extend(&self.attributes);
        form
    }

    /// The settings as pairs of a key and a value, for a call of crew's.
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        let mut pairs = self.settings().core();
        let mut set =
            |name: &str, key: &str, value: String| pairs.push((format!("filter.{name}.{key}"), value));
        for (name, filter) in self.settings().filters.iter().filter(|(name, _)| self.has(name)) {
            for (key, value) in filter {
                let is_command = key != "required" && !value.is_empty();
                let before = if is_command {
                    [AS_THE_USERS, IN_THE_CHECKOUT].concat()
                } else {
                    String::new()
                };
                set(name, key, before + value);
            }
        }
        // The repository's own file may have the others, and git reads that file.
        let others = self.settings().filters.keys().chain(&self.later);
        for name in others.filter(|name| !self.has(name)) {
            for key in ["clean", "smudge", "process"] {
                set(name, key, String::new());
            }
            set(name, "required", "false".to_owned());
        }
        pairs
    }

    /// Puts the settings into a call about files.
    pub(crate) fn put_into(&self, call: Call) -> Call {
        call.file_settings(self.pairs(), &self.checkout)
    }

    /// The settings as a part of the configuration file of a git directory that crew writes.
    pub(crate) fn config(&self) -> String {
        let mut text = String::from("[core]\n");
        for (key, value) in self.settings().core() {
            let name = key.trim_start_matches("core.");
            text.push_str(&format!("\t{name} = {}\n", config_text(&value)));
        }
        let named = |name: &&String| self.has(name);
        for name in self.settings().filters.keys().filter(named) {
            text.push_str(&format!("[filter {}]\n", config_value(name)));
            for (key, value) in &self.settings().filters[name] {
                text.push_str(&format!("\t{key} = {}\n", config_text(value)));
            }
        }
        if self.has(LFS) {
            // An object that the user's store does not have stays a pointer; there is no server to ask.
            text.push_str("[lfs]\n\turl = file:///dev/null\n\tskipDownloadErrors = true\n");
        }
        text
    }
}

impl Repository {
    /// Reads the user's settings for files, once: every later use, by clones too, has them as they are now.
    ///
    /// # Errors
    /// [`Error::Failed`](crate::Error::Failed) when git cannot read its settings.
    pub fn read_file_settings(&self) -> Result<()> {
        self.read_files().map(drop)
    }

    /// Whether the user's settings for files are others now than those that were read.
    ///
    /// # Errors
    /// As [`Repository::read_file_settings`].
    pub fn have_file_settings_changed(&self) -> Result<bool> {
        self.read_files()?;
        let all = self
            .file_settings()
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for (git_dir, read) in all {
            let folder = if git_dir == self.common_dir() {
                self.root()
            } else {
                &git_dir
            };
            // The git directory of a submodule that the user does not have any more is of no account.
            if git_dir.exists() && FileSettings::read(self, &git_dir, folder)? != read.settings {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn read_files(&self) -> Result<Arc<Read>> {
        self.read_files_at(self.common_dir(), self.root())
    }

    fn read_files_at(&self, git_dir: &Path, folder: &Path) -> Result<Arc<Read>> {
        let known = || {
            self.file_settings()
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(read) = known().get(git_dir) {
            return Ok(Arc::clone(read));
        }
        // What changes in between is seen as a change later.
        let content = Content::read(git_dir);
        let settings = FileSettings::read(self, git_dir, folder)?;
        let read = Arc::new(Read { settings, content });
        Ok(Arc::clone(known().entry(git_dir.to_owned()).or_insert(read)))
    }

    /// The user's settings for files, with the filters that the attributes of `base` name.
    pub(crate) fn files_of(&self, base: &Oid) -> Result<FilesOf> {
        let read = self.read_files()?;
        let named = || self.filters_named(base);
        self.files_with(read, self.common_dir(), self.root(), named)
    }

    /// Begins a merge of commits under the attributes of one of them, with the user's own merge drivers.
    pub(crate) fn call_to_merge(&self, under: &Oid) -> Result<Call> {
        let pairs = self.read_files()?.settings.for_merges();
        let call = self.call("merge-tree").file_settings(pairs, self.root());
        Ok(call.attributes_from(under.as_str()))
    }

    /// The same for files of a submodule, by the git directory of the user's and the submodule's commit that
    /// chooses the filters. `path`: its folder.
    pub(crate) fn files_of_submodule(
        &self,
        source: &Path,
        path: &Path,
        base: Option<&Oid>,
    ) -> Result<FilesOf> {
        let read = self.read_files_at(source, source)?;
        let users = self.root().join(path);
        let checkout = match users.is_dir() {
            true => users.as_path(),
            false => self.root(),
        };
        let named = || match base {
            Some(base) => self.filters_in(self.call_at(source, "grep"), base),
            None => Ok(BTreeSet::new()),
        };
        self.files_with(read, source, checkout, named)
    }

    fn files_with(
        &self,
        read: Arc<Read>,
        git_dir: &Path,
        checkout: &Path,
        named: impl Fn() -> Result<BTreeSet<String>>,
    ) -> Result<FilesOf> {
        let own = git_dir.join("info/attributes");
        let files = [Some(&own), read.settings.attributes_file.as_ref()];
        let files = files
            .into_iter()
            .flatten()
            .map(|file| std::fs::read(file).unwrap_or_default());
        let attributes = files.collect::<Vec<_>>().join(&b'\n');
        let mut filters = BTreeSet::new();
        if !read.settings.filters.is_empty() {
            filters = named()?;
            filters.extend(names(&attributes));
            filters.retain(|name| read.settings.filters.contains_key(name));
        }
        let mut later = self.filters_since(git_dir, &read.content)?;
        later.retain(|name| !read.settings.filters.contains_key(name));
        Ok(FilesOf {
            read,
            checkout: checkout.to_owned(),
            named: filters,
            later,
            attributes,
        })
    }

    /// Begins a call about files, under the user's settings for them.
    pub(crate) fn call_for_files(&self, subcommand: &'static str, files: &FilesOf) -> Call {
        files.put_into(self.call(subcommand))
    }

    /// Whether the user has set up Git LFS.
    pub(crate) fn has_lfs_filter(&self) -> Result<bool> {
        Ok(self.read_files()?.settings.filters.contains_key(LFS))
    }

    /// Whether the attributes in a commit, or the user's own, have files in Git LFS.
    pub(crate) fn names_lfs(&self, commit: &Oid) -> Result<bool> {
        Ok(self.filters_named(commit)?.contains(LFS) || self.files_of(commit)?.names_lfs())
    }

    /// The folder in which the user's Git LFS keeps its objects, and what is on the way there.
    pub(crate) fn lfs_storage(&self) -> Result<PathBuf> {
        let read = self.read_files()?;
        let folder = read.settings.lfs_storage.as_deref();
        Ok(self.common_dir().join(folder.unwrap_or(Path::new("lfs"))))
    }

    /// The filters that the attributes in a commit name.
    fn filters_named(&self, commit: &Oid) -> Result<BTreeSet<String>> {
        if let Some(known) = self.memories().filters.find(commit, commit) {
            return Ok(known);
        }
        let named = self.filters_in(self.call("grep"), commit)?;
        self.memories().filters.keep(commit, commit, named.clone());
        Ok(named)
    }

    fn filters_in(&self, grep: Call, commit: &Oid) -> Result<BTreeSet<String>> {
        let said = grep
            .env("GIT_LITERAL_PATHSPECS", "0")
            .args(["-h", "-a", "--no-line-number", "--no-column", "--no-color"])
            .args(["-F", "-e", "filter=", commit.as_str(), "--"])
            .arg(":(glob)**/.gitattributes")
            .run()?;
        match said.code {
            Some(0) => Ok(names(&said.stdout)),
            Some(1) => Ok(BTreeSet::new()),
            _ => Err(said.failed()),
        }
    }
}

/// Whether a path is a file of attributes.
pub(crate) fn is_attributes(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitattributes")
}

/// The filters that lines of attributes name.
fn names(attributes: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(attributes);
    let words = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace);
    words
        .filter_map(|word| word.strip_prefix("filter="))
        .map(str::to_owned)
        .collect()
}

/// One setting as `git config -z` prints it; one without a value is a true one.
fn pair(field: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(field);
    let (key, value) = text.split_once('\n').unwrap_or((&text, "true"));
    (key.to_owned(), value.to_owned())
}
