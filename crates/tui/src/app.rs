//! The state of the dashboard, and how messages change it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::attempt;
use model::command::Outcome;
use model::journal::{Fact, State as After, Stream};
use model::ticket::{self, ReviewEvent, Ticket};
use model::view::{self, Agent, By, Costs, Filter, Item, Row, Snapshot, Standing};
use model::{AgentName, Look, RunId, TicketId, Time};
use ratatui::layout::Rect;
use store::Recorded;

use crate::choose::Choice;
use crate::dialog::Dialog;
use crate::diff::Looked;
use crate::draw;
use crate::history::History;
use crate::log::Log;
use crate::message::{Action, Activity, CommandResult, Engine, Files, Msg};
use crate::pane::Pane;
use crate::plan::{Plan, Wanted};
use crate::queue;
use crate::theme::{Theme, Tone};

/// The options of a dashboard, which are fixed while it is open.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the repository.
    pub repository: String,
    /// Whether colours are used.
    pub colour: bool,
    /// A moment in the time zone of whoever looks: `2026-01-02 03:04:05`.
    pub clock: fn(Time) -> String,
    /// A sentence of crew's with each moment in it, `2026-01-02T03:04:05Z`, in that time zone.
    pub in_words: fn(&str) -> String,
}

/// The state of the dashboard.
#[derive(Clone, Debug)]
pub struct App {
    pub(crate) repository: String,
    pub(crate) theme: Theme,
    pub(crate) clock: fn(Time) -> String,
    pub(crate) in_words: fn(&str) -> String,
    pub(crate) now: Time,
    pub(crate) size: (u16, u16),
    /// The view of the journal, with the tickets as their files are now.
    pub(crate) crew: Snapshot,
    pub(crate) files: Files,
    /// Why something of the repository cannot be read, in words.
    troubles: Vec<String>,
    /// What the journal has of the tickets in whose place their files stand.
    journals: BTreeMap<TicketId, Arc<Ticket>>,
    pub(crate) engine: Option<Engine>,
    /// What runs in the steps of agents.
    pub(crate) activities: BTreeMap<AgentName, Activity>,
    pub(crate) focus: Pane,
    pub(crate) side: Pane,
    pub(crate) detail: Pane,
    /// The list whose chosen row the other panes show.
    pub(crate) list: Pane,
    pub(crate) zoomed: bool,
    pub(crate) filter: String,
    pub(crate) dialog: Option<Dialog>,
    /// The text of the status line.
    pub(crate) status: Option<(Tone, String)>,
    /// The commands that were submitted and have no result yet, in words.
    pub(crate) pending: Vec<String>,
    pub(crate) log: Log,
    pub(crate) history: History,
    /// The diff that is looked at, while that pane has the focus.
    pub(crate) diff: Option<Looked>,
    /// The number of lines by which a pane is scrolled: output and history up from their ends, cost, the
    /// diff and the chosen entry of the inbox down from their tops.
    pub(crate) scroll: BTreeMap<Pane, usize>,
    pub(crate) agents: Vec<Agent>,
    pub(crate) queue: Vec<TicketId>,
    pub(crate) train: Vec<TicketId>,
    pub(crate) inbox: Vec<Item>,
    pub(crate) by_ticket: Costs,
    pub(crate) by_agent: Costs,
    pub(crate) by_day: Costs,
    pub(crate) agent: Choice<AgentName>,
    pub(crate) in_queue: Choice<TicketId>,
    pub(crate) in_train: Choice<TicketId>,
    pub(crate) in_inbox: Choice<String>,
    /// The latest run of each agent, and its ticket.
    runs: BTreeMap<AgentName, (RunId, TicketId)>,
    /// The runs of each ticket, its steps, reviews and checks, the oldest first.
    runs_at: BTreeMap<TicketId, Vec<RunId>>,
    /// So many runs before the latest one is looked at.
    back: usize,
    /// The latest summary of the work on each ticket by its agent, not sanitised.
    pub(crate) summaries: BTreeMap<TicketId, String>,
    /// A line from the commits of each ticket whose agent has summarised nothing, not sanitised.
    commit_summaries: BTreeMap<TicketId, String>,
}

