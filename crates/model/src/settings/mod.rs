//! `crew.toml`: what a team decided about its crew, read whole or refused with every reason at once.
//!
//! Pure: text comes in, values or [`Diagnostic`]s go out. Files, environment and git stay with the caller. A
//! key that this build does not know, or knows and cannot honour yet, is an error and never ignored: a
//! setting that seems to hold and does not is worse than none.

pub mod canary;
mod check;
mod checks;
mod delegate;
mod detect;
mod diagnostic;
pub(crate) mod duration;
mod hooks;
mod keys;
mod land;
mod money;
mod names;
mod parse;
mod price;
mod program;
mod reader;
mod review;
mod set_up;
mod template;
#[cfg(test)]
mod tests;
mod train;
mod weaker;
mod workspace;

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attempt::HarnessId;
use crate::ids::AgentName;
use crate::money::Usd;

pub use check::Check;
pub use checks::{Blind, Checks};
pub use delegate::Delegate;
pub use detect::{Detected, Runner, detect};
pub use diagnostic::Diagnostic;
pub use duration::parse as parse_duration;
pub use hooks::{Hook, Hooks};
pub use land::{Author, Hold, Land, LandMode, Pr, PrAfter, Secrets, Trailer};
pub use names::branch_name;
pub use price::{PerMillion, Price};
pub use program::first_program;
pub use review::{Review, ReviewOf, ReviewWhen};
pub use set_up::{Input, input};
pub use template::Proposal;
pub use train::Train;
pub use workspace::Workspace;

/// The name of the settings file at the root of the repository. It is always among the held paths.
pub const FILE_NAME: &str = "crew.toml";
/// The file in which a commit says where its content in Git LFS is.
const LFS_FILE: &str = ".lfsconfig";

/// The most agents, and agent processes, that one crew may have at once. A guard against a slip of the finger
/// (`1000000`), far above what one machine can run.
pub const MAX_AGENTS: u32 = 1000;

/// The settings of one repository, as `crew.toml` gives them, with every default filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields, title = "crew.toml")]
pub struct Settings {
    /// Folder inside the repository that workspaces are made in, such as `"agents"`. Without it they stand in
    /// the user's state directory, outside the repository, where agents and build tools cannot pick up its
    /// files.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub workspace_dir: Option<String>,
    /// Folder inside the repository whose prompt templates win over the built-in ones. A change to it waits
    /// for a person, like a change to `crew.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub prompts_dir: Option<String>,
    /// The project to work on.
    pub project: Project,
    /// Limits and times of a run.
    pub run: Run,
    /// The agents.
    pub agents: Agents,
    /// The agent clients that can be named by `agents.harness`: a table for each.
    pub harness: BTreeMap<String, Harness>,
    /// What a new workspace gets beside the repository's files.
    pub workspace: Workspace,
    /// The checks that must pass before work lands.
    pub checks: Checks,
    /// Checks with names and limits of their own; they run after those of `checks`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Check>")]
    pub check: Vec<Check>,
    /// Review of the work by another agent before it lands.
    pub review: Review,
    /// The merge train: branches that are checked together.
    pub train: Train,
    /// Delegation: tasks that agents give to other agents.
    pub delegate: Delegate,
    /// Limits of the work that lands by itself.
    pub land: Land,
    /// The limits of the cost.
    pub budget: Budget,
    /// Programs that get the notices of this crew.
    pub hooks: Hooks,
}

/// `[project]`: the project to work on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Project {
    /// The branch that work lands on: a branch's short name, without `refs/heads/`.
    pub target: String,
}

