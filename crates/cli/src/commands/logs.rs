//! `crew logs`: everything an agent printed, step by step.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use model::AgentName;
use model::journal::Fact;
use model::ticket;
use process::{Run, Stream, Tail};

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::interrupts::interrupts;
use crate::ui::Style;
use client::follow::{Changes, Follow};
use client::outputs::Step;
use client::repository::journal;
use client::{documents, follow, lookup, outputs};
use runtime::Place;
use store::Recorded;

/// Show an agent's whole output, step by step
#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// The agent.
    agent: String,
    /// Go on as more is printed, until interrupted.
    #[arg(short, long)]
    follow: bool,
    /// The bytes as the agent wrote them, not made harmless for a terminal.
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
        let agent = lookup::agent(&crew, &self.agent)?;
        let steps = match &ledger {
            Some(ledger) => outputs::steps(&place, ledger, &crew, &agent).await?,
            None => Vec::new(),
        };
        let mut log = Log {
            raw: self.raw,
            json: context.json,
            step: None,
        };
        for step in steps {
            log.begin(context, &place, step)?;
            log.more(context)?;
        }
        if let Some(ledger) = ledger.filter(|_| self.follow) {
            let follow = Follow::new(ledger, crew.seq);
            return log.follow(context, &place, &agent, follow).await;
        }
        log.end(context)?;
        Ok(Exit::Done)
    }
}

struct Log {
    raw: bool,
    json: bool,
    step: Option<Open>,
}

/// A step whose output is being shown.
struct Open {
    step: Step,
    dir: PathBuf,
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
            let run = Run::open(&self.dir).ok()?;
            let changes = Changes::of(&self.dir);
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
            let now = self.step.as_ref().map(|open| open.step.run.clone());
            let is_now = |step: &Step| Some(&step.run) == now.as_ref();
            let set_ups: Vec<Step> = set_ups.collect();
            let shown = set_ups.iter().position(is_now).map_or(0, |at| at + 1);
            for step in set_ups.into_iter().skip(shown) {
                self.more(context)?;
                self.begin(context, place, step)?;
            }
            for fold in rows.more().await? {
                if let Fact::Ticket(ticket::Event::Claimed { agent: of, .. }) = &fold.fact
                    && of == agent
                {
                    claimed = Some(fold.clone());
                }
                if let Some(step) = Step::started(&fold, agent) {
                    self.more(context)?;
                    self.begin(context, place, step)?;
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

    fn begin(&mut self, context: &mut Context, place: &Place, step: Step) -> Result<()> {
        self.end(context)?;
        if !self.raw && !self.json {
            let head = format!("── {} ──", step.title());
            context.out.styled(&head, Style::Dim)?;
        }
        let dir = step.dir(place);
        self.step = Some(Open {
            step,
            dir,
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
            show(context, self.json, &open.step, Stream::Out, &lines)?;
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
        show(context, self.json, &open.step, Stream::Out, &open.rest)?;
        show(
            context,
            self.json,
            &open.step,
            Stream::Err,
            &outputs::errors(&open.dir),
        )
    }
}

fn show(context: &mut Context, json: bool, step: &Step, stream: Stream, text: &str) -> Result<()> {
    let readable = if json {
        text.to_owned()
    } else {
        outputs::readable(text)
    };
    let clean = text::sanitise::text(&readable);
    for line in clean.lines() {
        if json {
            let Step { run, ticket, number } = step.clone();
            context.out.json_line(&documents::OutputLine {
                ticket,
                step: number,
                run,
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
