//! What a person must approve before work lands: paths, and what looks like secrets.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use git::{Change, Mode, Oid};
use model::settings::Secrets;
use model::ticket::Secret;

use super::Executor;
use crate::secrets;

/// The lines on each side of an added one that are looked through with it: more than a private key has.
const NEAR: usize = 100;
/// The number of files whose contents are in memory at once.
const AT_ONCE: usize = 16;
/// The most values that are named: after so many nobody needs the rest to send the work back.
const MOST: usize = 100;

/// A file of which added lines are looked through.
struct Written {
    path: String,
    blob: Oid,
    /// The commit that has it, where the branch's tip has it no more.
    taken_away: Option<Oid>,
}

impl Written {
    /// The values that look like secrets in lines that were not there `before`, each once: `seen` has those
    /// that are known already.
    fn values(
        &self,
        content: &[u8],
        before: &BTreeSet<u64>,
        seen: &mut BTreeSet<(String, u64)>,
    ) -> Vec<Secret> {
        let near = near_added(content, before);
        let mut found = Vec::new();
        for one in secrets::find(&self.path, &near) {
            let value = near.get(one.range.clone()).unwrap_or_default();
            // A new key between the old first and last line of another one is a find.
            let is_old = lines(around(&near, &one.range)).all(|line| before.contains(&digest(line)));
            if is_old || !seen.insert((self.path.clone(), digest(value))) {
                continue;
            }
            let commit = self.taken_away.as_ref();
            found.push(Secret::Value {
                path: text::sanitise::line(&self.path),
                line: one.line,
                rule: one.rule,
                masked: secrets::masked(value),
                taken_away: commit.and_then(|commit| model::Oid::new(commit.as_str()).ok()),
            });
        }
        found
    }
}

impl Executor {
    /// The paths of a change that wait for a person, as they are shown.
    pub(super) fn sensitive(&self, changes: &[Change]) -> Vec<String> {
        let hooks = self.hook_programs();
        changes
            .iter()
            .map(|change| (change, change.path.display().to_string()))
            .filter(|(change, path)| {
                self.settings.holds(path) || self.is_ticket(path) || hooks.contains(&change.path)
            })
            .map(|(_, path)| path)
            .collect()
    }

    /// What looks like secrets in the lines and the files that a change adds, also where a later commit took
    /// them away again: all commits land. `ahead`: the commits that it brings.
    pub(super) fn secrets(&self, changes: &[Change], ahead: &[Oid]) -> git::Result<Vec<Secret>> {
        match self.settings.land.secrets {
            Secrets::Off => return Ok(Vec::new()),
            Secrets::Hold => {}
        }
        let mut written: Vec<Written> = Vec::new();
        let mut old: BTreeSet<Oid> = BTreeSet::new();
        let mut found = Vec::new();
        for change in changes {
            old.extend(blob(change.old.as_ref()));
            let Some(blob) = blob(change.new.as_ref()) else {
                continue;
            };
            let path = change.path.display().to_string();
            if change.old.is_none() && text::is_secret_file(&path) {
                found.push(named(&path, None));
            }
            let taken_away = None;
            written.push(Written {
                path,
                blob,
                taken_away,
            });
        }
        // What a single commit brings is in the changes.
        if ahead.len() > 1 {
            let mut known: BTreeSet<Oid> = written.iter().map(|it| it.blob.clone()).collect();
            let mut ours = BTreeSet::new();
            // The oldest first: what one commit of the branch wrote is not old because the next one changed
            // it, and what a later one puts back is not new.
            for one in self.repository.written(ahead)?.into_iter().rev() {
                let path = one.path.display().to_string();
                let is_there = changes
                    .iter()
                    .any(|change| change.path == one.path && change.new.is_some());
                let is_new = one.old.is_empty();
                old.extend(one.old.into_iter().filter(|blob| !ours.contains(blob)));
                let taken_away = model::Oid::new(one.commit.as_str()).ok();
                if is_new && !is_there && text::is_secret_file(&path) {
                    found.push(named(&path, taken_away));
                }
                if old.contains(&one.blob) {
                    continue;
                }
                ours.insert(one.blob.clone());
                if known.insert(one.blob.clone()) {
                    let taken_away = Some(one.commit);
                    written.push(Written {
                        path,
                        blob: one.blob,
                        taken_away,
                    });
                }
            }
        }
        found.extend(self.values(&written, &old)?);
        found.extend(self.in_messages(ahead)?);
        found.truncate(MOST);
        Ok(found)
    }

