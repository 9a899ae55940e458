//! Where the tickets stand: the queue's order and the train's.

use std::collections::BTreeMap;

use model::attempt;
use model::policy::route::Refusal;
use model::ticket::{Done, Stage, State, Ticket, in_words};
use model::view::{self, Crew};
use model::{TicketId, Time};

use crate::theme::Tone;

/// A ticket's standing in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) symbol: &'static str,
    pub(crate) word: String,
    pub(crate) tone: Tone,
    /// Why it stands there: not sanitised.
    pub(crate) why: Option<String>,
}

impl Standing {
    /// A ticket's.
    pub(crate) fn of(ticket: &Ticket, refusal: Option<&Refusal>, now: Time) -> Self {
        let new = |symbol, word: &str, tone, why| Self {
            symbol,
            word: word.to_owned(),
            tone,
            why,
        };
        if let Some(held) = ticket.held.as_ref().filter(|_| !ticket.is_done()) {
            let next = held.retry_at.filter(|at| *at > now);
            let next = next
                .map(|at| format!(" (tried again in {})", view::left(at.since(now))))
                .unwrap_or_default();
            let why = format!("{}: {}{next}", held.why.name(), held.note);
            return new("!", "held", Tone::Wrong, Some(why));
        }
        match &ticket.state {
            State::InProgress(attempt) => {
                let word = attempt.state.name().replace('_', " ");
                let (symbol, tone, why) = match &attempt.state {
                    attempt::State::WaitingForInput { question, .. } => {
                        ("?", Tone::Waiting, Some(question.clone()))
                    }
                    attempt::State::WaitingForWakeup { why, .. } => ("◌", Tone::Waiting, Some(why.clone())),
                    attempt::State::Stuck { .. } | attempt::State::Reaped { .. } => {
                        let why = attempt.failure.as_ref();
                        let why = why.map(|failure| format!("{}: {}", failure.class.name(), failure.message));
                        ("!", Tone::Wrong, why)
                    }
                    attempt::State::Preparing | attempt::State::Ready => ("◐", Tone::Moving, None),
                    attempt::State::Working(_) => ("●", Tone::Bold, None),
                    attempt::State::Verifying | attempt::State::Done => ("◍", Tone::Moving, None),
                };
                let word = match &attempt.state {
                    attempt::State::WaitingForInput { .. } => "asks",
                    attempt::State::WaitingForWakeup { .. } => "sleeps",
                    attempt::State::Preparing
                    | attempt::State::Ready
                    | attempt::State::Working(_)
                    | attempt::State::Verifying
                    | attempt::State::Done
                    | attempt::State::Stuck { .. }
                    | attempt::State::Reaped { .. } => &word,
                };
                new(symbol, word, tone, why)
            }
            State::Verify(verify) => Self::in_train(&verify.stage),
            State::Done(Done::Landed { commit, .. }) => {
                new("✓", "landed", Tone::Good, Some(format!("as {}", commit.short())))
            }
            State::Done(Done::Failed { reason }) => new("✗", "failed", Tone::Wrong, Some(reason.clone())),
            State::Done(Done::NotNeeded) => new("✓", "not needed", Tone::Dim, None),
            State::Done(Done::Dropped { by, reason }) => {
                new("✗", "dropped", Tone::Dim, Some(format!("by {by} {reason}")))
            }
            State::Done(Done::ClosedByPerson) => new("✓", "closed", Tone::Dim, None),
            State::Open | State::New => match refusal {
                None | Some(Refusal::NoAgentFree { .. }) => new("○", "ready", Tone::Good, None),
                Some(Refusal::Epic) => new("▪", "epic", Tone::Dim, None),
                Some(Refusal::TakenByPerson) => {
                    new("▪", "taken", Tone::Dim, Some("a person works on it".to_owned()))
                }
                Some(why) => new("◌", "waits", Tone::Waiting, Some(why.to_string())),
            },
        }
    }

