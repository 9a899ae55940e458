//! `[review]`: which work a gatekeeper looks at before it lands.

use std::collections::BTreeSet;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::MAX_AGENTS;
use super::checks::literal_path;
use super::reader::{Reader, Table, Value};

/// The most tries of one review.
const MAX_TRIES: u32 = 1000;

/// `[review]`: whether a gatekeeper, an agent with a pool of its own, looks at the work before it lands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Review {
    /// When work is reviewed: `"never"`, `"always"`, or `{ labels = ["risky"] }` for the tickets that have
    /// one of these tags.
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
    /// The work on some tickets is reviewed.
    #[serde(untagged)]
    Some(ReviewOf),
}

/// The tickets whose work is reviewed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ReviewOf {
    /// Tickets with one of these tags.
    #[schemars(length(min = 1))]
    pub labels: BTreeSet<String>,
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
    /// True if the work on a ticket with these tags is reviewed.
    #[must_use]
    pub fn wants(&self, tags: &BTreeSet<String>) -> bool {
        match &self.when {
            ReviewWhen::Never => false,
            ReviewWhen::Always => true,
            ReviewWhen::Some(of) => !of.labels.is_disjoint(tags),
        }
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

const FORMS: &str = "write \"never\", \"always\" or { labels = [\"risky\"] }";

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
    if let Some(labels) = table
        .take("labels")
        .and_then(|value| reader.each(value, |r, v| r.filled(&v)))
    {
        of.labels.extend(labels);
    } else {
        reader.report(
            span.clone(),
            format!("`{name}` names no labels"),
            Some(FORMS.to_owned()),
        );
    }
    if let Some(paths) = table.take("paths") {
        let span = paths.key_span.clone();
        // Patterns are refused as such already, so that nobody writes them for the build that has this.
        let why = "is a pattern, and the paths of reviews are taken literally";
        let hint = "name a file, or a folder for all that is in it";
        drop(reader.each(paths, |r, v| literal_path(r, &v, why, hint)));
        later(reader, span, &format!("`{name}.paths`"));
    }
    if let Some(lines) = table.take("lines") {
        later(reader, lines.key_span, &format!("`{name}.lines`"));
    }
    reader.finish("review.when", table);
    Some(ReviewWhen::Some(of))
}

fn later(reader: &mut Reader<'_>, span: Range<usize>, what: &str) {
    let message = format!("{what} is not in this build: a review by path or by size comes later");
    reader.report(span, message, Some(FORMS.to_owned()));
}
