//! What waits for a person: one list for every surface, each entry with what may be typed next.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::Snapshot;
use super::act::Act;
use super::standing::Standing;
use crate::attempt::{self, Attempt, Stuck};
use crate::command::Question;
use crate::journal::EffectId;
use crate::policy::route::Refusal;
use crate::ticket::{Held, Stage, State, Ticket, Why, in_words, remedy};
use crate::{AgentName, TicketId, Time};

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The same for as long as it waits, another one for the next of its kind: the kind, the ticket or file,
    /// and since when.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// How much waits with it.
    pub urgency: Urgency,
    /// The ticket; none for a file that cannot be one, and for what is no ticket's.
    pub ticket: Option<TicketId>,
    /// The agent that waits with it, or did the work.
    pub agent: Option<AgentName>,
    /// The ticket's title, or the file's name: text of its author, not sanitised.
    pub title: String,
    /// Since when; none where nothing in the journal says so.
    pub since: Option<Time>,
    /// Why, in words: partly text of agents and of tickets, maybe of several lines, not sanitised.
    pub why: String,
    /// When it moves by itself, if nobody does anything: an answer's deadline, a timed retry.
    pub until: Option<Time>,
    /// What a person can do, the likeliest first. Never empty.
    pub acts: Vec<Act>,
}

/// What kind of thing waits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An agent asks something.
    Question,
    /// A ticket is held; the reason's kind by its name.
    Held(&'static str),
    /// Edits in a checkout are in the way of a landing, or a killed engine has left it locked.
    Checkout,
    /// An agent failed too often in a row.
    Stuck,
    /// A ticket waits for a ticket that there is not, or for itself.
    Dependency,
    /// A file cannot be read as a ticket, or cannot be one; or none can be written.
    File,
    /// What crew has to do for a ticket fails each time.
    Failing,
    /// A disk is full, or crew may not write on it: nothing new begins.
    Disk,
}

impl Kind {
    /// Its name on every surface.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Question => "question",
            Kind::Held(why) => why,
            Kind::Checkout => "checkout",
            Kind::Stuck => "stuck",
            Kind::Dependency => "dependency",
            Kind::File => "file",
            Kind::Failing => "failing",
            Kind::Disk => "disk",
        }
    }
}

/// How much waits: what comes first in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// Other tickets will run into the same.
    Everyone,
    /// An agent, or finished work, waits for a word.
    Word,
    /// It lies until somebody has time.
    Parked,
}

/// What the ticket folder and the router know beside the journal.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Why tickets are not given out.
    pub refusals: BTreeMap<TicketId, Refusal>,
    /// Files in the ticket folder that are no tickets.
    pub files: Vec<BadFile>,
    /// Why nothing new can begin, a full disk or a folder that cannot be written, in words; nothing where it
    /// can.
    pub refuses_work: Option<String>,
    /// Why no ticket's file can be written now, in words; nothing where they can.
    pub unwritable: Option<String>,
    /// Locks of checkouts' indexes that a killed engine has left, by their paths.
    pub locked: Vec<String>,
    /// What crew has to do and cannot.
    pub failing: Vec<Failing>,
}

impl Context {
    /// Where a ticket stands.
    #[must_use]
    pub fn standing(&self, ticket: &Ticket, now: Time) -> Standing {
        Standing::of(ticket, self.refusals.get(&ticket.id), &self.failing, now)
    }
}

/// What a person does about what fails each time.
pub const MEND: &str = "mend what it says: an engine does it then by itself";

/// What crew has to do for a ticket, and fails each time until a person has mended something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// What was ordered.
    pub of: EffectId,
    /// For which ticket.
    pub ticket: TicketId,
    /// Whether it is about the ticket's file.
    pub is_file: bool,
    /// What was not done and why, in words: partly git's or the system's, not sanitised.
    pub why: String,
    /// When it was ordered.
    pub since: Time,
    /// When it is tried the next time.
    pub until: Option<Time>,
}

/// A file in the ticket folder that is no ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadFile {
    /// Its name without `.md`: not sanitised.
    pub name: String,
    /// The ticket that it would be; none when its name cannot be an id.
    pub ticket: Option<TicketId>,
    /// What is wrong with it, with the place.
    pub what: String,
    /// What a person can do about it.
    pub hint: String,
}

impl Snapshot {
    /// What waits for a person, as [`inbox`] gives it.
    #[must_use]
    pub fn inbox(&self, beside: &Context) -> Vec<Item> {
        inbox(&self.tickets, beside)
    }
}

