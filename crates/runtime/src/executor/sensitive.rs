//! Paths that a person must approve before work that touches them lands.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Executor;

impl Executor {
    /// The paths of a change that wait for a person, as they are shown. `ahead`: the commits that it brings.
    pub(super) fn sensitive(&self, changes: &[git::Change], ahead: &[git::Oid]) -> git::Result<Vec<String>> {
        let hooks = self.hook_programs();
        let mut found: Vec<String> = changes
            .iter()
            .map(|change| (change, change.path.display().to_string()))
            .filter(|(change, path)| {
                let is_new_secret = || change.old.is_none() && text::is_secret_file(path);
                self.settings.holds(path)
                    || self.is_ticket(path)
                    || hooks.contains(&change.path)
                    || is_new_secret()
            })
            .map(|(_, path)| path)
            .collect();
        // What a single commit brings is in the changes.
        if ahead.len() > 1 {
            found.extend(self.secrets_taken_away(changes, ahead)?);
        }
        Ok(found)
    }

    /// Files with the name of a secret that commits of the branch add, and that its tip does not have any
    /// more: they would stay in the target's history.
    fn secrets_taken_away(&self, changes: &[git::Change], ahead: &[git::Oid]) -> git::Result<Vec<String>> {
        let mut found = Vec::new();
        for (commit, path) in self.repository.added(ahead)? {
            let shown = path.display().to_string();
            if text::is_secret_file(&shown) && changes.iter().all(|change| change.path != path) {
                found.push(format!(
                    "{shown} (taken away again, but its content stays in commit {:.12}, and its name is that of a file with secrets)",
                    commit.as_str()
                ));
            }
        }
        Ok(found)
    }

    /// The files of the repository that hooks run as the user, by whatever path the settings name them: an
    /// absolute one, or a link.
    fn hook_programs(&self) -> BTreeSet<PathBuf> {
        let Ok(root) = self.place.root.canonicalize() else {
            return BTreeSet::new();
        };
        let words = self.settings.hooks.each().flat_map(|hook| hook.command);
        let files = words.filter_map(|word| root.join(word).canonicalize().ok());
        let inside = files.filter(|file| file.is_file());
        inside
            .filter_map(|file| Some(file.strip_prefix(&root).ok()?.to_owned()))
            .collect()
    }

    /// A branch that changes the queue would steer crew.
    fn is_ticket(&self, path: &str) -> bool {
        let folder = self.place.tickets_dir.strip_prefix(&self.place.root);
        folder.is_ok_and(|folder| Path::new(path).starts_with(folder))
    }
}
