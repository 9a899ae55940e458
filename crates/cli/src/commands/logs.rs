//! `crew logs`: everything an agent printed, step by step, or everything that the last checks printed.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use model::journal::Fact;
use model::ticket::{self, KEPT_SET_UP};
use model::view::Snapshot;
use model::{AgentName, TicketId};
use process::{Run, Stream, Tail};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupts::interrupts;
use crate::ui::{self, Style};
use client::follow::{Changes, Follow};
use client::lookup::Either;
use client::outputs::{Source, Step};
use client::repository::journal;
use client::{checks, documents, follow, lookup, outputs};
use runtime::Place;
use store::Recorded;

/// Show the whole output of an agent or at a ticket, step by step, or that of the last checks
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
    /// The bytes as they were written, not made harmless for a terminal.
    #[arg(long)]
    raw: bool,
}

/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;
/// How soon it is looked for a process that is being made.
const UNMADE: Duration = Duration::from_millis(100);
/// A line that is longer than this is shown in pieces.
const LONG: usize = 1 << 20;

impl Logs {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let ledger = journal(&place).await?;
        let crew = follow::present(ledger.as_ref()).await?;
        let mut log = Log {
            raw: self.raw,
            json: context.json,
            step: None,
        };
        if self.check {
            let ticket = checked(&crew, &place, self.name.as_deref())?;
            return log.checks(context, &place, ticket.as_ref(), self.follow).await;
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
        let is_empty = steps.is_empty();
        for step in steps {
            log.begin(context, step.source(&place))?;
            log.more(context)?;
        }
        if let (Some(ledger), Some(agent)) = (ledger.filter(|_| self.follow), agent) {
            let follow = Follow::new(ledger, crew.seq);
            return log.follow(context, &place, &agent, follow).await;
        }
        log.end(context)?;
        if let Either::Ticket(id) = of
            && is_empty
            && !log.json
            && !log.raw
        {
            context.out.line(&format!("no agent has been at {id} yet"))?;
        }
        Ok(Exit::Done)
    }
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
    raw: bool,
    json: bool,
    step: Option<Open>,
}

/// A step whose output is being shown.
struct Open {
    source: Source,
    /// None as long as there is no run: the step is told of before its process is made.
    output: Option<Output>,
    /// The part that was read of a line that is not whole yet.
    rest: String,
}

struct Output {
    tail: Tail,
    changes: Changes,
}

impl Open {
    /// The output, as soon as there is one.
    fn output(&mut self) -> Option<&mut Output> {
        if self.output.is_none() {
            let run = Run::open(&self.source.dir).ok()?;
            let changes = Changes::of(&self.source.dir);
            self.output = Some(Output {
                tail: Tail::new(&run, Stream::Out, 0),
                changes,
            });
        }
        self.output.as_mut()
    }

    /// Waits until there may be more of it.
    async fn changed(&mut self) {
        match &mut self.output {
            Some(output) => output.changes.wait().await,
            None => tokio::time::sleep(UNMADE).await,
        }
    }
}

impl Log {
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
            context.out.flush()?;
            // The folder of a run is made after the row about it, so only a look at the folders finds it.
            tokio::select! {
                () = tokio::time::sleep(UNMADE) => {}
                _ = interrupt.recv() => return Ok(Exit::Interrupted),
            }
        }
        self.end(context)?;
        if shown.is_empty() && !context.json && !self.raw {
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
        if !self.raw && !self.json {
            let head = format!("── {} ──", text::sanitise::line(&source.title));
            context.out.styled(&head, Style::Dim)?;
        }
        self.step = Some(Open {
            source,
            output: None,
            rest: String::new(),
        });
        Ok(())
    }

    /// Shows what there is by now.
    fn more(&mut self, context: &mut Context) -> Result<()> {
        let Some(open) = &mut self.step else { return Ok(()) };
        loop {
            let Some(output) = open.output() else {
                return Ok(());
            };
            if self.raw {
                let bytes = output.tail.read(PIECE)?;
                if bytes.is_empty() {
                    return Ok(());
                }
                context.out.bytes(&bytes)?;
                continue;
            }
            let piece = output.tail.read_text(PIECE)?;
            if piece.is_empty() {
                return Ok(());
            }
            open.rest.push_str(&piece);
            // An escape sequence can be cut in two: only whole lines are made harmless.
            let whole = match open.rest.rfind('\n') {
                Some(at) => at + 1,
                None if open.rest.len() > LONG => open.rest.len(),
                None => 0,
            };
            let lines: String = open.rest.drain(..whole).collect();
            show(context, self.json, &open.source, Stream::Out, &lines)?;
        }
    }

    /// The step is over: an unfinished line is all there is of it, and what it complained of comes last.
    fn end(&mut self, context: &mut Context) -> Result<()> {
        self.more(context)?;
        let Some(mut open) = self.step.take().filter(|_| !self.raw) else {
            return Ok(());
        };
        let Some(output) = &mut open.output else {
            if !self.json {
                context.out.styled("its output is not kept", Style::Dim)?;
            }
            return Ok(());
        };
        open.rest.push_str(&output.tail.read_ended_text(PIECE)?);
        show(context, self.json, &open.source, Stream::Out, &open.rest)?;
        let errors = outputs::errors(&open.source.dir);
        show(context, self.json, &open.source, Stream::Err, &errors)?;
        // The end of a step is in the journal; a check's is the point of it.
        if open.source.number.is_none() && !self.json {
            let says = match checks::ended(&open.source) {
                Some((how, at)) => format!("({how}, {})", ui::clock_time(at)),
                None => "(it goes on)".to_owned(),
            };
            context.out.styled(&text::sanitise::line(&says), Style::Dim)?;
            if checks::had_kept_set_up(&open.source) {
                context.out.wrapped(KEPT_SET_UP, 0, Style::Yellow)?;
            }
        }
        Ok(())
    }
}

fn show(context: &mut Context, json: bool, source: &Source, stream: Stream, text: &str) -> Result<()> {
    let readable = if json {
        text.to_owned()
    } else {
        outputs::readable(text)
    };
    let clean = text::sanitise::text(&readable);
    for line in clean.lines() {
        if json {
            context.out.json_line(&documents::OutputLine {
                ticket: source.ticket.clone(),
                step: source.number,
                run: source.run.clone(),
                stream: stream.file(),
                line: line.to_owned(),
            })?;
        } else if stream == Stream::Err {
            context.out.styled(&format!("stderr: {line}"), Style::Yellow)?;
        } else {
            context.out.write(&format!("{line}\n"))?;
        }
    }
    Ok(())
}