    /// A submitted ticket's.
    fn in_train(stage: &Stage) -> Self {
        let (symbol, word, tone, why) = match stage {
            Stage::Queued => ("◌", "in line", Tone::Dim, None),
            Stage::Building => ("◍", "merging", Tone::Moving, None),
            Stage::Checking(candidate) => (
                "◍",
                "checking",
                Tone::Moving,
                Some(format!("the merged result {}", candidate.commit.short())),
            ),
            Stage::Reviewing {
                candidate, reviewer, ..
            } => (
                "◍",
                "reviewing",
                Tone::Moving,
                Some(match reviewer {
                    Some(reviewer) => format!("{} by {reviewer}", candidate.commit.short()),
                    None => format!("{}, by nobody yet", candidate.commit.short()),
                }),
            ),
            Stage::Landing {
                waiting: Some(waiting),
                ..
            } => (
                "!",
                "landing",
                Tone::Waiting,
                Some(format!("waits for your edits: {}", in_words(&waiting.paths))),
            ),
            Stage::Landing {
                candidate,
                waiting: None,
            } => (
                "◍",
                "landing",
                Tone::Good,
                Some(format!("as {}", candidate.commit.short())),
            ),
        };
        Self {
            symbol,
            word: word.to_owned(),
            tone,
            why,
        }
    }
}

/// Everything there is to choose from in the queue: what is not over, nearest to the target first; then what is over,
/// latest first.
pub(crate) fn order(crew: &Crew) -> Vec<TicketId> {
    let mut over: Vec<&Ticket> = crew.tickets.values().map(AsRef::as_ref).collect();
    over.retain(|ticket| ticket.is_done());
    over.sort_by_key(|ticket| (std::cmp::Reverse(ticket.since), &ticket.id));
    crew.order()
        .into_iter()
        .chain(over)
        .map(|ticket| ticket.id.clone())
        .collect()
}

/// What is submitted, in the order in which it comes to the target: what is being landed or checked, then the line,
/// oldest first, then what is held.
pub(crate) fn train(crew: &Crew) -> Vec<TicketId> {
    let mut train: Vec<_> = crew
        .tickets
        .values()
        .filter_map(|ticket| {
            let State::Verify(verify) = &ticket.state else {
                return None;
            };
            let rank = match &verify.stage {
                _ if ticket.held.is_some() => 4,
                Stage::Landing { waiting: None, .. } => 0,
                Stage::Building | Stage::Checking(_) => 1,
                Stage::Queued => 2,
                Stage::Reviewing { .. } | Stage::Landing { waiting: Some(_), .. } => 3,
            };
            Some((rank, verify.submitted_at, &ticket.id))
        })
        .collect();
    train.sort();
    train.into_iter().map(|(.., id)| id.clone()).collect()
}

/// Whether a ticket has all the words that are looked for, in its id, title, state, agent, tags.
pub(crate) fn matches(
    ticket: &Ticket,
    why_not: &BTreeMap<TicketId, Refusal>,
    filter: &str,
    now: Time,
) -> bool {
    if filter.is_empty() {
        return true;
    }
    let standing = Standing::of(ticket, why_not.get(&ticket.id), now);
    let agent = ticket.attempt().map(|attempt| attempt.agent.as_str());
    let tags: Vec<&str> = ticket.spec.tags.iter().map(String::as_str).collect();
    let all = format!(
        "{} {} {} {} p{} {} {}",
        ticket.id,
        ticket.spec.title,
        standing.word,
        agent.unwrap_or_default(),
        ticket.spec.priority,
        ticket.spec.kind,
        tags.join(" ")
    );
    has(&all, filter)
}

/// Whether a text has all of a filter's words, whatever their case.
pub(crate) fn has(text: &str, filter: &str) -> bool {
    let text = text.to_lowercase();
    filter
        .to_lowercase()
        .split_whitespace()
        .all(|word| text.contains(word))
}
