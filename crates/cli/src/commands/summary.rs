//! `crew summary`: what each agent did.

use std::collections::BTreeMap;

use clap::Args;
use model::view::{Crew, Work};
use model::{AgentName, Time};

use crate::context::{Context, journal};
use crate::deeds::{self, Deed};
use crate::error::Result;
use crate::exit::Exit;
use crate::lookup::{self, Either};
use crate::ui::{self, Style};
use crate::{clock, documents, follow};
use runtime::Place;

/// Show what each agent did: in its own words, else what it committed
#[derive(Debug, Args)]
pub(crate) struct Summary {
    /// Of one agent or one ticket only.
    #[arg(value_name = "AGENT|TICKET")]
    which: Option<String>,
    /// Everything, not only the latest of each agent.
    #[arg(long)]
    all: bool,
}

/// So many attempts of each agent are shown when not all are asked for.
const LATEST: usize = 5;

impl Summary {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let ledger = journal(&place).await?;
        let mut crew = follow::present(ledger.as_ref()).await?;
        let which = match &self.which {
            Some(which) => Some(lookup::either(&crew, &place, which)?),
            None => None,
        };
        match (&ledger, &which) {
            (Some(ledger), Some(Either::Ticket(id))) => ledger.take_back(&mut crew, id, None).await?,
            _ => crew = follow::crew(ledger.as_ref()).await?,
        }
        let mut works = match &which {
            Some(Either::Agent(name)) => crew.work_of(Some(name)),
            Some(Either::Ticket(_)) | None => crew.work_of(None),
        };
        if let Some(Either::Ticket(id)) = &which {
            works.retain(|work| work.ticket == *id);
        }
        let mut by_agent: BTreeMap<&AgentName, Vec<&Work>> = BTreeMap::new();
        for work in works {
            by_agent.entry(&work.agent).or_default().push(work);
        }
        let most = if self.all || which.is_some() {
            usize::MAX
        } else {
            LATEST
        };
        if context.json {
            let agents = by_agent
                .iter()
                .map(|(name, works)| document(&crew, &place, name, works, most))
                .collect();
            context.out.json(&documents::Summary { agents })?;
            return Ok(Exit::Done);
        }
        if by_agent.is_empty() {
            context.out.line("nothing was given to an agent yet")?;
        }
        let now = clock::now();
        for (nth, (name, works)) in by_agent.iter().enumerate() {
            if nth > 0 {
                context.out.write("\n")?;
            }
            show(context, &crew, &place, name, works, most, now)?;
        }
        Ok(Exit::Done)
    }
}

fn show(
    context: &mut Context,
    crew: &Crew,
    place: &Place,
    name: &AgentName,
    works: &[&Work],
    most: usize,
    now: Time,
) -> Result<()> {
    let totals = crew.members.get(name).cloned().unwrap_or_default();
    let mut head = vec![name.to_string(), format!("{} landed", totals.landed)];
    head.extend(figures(totals.steps, totals.usage));
    let out = &mut context.out;
    let columns = out.terminal.columns;
    let cut = |text: &str| columns.map_or_else(|| text.to_owned(), |all| harness::sanitise::fit(text, all));
    out.styled(&cut(&head.join(" · ")), Style::Bold)?;
    for work in works.iter().take(most) {
        let (style, came_to) = match &work.landed {
            Some(commit) => (Style::Green, format!("landed as {}", commit.short())),
            None => (Style::Yellow, work.came_to.clone()),
        };
        let took = work.until.unwrap_or(now).since(work.since);
        let mut line = vec![format!("  {}", work.ticket), came_to, ui::span(took)];
        line.extend(figures(u64::from(work.steps), work.usage));
        out.styled(&cut(&line.join("  ")), style)?;
        out.line(&cut(&format!("    {}", ui::clean(&work.title))))?;
        let told = deeds::told(&place.repository, work);
        let room = columns.map(|columns| columns.saturating_sub(4));
        for line in ui::wrap(told.as_deref().unwrap_or_default(), room, 4) {
            out.styled(&format!("    {line}"), Style::Dim)?;
        }
    }
    if let Some(more) = works.len().checked_sub(most).filter(|more| *more > 0) {
        out.styled(&format!("  and {more} before: crew summary {name}"), Style::Dim)?;
    }
    Ok(())
}

/// Steps, tokens and dollars, each where there are any.
fn figures(steps: u64, usage: model::attempt::Usage) -> Vec<String> {
    let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
    let some = |text: String, is: bool| is.then_some(text);
    let word = if steps == 1 { "step" } else { "steps" };
    [
        some(format!("{steps} {word}"), steps > 0),
        some(format!("{} tokens", ui::tokens(tokens)), tokens > 0),
        some(ui::cost(usage), usage.cost_micro_usd > 0),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn document(crew: &Crew, place: &Place, name: &AgentName, works: &[&Work], most: usize) -> documents::Worked {
    let totals = crew.members.get(name).cloned().unwrap_or_default();
    let one = |work: &&Work| documents::Work::of(work, Deed::of(&place.repository, work));
    documents::Worked {
        agent: name.clone(),
        landed: totals.landed,
        steps: totals.steps,
        usage: documents::Usage::of(totals.usage),
        work: works.iter().take(most).map(one).collect(),
    }
}
