//! `crew logs`: everything that an agent said and did, step by step, or everything that the last checks
//! printed.

mod prompts;
mod step;

use std::collections::{BTreeSet, VecDeque};

use clap::Args;
use model::journal::Fact;
use model::ticket::{self, KEPT_SET_UP};
use model::view::Snapshot;
use model::{AgentName, TicketId};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupts::interrupts;
use crate::ui::{self, Style};
use client::conversation::Detail;
use client::follow::Follow;
use client::lookup::Either;
use client::outputs::{Source, Step};
use client::repository::journal;
use client::{checks, follow, lookup, outputs};
use runtime::Place;
use step::{Open, UNMADE};
use store::Recorded;

/// Show what an agent said and did, or what was done at a ticket, step by step; or what the checks printed
#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// The agent or the ticket: of a ticket, the steps of every agent that was at it.
    #[arg(required_unless_present = "check", value_name = "AGENT|TICKET")]
    name: Option<String>,
    /// The last checks instead: of the ticket, or of the agent's ticket; without a name, of the bare target.
    #[arg(long)]
    check: bool,
    /// Go on as more is printed, until interrupted.
    #[arg(short, long)]
    follow: bool,
    /// Only the step of this number: of the last attempt that has one, with those that repeat it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = ["follow", "check"])]
    step: Option<u32>,
    /// What the agent was told in each step, instead of what it said and did.
    #[arg(long, conflicts_with_all = ["follow", "check", "lines", "full"])]
    prompt: bool,
    /// Only the last so many lines.
    #[arg(short = 'n', long, value_name = "N", conflicts_with_all = ["raw", "check"])]
    lines: Option<usize>,
    /// What tools got and returned too, as far as it is kept, and what the agent thought.
    #[arg(long, conflicts_with = "raw")]
    full: bool,
    /// The bytes as they were written, not made harmless for a terminal.
    #[arg(long)]
    raw: bool,
}

/// The form in which output is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The bytes as they are.
    Raw,
    /// A document for each line.
    Json,
    /// The conversation, for people.
    Conversation(Detail),
}

impl Logs {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let ledger = journal(&place).await?;
        let crew = follow::present(ledger.as_ref()).await?;
        let form = match (self.raw, context.json) {
            (true, _) => Form::Raw,
            (false, true) => Form::Json,
            (false, false) if self.full => Form::Conversation(Detail::Unfolded),
            (false, false) => Form::Conversation(Detail::Folded),
        };
        if context.json && (self.lines.is_some() || self.full) {
            return Err(Error::usage(
                "--lines and --full are for people, and --json gives every line as it was printed",
                "`crew peek --json -n N` gives the last lines",
            ));
        }
        let mut log = Log { form, step: None };
        if self.check {
            let ticket = checked(&crew, &place, self.name.as_deref())?;
            let judged = match (&ledger, &ticket) {
                (Some(ledger), Some(id)) => checks::judged_with(ledger, id).await?,
                (None, _) | (_, None) => None,
            };
            if let (Some(id), Some(tip)) = (&ticket, &judged)
                && log.is_for_people()
            {
                let says = format!("{id} landed with {tip}, on whose merge these checks ran for both");
                context.out.wrapped(&says, 0, Style::Dim)?;
            }
            let of = judged.or(ticket);
            return log.checks(context, &place, of.as_ref(), self.follow).await;
        }
        let of = lookup::either(&crew, &place, self.name.as_deref().unwrap_or_default())?;
        let agent = match &of {
            Either::Agent(agent) => Some(agent.clone()),
            Either::Ticket(id) if self.follow => {
                return Err(Error::refused(
                    format!("{id} is a ticket, and --follow takes an agent"),
                    format!("crew logs --follow <agent>; `crew explain {id}` shows who has it"),
                ));
            }
            Either::Ticket(_) => None,
        };
        let steps = match (&ledger, &of) {
            (Some(ledger), Either::Agent(agent)) => outputs::steps(&place, ledger, &crew, agent).await?,
            (Some(ledger), Either::Ticket(id)) => outputs::steps_at(&place, ledger, &crew, id).await?,
            (None, _) => Vec::new(),
        };
        let steps = match self.step {
            Some(number) => {
                let found = outputs::of_number(steps, number);
                expect_step(&found, number, &of)?;
                found
            }
            None => steps,
        };
        let is_empty = steps.is_empty();
        if self.prompt {
            prompts::show(context, &place, &steps, form)?;
        } else if let (Some(most), Form::Conversation(detail)) = (self.lines, form) {
            log.last(context, &place, steps, (detail, most))?;
        } else {
            for step in steps {
                log.begin(context, step.source(&place))?;
                log.more(context)?;
            }
        }
        if let (Some(ledger), Some(agent)) = (ledger.filter(|_| self.follow), agent) {
            let follow = Follow::new(ledger, crew.seq);
            return log.follow(context, &place, &agent, follow).await;
        }
        log.end(context)?;
        if let Either::Ticket(id) = of
            && is_empty
            && log.is_for_people()
        {
            context.out.line(&format!("no agent has been at {id} yet"))?;
        }
        Ok(Exit::Done)
    }
}