/// `[run]`: limits and times of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Run {
    /// Agent processes at once.
    #[schemars(range(min = 1, max = 1000))]
    pub max_workers: u32,
    /// Steps of an attempt; then it gets the last chance.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_steps: u32,
    /// Attempts at one ticket; then it is held for a person.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub attempts: u32,
    /// The longest that one step may take; then it is stopped.
    #[serde(serialize_with = "duration::serialize")]
    #[schemars(with = "duration::Text")]
    pub step_timeout: Duration,
    /// The time for which a step may show no output and no activity before it counts as stuck.
    #[serde(serialize_with = "duration::serialize")]
    #[schemars(with = "duration::Text")]
    pub stall_after: Duration,
    /// How long the process of a step may stay after the agent has stated its result, counted from its last
    /// output. Then it is stopped, and the step ends with that result.
    #[serde(serialize_with = "duration::serialize")]
    #[schemars(with = "duration::Text")]
    pub exit_within: Duration,
    /// A ticket's file must have been still for this long before the ticket is dispatched; `"0s"` for at
    /// once.
    #[serde(serialize_with = "duration::serialize")]
    #[schemars(with = "duration::Text")]
    pub debounce: Duration,
    /// The fate of running steps when the engine stops.
    pub on_stop: OnStop,
    /// The number of times that the agent is asked to resolve a merge conflict of one attempt; then the
    /// ticket is held. 0 holds it at the first conflict.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub conflict_resolutions: u32,
    /// The number of times that a stuck attempt is recovered before it counts as crashed; 0 for never.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub recoveries: u32,
    /// The time for which an agent waits for the answer to a question; then it gets the message that nobody
    /// answered, and goes on. Without it, it waits for as long as it takes.
    #[serde(
        serialize_with = "duration::serialize_some",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "duration::Text")]
    pub answer_within: Option<Duration>,
    /// The outputs of steps and checks may take so many MiB on the disk, all of them together; above it, the
    /// oldest of closed tickets are deleted.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub outputs_mib: u32,
    /// The meaning of a process below a silent agent that uses no CPU time, such as a download.
    pub quiet_children: QuietChildren,
}

/// The meaning of a process below a silent agent that uses no CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuietChildren {
    /// It is no sign of life: the step is stopped when it stays silent.
    #[default]
    Stop,
    /// It is a sign of life for as long as it runs. An agent whose client keeps a process for itself, such as
    /// a tool server, never counts as silent then.
    Wait,
}

/// The fate of running steps when the engine stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnStop {
    /// The engine ends when the running steps have ended.
    #[default]
    Finish,
    /// The steps run on; the next engine adopts them.
    Leave,
    /// The steps are stopped.
    Kill,
}

/// `[agents]`: who works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Agents {
    /// Agents that are busy at once. With `names` given it is their number, and may be left out.
    #[schemars(range(min = 1, max = 1000))]
    pub count: u32,
    /// The agents by name, when they are fixed; empty: crew makes up as many names as it needs. A name is
    /// letters, digits, `.`, `_` and `-`, begins with a letter, a digit or `_`, and is at most 64 long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub names: Vec<AgentName>,
    /// The harness that agents run on: the name of a `[harness.<name>]` table. Without one, crew cannot start
    /// agents; everything else works.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub harness: Option<String>,
    /// The agents that may delegate parts of their tickets to others, by name. Any agent may on a ticket that
    /// has the tag `leader`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub leaders: Vec<AgentName>,
}

/// `[harness.<name>]`: an agent client and how it is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Harness {
    /// The kind of client; without it, the table's name.
    pub kind: HarnessKind,
    /// The program and its first arguments: required for the kind `command`; the kind `claude` has `claude`.
    /// It is started directly, never by a shell; a path with a `/` that is not absolute is relative to the
    /// repository's root.
    #[schemars(length(min = 1))]
    pub command: Vec<String>,
    /// The model, for the kind `claude`: a name or an alias that the client knows. Without it, the client's
    /// own choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub model: Option<String>,
    /// Arguments appended to the command.
    #[schemars(default)]
    pub args: Vec<String>,
    /// Variables added to the agent's environment.
    #[schemars(default)]
    pub env: BTreeMap<String, String>,
    /// Names of variables of crew's own environment that the agent gets, besides PATH, HOME, LANG, TERM,
    /// TMPDIR, USER and SHELL.
    #[schemars(default)]
    pub pass_env: Vec<String>,
    /// For the kind `command`: whether the program itself remembers the conversation by `CREW_SESSION_ID`.
    /// Then later steps get only what is new; without it, every step gets the whole task.
    #[schemars(default)]
    pub session: bool,
    /// The price of tokens, for the kind `claude`: used for a step that was killed before the client could
    /// report its cost. Without it, such a step is taken to be as dear as the tokens of the session's earlier
    /// steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Price")]
    pub price: Option<Price>,
}

