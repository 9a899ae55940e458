//! The output of an agent's steps, as files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::attempt;
use model::journal::{Fact, State, Stream};
use model::ticket::{self, Review, ReviewEvent, Ticket};
use model::view::{self, Snapshot, Summaries, span};
use model::{AgentName, RunId, TicketId, Time};
use runtime::Place;
use store::{Ledger, Recorded};

use crate::conversation::Uncounted;
use crate::error::Result;

/// A step of an agent that was started, or a command that set up its workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its run.
    pub run: RunId,
    /// The ticket.
    pub ticket: TicketId,
    /// The agent.
    pub agent: AgentName,
    /// Its number in its attempt, from 1; a step that failed and the one that repeats it have the same. A
    /// command that sets up the workspace has 0.
    pub number: u32,
    /// The words of its agent that its end has shown not to count.
    pub uncounted: Uncounted,
}

impl Step {
    /// The step that a row started, if it started one of this agent.
    pub fn started(fold: &Recorded, agent: &AgentName) -> Option<Self> {
        if let Some((review, step)) = Self::of_review(fold) {
            return (review.agent == *agent).then_some(step);
        }
        let (
            Fact::Ticket(ticket::Event::Attempt(attempt::Event::StepStarted { run, .. })),
            State::Ticket(after),
        ) = (&fold.fact, &fold.after)
        else {
            return None;
        };
        let attempt = after.attempt().filter(|attempt| attempt.claim.agent == *agent)?;
        Some(Self {
            run: run.clone(),
            ticket: after.id.clone(),
            agent: agent.clone(),
            number: attempt.conversation.steps + 1,
            uncounted: Uncounted::default(),
        })
    }

    /// The step of a review that a row started, with the review.
    fn of_review(fold: &Recorded) -> Option<(&Review, Self)> {
        let (Fact::Ticket(ticket::Event::Review { fence, event }), State::Ticket(after)) =
            (&fold.fact, &fold.after)
        else {
            return None;
        };
        let ReviewEvent::Started { run } = event else {
            return None;
        };
        let review = after.reviewing()?.review(*fence)?;
        let step = Self {
            run: run.clone(),
            ticket: after.id.clone(),
            agent: review.agent.clone(),
            number: review.conversation.steps + 1,
            uncounted: Uncounted::default(),
        };
        Some((review, step))
    }

    /// The commands that set up the workspace of a claim of the agent which a row tells of, as far as they
    /// have begun.
    pub fn set_ups(place: &Place, fold: &Recorded, agent: &AgentName) -> Vec<Self> {
        let (
            Fact::Ticket(ticket::Event::Claimed {
                agent: claims, fence, ..
            }),
            State::Ticket(after),
        ) = (&fold.fact, &fold.after)
        else {
            return Vec::new();
        };
        if claims != agent {
            return Vec::new();
        }
        let step = |n| Self {
            run: RunId::of_set_up(&after.id, *fence, n),
            ticket: after.id.clone(),
            agent: agent.clone(),
            number: 0,
            uncounted: Uncounted::default(),
        };
        let begun = |step: &Self| step.dir(place).exists();
        (0..).map(step).take_while(begun).collect()
    }

    /// Takes from a row which words of the step did not count, where the row has ended it.
    fn learn(&mut self, fold: &Recorded) {
        let (Fact::Ticket(ticket::Event::Attempt(event)), State::Ticket(after)) = (&fold.fact, &fold.after)
        else {
            return;
        };
        let worker = after
            .attempt()
            .and_then(|attempt| attempt.conversation.worker.as_ref());
        let words = view::uncounted(event, after);
        if !words.is_empty() && worker.is_some_and(|worker| worker.run == self.run) {
            self.uncounted = Uncounted::refused(words);
        }
    }

    /// The steps and set-up commands that a row tells of.
    fn of_row(place: &Place, fold: &Recorded, agent: &AgentName) -> Vec<Self> {
        let mut steps = Self::set_ups(place, fold, agent);
        steps.extend(Self::started(fold, agent));
        steps
    }

    /// The step as a heading names it.
    pub fn title(&self) -> String {
        let number = match self.number {
            0 => "set-up".to_owned(),
            number => format!("step {number}"),
        };
        format!("{}, {number} (run {})", self.ticket, self.run)
    }

    /// The run, with what is shown about it.
    pub fn source(self, place: &Place) -> Source {
        Source {
            title: self.title(),
            dir: self.dir(place),
            run: self.run,
            ticket: Some(self.ticket),
            number: Some(self.number),
            uncounted: self.uncounted,
        }
    }

    /// The folder of its output.
    pub fn dir(&self, place: &Place) -> PathBuf {
        dir(place, &self.run)
    }