/// Refuses a number that no step has.
fn expect_step(found: &[Step], number: u32, of: &Either) -> Result<()> {
    if !found.is_empty() {
        return Ok(());
    }
    let name = match of {
        Either::Agent(name) => name.as_str(),
        Either::Ticket(id) => id.as_str(),
    };
    Err(Error::refused(
        format!("{name} has had no step {number}"),
        format!("crew logs {name} shows all steps"),
    ))
}

/// The ticket whose checks are meant; none for those of the bare target.
fn checked(crew: &Snapshot, place: &Place, asked: Option<&str>) -> Result<Option<TicketId>> {
    let Some(asked) = asked else { return Ok(None) };
    let name = match lookup::either(crew, place, asked)? {
        Either::Ticket(id) => return Ok(Some(id)),
        Either::Agent(name) => name,
    };
    let agents = crew.agents();
    let agent = agents.iter().find(|agent| agent.name == name);
    let ticket = agent.and_then(|agent| agent.ticket.clone());
    let error = || {
        Error::refused(
            format!("{name} has no ticket, so no check is about its work"),
            "name the ticket: `crew queue` lists them",
        )
    };
    ticket.ok_or_else(error).map(Some)
}

struct Log {
    form: Form,
    step: Option<Open>,
}

impl Log {
    fn is_for_people(&self) -> bool {
        matches!(self.form, Form::Conversation(_))
    }

    /// Shows the last lines of some steps. What comes before them is not read.
    fn last(
        &mut self,
        context: &mut Context,
        place: &Place,
        steps: Vec<Step>,
        (detail, most): (Detail, usize),
    ) -> Result<()> {
        let mut shown = VecDeque::new();
        let mut left = most;
        for step in steps.into_iter().rev() {
            let (open, lines) = Open::near_end(step.source(place), detail, left)?;
            left = left.saturating_sub(lines.iter().filter(|line| !line.joins).count());
            shown.push_front((open, lines));
            if left == 0 {
                break;
            }
        }
        for (open, lines) in shown {
            self.end(context)?;
            self.head(context, &open)?;
            self.step.insert(open).show(context, lines)?;
        }
        Ok(())
    }