/// The agent clients that this build can drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HarnessKind {
    /// Claude Code.
    Claude,
    /// Any program: the prompt on its standard input, signals alone on lines of its standard output.
    Command,
}

impl HarnessKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Claude, Self::Command];

    /// As the file writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Command => "command",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Harness {
    /// A client of this kind with every default: the command of the kind `command` is still missing.
    #[must_use]
    pub fn new(kind: HarnessKind) -> Self {
        let command = match kind {
            HarnessKind::Claude => vec!["claude".to_owned()],
            HarnessKind::Command => Vec::new(),
        };
        Self {
            kind,
            command,
            model: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            session: false,
            price: None,
        }
    }
}

/// `[budget]`: the limits of the cost, as far as clients report prices. A step that runs is never stopped for
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Budget {
    /// The US dollars that one ticket may cost, over all its attempts. When 80 % are spent its agent gets a
    /// warning; when all is spent the ticket is held, until a person retries it or raises this. Without it
    /// there is no limit.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "money::serialize")]
    #[schemars(with = "money::Number")]
    pub ticket_usd: Option<Usd>,
    /// US dollars that all tickets together may cost on one day of UTC. When all is spent no step is started
    /// before the next day. Without it there is no limit.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "money::serialize")]
    #[schemars(with = "money::Number")]
    pub day_usd: Option<Usd>,
}

impl Default for Project {
    fn default() -> Self {
        Self {
            target: "main".to_owned(),
        }
    }
}

impl Default for Run {
    fn default() -> Self {
        Self {
            max_workers: 10,
            max_steps: 20,
            attempts: 3,
            step_timeout: Duration::from_mins(60),
            stall_after: Duration::from_mins(5),
            exit_within: Duration::from_secs(30),
            debounce: Duration::from_millis(500),
            on_stop: OnStop::Finish,
            conflict_resolutions: 3,
            recoveries: 3,
            answer_within: None,
            outputs_mib: 4096,
            quiet_children: QuietChildren::Stop,
        }
    }
}

impl Default for Agents {
    fn default() -> Self {
        Self {
            count: 4,
            names: Vec::new(),
            harness: None,
            leaders: Vec::new(),
        }
    }
}

