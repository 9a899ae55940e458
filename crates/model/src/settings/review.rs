//! `[review]`: which work a gatekeeper looks at before it lands.

use std::collections::BTreeSet;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::MAX_AGENTS;
use super::check::is_in;
use super::checks::literal_path;
use super::reader::{Reader, Table, Value};

/// The most tries of one review.
const MAX_TRIES: u32 = 1000;

/// `[review]`: whether a gatekeeper, an agent with a pool of its own, looks at the work before it lands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Review {
    /// When work is reviewed: `"never"`, `"always"`, or `{ labels = ["risky"], paths = ["src/auth"], lines =
    /// 400 }`. Any one of these is enough.
    pub when: ReviewWhen,
    /// The harness that gatekeepers run on: the name of a `[harness.<name>]` table. Without one, that of the
    /// agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub harness: Option<String>,
    /// The number of gatekeepers, named `gate-1`, `gate-2` and so on: as many reviews go on at once.
    #[schemars(range(min = 1, max = 1000))]
    pub count: u32,
    /// The number of gatekeepers that must approve of the same work; at most `count`.
    #[schemars(range(min = 1, max = 1000))]
    pub agree: u32,
    /// The number of times in a row that a review may end without a verdict; then the ticket is held.
    #[schemars(range(min = 1, max = 1000))]
    pub tries: u32,
}

/// When work is reviewed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewWhen {
    /// Checking goes on to landing.
    #[default]
    Never,
    /// All work is reviewed.
    Always,
    /// Some work is reviewed.
    #[serde(untagged)]
    Some(ReviewOf),
}

/// The work that is reviewed: any one of the conditions is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ReviewOf {
    /// Work on tickets with one of these tags.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(default, length(min = 1), with = "BTreeSet<String>")]
    pub labels: BTreeSet<String>,
    /// Work that changes one of these files, or a file in one of these folders. The paths are relative to the
    /// repository's root and taken literally.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, length(min = 1), with = "Vec<String>")]
    pub paths: Vec<String>,
    /// Work that adds and removes at least this many lines, both counted. Binary files are counted like
    /// texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, range(min = 1), with = "u32")]
    pub lines: Option<u32>,
}

impl Default for Review {
    fn default() -> Self {
        Self {
            when: ReviewWhen::Never,
            harness: None,
            count: 1,
            agree: 1,
            tries: 3,
        }
    }
}

impl Review {
    /// True if the work on a ticket with these tags is reviewed, whatever it changes.
    #[must_use]
    pub fn wants(&self, tags: &BTreeSet<String>) -> bool {
        match &self.when {
            ReviewWhen::Never => false,
            ReviewWhen::Always => true,
            ReviewWhen::Some(_) => self.tag_of(tags).is_some(),
        }
    }

    /// The first of these tags for which work is reviewed. Case is ignored: a tag in another spelling must
    /// not take the work past its review.
    #[must_use]
    pub fn tag_of<'t>(&self, tags: &'t BTreeSet<String>) -> Option<&'t str> {
        let ReviewWhen::Some(of) = &self.when else {
            return None;
        };
        let is_named = |tag: &&String| {
            let tag = tag.to_lowercase();
            of.labels.iter().any(|label| label.to_lowercase() == tag)
        };
        tags.iter().find(is_named).map(String::as_str)
    }

    /// True if what work changes decides whether it is reviewed.
    #[must_use]
    pub fn is_by_change(&self) -> bool {
        match &self.when {
            ReviewWhen::Never | ReviewWhen::Always => false,
            ReviewWhen::Some(of) => !of.paths.is_empty() || of.lines.is_some(),
        }
    }

    /// The first of these changed paths for which work is reviewed.
    #[must_use]
    pub fn asks_about<'p>(&self, mut changed: impl Iterator<Item = &'p str>) -> Option<&'p str> {
        let ReviewWhen::Some(of) = &self.when else {
            return None;
        };
        changed.find(|path| of.paths.iter().any(|one| is_in(path, one)))
    }

    /// The number of changed lines from which on work is reviewed; none where its size does not matter.
    #[must_use]
    pub fn lines(&self) -> Option<u32> {
        match &self.when {
            ReviewWhen::Never | ReviewWhen::Always => None,
            ReviewWhen::Some(of) => of.lines,
        }
    }

    /// Its paths that hold none of these files.
    #[must_use]
    pub fn paths_without<'p>(&self, files: &(impl Iterator<Item = &'p str> + Clone)) -> Vec<&str> {
        let ReviewWhen::Some(of) = &self.when else {
            return Vec::new();
        };
        let has_none = |of: &&String| !files.clone().any(|path| is_in(path, of));
        of.paths.iter().filter(has_none).map(String::as_str).collect()
    }
}

