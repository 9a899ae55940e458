//! Inbox: everything that waits for a person. One list for every surface, each entry with the commands that
//! may be typed next.

mod of_ticket;
mod other;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::Snapshot;
use super::act::Act;
use super::standing::Standing;
use crate::journal::EffectId;
use crate::policy::attention::Facts;
use crate::policy::route::Refusal;
use crate::project::HarnessPause;
use crate::target::Target;
use crate::ticket::{Secret, Ticket, Why};
use crate::{AgentName, Look, TicketId, Time};
use of_ticket::{no_set_up, of_ticket};
use other::{
    bad, disk, failing, harnesses, locked, quiet, settings, target_red, unheeded, unwritable, unwritten,
};

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The same for as long as it waits, another one for the next of its kind: the kind, the ticket or file,
    /// and the time at which the wait began.
    pub id: String,
    /// The kind of entry.
    pub kind: Kind,
    /// The weight of the work that waits with it.
    pub urgency: Urgency,
    /// The ticket; none for a file that cannot be one, and for what is no ticket's.
    pub ticket: Option<TicketId>,
    /// The agent that waits with it, or did the work.
    pub agent: Option<AgentName>,
    /// The ticket's title, or the file's name: text of its author, not sanitised.
    pub title: String,
    /// The time at which the wait began; none where nothing in the journal shows it.
    pub since: Option<Time>,
    /// The reason, in words: partly text of agents and of tickets, maybe of several lines, not sanitised.
    pub why: String,
    /// The end of what the check printed for which a ticket is held: made fit to be shown, of several lines.
    pub printed: Option<String>,
    /// What looks like secrets in the work, and waits for a person's word.
    pub secrets: Vec<Secret>,
    /// When it moves by itself, if nobody does anything: an answer's deadline, a timed retry.
    pub until: Option<Time>,
    /// The acts that a person can take, the likeliest first. Never empty.
    pub acts: Vec<Act>,
}

impl Item {
    /// The lines of what a check printed that tell most, at most this number and the marks of gaps.
    #[must_use]
    pub fn excerpt(&self, most: usize) -> Vec<&str> {
        text::excerpt(self.printed.as_deref().unwrap_or_default(), most)
    }

    /// The time after which it moves by itself, and how, in words; none where it waits for a person alone.
    #[must_use]
    pub fn by_itself(&self, look: Look) -> Option<String> {
        let until = self.until?;
        match self.kind {
            Kind::Question => Some(format!("goes on without an answer {}", look.due(until)?)),
            Kind::PullRequest => look.looked_at_again(until),
            Kind::Held(_)
            | Kind::Checkout
            | Kind::Unwritten
            | Kind::Harness
            | Kind::Dependency
            | Kind::DependencyFailed
            | Kind::Impossible
            | Kind::File
            | Kind::Failing
            | Kind::Target
            | Kind::Disk
            | Kind::Settings
            | Kind::Stuck => look.tried_again(until),
        }
    }
}

/// A kind of entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An agent asks something.
    Question,
    /// A ticket is held; the reason's kind by its name.
    Held(&'static str),
    /// Edits in a checkout are in the way of a landing, or a killed engine has left it locked.
    Checkout,
    /// A pull request waits for people.
    PullRequest,
    /// Files of a checkout are older than its branch, because crew could not write them.
    Unwritten,
    /// A harness refuses steps until a person has mended that.
    Harness,
    /// A ticket waits for a ticket that there is not, or for itself.
    Dependency,
    /// A ticket depends on a ticket that was dropped, or is over and has failed.
    DependencyFailed,
    /// A gatekeeper found that a ticket cannot be done.
    Impossible,
    /// A file cannot be read as a ticket, or cannot be one; it was changed, and crew cannot see why; or none
    /// can be written.
    File,
    /// An order for a ticket fails each time.
    Failing,
    /// The bare target does not pass its checks: no agent is started.
    Target,
    /// A disk is full, or crew may not write on it: nothing new begins.
    Disk,
    /// The settings file cannot be used as it is.
    Settings,
    /// The step of an agent shows no sign of life.
    Stuck,
}