impl Settings {
    /// Reads the text of a settings file. An empty text is every default.
    ///
    /// # Errors
    ///
    /// Every fault in it, in the order of the text; `file_name` only names it in the diagnostics. Where the
    /// text is not TOML at all, that is the only diagnostic: the text behind a broken line cannot be trusted.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, Vec<Diagnostic>> {
        parse::settings(text, file_name)
    }

    /// Reads the bytes of a settings file, as [`Settings::parse`] does.
    ///
    /// # Errors
    ///
    /// As [`Settings::parse`], and a diagnostic at the first byte that is not UTF-8.
    pub fn parse_bytes(bytes: &[u8], file_name: &str) -> Result<Self, Vec<Diagnostic>> {
        parse::bytes(bytes, file_name)
    }

    /// The file that `crew init` writes: these values live, everything else as a comment with its default.
    /// Reading it gives the same values back.
    ///
    /// `harness` is the name and table that `agents.harness` gets; without one an example stands in a
    /// comment.
    #[must_use]
    pub fn template(target: &str, proposal: &Proposal, harness: Option<(&str, &Harness)>) -> String {
        template::write(target, proposal, harness)
    }

    /// The JSON schema of the file, each key with its documentation and default.
    #[must_use]
    pub fn schema() -> Value {
        let draft = SchemaSettings::draft07()
            .for_serialize()
            .with(|settings| settings.inline_subschemas = true);
        let mut schema = draft.into_generator().into_root_schema_for::<Self>().to_value();
        loosen(&mut schema);
        schema
    }

    /// The harness that agents run on: the asked one (a command's `--harness`), else `agents.harness`.
    ///
    /// `None` when there is none, or no table of that name.
    #[must_use]
    pub fn chosen_harness<'s>(&'s self, asked: Option<&'s str>) -> Option<(&'s str, &'s Harness)> {
        let name = asked.or(self.agents.harness.as_deref())?;
        self.harness.get(name).map(|harness| (name, harness))
    }

    /// The harness that a new attempt works with, as the attempt records it: `agents.harness`.
    ///
    /// `None` when there is none, or no table of that name.
    #[must_use]
    pub fn harness_of_new_attempts(&self) -> Option<HarnessId> {
        let (name, harness) = self.chosen_harness(None)?;
        Some(HarnessId {
            name: name.to_owned(),
            kind: harness.kind,
        })
    }

    /// The harness that a new review works with: `review.harness`, else `agents.harness`.
    ///
    /// `None` when there is none, or no table of that name.
    #[must_use]
    pub fn harness_of_new_reviews(&self) -> Option<HarnessId> {
        let (name, harness) = self.chosen_harness(self.review.harness.as_deref())?;
        Some(HarnessId {
            name: name.to_owned(),
            kind: harness.kind,
        })
    }

    /// True if a step can be started with this harness: there is a table of its name, and of its kind.
    #[must_use]
    pub fn has_harness(&self, harness: &HarnessId) -> bool {
        let named = self.harness.get(&harness.name);
        named.is_some_and(|named| named.kind == harness.kind)
    }

    /// The name of the harness that the next step of an attempt is started on: the attempt's own, unless the
    /// settings do not have that any more.
    #[must_use]
    pub fn harness_of_next_step(&self, own: &HarnessId) -> String {
        let other = (!self.has_harness(own)).then(|| self.harness_of_new_attempts());
        other.flatten().unwrap_or_else(|| own.clone()).name
    }

    /// Whether anything must pass before work lands.
    #[must_use]
    pub fn has_checks(&self) -> bool {
        !self.checks.commands.is_empty() || !self.check.is_empty()
    }

    /// True if a change to this path, relative to the repository's root and with `/`, waits for a person:
    /// one of `land.hold_paths`, `crew.toml`, a file in `prompts_dir`, a program of `hooks`, or the file
    /// that says to which server Git LFS sends content, and a person's credentials with it.
    #[must_use]
    pub fn holds(&self, path: &str) -> bool {
        let held = self
            .land
            .hold_paths
            .iter()
            .map(String::as_str)
            .chain(self.prompts_dir.as_deref())
            .chain(self.hooks.paths());
        [FILE_NAME, LFS_FILE].into_iter().chain(held).any(|held| {
            path.strip_prefix(held)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

/// The one of `known` that `word` is likely a slip of, or begins: for a hint in an error about a name.
#[must_use]
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    keys::nearest(word, known).filter(|near| keys::is_slip(word, near) || near.starts_with(word))
}

/// Reads a duration as settings have it: `90s`, `1h30m`, `7d`.
///
/// # Errors
///
/// What is wrong with it, as the end of a sentence.
pub fn duration(text: &str) -> Result<Duration, &'static str> {
    duration::parse(text)
}

/// Makes the schema of the file out of one of the values that are read: no key is required, and each key that
/// has a default shows it, durations too.
fn loosen(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let defaults = object
                .get("default")
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default();
            if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
                for (key, default) in defaults {
                    if let Some(property) = properties.get_mut(&key).and_then(Value::as_object_mut) {
                        property.entry("default").or_insert(default);
                    }
                }
                object.remove("required");
            }
            object.values_mut().for_each(loosen);
        }
        Value::Array(items) => items.iter_mut().for_each(loosen),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