impl App {
    /// An empty dashboard, on a terminal of this size in columns and lines.
    #[must_use]
    pub fn new(options: &Options, now: Time, (columns, lines): (u16, u16)) -> Self {
        let nothing = Snapshot::default().costs(By::Agent, &Filter::default());
        Self {
            repository: text::sanitise::line(&options.repository),
            theme: Theme {
                colour: options.colour,
            },
            clock: options.clock,
            in_words: options.in_words,
            now,
            size: (columns, lines),
            crew: Snapshot::default(),
            files: Files::default(),
            troubles: Vec::new(),
            journals: BTreeMap::new(),
            engine: None,
            activities: BTreeMap::new(),
            focus: Pane::Agents,
            side: Pane::Inbox,
            detail: Pane::Output,
            list: Pane::Agents,
            zoomed: false,
            filter: String::new(),
            dialog: None,
            status: None,
            pending: Vec::new(),
            log: Log::default(),
            history: History::default(),
            diff: None,
            scroll: BTreeMap::new(),
            agents: Vec::new(),
            queue: Vec::new(),
            train: Vec::new(),
            inbox: Vec::new(),
            by_ticket: nothing.clone(),
            by_agent: nothing.clone(),
            by_day: nothing,
            agent: Choice::default(),
            in_queue: Choice::default(),
            in_train: Choice::default(),
            in_inbox: Choice::default(),
            runs: BTreeMap::new(),
            runs_at: BTreeMap::new(),
            back: 0,
            summaries: BTreeMap::new(),
            commit_summaries: BTreeMap::new(),
        }
    }

    /// Takes a message at the time `now`, and returns the actions that it leads to, in order.
    pub fn update(&mut self, msg: Msg, now: Time) -> Vec<Action> {
        self.now = now;
        let mut actions = Vec::new();
        match msg {
            Msg::Key(key) => self.key(key, &mut actions),
            Msg::Pasted(text) => self.pasted(&text),
            Msg::Resized(columns, lines) => self.size = (columns, lines),
            Msg::Journal => self.begin_anew(),
            Msg::Troubles(troubles) => self.troubles = troubles,
            Msg::CommitSummaries(summaries) => self.commit_summaries = summaries,
            Msg::Rows(rows) => {
                for row in &rows {
                    self.row(row);
                }
                self.sum_costs();
                self.rebuild_lists();
            }
            Msg::Files(files) => {
                self.take_files(files);
                self.rebuild_lists();
            }
            Msg::Activities(activities) => self.activities = activities,
            Msg::Engine(engine) => {
                self.engine = engine;
                self.files.beside.engine = self.engine.is_some();
                self.rebuild_lists();
            }
            Msg::Output { run, lines, open } => {
                if self.log.run.as_ref() == Some(&run) {
                    self.log.feed(lines, &open);
                }
            }
            Msg::History { ticket, rows } => {
                if self.history.ticket.as_ref() == Some(&ticket) {
                    self.history.read(&rows);
                }
            }
            Msg::Diff { ticket, diff } => {
                if let Some(looked) = self.diff.as_mut().filter(|looked| looked.ticket == ticket) {
                    looked.take(diff);
                }
            }
            Msg::CommandResult(result) => self.take_result(&result),
            Msg::Tick => {}
        }
        self.follow_choice(&mut actions);
        actions
    }

    /// The time, and whether an engine runs.
    pub(crate) fn look(&self) -> Look {
        Look {
            now: self.now,
            engine: self.engine.is_some(),
        }
    }