impl Kind {
    /// Whether it is a question to a person, and nothing is wrong.
    #[must_use]
    pub fn asks(&self) -> bool {
        match self {
            Kind::Question | Kind::Checkout | Kind::PullRequest => true,
            Kind::Held(_)
            | Kind::Unwritten
            | Kind::Harness
            | Kind::Dependency
            | Kind::DependencyFailed
            | Kind::Impossible
            | Kind::File
            | Kind::Failing
            | Kind::Target
            | Kind::Disk
            | Kind::Settings
            | Kind::Stuck => false,
        }
    }

    /// Its name on every surface.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Question => "question",
            Kind::Held(why) => why,
            Kind::Checkout => "checkout",
            Kind::PullRequest => "pull_request",
            Kind::Unwritten => "unwritten",
            Kind::Harness => "harness",
            Kind::Dependency => "dependency",
            Kind::DependencyFailed => "dependency_failed",
            Kind::Impossible => "impossible",
            Kind::File => "file",
            Kind::Failing => "failing",
            Kind::Target => "target_red",
            Kind::Disk => "disk",
            Kind::Settings => "settings",
            Kind::Stuck => "stuck",
        }
    }

    /// The names of all kinds: those of held tickets are the names of the reasons, `target_red` among them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let others = [
            Kind::Question,
            Kind::Checkout,
            Kind::PullRequest,
            Kind::Unwritten,
            Kind::Harness,
            Kind::Dependency,
            Kind::DependencyFailed,
            Kind::Impossible,
            Kind::File,
            Kind::Failing,
            Kind::Disk,
            Kind::Settings,
            Kind::Stuck,
        ];
        others.into_iter().map(|kind| kind.name()).chain(Why::NAMES)
    }
}

/// The weight of the work that waits: the first comes first in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// Other tickets will run into the same.
    Everyone,
    /// An agent, or finished work, waits for a person's word.
    Word,
    /// It lies until somebody has time.
    Parked,
}

/// The facts that the ticket folder and the router know beside the journal.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Whether an engine runs: without one, nothing goes on by itself.
    pub engine: bool,
    /// The first fault of a settings file that cannot be used, in words: not sanitised. None where it can.
    pub settings: Option<String>,
    /// The reasons for which tickets are not dispatched.
    pub refusals: BTreeMap<TicketId, Refusal>,
    /// Files in the ticket folder that are no tickets.
    pub files: Vec<BadFile>,
    /// The reason for which nothing new can begin, a full disk or a folder that cannot be written, in words;
    /// none where it can.
    pub refuses_work: Option<String>,
    /// The reason for which no ticket's file can be written now, in words; none where they can.
    pub unwritable: Option<String>,
    /// Locks of checkouts' indexes that a killed engine has left, by their paths.
    pub locked: Vec<String>,
    /// Checkouts with files that are older than their branch.
    pub behind: Vec<Behind>,
    /// The orders that fail each time.
    pub failing: Vec<Failing>,
    /// The paused harness, by its name, that the next step of a ticket is started on.
    pub pauses: BTreeMap<TicketId, (String, HarnessPause)>,
    /// The ticket that lands first and cannot go on.
    pub blocker: Option<TicketId>,
    /// The bare target, where its checks keep agents from being started.
    pub target: Option<Box<Target>>,
    /// Of each ticket whose agent waits for what it has delegated: that which is not over.
    pub children: BTreeMap<TicketId, Vec<TicketId>>,
}

impl Context {
    /// The facts that count beside a ticket.
    #[must_use]
    pub fn facts(&self, ticket: &TicketId) -> Facts<'_> {
        // Without its file a ticket goes on.
        let is_of_work = |failing: &&Failing| failing.ticket == *ticket && !failing.is_file;
        let failing = self.failing.iter().find(is_of_work);
        let pause = self.pauses.get(ticket);
        Facts {
            refusal: self.refusals.get(ticket),
            failure: failing.map(|failing| failing.why.as_str()),
            pause: pause.map(|(harness, pause)| (harness.as_str(), pause)),
            blocker: self.blocker.as_ref(),
            children: self.children.get(ticket).map(Vec::as_slice),
        }
    }

    /// The standing of a ticket.
    #[must_use]
    pub fn standing(&self, ticket: &Ticket, now: Time) -> Standing {
        let engine = self.engine;
        Standing::of(ticket, self.facts(&ticket.id), Look { now, engine })
    }
}

