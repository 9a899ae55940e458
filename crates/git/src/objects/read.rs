//! Reading objects of the user's repository through a `git cat-file` that stays up.

use std::collections::BTreeMap;

use crate::repository::Repository;
use crate::types::change::{Change, Entry, Mode};
use crate::types::oid::Oid;
use crate::types::paths::path_of;

/// The greatest object that is read this way.
const OBJECT_BYTES: usize = 1 << 20;
/// The number of objects in one question: their names must fit into a pipe.
const QUESTION: usize = 256;
/// The number of trees, of both sides, that a difference may lead through.
const TREES: usize = 1000;
/// The number of commits that are read before git is asked for an ancestor: a commit that has just landed is
/// among the last merges.
const NEAR: usize = 8;
/// The greatest number of commits of an agent's branch that are read one by one.
const LINE: usize = 32;

/// An object's type and its content.
pub(crate) type Object = (Vec<u8>, Vec<u8>);

impl Repository {
    /// Reads objects, in the order of `ids`. `None`: one of them is missing or large, or git has to be asked
    /// in another way.
    pub(crate) fn objects_of<'o>(&self, ids: impl IntoIterator<Item = &'o Oid>) -> Option<Vec<Object>> {
        let ids: Vec<&Oid> = ids.into_iter().collect();
        let mut found = Vec::with_capacity(ids.len());
        for ids in ids.chunks(QUESTION) {
            let question: String = ids.iter().map(|oid| format!("{oid}\n")).collect();
            let start = || Ok(self.call("cat-file").arg("--batch"));
            let objects = self
                .standing_gits()
                .objects
                .ask(start, question.as_bytes(), |answer| {
                    let mut objects = Vec::with_capacity(ids.len());
                    for id in ids {
                        let head = answer.until(b'\n', 1 << 10)?;
                        let head = std::str::from_utf8(&head).ok()?.strip_prefix(id.as_str())?;
                        let (kind, size) = head.strip_prefix(' ')?.split_once(' ')?;
                        let size: usize = size.parse().ok().filter(|size| *size <= OBJECT_BYTES)?;
                        let content = answer.exactly(size)?;
                        answer.exactly(1)?;
                        objects.push((kind.as_bytes().to_vec(), content));
                    }
                    Some(objects)
                })?;
            found.extend(objects);
        }
        Some(found)
    }

    /// Whether the repository has each object, in the order of `ids`. `None`: git has to be asked in another
    /// way.
    pub(crate) fn has_objects(&self, ids: &[Oid]) -> Option<Vec<bool>> {
        let mut found = Vec::with_capacity(ids.len());
        for ids in ids.chunks(QUESTION) {
            let question: String = ids.iter().map(|oid| format!("{oid}\n")).collect();
            let start = || Ok(self.call("cat-file").arg("--batch"));
            let known = self
                .standing_gits()
                .objects
                .ask(start, question.as_bytes(), |answer| {
                    let mut known = Vec::with_capacity(ids.len());
                    for id in ids {
                        let head = answer.until(b'\n', 1 << 10)?;
                        let head = std::str::from_utf8(&head).ok()?.strip_prefix(id.as_str())?;
                        let is_known = head != " missing";
                        if is_known {
                            let (_, size) = head.strip_prefix(' ')?.split_once(' ')?;
                            answer.exactly(size.parse().ok().filter(|size| *size <= OBJECT_BYTES)?)?;
                            answer.exactly(1)?;
                        }
                        known.push(is_known);
                    }
                    Some(known)
                })?;
            found.extend(known);
        }
        Some(found)
    }

    /// Reads the tree of a commit; `None`: the object is no commit, or git has to be asked in another way.
    pub(crate) fn tree_from_cat_file(&self, commit: &Oid) -> Option<Oid> {
        match self.objects_of([commit])?.pop()? {
            (kind, content) if kind == b"commit" => tree_of(&content),
            _ => None,
        }
    }

    /// Reads the parents of a commit; `None`: the object is no commit, or git has to be asked in another way.
    pub(crate) fn parents_from_cat_file(&self, commit: &Oid) -> Option<Vec<Oid>> {
        match self.objects_of([commit])?.pop()? {
            (kind, content) if kind == b"commit" => Some(parents_of(&content)),
            _ => None,
        }
    }

    /// The commits from `tip` down to `base`, without `base`, where each has one parent and there are few of
    /// them; `None`: git has to be asked.
    pub(crate) fn straight_line(&self, base: &Oid, tip: &Oid) -> Option<Vec<Oid>> {
        let mut line = Vec::new();
        let mut at = tip.clone();
        while at != *base {
            let mut parents = self.parents_from_cat_file(&at)?.into_iter();
            let (Some(parent), None) = (parents.next(), parents.next()) else {
                return None;
            };
            line.push(std::mem::replace(&mut at, parent));
            if line.len() > LINE {
                return None;
            }
        }
        Some(line)
    }

    /// Whether the commit is one of the last few on the descendant's line of first parents, or was merged by
    /// one of them. `false`: it is not, or git has to look further.
    pub(crate) fn is_near(&self, ancestor: &Oid, descendant: &Oid) -> bool {
        let mut at = descendant.clone();
        for _ in 0..NEAR {
            let Some((kind, content)) = self.objects_of([&at]).and_then(|mut found| found.pop()) else {
                return false;
            };
            if kind != b"commit" {
                return false;
            }
            let parents = parents_of(&content);
            if at == *ancestor || parents.contains(ancestor) {
                return true;
            }
            let Some(first) = parents.into_iter().next() else {
                return false;
            };
            at = first;
        }
        false
    }

    /// The paths in which two commits or trees differ, as [`Repository::changes`] gives them; `None` where
    /// git has to be asked.
    pub(crate) fn tree_changes(&self, old: &Oid, new: &Oid) -> Option<Vec<Change>> {
        let roots = self.objects_of([old, new])?;
        let mut trees = Vec::new();
        for (root, (kind, content)) in [old, new].into_iter().zip(roots) {
            trees.push(match &kind[..] {
                b"commit" => tree_of(&content)?,
                b"tree" => root.clone(),
                _ => return None,
            });
        }
        let mut changes = Vec::new();
        let mut read = 0;
        // The folders that differ: the path, and the tree of each side.
        let mut open = vec![(Vec::new(), Some(trees.swap_remove(0)), trees.pop())];
        while !open.is_empty() {
            open.retain(|(_, old, new)| old != new);
            let wanted: Vec<&Oid> = open
                .iter()
                .flat_map(|(_, old, new)| [old, new])
                .flatten()
                .collect();
            read += wanted.len();
            if read > TREES {
                return None;
            }
            let mut contents = self.objects_of(wanted)?.into_iter();
            let mut below = Vec::new();
            for (folder, old, new) in open {
                let mut side = |tree: Option<Oid>| match tree {
                    Some(_) => self.entries(&contents.next()?),
                    None => Some(BTreeMap::new()),
                };
                let (mut old, new) = (side(old)?, side(new)?);
                let mut compare = |name: Vec<u8>, was: Item, is: Item| {
                    if was == is {
                        return;
                    }
                    let mut path = folder.clone();
                    path.extend(name);
                    let (from, to) = (was.tree(), is.tree());
                    if from.is_some() || to.is_some() {
                        let folder = [&path[..], b"/"].concat();
                        below.push((folder, from, to));
                    }
                    let (old, new) = (was.file(), is.file());
                    if old != new {
                        let path = path_of(&path).to_owned();
                        changes.push(Change { path, old, new });
                    }
                };
                for (name, is) in new {
                    let was = old.remove(&name).unwrap_or(Item::Absent);
                    compare(name, was, is);
                }
                for (name, was) in old {
                    compare(name, was, Item::Absent);
                }
            }
            open = below;
        }
        changes.sort_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
        Some(changes)
    }

    fn entries(&self, (kind, content): &Object) -> Option<BTreeMap<Vec<u8>, Item>> {
        let width = self.format().hex_len() / 2;
        let mut entries = BTreeMap::new();
        let mut rest = &content[..];
        if kind != b"tree" {
            return None;
        }
        while !rest.is_empty() {
            let blank = rest.iter().position(|byte| *byte == b' ')?;
            let (mode, after) = (&rest[..blank], &rest[blank + 1..]);
            let end = after.iter().position(|byte| *byte == 0)?;
            let (name, after) = (&after[..end], &after[end + 1..]);
            let raw = after.get(..width)?;
            let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
            let oid = Oid::parse(&hex).ok()?;
            let item = match mode {
                b"40000" | b"040000" => Item::Tree(oid),
                other => Item::File(Mode::parse(other)?, oid),
            };
            entries.insert(name.to_vec(), item);
            rest = &after[width..];
        }
        Some(entries)
    }
}

/// An entry of a tree.
#[derive(PartialEq)]
enum Item {
    Absent,
    Tree(Oid),
    File(Mode, Oid),
}

impl Item {
    fn tree(&self) -> Option<Oid> {
        match self {
            Self::Tree(oid) => Some(oid.clone()),
            Self::Absent | Self::File(..) => None,
        }
    }

    fn file(&self) -> Entry {
        match self {
            Self::File(mode, oid) => Some((*mode, oid.clone())),
            Self::Absent | Self::Tree(_) => None,
        }
    }
}

/// Reads the tree from a commit's first line.
fn tree_of(commit: &[u8]) -> Option<Oid> {
    let line = commit.split(|byte| *byte == b'\n').next()?;
    Oid::from_bytes(line.strip_prefix(b"tree ")?).ok()
}

/// Reads the parents of a commit, in their order.
fn parents_of(commit: &[u8]) -> Vec<Oid> {
    let lines = commit.split(|byte| *byte == b'\n').skip(1);
    lines
        .map_while(|line| line.strip_prefix(b"parent "))
        .filter_map(|id| Oid::from_bytes(id).ok())
        .collect()
}