    /// The text that its agent was given, as it was written; none where it is not kept, and for a command
    /// that sets up the workspace.
    pub fn prompt(&self, place: &Place) -> Option<Vec<u8>> {
        std::fs::read(self.dir(place).join("stdin")).ok()
    }
}

/// The steps of this number in the last attempt or review that has one: a step that failed, and those that
/// repeat it.
pub fn of_number(steps: Vec<Step>, number: u32) -> Vec<Step> {
    let claim = |step: &Step| (step.ticket.clone(), step.run.fence());
    let is_meant = |step: &&Step| step.number == number;
    let Some(last) = steps.iter().rfind(is_meant).map(claim) else {
        return Vec::new();
    };
    let is_its = |step: &Step| step.number == number && claim(step) == last;
    steps.into_iter().filter(is_its).collect()
}

/// A run whose output is shown: a step, a command that sets up a workspace, or a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The run.
    pub run: RunId,
    /// Its heading: not sanitised.
    pub title: String,
    /// The folder of its output.
    pub dir: PathBuf,
    /// Its ticket; none for a check of the bare target.
    pub ticket: Option<TicketId>,
    /// The number of the step, and 0 for a command that sets up the workspace; none for a check.
    pub number: Option<u32>,
    /// The words of its agent that are known not to count.
    pub uncounted: Uncounted,
}

impl Source {
    /// Whether it is a step of an agent: its output is a conversation.
    #[must_use]
    pub fn is_of_agent(&self) -> bool {
        self.number.is_some_and(|number| number > 0)
    }
}

/// The directory of a run.
pub fn dir(place: &Place, run: &RunId) -> PathBuf {
    place.runs_dir.join(run.as_str())
}

/// The time at which a run began; none where that is not known.
#[must_use]
pub fn began(place: &Place, run: &RunId) -> Option<Time> {
    let status = process::Run::open(place.run_dir(run)).ok()?.status().ok()?;
    let started_at = match status {
        process::Status::NotStarted | process::Status::Running { started: None } => return None,
        process::Status::Running {
            started: Some(started),
        }
        | process::Status::Lost { started } => started.started_at,
        process::Status::Ended(exit) => exit.started_at,
    };
    i64::try_from(started_at).ok().filter(|at| *at > 0).map(Time)
}

/// The tickets of a view that an agent has worked on.
fn of_view(crew: &Snapshot, agent: &AgentName) -> BTreeSet<TicketId> {
    let its = crew.attempts.values().filter(|work| work.agent == *agent);
    let paid = crew.charges.iter().filter(|charge| charge.agent == *agent);
    let reviews = |ticket: &&Arc<Ticket>| ticket.open_reviews().any(|review| review.agent == *agent);
    let reviewed = crew.tickets.values().filter(reviews);
    its.map(|work| &work.ticket)
        .chain(paid.map(|charge| &charge.ticket))
        .chain(reviewed.map(|ticket| &ticket.id))
        .cloned()
        .collect()
}

/// The archived tickets that an agent has worked on.
async fn of_past(ledger: &Ledger, crew: &Snapshot, agent: &AgentName) -> Result<BTreeSet<TicketId>> {
    let mut tickets = BTreeSet::new();
    let add = |id: &TicketId, summaries: &Summaries| {
        if summaries.attempts.iter().any(|work| work.agent == *agent) {
            tickets.insert(id.clone());
        }
    };
    ledger.attempt_summaries(crew, add).await?;
    Ok(tickets)
}

/// The rows about the tickets that an agent has worked on, as far as they are folded, each with its ticket's
/// state before it. They are read from their streams, so that the cost depends on the agent's work and not on
/// everybody's. `crew` is the snapshot without archived tickets.
pub async fn rows(
    ledger: &Ledger,
    crew: &Snapshot,
    agent: &AgentName,
    each: impl FnMut(Option<&State>, &Recorded),
) -> Result<()> {
    let mut tickets = of_view(crew, agent);
    tickets.extend(of_past(ledger, crew, agent).await?);
    of_tickets(ledger, crew, tickets, each).await
}

async fn of_tickets(
    ledger: &Ledger,
    crew: &Snapshot,
    tickets: BTreeSet<TicketId>,
    mut each: impl FnMut(Option<&State>, &Recorded),
) -> Result<()> {
    for ticket in tickets {
        let mut before = None;
        let take = |row: Recorded| {
            if row.seq <= crew.seq {
                each(before.as_ref(), &row);
                before = Some(row.after);
            }
        };
        ledger.each_of(&Stream::Ticket(ticket), 0, take).await?;
    }
    Ok(())
}