    /// Shows the last checks of a ticket or of the bare target.
    async fn checks(
        &mut self,
        context: &mut Context,
        place: &Place,
        ticket: Option<&TicketId>,
        follow: bool,
    ) -> Result<Exit> {
        let mut interrupt = interrupts()?;
        let mut shown = BTreeSet::new();
        loop {
            for source in checks::last_round(place, ticket) {
                if shown.insert(source.run.clone()) {
                    self.begin(context, source)?;
                }
            }
            self.more(context)?;
            if !follow {
                break;
            }
            self.release(context)?;
            context.out.flush()?;
            // The folder of a run is made after the row about it, so only a look at the folders finds it.
            tokio::select! {
                () = tokio::time::sleep(UNMADE) => {}
                _ = interrupt.recv() => return Ok(Exit::Interrupted),
            }
        }
        self.end(context)?;
        if shown.is_empty() && self.is_for_people() {
            let of = ticket.map_or("the bare target", |ticket| ticket.as_str());
            let says = format!("no output of a check of {of} is kept: none has run, or it passed before");
            context.out.wrapped(&says, 0, Style::Plain)?;
        }
        Ok(Exit::Done)
    }

    async fn follow(
        &mut self,
        context: &mut Context,
        place: &Place,
        agent: &AgentName,
        mut rows: Follow,
    ) -> Result<Exit> {
        let mut interrupt = interrupts()?;
        let mut claimed: Option<Recorded> = None;
        loop {
            // Commands that set up a workspace are in no row of their own.
            let set_ups = claimed.iter().flat_map(|fold| Step::set_ups(place, fold, agent));
            let now = self.step.as_ref().map(|open| open.source.run.clone());
            let is_now = |step: &Step| Some(&step.run) == now.as_ref();
            let set_ups: Vec<Step> = set_ups.collect();
            let shown = set_ups.iter().position(is_now).map_or(0, |at| at + 1);
            for step in set_ups.into_iter().skip(shown) {
                self.more(context)?;
                self.begin(context, step.source(place))?;
            }
            for fold in rows.more().await? {
                if let Fact::Ticket(ticket::Event::Claimed { agent: of, .. }) = &fold.fact
                    && of == agent
                {
                    claimed = Some(fold.clone());
                }
                if let Some(step) = Step::started(&fold, agent) {
                    self.more(context)?;
                    self.begin(context, step.source(place))?;
                    claimed = None;
                }
            }
            self.more(context)?;
            self.release(context)?;
            context.out.flush()?;
            let output = async {
                match &mut self.step {
                    Some(open) => open.changed().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = rows.changed() => {}
                () = output => {}
                () = tokio::time::sleep(UNMADE), if claimed.is_some() => {}
                _ = interrupt.recv() => return Ok(Exit::Interrupted),
            }
        }
    }

    fn begin(&mut self, context: &mut Context, source: Source) -> Result<()> {
        self.end(context)?;
        let open = Open::new(source, self.form);
        self.head(context, &open)?;
        self.step = Some(open);
        Ok(())
    }

    fn head(&self, context: &mut Context, open: &Open) -> Result<()> {
        if self.is_for_people() {
            let head = format!("── {} ──", text::sanitise::line(&open.source.title));
            context.out.styled(&head, Style::Dim)?;
        }
        Ok(())
    }

    /// Shows what there is by now.
    fn more(&mut self, context: &mut Context) -> Result<()> {
        self.step.as_mut().map_or(Ok(()), |open| open.more(context))
    }

    /// Shows what waits for its end, too.
    fn release(&mut self, context: &mut Context) -> Result<()> {
        self.step.as_mut().map_or(Ok(()), |open| open.release(context))
    }

    /// The step is over.
    fn end(&mut self, context: &mut Context) -> Result<()> {
        let Some(mut open) = self.step.take() else {
            return Ok(());
        };
        open.more(context)?;
        let is_check = open.source.number.is_none() && open.has_output() && self.is_for_people();
        let source = open.source.clone();
        open.end(context)?;
        // The end of a step is in the journal; a check's is the point of it.
        if is_check {
            let says = match checks::ended(&source) {
                Some((how, at)) => format!("({how}, {})", ui::local(at)),
                None => "(it goes on)".to_owned(),
            };
            context.out.styled(&text::sanitise::line(&says), Style::Dim)?;
            if checks::had_kept_set_up(&source) {
                context.out.wrapped(KEPT_SET_UP, 0, Style::Yellow)?;
            }
        }
        Ok(())
    }
}
