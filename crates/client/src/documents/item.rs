//! The items that wait for a person.

use model::ticket::Secret;
use model::view::{self, Act as Done, Kind, Urgency};
use model::{AgentName, Moment, Oid, TicketId};
use schemars::JsonSchema;
use serde::Serialize;

/// The items that wait for a person, the most urgent first. The command ends 3 when there is one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Inbox {
    /// The items by urgency, then the oldest first.
    pub items: Vec<Item>,
}

/// An item that came to wait for a person, or that waits no more.
#[derive(Debug, Serialize, JsonSchema)]
pub struct News {
    /// The item.
    pub item: Item,
    /// `true` while it waits; `false` when it waits no more.
    pub waits: bool,
}

/// An item that waits for a person.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    /// The item's id: the same for as long as it waits.
    id: String,
    /// Its kind: a question, a checkout whose edits are in the way or that a killed engine has left locked,
    /// a harness that refuses steps, a dependency that cannot be met, a file that is no ticket, cannot be
    /// written or was changed by nobody knows whom, a task that crew cannot do for a ticket, a disk that is
    /// full or cannot be written, a settings file that cannot be used; or the reason for which a ticket is
    /// held.
    #[schemars(extend("enum" = kinds()))]
    kind: &'static str,
    /// Its urgency: how much waits with it.
    urgency: Urgency,
    /// The ticket; `null` for a file that cannot be one, for all of them, for a disk, for the settings, and
    /// for a checkout that is locked.
    ticket: Option<TicketId>,
    /// The agent that waits with it, or did the work.
    agent: Option<AgentName>,
    /// The ticket's title, or the file's name.
    title: String,
    /// The time since which it waits; `null` where the journal does not know.
    since: Option<Moment>,
    /// The reason in words, maybe of several lines.
    why: String,
    /// The end of what the check printed for which the ticket is held, and on the last line how that ended;
    /// `null` where it is held for another reason.
    printed: Option<String>,
    /// What looks like secrets in the work, and waits for a person's word; empty where it waits for another
    /// one.
    secrets: Vec<FoundSecret>,
    /// The time at which it moves by itself, if nobody does anything and an engine runs.
    until: Option<Moment>,
    /// The acts that a person can do, the likeliest first; never empty.
    acts: Vec<Act>,
}

/// What looks like a secret in work that would land: the place and the kind. The whole value is never here.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundSecret {
    /// The file, relative to the repository's root; `null` for one in the message of a commit.
    path: Option<String>,
    /// The line in which it begins, from 1; `null` for a file whose name says that it has secrets.
    line: Option<u32>,
    /// The kind, by gitleaks' name, such as `github-pat`; `null` for a file whose name says that it has
    /// secrets.
    rule: Option<String>,
    /// The commit that has it, where that is not the last one of the branch.
    commit: Option<Oid>,
    /// All of that in words, with the beginning of a long value.
    says: String,
}

impl FoundSecret {
    /// The document of a find.
    pub fn of(secret: &Secret) -> Self {
        let (path, line, rule, commit) = match secret {
            Secret::Value {
                path,
                line,
                rule,
                masked: _,
                taken_away,
            } => (Some(path), Some(*line), Some(rule), taken_away.as_ref()),
            Secret::File { path, taken_away } => (Some(path), None, None, taken_away.as_ref()),
            Secret::Message {
                commit,
                rule,
                masked: _,
            } => (None, None, Some(rule), Some(commit)),
        };
        Self {
            path: path.cloned(),
            line,
            rule: rule.cloned(),
            commit: commit.cloned(),
            says: secret.words(),
        }
    }
}

/// An act that a person can do.
#[derive(Debug, Serialize, JsonSchema)]
struct Act {
    /// The act in a word or two.
    #[schemars(extend("enum" = Done::VERBS))]
    verb: &'static str,
    /// The line to type, `"…"` standing for a text of yours; `null` for an act by hand.
    typed: Option<String>,
    /// The task outside crew, in words; `null` where there is a line to type.
    by_hand: Option<String>,
    /// `true` when a text of yours belongs to it.
    wants_text: bool,
}

impl Item {
    /// The document of the snapshot's item.
    pub fn of(item: &view::Item) -> Self {
        Self {
            id: item.id.clone(),
            kind: item.kind.name(),
            urgency: item.urgency,
            ticket: item.ticket.clone(),
            agent: item.agent.clone(),
            title: item.title.clone(),
            since: item.since.map(Moment),
            why: item.why.clone(),
            printed: item.printed.clone(),
            secrets: item.secrets.iter().map(FoundSecret::of).collect(),
            until: item.until.map(Moment),
            acts: item.acts.iter().map(Act::of).collect(),
        }
    }
}

impl Act {
    fn of(act: &Done) -> Self {
        let (typed, by_hand) = match act {
            Done::ByHand { what } => (None, Some(what.clone())),
            Done::Answer { .. }
            | Done::Approve { .. }
            | Done::Reject { .. }
            | Done::Retry { .. }
            | Done::Waive { .. }
            | Done::WaiveCommitment { .. }
            | Done::Drop { .. }
            | Done::Merge { .. }
            | Done::Wake { .. }
            | Done::Kill { .. }
            | Done::Undep { .. }
            | Done::Reopen { .. }
            | Done::Close { .. } => (Some(act.typed()), None),
        };
        Self {
            verb: act.verb(),
            typed,
            by_hand,
            wants_text: act.wants_text(),
        }
    }
}

fn kinds() -> Vec<&'static str> {
    Kind::names().collect()
}
