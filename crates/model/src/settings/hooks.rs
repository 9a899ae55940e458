//! `[hooks]`: programs of the user's that get the notices of a crew.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::duration;
use super::reader::{Reader, Table, Value, Zero};
use crate::view::notice::Kind;

/// `[hooks]`: programs that get notices. Each is a program with its arguments, started by no shell in the
/// repository's root, with the notice as JSON on its standard input. One runs at a time for each key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Hooks {
    /// It gets every notice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<String>,
    /// It gets a notice when the work on a ticket is done and submitted, or the ticket needs none any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub completed: Vec<String>,
    /// It gets a notice when an attempt has ended without its work, or a ticket was given up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// It gets the notes that people and agents write on tickets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comment: Vec<String>,
    /// It gets a notice when a step is silent, or an agent has failed too many times in a row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stuck: Vec<String>,
    /// It gets the questions of agents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub question: Vec<String>,
    /// It gets a notice when a ticket waits for a person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    /// It gets a notice when a budget is spent, or nearly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub budget: Vec<String>,
    /// It gets a notice when work is on the target branch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub landed: Vec<String>,
    /// The longest that a program may take for one notice; then it is stopped.
    #[serde(serialize_with = "duration::serialize")]
    #[schemars(with = "duration::Text")]
    pub timeout: Duration,
}

impl Default for Hooks {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            completed: Vec::new(),
            failed: Vec::new(),
            comment: Vec::new(),
            stuck: Vec::new(),
            question: Vec::new(),
            held: Vec::new(),
            budget: Vec::new(),
            landed: Vec::new(),
            timeout: Duration::from_secs(30),
        }
    }
}

/// A hook as the settings have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook<'s> {
    /// Its key in the settings.
    pub name: &'static str,
    /// The kind of notices that it gets; none for all of them.
    pub kind: Option<Kind>,
    /// The program and its arguments; empty where there is none.
    pub command: &'s [String],
}

impl Hooks {
    /// The key of the hook that gets every notice.
    const ALL: &'static str = "all";

    /// Every hook that there can be, those without a program too.
    pub fn each(&self) -> impl Iterator<Item = Hook<'_>> {
        let all = Hook {
            name: Self::ALL,
            kind: None,
            command: &self.all,
        };
        let of_kind = Kind::ALL.into_iter().map(|kind| Hook {
            name: kind.name(),
            kind: Some(kind),
            command: match kind {
                Kind::Completed => &self.completed,
                Kind::Failed => &self.failed,
                Kind::Comment => &self.comment,
                Kind::Stuck => &self.stuck,
                Kind::Question => &self.question,
                Kind::Held => &self.held,
                Kind::Budget => &self.budget,
                Kind::Landed => &self.landed,
            },
        });
        std::iter::once(all).chain(of_kind)
    }

    /// The paths, from the repository's root, that the programs and their arguments may be: a relative path
    /// names a file of the repository, which crew runs as the user. A program without `/` is looked for in
    /// PATH.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let words = self.each().flat_map(|hook| hook.command.iter().enumerate());
        words
            .filter(|(at, word)| *at > 0 || word.contains('/'))
            .map(|(_, word)| word.trim_start_matches("./"))
            .filter(|word| !word.is_empty() && !word.starts_with(['/', '-']))
    }
}

pub(super) fn read<'t>(reader: &mut Reader<'t>, mut table: Table<'t>) -> Hooks {
    let mut hooks = Hooks::default();
    let mut hook = |key, command: &mut Vec<String>| {
        if let Some(value) = table.take(key) {
            *command = program(reader, value).unwrap_or_default();
        }
    };
    hook("all", &mut hooks.all);
    hook("completed", &mut hooks.completed);
    hook("failed", &mut hooks.failed);
    hook("comment", &mut hooks.comment);
    hook("stuck", &mut hooks.stuck);
    hook("question", &mut hooks.question);
    hook("held", &mut hooks.held);
    hook("budget", &mut hooks.budget);
    hook("landed", &mut hooks.landed);
    table.set(reader, "timeout", &mut hooks.timeout, |r, v| {
        r.duration(&v, Zero::Refused)
    });
    reader.finish("hooks", table);
    hooks
}

/// A program and its arguments; none where the list is empty, which is no hook.
fn program<'t>(reader: &mut Reader<'t>, value: Value<'t>) -> Option<Vec<String>> {
    let (name, span) = (value.name.clone(), value.span.clone());
    let words = reader.each(value, |r, v| r.string(&v))?;
    if words.first().is_some_and(String::is_empty) {
        let hint = "name one like [\"./notify.sh\"]".to_owned();
        reader.report(span, format!("`{name}` names no program"), Some(hint));
        return None;
    }
    Some(words)
}