/// What waits for a person: by urgency, then the oldest first. `tickets` may hold those that only have a file
/// yet.
#[must_use]
pub fn inbox(tickets: &BTreeMap<TicketId, Arc<Ticket>>, beside: &Context) -> Vec<Item> {
    let mut items: Vec<Item> = tickets
        .values()
        .filter_map(|ticket| one(ticket, beside.refusals.get(&ticket.id)))
        .collect();
    items.extend(beside.files.iter().map(|file| bad(file, tickets)));
    items.extend(beside.refuses_work.as_deref().map(disk));
    items.extend(beside.unwritable.as_deref().map(unwritable));
    items.extend(beside.locked.iter().map(|lock| locked(lock)));
    // Where no file can be written, that is said once.
    let told = |failing: &&Failing| !(failing.is_file && beside.unwritable.is_some());
    items.extend(
        beside
            .failing
            .iter()
            .filter(told)
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

/// What has no moment in the journal lies since before anybody can remember, and comes last all the same.
fn key(item: &Item) -> (Urgency, Time, &str) {
    (item.urgency, item.since.unwrap_or(Time(i64::MAX)), &item.id)
}

/// What a ticket waits for a person for, if it does.
fn one(ticket: &Ticket, refusal: Option<&Refusal>) -> Option<Item> {
    if ticket.is_done() {
        return None;
    }
    if let Some(held) = &ticket.held {
        return Some(self::held(ticket, held));
    }
    match &ticket.state {
        State::New | State::Done(_) => None,
        State::Open => dependency(ticket, refusal?),
        State::InProgress(attempt) => at_work(ticket, attempt),
        State::Verify(verify) => match &verify.stage {
            Stage::Landing {
                waiting: Some(waiting),
                ..
            } => Some(Item {
                why: format!(
                    "your edits are in the way of landing it: {}",
                    in_words(&waiting.paths)
                ),
                acts: vec![
                    Act::ByHand {
                        what: format!("{} there: it goes on by itself", remedy(&waiting.paths)),
                    },
                    Act::Merge {
                        ticket: ticket.id.clone(),
                    },
                ],
                ..item(ticket, Kind::Checkout, Urgency::Word)
            }),
            Stage::Queued
            | Stage::Building
            | Stage::Checking(_)
            | Stage::Reviewing { .. }
            | Stage::Landing { waiting: None, .. } => None,
        },
    }
}

fn item(ticket: &Ticket, kind: Kind, urgency: Urgency) -> Item {
    let group = match &kind {
        Kind::Held(_) => "held",
        Kind::Question
        | Kind::Checkout
        | Kind::Stuck
        | Kind::Dependency
        | Kind::File
        | Kind::Failing
        | Kind::Disk => kind.name(),
    };
    Item {
        id: format!("{group}:{}", ticket.id),
        kind,
        urgency,
        ticket: Some(ticket.id.clone()),
        agent: ticket.attempt().map(|attempt| attempt.claim.agent.clone()),
        title: ticket.spec.title.clone(),
        since: Some(ticket.since),
        why: String::new(),
        until: None,
        acts: Vec::new(),
    }
}

fn at_work(ticket: &Ticket, attempt: &Attempt) -> Option<Item> {
    let kill = Act::Kill {
        agent: attempt.claim.agent.clone(),
    };
    match &attempt.state {
        attempt::State::WaitingForInput { question, until } => Some(Item {
            since: Some(attempt.since),
            why: question.clone(),
            until: *until,
            acts: vec![
                Act::Answer {
                    agent: attempt.claim.agent.clone(),
                    question: Question::of(ticket)?,
                },
                kill,
            ],
            ..item(ticket, Kind::Question, Urgency::Word)
        }),
        attempt::State::Stuck { why } => {
            let failure = attempt.conversation.failure.as_ref().map(|failure| {
                let class = failure.class.name();
                format!(" ({class}): {}", failure.message)
            });
            let what = match why {
                Stuck::Errors => "too many failed steps in a row; crew looks at its workspace and goes on",
                Stuck::Auth => "the credentials are refused",
                Stuck::NoProgress => "the same failure came three times",
            };
            Some(Item {
                since: Some(attempt.since),
                why: format!("{what}{}", failure.unwrap_or_default()),
                acts: vec![kill],
                ..item(ticket, Kind::Stuck, Urgency::Parked)
            })
        }
        attempt::State::Preparing
        | attempt::State::Ready
        | attempt::State::Working(_)
        | attempt::State::WaitingForWakeup { .. }
        | attempt::State::Verifying
        | attempt::State::Done => None,
    }
}

fn held(ticket: &Ticket, held: &Held) -> Item {
    let id = || ticket.id.clone();
    let by_hand = |what: &str| Act::ByHand {
        what: what.to_owned(),
    };
    let mut acts = match &held.why {
        Why::SensitivePaths { .. } => vec![Act::Approve { ticket: id() }],
        Why::Auth => vec![
            by_hand("mend the agent's login or key, then"),
            Act::Retry { ticket: id() },
        ],
        Why::TargetRed => vec![
            by_hand("mend the target: it goes on by itself"),
            Act::Retry { ticket: id() },
        ],
        Why::Blocked => vec![
            by_hand("write what it lacks into the ticket, then"),
            Act::Retry { ticket: id() },
        ],
        Why::Budget { .. } => vec![
            Act::Retry { ticket: id() },
            by_hand("or raise `ticket_usd` in crew.toml: it goes on by itself"),
        ],
        Why::Failed
        | Why::Killed
        | Why::Reaped
        | Why::CouldNotRun
        | Why::Conflict
        | Why::NoProgress
        | Why::Review => vec![Act::Retry { ticket: id() }],
    };
    let sensitive = matches!(held.why, Why::SensitivePaths { .. });
    if ticket.candidate().is_some() && !sensitive {
        acts.push(Act::Waive { ticket: id() });
    }
    acts.push(Act::Drop { ticket: id() });
    let urgency = match &held.why {
        Why::CouldNotRun | Why::TargetRed | Why::Auth => Urgency::Everyone,
        Why::SensitivePaths { .. } | Why::Conflict | Why::Review | Why::Budget { .. } => Urgency::Word,
        Why::Failed | Why::Blocked | Why::Killed | Why::Reaped | Why::NoProgress => Urgency::Parked,
    };
    Item {
        since: Some(held.since),
        why: held.note.clone(),
        until: held.retry_at,
        acts,
        ..item(ticket, Kind::Held(held.why.name()), urgency)
    }
}

fn dependency(ticket: &Ticket, refusal: &Refusal) -> Option<Item> {
    let undep = |of: &TicketId, on: &TicketId| Act::Undep {
        ticket: of.clone(),
        on: on.clone(),
    };
    let acts = match refusal {
        Refusal::MissingDependency { id } => vec![undep(&ticket.id, id)],
        Refusal::Cycle { path } => {
            let steps = path.windows(2);
            steps
                .filter_map(|step| {
                    let [of, on] = step else { return None };
                    Some(undep(of, on))
                })
                .collect()
        }
        Refusal::Unknown
        | Refusal::Done { .. }
        | Refusal::InProgress { .. }
        | Refusal::Submitted { .. }
        | Refusal::Held { .. }
        | Refusal::NoFile
        | Refusal::Unreadable
        | Refusal::FileClosed
        | Refusal::TakenByPerson
        | Refusal::Debouncing { .. }
        | Refusal::Epic
        | Refusal::NotDue { .. }
        | Refusal::DayBudget { .. }
        | Refusal::WaitsFor { .. }
        | Refusal::RecoveryNotNeededYet { .. }
        | Refusal::RecoveryNotNeeded { .. }
        | Refusal::AssigneeBusy { .. }
        | Refusal::NoAgentFree { .. } => return None,
    };
    Some(Item {
        since: None,
        why: refusal.to_string(),
        acts,
        ..item(ticket, Kind::Dependency, Urgency::Parked)
    })
}

/// A disk that is full or cannot be written, which no ticket is to blame for.
fn disk(why: &str) -> Item {
    Item {
        id: Kind::Disk.name().to_owned(),
        kind: Kind::Disk,
        urgency: Urgency::Everyone,
        ticket: None,
        agent: None,
        title: "nothing new can begin".to_owned(),
        since: None,
        why: why.to_owned(),
        until: None,
        acts: vec![Act::ByHand {
            what: "see that there is room, and that crew may write there: everything goes on by itself"
                .to_owned(),
        }],
    }
}

fn unwritable(why: &str) -> Item {
    Item {
        id: "files".to_owned(),
        kind: Kind::File,
        urgency: Urgency::Everyone,
        ticket: None,
        agent: None,
        title: "the tickets' files cannot be written".to_owned(),
        since: None,
        why: why.to_owned(),
        until: None,
        acts: vec![Act::ByHand {
            what: "see that you may write there: what tickets came to is written into their files by itself"
                .to_owned(),
        }],
    }
}

fn failing(failing: &Failing, tickets: &BTreeMap<TicketId, Arc<Ticket>>) -> Item {
    let ticket = tickets.get(&failing.ticket);
    Item {
        id: format!(
            "failing:{}:{}-{}",
            failing.ticket, failing.of.seq, failing.of.index
        ),
        kind: Kind::Failing,
        urgency: Urgency::Word,
        ticket: Some(failing.ticket.clone()),
        agent: None,
        title: ticket.map(|ticket| ticket.spec.title.clone()).unwrap_or_default(),
        since: Some(failing.since),
        why: failing.why.clone(),
        until: failing.until,
        acts: vec![Act::ByHand {
            what: MEND.to_owned(),
        }],
    }
}

fn locked(lock: &str) -> Item {
    Item {
        id: format!("lock:{lock}"),
        kind: Kind::Checkout,
        urgency: Urgency::Word,
        ticket: None,
        agent: None,
        title: "your git is kept out of a checkout".to_owned(),
        since: None,
        why: format!("an engine was killed while it landed, and left {lock}"),
        until: None,
        acts: vec![Act::ByHand {
            what: "start an engine: `crew run` ends the landing, and gives it back".to_owned(),
        }],
    }
}

fn bad(file: &BadFile, tickets: &BTreeMap<TicketId, Arc<Ticket>>) -> Item {
    let known = file.ticket.as_ref().and_then(|id| tickets.get(id));
    Item {
        id: format!("file:{}", file.name),
        kind: Kind::File,
        urgency: Urgency::Parked,
        ticket: file.ticket.clone(),
        agent: None,
        title: known.map_or_else(|| format!("{}.md", file.name), |t| t.spec.title.clone()),
        since: None,
        why: file.what.clone(),
        until: None,
        acts: vec![Act::ByHand {
            what: file.hint.clone(),
        }],
    }
}