/// The remedy for an order that fails each time.
pub const MEND: &str = "mend the cause: an engine then does it by itself";

/// An order for a ticket that fails each time until a person has mended something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The order.
    pub of: EffectId,
    /// For which ticket.
    pub ticket: TicketId,
    /// True if it is about the ticket's file.
    pub is_file: bool,
    /// The order and its failure, in words: partly git's or the system's, not sanitised.
    pub why: String,
    /// When it was ordered.
    pub since: Time,
    /// When it is tried the next time.
    pub until: Option<Time>,
}

/// A checkout with files that are older than its branch, because crew could not write them when it moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behind {
    /// The checkout's folder.
    pub checkout: String,
    /// Whether its index is old too.
    pub index: bool,
    /// Files with the content of an earlier commit: not sanitised.
    pub old: Vec<String>,
    /// Files that the branch has deleted: not sanitised.
    pub deleted: Vec<String>,
}

/// A file in the ticket folder that is no ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadFile {
    /// Its name without `.md`: not sanitised.
    pub name: String,
    /// The ticket that it would be; none when its name cannot be an id.
    pub ticket: Option<TicketId>,
    /// The fault, with the place.
    pub what: String,
    /// The remedy.
    pub hint: String,
}

impl Snapshot {
    /// Everything that waits for a person, as [`inbox`] gives it.
    #[must_use]
    pub fn inbox(&self, beside: &Context) -> Vec<Item> {
        inbox(&self.tickets, beside)
    }
}

/// Everything that waits for a person: by urgency, then the oldest first. `tickets` may hold those that only
/// have a file yet.
#[must_use]
pub fn inbox(tickets: &BTreeMap<TicketId, Arc<Ticket>>, beside: &Context) -> Vec<Item> {
    let mut items: Vec<Item> = tickets
        .values()
        .filter(|ticket| !is_held_for_all(ticket))
        .filter_map(|ticket| of_ticket(ticket, beside))
        .collect();
    let mut not_set_up = tickets.values().filter(|ticket| is_held_for_all(ticket));
    items.extend(not_set_up.next().and_then(|ticket| no_set_up(ticket, beside)));
    items.extend(tickets.values().filter_map(|ticket| unheeded(ticket)));
    items.extend(tickets.values().flat_map(|ticket| quiet(ticket, beside)));
    items.extend(harnesses(tickets, beside));
    let target = beside.target.as_deref();
    items.extend(target.and_then(|target| target_red(target, beside.engine)));
    items.extend(beside.settings.as_deref().map(|why| settings(why, beside.engine)));
    items.extend(beside.files.iter().map(|file| bad(file, tickets)));
    items.extend(beside.refuses_work.as_deref().map(|why| disk(why, beside.engine)));
    items.extend(
        beside
            .unwritable
            .as_deref()
            .map(|why| unwritable(why, beside.engine)),
    );
    items.extend(beside.locked.iter().map(|lock| locked(lock)));
    items.extend(beside.behind.iter().map(unwritten));
    // A failure to write any file is one entry.
    let is_shown = |failing: &&Failing| !(failing.is_file && beside.unwritable.is_some());
    items.extend(
        beside
            .failing
            .iter()
            .filter(is_shown)
            .map(|one| failing(one, tickets)),
    );
    for item in &mut items {
        if let Some(since) = item.since {
            item.id.push_str(&format!(":{}", since.0));
        }
    }
    items.sort_by(|a, b| key(a).cmp(&key(b)));
    items
}

/// Whether the ticket is held since no workspace can be set up: that is one entry, however many are.
fn is_held_for_all(ticket: &Ticket) -> bool {
    ticket.failed_set_up().is_some_and(|held| held.for_all)
}

/// An entry without a time in the journal is older than memory, and comes last all the same.
fn key(item: &Item) -> (Urgency, Time, &str) {
    (item.urgency, item.since.unwrap_or(Time(i64::MAX)), &item.id)
}