    /// The values that look like secrets in the messages of commits.
    fn in_messages(&self, commits: &[Oid]) -> git::Result<Vec<Secret>> {
        let mut found = Vec::new();
        for part in commits.chunks(AT_ONCE) {
            for (commit, whole) in part.iter().zip(self.repository.contents(part)?) {
                let (Some(whole), Ok(commit)) = (whole, model::Oid::new(commit.as_str())) else {
                    continue;
                };
                let message = message(&whole);
                found.extend(secrets::find("", message).into_iter().map(|one| Secret::Message {
                    commit: commit.clone(),
                    rule: one.rule,
                    masked: secrets::masked(message.get(one.range).unwrap_or_default()),
                }));
            }
        }
        Ok(found)
    }

    /// The values that look like secrets in lines that no old file has.
    fn values(&self, written: &[Written], old: &BTreeSet<Oid>) -> git::Result<Vec<Secret>> {
        let mut before = BTreeSet::new();
        for part in old.iter().cloned().collect::<Vec<_>>().chunks(AT_ONCE) {
            for text in self.repository.contents(part)?.into_iter().flatten() {
                before.extend(lines(&text).map(digest));
            }
        }
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for part in written.chunks(AT_ONCE) {
            let ids: Vec<Oid> = part.iter().map(|it| it.blob.clone()).collect();
            for (file, content) in part.iter().zip(self.repository.contents(&ids)?) {
                if let Some(content) = content.filter(|content| !is_binary(content)) {
                    found.extend(file.values(&content, &before, &mut seen));
                }
                if found.len() >= MOST {
                    found.truncate(MOST);
                    return Ok(found);
                }
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

fn named(path: &str, taken_away: Option<model::Oid>) -> Secret {
    let path = text::sanitise::line(path);
    Secret::File { path, taken_away }
}

/// The message of a commit: what follows its head, which ends with an empty line.
fn message(commit: &[u8]) -> &[u8] {
    let end = memchr::memmem::find(commit, b"\n\n");
    end.map_or(&[], |end| &commit[end + 2..])
}

/// The content of a side of a change, if it is a file.
fn blob(side: Option<&(Mode, Oid)>) -> Option<Oid> {
    let (mode, blob) = side?;
    match mode {
        Mode::File | Mode::Executable => Some(blob.clone()),
        Mode::Symlink | Mode::Submodule => None,
    }
}

fn is_binary(content: &[u8]) -> bool {
    content.iter().take(8000).any(|byte| *byte == 0)
}

fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split(|byte| *byte == b'\n')
}

/// A number for a line or a value, of which there are too many to keep.
fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// A text with only the lines near one that was not there before: the others are empty, so that lines keep
/// their numbers.
fn near_added(content: &[u8], before: &BTreeSet<u64>) -> Vec<u8> {
    let of_text: Vec<&[u8]> = lines(content).collect();
    let mut is_near = vec![false; of_text.len()];
    let mut until = 0;
    for (nth, line) in of_text.iter().enumerate() {
        if !before.contains(&digest(line)) {
            let end = (nth + NEAR + 1).min(of_text.len());
            is_near[nth.saturating_sub(NEAR).max(until)..end].fill(true);
            until = end;
        }
    }
    let mut near = Vec::with_capacity(content.len() + 1);
    for (line, is_near) in of_text.iter().zip(is_near) {
        if is_near {
            near.extend_from_slice(line);
        }
        near.push(b'\n');
    }
    near
}

/// The whole lines of a range of a text.
fn around<'t>(text: &'t [u8], range: &Range<usize>) -> &'t [u8] {
    let is_end = |byte: &u8| *byte == b'\n';
    let start = text[..range.start]
        .iter()
        .rposition(is_end)
        .map_or(0, |at| at + 1);
    let rest = &text[range.end..];
    let end = range.end + rest.iter().position(is_end).unwrap_or(rest.len());
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_near_a_new_one_are_looked_through_and_keep_their_numbers() {
        let text: Vec<String> = (0..500).map(|nth| format!("line {nth}")).collect();
        let text = text.join("\n");
        let before: BTreeSet<u64> = lines(text.as_bytes())
            .filter(|line| *line != b"line 250" && *line != b"line 252")
            .map(digest)
            .collect();
        let near = String::from_utf8(near_added(text.as_bytes(), &before)).unwrap();
        let kept: Vec<(usize, &str)> = near
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.is_empty())
            .collect();
        assert_eq!(kept.first(), Some(&(150, "line 150")));
        assert_eq!(kept.last(), Some(&(352, "line 352")));
        assert_eq!(kept.len(), 203);
    }

    #[test]
    fn the_lines_of_a_range_are_whole() {
        let text = b"one\ntwo\nthree\nfour";
        assert_eq!(around(text, &(5..9)), b"two\nthree");
        assert_eq!(around(text, &(0..1)), b"one");
        assert_eq!(around(text, &(15..18)), b"four");
    }
}
