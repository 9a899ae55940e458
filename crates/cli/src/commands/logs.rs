//! `crew logs`: everything an agent printed, step by step.

use clap::Args;
use model::AgentName;
use process::{Run, Stream, Tail};
use serde_json::json;

use crate::context::{Context, journal};
use crate::error::Result;
use crate::exit::Exit;
use crate::follow::{Changes, Follow};
use crate::runs::Step;
use crate::ui::Style;
use crate::{follow, lookup};
use runtime::Place;

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
/// A line that is longer than this is shown in pieces.
const LONG: usize = 1 << 20;

impl Logs {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let ledger = journal(&place).await?;
        let mut steps = Vec::new();
        let crew = match &ledger {
            Some(ledger) => {
                let wanted = AgentName::new(self.agent.as_str()).ok();
                follow::fold(ledger, |_, fold| {
                    steps.extend(wanted.as_ref().and_then(|agent| Step::started(fold, agent)));
                })
                .await?
            }
            None => model::view::Crew::default(),
        };
        let agent = lookup::agent(&crew, &self.agent)?;
        if agent.as_str() != self.agent {
            // It was named by its beginning.
            if let Some(ledger) = &ledger {
                follow::fold(ledger, |_, fold| steps.extend(Step::started(fold, &agent))).await?;
            }
        }
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
            let follow = Follow::new(ledger, &place.crew_dir, crew.seq);
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
    tail: Tail,
    /// What was read of a line that is not whole yet.
    rest: String,
    changes: Changes,
}

impl Log {
    async fn follow(
        &mut self,
        context: &mut Context,
        place: &Place,
        agent: &AgentName,
        mut rows: Follow,
    ) -> Result<Exit> {
        loop {
            for fold in rows.more().await? {
                if let Some(step) = Step::started(&fold, agent) {
                    self.more(context)?;
                    self.begin(context, place, step)?;
                }
            }
            self.more(context)?;
            context.out.flush()?;
            let output = async {
                match &mut self.step {
                    Some(open) => open.changes.wait().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = rows.changed() => {}
                () = output => {}
                _ = tokio::signal::ctrl_c() => return Ok(Exit::Interrupted),
            }
        }
    }

    fn begin(&mut self, context: &mut Context, place: &Place, step: Step) -> Result<()> {
        self.end(context)?;
        if !self.raw && !self.json {
            let head = format!("── {}, step {} (run {}) ──", step.ticket, step.number, step.run);
            context.out.styled(&head, Style::Dim)?;
        }
        let dir = step.dir(place);
        let Ok(run) = Run::open(&dir) else {
            if !self.raw && !self.json {
                context.out.styled("its output is no longer kept", Style::Dim)?;
            }
            return Ok(());
        };
        let changes = Changes::of(&dir);
        self.step = Some(Open {
            step,
            tail: Tail::new(&run, Stream::Out, 0),
            rest: String::new(),
            changes,
        });
        Ok(())
    }

    /// Shows what there is by now.
    fn more(&mut self, context: &mut Context) -> Result<()> {
        let Some(open) = &mut self.step else { return Ok(()) };
        loop {
            if self.raw {
                let bytes = open.tail.read(PIECE)?;
                if bytes.is_empty() {
                    return Ok(());
                }
                context.out.bytes(&bytes)?;
                continue;
            }
            let piece = open.tail.read_text(PIECE, false)?;
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
            show(context, self.json, &open.step, &lines)?;
        }
    }

    /// The step is over: an unfinished line is all there is of it.
    fn end(&mut self, context: &mut Context) -> Result<()> {
        self.more(context)?;
        if let Some(mut open) = self.step.take().filter(|_| !self.raw) {
            open.rest.push_str(&open.tail.read_text(PIECE, true)?);
            show(context, self.json, &open.step, &open.rest)?;
        }
        Ok(())
    }
}

fn show(context: &mut Context, json: bool, step: &Step, text: &str) -> Result<()> {
    let clean = harness::sanitise::text(text);
    for line in clean.lines() {
        if json {
            let line = json!({ "ticket": step.ticket, "step": step.number, "run": step.run, "line": line });
            context.out.json_line(&line)?;
        } else {
            context.out.write(&format!("{line}\n"))?;
        }
    }
    Ok(())
}