/// Reads the table; with the harness it names, which may stand further down.
pub(super) fn read<'t>(
    reader: &mut Reader<'t>,
    mut table: Table<'t>,
) -> (Review, Option<(String, Range<usize>)>) {
    let mut review = Review::default();
    if let Some(value) = table.take("when") {
        review.when = when(reader, value).unwrap_or_default();
    }
    let wanted = table.take("harness").and_then(|value| {
        let name = reader.filled(&value)?;
        Some((name, value.span))
    });
    review.harness = wanted.as_ref().map(|(name, _)| name.clone());
    table.set(reader, "count", &mut review.count, |r, v| {
        r.whole(&v, 1..=MAX_AGENTS)
    });
    if let Some(value) = table.take("agree") {
        let (name, span) = (value.name.clone(), value.span.clone());
        if let Some(agree) = reader.whole(&value, 1..=MAX_AGENTS) {
            review.agree = agree;
            if agree > review.count {
                let message = format!(
                    "`{name}` = {agree}, and there are only {} gatekeepers",
                    review.count
                );
                let hint = format!("write count = {agree}: each gatekeeper approves once");
                reader.report(span, message, Some(hint));
            }
        }
    }
    table.set(reader, "tries", &mut review.tries, |r, v| {
        r.whole(&v, 1..=MAX_TRIES)
    });
    reader.finish("review", table);
    (review, wanted)
}

const FORMS: &str = "write \"never\", \"always\" or { labels = [\"risky\"], paths = [\"src/auth\"], lines = 400 }; each of the three may be left out";

fn when<'t>(reader: &mut Reader<'t>, value: Value<'t>) -> Option<ReviewWhen> {
    if value.is_text("never") {
        return Some(ReviewWhen::Never);
    }
    if value.is_text("always") {
        return Some(ReviewWhen::Always);
    }
    if !value.is_table() {
        let message = format!("`{}` says nothing that crew knows", value.name);
        reader.report(value.span, message, Some(FORMS.to_owned()));
        return None;
    }
    let mut table = reader.table(value)?;
    let (name, span) = (table.name().to_owned(), table.span());
    let mut of = ReviewOf::default();
    let mut is_empty = true;
    if let Some(value) = table.take("labels") {
        is_empty = false;
        of.labels.extend(some(reader, value, |r, v| r.filled(&v)));
    }
    if let Some(value) = table.take("paths") {
        is_empty = false;
        let why = "is a pattern, and the paths of reviews are taken literally";
        let hint = "name a file, or a folder for all that is in it";
        of.paths = some(reader, value, |r, v| literal_path(r, &v, why, hint));
    }
    if let Some(value) = table.take("lines") {
        is_empty = false;
        of.lines = reader.whole(&value, 1..=u32::MAX);
    }
    reader.finish("review.when", table);
    if is_empty {
        let message = format!("`{name}` names no labels, no paths and no number of lines");
        reader.report(span, message, Some(FORMS.to_owned()));
    }
    Some(ReviewWhen::Some(of))
}

/// A list with something in it: an empty one would look like a condition and ask for no review at all.
fn some<'t>(
    reader: &mut Reader<'t>,
    value: Value<'t>,
    mut each: impl FnMut(&mut Reader<'t>, Value<'t>) -> Option<String>,
) -> Vec<String> {
    let (name, span) = (value.name.clone(), value.span.clone());
    let mut is_empty = true;
    let listed = reader.each(value, |reader, value| {
        is_empty = false;
        each(reader, value)
    });
    if is_empty && listed.is_some() {
        let message = format!("`{name}` is empty, so it asks for no review");
        reader.report(span, message, Some("name one, or remove it".to_owned()));
    }
    listed.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;

    fn read(when: &str) -> Review {
        let text = format!("[review]\nwhen = {when}\n");
        Settings::parse(&text, "crew.toml").unwrap().review
    }

    #[test]
    fn each_condition_is_asked_for_by_itself() {
        let review = read("{ paths = [\"src/auth\", \"Cargo.lock\"] }");
        let asks = |path: &'static str| review.asks_about(["a.md", path].into_iter());
        assert_eq!(asks("src/auth/key.rs"), Some("src/auth/key.rs"));
        assert_eq!(asks("Cargo.lock"), Some("Cargo.lock"));
        assert_eq!(asks("src/authors.rs"), None);
        assert!(review.is_by_change() && review.lines().is_none());
        assert_eq!(
            review.paths_without(&["src/auth/key.rs"].into_iter()),
            ["Cargo.lock"]
        );
        let review = read("{ lines = 400 }");
        assert!(review.is_by_change() && review.lines() == Some(400));
        assert_eq!(review.asks_about(["src/auth/key.rs"].into_iter()), None);
        let review = read("{ labels = [\"risky\"] }");
        assert!(!review.is_by_change() && review.wants(&["risky".to_owned()].into()));
        assert_eq!(
            review.tag_of(&["a".to_owned(), "Risky".to_owned()].into()),
            Some("Risky")
        );
        assert!(!review.wants(&["risk".to_owned()].into()));
    }
}
