//! The story of a demonstration, in words for somebody who sees crew for the first time.

use std::time::Duration;

use model::attempt::{self, AfterStop, Class, Signal};
use model::journal::{Fact, State, Stream};
use model::ticket::{Event, ReviewEvent, Verdict};
use model::view::{self, Snapshot};
use model::{Actor, Fence, TicketId};
use runtime::Signal as Ask;
use store::Recorded;

use super::person::{ANSWER, NAME};
use super::project::ALL;
use super::{Tally, tally};
use crate::live::Tell;
use crate::ui::{self, Style};

/// Tells it, and counts.
#[derive(Debug)]
pub(crate) struct Story {
    pub(crate) tally: Tally,
    /// The name of whoever watches, as the journal keeps it.
    person: String,
    /// How long a question is left to them; none where the demonstration answers it at once.
    leaves: Option<Duration>,
    /// Whether the effect of a submission was explained.
    is_explained: bool,
    /// The engine's warnings; shown when something went wrong. The stories have the rest.
    pub(crate) warnings: Vec<String>,
}

impl Story {
    /// A story for a person of this name. `leaves`: how long a question is left to them, if it is.
    pub(crate) fn new(person: String, leaves: Option<Duration>) -> Self {
        Self {
            tally: Tally::default(),
            person,
            leaves,
            is_explained: false,
            warnings: Vec::new(),
        }
    }
}

impl Tell for Story {
    fn tell(&mut self, before: &Snapshot, fold: &Recorded, _is_live: bool) -> Vec<(String, Style)> {
        self.tally.take(fold);
        let (Stream::Ticket(id), Fact::Ticket(event), State::Ticket(after)) =
            (&fold.stream, &fold.fact, &fold.after)
        else {
            return Vec::new();
        };
        let counts = &self.tally.tickets[id];
        let agent = after
            .attempt()
            .or_else(|| before.tickets.get(id)?.attempt())
            .map_or_else(
                || "its agent".to_owned(),
                |attempt| attempt.claim.agent.to_string(),
            );
        let told = match event {
            Event::Claimed { .. } => {
                let parent = after.delegated().map(|delegated| &delegated.by);
                Some((claimed(counts, &agent, parent), Style::Plain))
            }
            Event::Unified { .. } => Some((
                format!("{agent} is done; what it did lands with the whole"),
                Style::Plain,
            )),
            Event::Attempt(attempt::Event::Answered { by, text, .. }) => {
                Some((answered(by, text, &agent, &self.person), Style::Cyan))
            }
            Event::Attempt(event) => of_attempt(event, &agent),
            Event::Landed { .. } => {
                let nth = self.tally.landed.len();
                Some((
                    format!("landed on main: {} ({nth} of {ALL})", counts.title),
                    Style::Green,
                ))
            }
            Event::ChecksFailed { .. } => Some((
                format!(
                    "merged with main it fails the tests, so main stays as it is; {agent} is told what failed"
                ),
                Style::Yellow,
            )),
            Event::CommitmentUnmet { id: promise, .. } => {
                let mut promises = after.commitments.iter();
                let says = promises.find(|one| one.id == *promise);
                let says = says.map_or("", |one| one.promise.says.as_str());
                Some((
                    format!("merged with main it does not keep its promise ({says}): {agent} is told"),
                    Style::Yellow,
                ))
            }
            Event::Review { fence, event } => of_review(before, id, *fence, event),
            Event::BatchLanding { tip, batch, .. } if tip == id => Some((
                format!(
                    "{} merged results passed one run of the tests together: main moves to all of them at once",
                    batch.entries.len()
                ),
                Style::Plain,
            )),
            Event::Conflicted { paths, .. } => Some((
                format!(
                    "does not merge with what landed meanwhile ({}): {agent} is asked to bring both together",
                    paths.join(", ")
                ),
                Style::Yellow,
            )),
            other => {
                let is_new =
                    after.held.is_some() && before.tickets.get(id).is_none_or(|before| before.held.is_none());
                is_new.then(|| (view::describe(&Fact::Ticket(other.clone())), Style::Red))
            }
        };
        let line = |text: &str, style| {
            let at = fold.at.since(self.tally.begun.unwrap_or(fold.at)).as_secs();
            (format!("{at:>3}s  {id}  {}", ui::clean(text)), style)
        };
        let mut lines: Vec<(String, Style)> = told.iter().map(|(text, style)| line(text, *style)).collect();
        if let Event::Attempt(attempt::Event::StepFinished {
            signal: Signal::Done, ..
        }) = event
            && !self.is_explained
        {
            self.is_explained = true;
            let text = format!(
                "{agent} says it is done. That is only a claim: crew merges the work with main, aside, and runs the tests \
                 on the result. main moves only if they pass"
            );
            lines.push(line(&text, Style::Plain));
        }
        if let Event::Attempt(attempt::Event::StepFinished {
            signal: Signal::Asked { .. },
            ..
        }) = event
            && let Some(leaves) = self.leaves
        {
            lines.push(line(&waits(&in_words(leaves)), Style::Bold));
        }
        lines
    }

