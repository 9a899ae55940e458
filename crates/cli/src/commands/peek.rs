//! `crew peek`: the end of what an agent said and did in its last step, or in the last step at a ticket.

use std::collections::VecDeque;

use clap::Args;
use process::Run;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::{Style, Talk};
use client::activity::Activity;
use client::conversation::{Detail, Line, Reading};
use client::lookup::Either;
use client::outputs::Source;
use client::repository::journal;
use client::{checks, documents, follow, lookup, outputs};

/// Show the end of the latest output of an agent, or of the last step at a ticket
#[derive(Debug, Args)]
pub(crate) struct Peek {
    /// The agent or the ticket: of a ticket, the last step of any agent that was at it.
    #[arg(value_name = "AGENT|TICKET")]
    name: String,
    /// So many lines.
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    lines: usize,
    /// What tools got and returned too, as far as it is kept, and what the agent thought.
    #[arg(long)]
    full: bool,
}

/// Bytes that are read at the end of an output for `--json`: more than a screen of anything.
const END: u64 = 256 << 10;

impl Peek {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let ledger = journal(&place).await?;
        let crew = follow::present(ledger.as_ref()).await?;
        let of = lookup::either(&crew, &place, &self.name)?;
        let last = match (&ledger, &of) {
            (Some(ledger), Either::Agent(agent)) => outputs::last_step(&place, ledger, &crew, agent).await?,
            (Some(ledger), Either::Ticket(id)) => {
                let mut steps = outputs::steps_at(&place, ledger, &crew, id).await?;
                steps.pop()
            }
            (None, _) => None,
        };
        let Some(step) = last else {
            let says = match &of {
                Either::Agent(agent) => format!("{agent} has not been stepped yet"),
                Either::Ticket(id) => format!("no agent has been at {id} yet"),
            };
            let (agent, ticket) = match of {
                Either::Agent(agent) => (Some(agent), None),
                Either::Ticket(id) => (None, Some(id)),
            };
            if context.json {
                context.out.json(&documents::Peek {
                    agent,
                    run: None,
                    ticket,
                    step: None,
                    activity: None,
                    progress: None,
                    lines: Vec::new(),
                    errors: Vec::new(),
                })?;
            } else {
                context.out.line(&says)?;
            }
            return Ok(Exit::Done);
        };
        let agent = step.agent.clone();
        let now = client::clock::now();
        let runs = crew
            .agent(&agent)
            .filter(|agent| agent.run.as_ref() == Some(&step.run));
        let engine = client::engine::Engine::of(&place)?.is_some();
        let activity = runs
            .as_ref()
            .and_then(|agent| Activity::of(&place, agent, engine, now));
        let errors = text::sanitise::text(&outputs::errors(&step.dir(&place)));
        let errors: Vec<&str> = errors.lines().collect();
        let complained = &errors[errors.len().saturating_sub(self.lines)..];
        if context.json {
            let text = text::sanitise::text(&outputs::end(&step.dir(&place).join("out"), END));
            let lines: Vec<&str> = text.lines().collect();
            let shown = &lines[lines.len().saturating_sub(self.lines)..];
            let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
            context.out.json(&documents::Peek {
                agent: Some(agent),
                run: Some(step.run),
                ticket: Some(step.ticket),
                step: Some(step.number),
                activity: activity.map(documents::Activity::from),
                progress: runs
                    .and_then(|agent| agent.progress)
                    .as_ref()
                    .map(documents::Progress::from),
                lines: owned(shown),
                errors: owned(complained),
            })?;
            return Ok(Exit::Done);
        }
        let at_work = activity.map(|activity| format!(", {}", activity.words(now)));
        let head = format!("{agent} on {}{}", step.title(), at_work.unwrap_or_default());
        context.out.styled(&head, Style::Dim)?;
        if let Some(reports) = runs.and_then(|agent| agent.reports(now)) {
            context.out.wrapped(&format!("it {reports}"), 2, Style::Dim)?;
        }
        let source = step.source(&place);
        let (has_times, shown) = match Run::open(&source.dir) {
            Ok(run) => last_lines(&run, &source, self.full, self.lines)?,
            Err(_) => (false, VecDeque::new()),
        };
        if shown.is_empty() && complained.is_empty() {
            context.out.styled("nothing was printed yet", Style::Dim)?;
        }
        let mut talk = Talk::new(has_times);
        for line in shown {
            talk.line(&mut context.out, line)?;
        }
        talk.release(&mut context.out)?;
        for line in complained {
            context.out.styled(&format!("stderr: {line}"), Style::Yellow)?;
        }
        if let Either::Ticket(id) = of
            && !checks::last_round(&place, Some(&id)).is_empty()
        {
            let says = format!("what its last checks printed: crew logs --check {id}");
            context.out.styled(&says, Style::Dim)?;
        }
        Ok(Exit::Done)
    }
}

/// The last lines, with one that is being written; and whether times stand beside them.
fn last_lines(run: &Run, source: &Source, full: bool, most: usize) -> Result<(bool, VecDeque<Line>)> {
    let detail = if full { Detail::Unfolded } else { Detail::Folded };
    let uncounted = &source.uncounted;
    let (reading, mut last) = Reading::near_end(run, source.is_of_agent(), uncounted, detail, most)?;
    last.extend(reading.open().filter(|_| most > 0));
    while last.iter().filter(|line| !line.joins).count() > most {
        last.pop_front();
    }
    Ok((reading.has_times(), last))
}
