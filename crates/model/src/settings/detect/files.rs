//! The files of a repository, as detection sees them.

use serde_json::Value;

/// The names of a repository's files, and a way to read them.
pub(super) struct Files<'a> {
    paths: Vec<&'a str>,
    read: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Files<'a> {
    pub(super) fn new(paths: Vec<&'a str>, read: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { paths, read }
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.contains(&path)
    }

    /// The first of these paths that the repository has.
    pub(super) fn first_of<'p>(&self, paths: &[&'p str]) -> Option<&'p str> {
        paths.iter().find(|path| self.has(path)).copied()
    }

    /// The first file for which this is true.
    pub(super) fn find(&self, mut is_meant: impl FnMut(&str) -> bool) -> Option<&'a str> {
        self.paths.iter().find(|path| is_meant(path)).copied()
    }

    /// All files for which this is true.
    pub(super) fn all(&self, mut is_meant: impl FnMut(&str) -> bool) -> Vec<&'a str> {
        self.paths.iter().filter(|path| is_meant(path)).copied().collect()
    }

    /// The text of a file of the repository, if it has it.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        if self.has(path) { (self.read)(path) } else { None }
    }

    /// A file in TOML, if the repository has it and it can be read.
    pub(super) fn toml(&self, path: &str) -> Option<Value> {
        toml::from_str(&self.text(path)?).ok()
    }
}

/// A word of a shell command.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+/@%:,=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