    /// Whatever it is, it is over: nothing of a demonstration is left to another engine.
    fn interrupted(&mut self, _times: u32) -> (Ask, &'static str) {
        (
            Ask::Stop,
            "stopping: the agents are ended and everything is taken away",
        )
    }

    fn hang(&self) -> usize {
        11
    }

    fn warned(&mut self, notice: &str) -> bool {
        self.warnings.push(notice.to_owned());
        false
    }

    fn minds_hangup(&self) -> bool {
        true
    }
}

fn claimed(counts: &tally::Counts, agent: &str, parent: Option<&TicketId>) -> String {
    let title = &counts.title;
    if let Some(parent) = parent {
        return format!("{agent} takes this part of {parent}, in the same folder: {title}");
    }
    if counts.priority == 0 {
        return format!("{agent} takes it, before all others, because it is urgent: {title}");
    }
    let needs: Vec<&str> = counts.needs.iter().map(TicketId::as_str).collect();
    if needs.is_empty() {
        format!("{agent} takes it: {title}")
    } else {
        format!(
            "{agent} takes it, now that {} has landed: {title}",
            needs.join(", ")
        )
    }
}

/// That a question is left to whoever watches: `span` in words.
pub(crate) fn waits(span: &str) -> String {
    format!("the demo waits {span} for your answer on the page; then it answers \"{ANSWER}\" itself")
}

/// A span as a guide names it: `2 minutes`, `50 seconds`.
pub(crate) fn in_words(span: Duration) -> String {
    match (span + Duration::from_millis(500)).as_secs() {
        seconds if seconds > 0 && seconds % 60 == 0 => text::counted(seconds / 60, "minute"),
        seconds => text::counted(seconds, "second"),
    }
}

/// Who answered, by the journal, and what. A device of `person`'s stands behind their name.
fn answered(by: &Actor, text: &str, agent: &str, person: &str) -> String {
    let by = by.to_string();
    if by == NAME {
        return format!("answered with `crew answer {agent} {text}`: the demo typed it for you");
    }
    match by.strip_prefix(person) {
        Some("") => format!("you answered, in a terminal: {text}"),
        Some(rest) if let Some(device) = rest.strip_prefix(" · ") => {
            format!("you answered on the page ({device}): {text}")
        }
        _ => format!("{by} answered: {text}"),
    }
}

fn of_review(before: &Snapshot, id: &TicketId, fence: Fence, event: &ReviewEvent) -> Option<(String, Style)> {
    let ReviewEvent::VerdictNoted { verdict } = event else {
        return None;
    };
    let reviewing = before.tickets.get(id)?.reviewing()?;
    let gatekeeper = &reviewing.review(fence)?.agent;
    Some(match verdict {
        Verdict::Approve { acceptance_test, .. } => (
            format!("{gatekeeper} has reviewed it and approves: {acceptance_test}"),
            Style::Plain,
        ),
        Verdict::Reject { reason, .. } => (
            format!(
                "passes the tests, and {gatekeeper} rejects it in review: {reason}. It goes back to the queue"
            ),
            Style::Yellow,
        ),
        Verdict::Fail { reason } => (
            format!("{gatekeeper} says that it cannot be done: {reason}"),
            Style::Red,
        ),
    })
}

fn of_attempt(event: &attempt::Event, agent: &str) -> Option<(String, Style)> {
    let yellow = |text: String| Some((text, Style::Yellow));
    match event {
        attempt::Event::StepFinished {
            signal: Signal::Asked { question },
            ..
        } => yellow(format!(
            "{agent} asks a person: {question} It waits; the others go on"
        )),
        attempt::Event::Delegated { children } => {
            let parts: Vec<&str> = children.iter().map(|child| child.id.as_str()).collect();
            Some((
                format!(
                    "{agent} may delegate, and has called crew's tool for that: others do {}, and it waits",
                    parts.join(" and ")
                ),
                Style::Plain,
            ))
        }
        attempt::Event::ChildrenOver { .. } => Some((
            format!("all parts are done: {agent} looks at the whole"),
            Style::Plain,
        )),
        attempt::Event::StopOrdered {
            then: AfterStop::Retry { .. },
        } => yellow(format!(
            "{agent} hangs: no word and no work for too long. crew ends it"
        )),
        attempt::Event::StepFailed { failure, .. } => match failure.class {
            Class::Crash | Class::Lost => yellow(format!(
                "{agent} crashed. What it wrote so far is kept; crew starts it again"
            )),
            Class::Stalled | Class::Timeout => Some((
                format!("{agent} is started again, in a new session"),
                Style::Plain,
            )),
            _ => yellow(view::describe(&Fact::Ticket(Event::Attempt(event.clone())))),
        },
        _ => None,
    }
}