/// The steps that an agent was ever given, and the commands that set up its workspaces, the oldest first.
/// `crew` has no archived tickets.
pub async fn steps(place: &Place, ledger: &Ledger, crew: &Snapshot, agent: &AgentName) -> Result<Vec<Step>> {
    let mut steps: BTreeMap<u64, Vec<Step>> = BTreeMap::new();
    // The rows of a ticket come in order: the end of a step comes behind its start.
    let mut last = 0;
    rows(ledger, crew, agent, |_, row| {
        if let Some(step) = steps.get_mut(&last).and_then(|steps| steps.last_mut()) {
            step.learn(row);
        }
        let of_row = Step::of_row(place, row, agent);
        if !of_row.is_empty() {
            (last, _) = (row.seq, steps.insert(row.seq, of_row));
        }
    })
    .await?;
    Ok(steps.into_values().flatten().collect())
}

/// The steps at a ticket and the commands that set up its workspaces, whichever agent had it, the oldest
/// first.
pub async fn steps_at(
    place: &Place,
    ledger: &Ledger,
    crew: &Snapshot,
    ticket: &TicketId,
) -> Result<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    of_tickets(ledger, crew, [ticket.clone()].into(), |_, row| {
        let State::Ticket(after) = &row.after else { return };
        if let Some(step) = steps.last_mut() {
            step.learn(row);
        }
        if let Some((_, step)) = Step::of_review(row) {
            steps.push(step);
        } else if let Some(attempt) = after.attempt() {
            steps.extend(Step::of_row(place, row, &attempt.claim.agent));
        }
    })
    .await?;
    Ok(steps)
}

/// The agent's last step, or the command that set up its workspace since. An archived step is older than one
/// that is not, so the archive is read only when there is nothing else.
pub async fn last_step(
    place: &Place,
    ledger: &Ledger,
    crew: &Snapshot,
    agent: &AgentName,
) -> Result<Option<Step>> {
    for is_past in [false, true] {
        let tickets = match is_past {
            false => of_view(crew, agent),
            true => of_past(ledger, crew, agent).await?,
        };
        let mut last: Option<(u64, Step)> = None;
        of_tickets(ledger, crew, tickets, |_, row| {
            if let Some((_, step)) = &mut last {
                step.learn(row);
            }
            if let Some(step) = Step::of_row(place, row, agent).pop()
                && last.as_ref().is_none_or(|(seq, _)| *seq < row.seq)
            {
                last = Some((row.seq, step));
            }
        })
        .await?;
        if let Some((_, step)) = last {
            return Ok(Some(step));
        }
    }
    Ok(None)
}

/// A command that sets up a workspace at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingUp {
    /// Its run.
    pub run: RunId,
    /// The command, fit to be shown.
    pub command: String,
    /// The time at which it began; none in its first moments.
    pub since: Option<Time>,
}

impl SettingUp {
    /// The command that sets up the workspace of a ticket; none while no command runs.
    pub fn of(place: &Place, ticket: &Ticket) -> Option<Self> {
        let attempt = ticket.attempt()?;
        if !matches!(attempt.state, attempt::State::Preparing) {
            return None;
        }
        let id = |n| RunId::of_set_up(&ticket.id, attempt.claim.fence, n);
        let opened = |id: RunId| Some((process::Run::open(dir(place, &id)).ok()?, id));
        let (run, id) = (0..).map(id).map_while(opened).last()?;
        let process::Status::Running { started } = run.status().ok()? else {
            return None;
        };
        let command = run.spec().ok()?.args.pop()?;
        Some(Self {
            run: id,
            command: text::sanitise::output_line(&command.to_string_lossy()),
            since: started
                .and_then(|started| i64::try_from(started.started_at).ok())
                .map(Time),
        })
    }

    /// The command in words, and for how long it has run.
    pub fn words(&self, now: Time) -> String {
        let time = self.since.map(|since| format!(" for {}", span(now.since(since))));
        format!(
            "its workspace is being set up with `{}`{}",
            self.command,
            time.unwrap_or_default()
        )
    }
}

/// The last `bytes` of a file as text; nothing when it is not there.
pub fn end(path: &Path, bytes: u64) -> String {
    let read = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
        let mut end = Vec::new();
        file.take(bytes).read_to_end(&mut end)?;
        if length > bytes
            && let Some(cut) = end.iter().position(|byte| *byte == b'\n')
        {
            // The beginning of its first line is missing.
            end.drain(..=cut);
        }
        std::io::Result::Ok(end)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// The end of a run's standard error; most of a long one is of no use to anybody.
pub fn errors(dir: &Path) -> String {
    end(&dir.join("err"), 64 << 10)
}