    /// Whether the screen shows a duration that changes every second.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.agents.iter().any(|agent| agent.ticket.is_some())
            || !self.inbox.is_empty()
            || self.pause_line().is_some()
    }

    /// Forgets everything that a journal has told.
    fn begin_anew(&mut self) {
        self.crew = Snapshot::default();
        self.files = Files::default();
        self.files.beside.engine = self.engine.is_some();
        self.journals.clear();
        self.runs.clear();
        self.runs_at.clear();
        self.summaries.clear();
        self.commit_summaries.clear();
        self.history.begin(None);
        self.sum_costs();
        self.rebuild_lists();
    }

    fn row(&mut self, row: &Recorded) {
        self.crew.apply(Row {
            seq: row.seq,
            stream: &row.stream,
            at: row.at,
            fact: &row.fact,
            after: &row.after,
        });
        if let Stream::Ticket(id) = &row.stream {
            // From now on the ticket is in the journal.
            self.files.unseen.remove(id);
            self.journals.remove(id);
        }
        if let (
            Fact::Ticket(ticket::Event::Attempt(attempt::Event::StepStarted { run, .. })),
            After::Ticket(after),
        ) = (&row.fact, &row.after)
            && let Some(attempt) = after.attempt()
        {
            self.runs
                .insert(attempt.claim.agent.clone(), (run.clone(), after.id.clone()));
        }
        if let Stream::Ticket(id) = &row.stream
            && let Fact::Ticket(
                ticket::Event::Attempt(attempt::Event::StepStarted { run, .. })
                | ticket::Event::Review {
                    event: ReviewEvent::Started { run },
                    ..
                }
                | ticket::Event::CheckOrdered { run, .. },
            ) = &row.fact
        {
            let runs = self.runs_at.entry(id.clone()).or_default();
            // A run that is ordered again is the same.
            if !runs.contains(run) {
                runs.push(run.clone());
            }
        }
        if let (
            Fact::Ticket(ticket::Event::Attempt(attempt::Event::StepFinished {
                summary: Some(summary),
                ..
            })),
            Stream::Ticket(id),
        ) = (&row.fact, &row.stream)
        {
            self.summaries.insert(id.clone(), summary.clone());
        }
        self.history.add(row);
    }

    fn sum_costs(&mut self) {
        let by = |by| self.crew.costs(by, &Filter::default());
        (self.by_ticket, self.by_agent, self.by_day) = (by(By::Ticket), by(By::Agent), by(By::Day));
    }

    fn take_files(&mut self, files: Files) {
        for id in self.files.unseen.keys() {
            match self.journals.remove(id) {
                Some(ticket) => self.crew.tickets.insert(id.clone(), ticket),
                None => self.crew.tickets.remove(id),
            };
        }
        self.files = files;
        self.files.beside.engine = self.engine.is_some();
        // What the journal has of a ticket is newer than a file that was read before.
        let is_present = self.files.seq == self.crew.seq;
        let known: BTreeSet<TicketId> = self.crew.tickets.keys().cloned().collect();
        self.files
            .unseen
            .retain(|id, _| is_present || !known.contains(id));
        for (id, ticket) in &self.files.unseen {
            let of_journal = self.crew.tickets.insert(id.clone(), ticket.clone());
            self.journals
                .extend(of_journal.map(|of_journal| (id.clone(), of_journal)));
        }
    }

    fn take_result(&mut self, result: &CommandResult) {
        if let Some(at) = self.pending.iter().position(|request| *request == result.request) {
            self.pending.remove(at);
        }
        let (tone, what) = match &result.outcome {
            Ok(Outcome::Accepted { message }) => (Tone::Good, format!("✓ {message}")),
            Ok(Outcome::Refused { why }) => (Tone::Wrong, format!("✗ {} refused: {why}", result.request)),
            Err(why) => (Tone::Wrong, format!("✗ {} failed: {why}", result.request)),
        };
        self.set_status(tone, &what);
    }

    /// Sets the status line.
    pub(crate) fn set_status(&mut self, tone: Tone, what: &str) {
        self.status = Some((tone, text::sanitise::line(&(self.in_words)(what))));
    }

    /// Makes the lists again, after a change of the rows or the filter.
    pub(crate) fn rebuild_lists(&mut self) {
        let (filter, now) = (self.filter.as_str(), self.now);
        let agents = self.crew.agents_in_trees();
        self.agents = agents.into_iter().map(|(_, agent)| agent).collect();
        if !filter.is_empty() {
            let tickets = &self.crew.tickets;
            self.agents.retain(|agent| {
                let ticket = agent.ticket.as_ref().and_then(|id| tickets.get(id));
                let title = agent.title.as_deref().unwrap_or_default();
                let text = format!("{} {} {title}", agent.name, agent.status.name());
                queue::has_words(ticket.map(AsRef::as_ref), &text, filter)
            });
        }
        let (tickets, beside) = (&self.crew.tickets, &self.files.beside);
        let matches = |id: &TicketId| {
            let ticket = tickets.get(id);
            ticket.is_some_and(|ticket| queue::matches(ticket, beside, filter, now))
        };
        self.queue = queue::order(&self.crew);
        self.queue.retain(matches);
        self.train = queue::train(&self.crew, self.look());
        self.train.retain(matches);
        self.inbox = view::inbox(tickets, &self.files.beside);
        for item in &mut self.inbox {
            item.why = (self.in_words)(&item.why);
        }
        self.inbox.retain(|item| {
            item.ticket.as_ref().is_some_and(matches)
                || queue::has_words(None, &format!("{} {}", item.kind.name(), item.title), filter)
        });
        self.agent.refresh(self.agents.iter().map(|agent| &agent.name));
        self.in_queue.refresh(self.queue.iter());
        // What has landed is at the end of the queue, and no longer in the train.
        let in_train = self.in_train.key().and_then(|id| self.crew.tickets.get(id));
        match in_train.is_some_and(|ticket| ticket.is_done()) {
            true => self.in_train.stay(self.train.iter()),
            false => self.in_train.refresh(self.train.iter()),
        }
        let before = self.in_inbox.key().cloned();
        self.in_inbox.refresh(self.inbox.iter().map(|item| &item.id));
        if before.as_ref() != self.in_inbox.key() {
            self.scroll.remove(&Pane::Inbox);
        }
    }

    /// The layout of a screen.
    pub(crate) fn plan(&self, area: Rect) -> Plan {
        Plan::of(
            area,
            Wanted {
                focus: self.focus,
                side: self.side,
                detail: self.detail,
                zoomed: self.zoomed || self.focus == Pane::Diff,
                has_pause: self.pause_line().is_some(),
                agents: self.agents.len(),
            },
        )
    }

    /// The layout of the current screen.
    pub(crate) fn plan_now(&self) -> Plan {
        self.plan(Rect::new(0, 0, self.size.0, self.size.1))
    }

    /// The ticket of this id.
    pub(crate) fn ticket(&self, id: &TicketId) -> Option<&Ticket> {
        self.crew.tickets.get(id).map(AsRef::as_ref)
    }

    /// The standing of a ticket, with the moments in its reason as whoever looks reads them.
    pub(crate) fn standing(&self, ticket: &Ticket) -> Standing {
        let standing = self.files.beside.standing(ticket, self.now);
        Standing {
            why: standing.why.map(|why| (self.in_words)(&why)),
            ..standing
        }
    }

    /// The list whose chosen row the other panes show; the agents, if that list is empty. While a diff is
    /// looked at, its ticket is the chosen one, wherever the lists move to meanwhile.
    fn chosen_in(&self) -> Pane {
        if self.focus == Pane::Diff {
            return Pane::Diff;
        }
        let some = match self.list {
            Pane::Queue => !self.queue.is_empty(),
            Pane::Train => self.in_train.key().is_some(),
            Pane::Inbox => !self.inbox.is_empty(),
            Pane::Agents | Pane::Output | Pane::History | Pane::Cost | Pane::Diff => false,
        };
        if some { self.list } else { Pane::Agents }
    }

    /// The chosen item of the inbox, if the other panes show it.
    pub(crate) fn chosen_item(&self) -> Option<&Item> {
        let looks = self.chosen_in() == Pane::Inbox;
        let key = self.in_inbox.key().filter(|_| looks)?;
        self.inbox.iter().find(|item| item.id == *key)
    }

    /// A summary of the work on a ticket: its agent's, else one of its commits.
    pub(crate) fn summary(&self, ticket: &TicketId) -> Option<&str> {
        let from_git = || self.commit_summaries.get(ticket);
        self.summaries.get(ticket).or_else(from_git).map(String::as_str)
    }

    /// The reason why something cannot be read, or why no step is started, on one harness or on all, in one
    /// line; sanitised.
    pub(crate) fn pause_line(&self) -> Option<String> {
        let mut pauses = self.troubles.clone();
        pauses.extend(self.crew.obstacles(self.look()));
        let pause = self.crew.project.pause.filter(|pause| pause.until > self.now);
        pauses.extend(pause.map(|pause| pause.to_string()));
        let (first, others) = pauses.split_first()?;
        let more = match others.len() {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let first = (self.in_words)(first);
        Some(text::sanitise::line(&format!("! {first}{more}")))
    }

    /// The chosen ticket, or that of the chosen agent.
    pub(crate) fn chosen_ticket(&self) -> Option<&TicketId> {
        match self.chosen_in() {
            Pane::Queue => self.in_queue.key(),
            Pane::Train => self.in_train.key(),
            Pane::Inbox => self.chosen_item()?.ticket.as_ref(),
            Pane::Diff => self.diff.as_ref().map(|looked| &looked.ticket),
            Pane::Agents | Pane::Output | Pane::History | Pane::Cost => {
                let name = self.agent.key()?;
                let agent = self.agents.iter().find(|agent| agent.name == *name)?;
                // An agent without a ticket shows its latest one.
                agent
                    .ticket
                    .as_ref()
                    .or_else(|| self.runs.get(name).map(|(_, ticket)| ticket))
            }
        }
    }

    /// The chosen agent, or that of the chosen ticket.
    pub(crate) fn chosen_agent(&self) -> Option<&AgentName> {
        match self.chosen_in() {
            Pane::Queue | Pane::Train | Pane::Inbox | Pane::Diff => {
                let ticket = self.chosen_ticket().and_then(|id| self.ticket(id))?;
                match (&ticket.state, ticket.attempt()) {
                    (_, Some(attempt)) => Some(&attempt.claim.agent),
                    (ticket::State::Done(ticket::Done::Landed { agent, .. }), None) => Some(agent),
                    (_, None) => None,
                }
            }
            Pane::Agents | Pane::Output | Pane::History | Pane::Cost => self.agent.key(),
        }
    }

    /// The last run of the target's checks, where these are the reason for which no agent is started.
    fn target_run(&self) -> Option<RunId> {
        let target = self.crew.project.target.as_deref()?;
        let is_waited_for = target.in_the_way().is_some();
        target.run.clone().filter(|_| is_waited_for)
    }

    /// The runs that Output can show for the chosen row, and the place of the latest one of the row among
    /// them.
    fn chosen_runs(&self) -> (&[RunId], usize) {
        let of = |id: &TicketId| self.runs_at.get(id).map(Vec::as_slice).unwrap_or_default();
        match self.chosen_in() {
            Pane::Queue | Pane::Train | Pane::Inbox | Pane::Diff => {
                let runs = self.chosen_ticket().map(of).unwrap_or_default();
                (runs, runs.len().saturating_sub(1))
            }
            Pane::Agents | Pane::Output | Pane::History | Pane::Cost => {
                let latest = self.agent.key().and_then(|agent| self.runs.get(agent));
                let Some((latest, ticket)) = latest else {
                    return (&[], 0);
                };
                let runs = of(ticket);
                let at = runs.iter().position(|run| run == latest);
                (runs, at.unwrap_or(0))
            }
        }
    }

    /// The run of the chosen ticket or agent that is looked at: the latest one, or one before it.
    fn chosen_run(&self) -> Option<RunId> {
        let (runs, latest) = self.chosen_runs();
        runs.get(latest.saturating_sub(self.back)).cloned()
    }

    /// The place of the run that is looked at among those of its ticket, from 1, and their number.
    pub(crate) fn place_of_run(&self) -> Option<(usize, usize)> {
        let (runs, _) = self.chosen_runs();
        let at = runs.iter().position(|run| Some(run) == self.log.run.as_ref())?;
        Some((at + 1, runs.len()))
    }

    /// Whether Output can show another run of the same row.
    pub(crate) fn has_other_runs(&self) -> bool {
        self.chosen_runs().0.len() > 1
    }

    /// Whether a pane has more lines than it shows.
    pub(crate) fn can_scroll(&self, pane: Pane) -> bool {
        draw::max_scroll(self, pane) > 0
    }

    /// Looks at the run before the one that is looked at, or at the next.
    pub(crate) fn turn_back(&mut self, is_back: bool) {
        let (_, latest) = self.chosen_runs();
        self.back = match is_back {
            true => (self.back + 1).min(latest),
            false => self.back.saturating_sub(1),
        };
    }

    /// Makes output and history follow the chosen row.
    fn follow_choice(&mut self, actions: &mut Vec<Action>) {
        let ticket = self.chosen_ticket().cloned();
        if ticket != self.history.ticket {
            self.back = 0;
        }
        let run = self.chosen_run().or_else(|| self.target_run());
        if run != self.log.run {
            self.log.begin(run.clone());
            self.scroll.remove(&Pane::Output);
            actions.push(Action::Watch(run));
        }
        if ticket != self.history.ticket {
            self.history.begin(ticket.clone());
            self.scroll.remove(&Pane::History);
            actions.extend(ticket.map(Action::Read));
        }
    }
}
