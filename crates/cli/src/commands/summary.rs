//! `crew summary`: what each agent did.

use std::collections::BTreeMap;

use clap::Args;
use model::view::{AttemptSummary, Snapshot, Summaries};
use model::{AgentName, TicketId, Time};

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::{self, Style};
use client::commits::{self, Done};
use client::lookup::{self, Either};
use client::repository::journal;
use client::{clock, documents, follow};
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
        let most = if self.all || which.is_some() {
            usize::MAX
        } else {
            LATEST
        };
        let mut worked = Worked::new(which.as_ref(), most);
        match (&ledger, &which) {
            (Some(ledger), Some(Either::Ticket(id))) => ledger.restore(&mut crew, id, None).await?,
            (Some(ledger), Some(Either::Agent(_)) | None) => {
                let add = |_: &TicketId, summaries: &Summaries| {
                    summaries.attempts.iter().for_each(|work| worked.add(work));
                };
                ledger.attempt_summaries(&crew, add).await?;
            }
            (None, _) => {}
        }
        crew.attempts.values().for_each(|work| worked.add(work));
        let by_agent = worked.latest_first();
        if context.json {
            let agents = by_agent
                .iter()
                .map(|(name, latest)| document(&crew, &place, name, latest))
                .collect();
            context.out.json(&documents::Summary { agents })?;
            return Ok(Exit::Done);
        }
        if by_agent.is_empty() {
            context.out.line("nothing was given to an agent yet")?;
        }
        let now = clock::now();
        for (nth, (name, latest)) in by_agent.iter().enumerate() {
            if nth > 0 {
                context.out.write("\n")?;
            }
            show(context, &crew, &place, name, latest, now)?;
        }
        Ok(Exit::Done)
    }
}

/// The latest of an agent's work, and how much there is in all.
#[derive(Debug, Default)]
struct Latest {
    works: Vec<AttemptSummary>,
    all: usize,
}

impl Latest {
    /// Leaves so many of the latest, the latest first.
    fn cut(&mut self, most: usize) {
        self.works.sort_by(AttemptSummary::latest_first);
        self.works.truncate(most);
    }
}

/// What was asked for of everything that agents ever did. No more of it is held than is shown.
struct Worked<'a> {
    which: Option<&'a Either>,
    most: usize,
    by_agent: BTreeMap<AgentName, Latest>,
}

impl<'a> Worked<'a> {
    fn new(which: Option<&'a Either>, most: usize) -> Self {
        Self {
            which,
            most,
            by_agent: BTreeMap::new(),
        }
    }

    fn add(&mut self, work: &AttemptSummary) {
        let is_asked_for = match self.which {
            None => true,
            Some(Either::Agent(name)) => work.agent == *name,
            Some(Either::Ticket(id)) => work.ticket == *id,
        };
        if !is_asked_for {
            return;
        }
        let latest = self.by_agent.entry(work.agent.clone()).or_default();
        latest.works.push(work.clone());
        latest.all += 1;
        if latest.works.len() >= self.most.saturating_mul(2) {
            latest.cut(self.most);
        }
    }

    fn latest_first(mut self) -> BTreeMap<AgentName, Latest> {
        self.by_agent
            .values_mut()
            .for_each(|latest| latest.cut(self.most));
        self.by_agent
    }
}

fn show(
    context: &mut Context,
    crew: &Snapshot,
    place: &Place,
    name: &AgentName,
    latest: &Latest,
    now: Time,
) -> Result<()> {
    let totals = crew.members.get(name).cloned().unwrap_or_default();
    let mut head = vec![name.to_string(), format!("{} landed", totals.landed)];
    head.extend(figures(totals.steps, totals.usage));
    let out = &mut context.out;
    let columns = out.terminal.columns;
    let cut = |text: &str| columns.map_or_else(|| text.to_owned(), |all| text::sanitise::fit(text, all));
    out.styled(&cut(&head.join(" · ")), Style::Bold)?;
    for work in &latest.works {
        let (style, came_to) = match &work.landed {
            Some(commit) => (Style::Green, format!("landed as {}", commit.short())),
            None => (Style::Yellow, work.came_to.clone()),
        };
        let took = work.until.unwrap_or(now).since(work.since);
        let mut line = vec![format!("  {}", work.ticket), came_to, ui::span(took)];
        line.extend(figures(u64::from(work.steps), work.usage));
        out.styled(&cut(&line.join("  ")), style)?;
        out.line(&cut(&format!("    {}", ui::clean(&work.title))))?;
        let told = commits::in_one_line(crew, place, work);
        let room = columns.map(|columns| columns.saturating_sub(4));
        for line in ui::wrap(told.as_deref().unwrap_or_default(), room, 4) {
            out.styled(&format!("    {line}"), Style::Dim)?;
        }
    }
    let more = latest.all - latest.works.len();
    if more > 0 {
        out.styled(&format!("  and {more} before: crew summary {name}"), Style::Dim)?;
    }
    Ok(())
}

/// Steps, tokens and dollars, each where there are any.
fn figures(steps: u64, usage: model::attempt::Usage) -> Vec<String> {
    let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
    let some = |text: String, is: bool| is.then_some(text);
    [
        some(text::counted(steps, "step"), steps > 0),
        some(format!("{} tokens", ui::tokens(tokens)), tokens > 0),
        some(ui::cost(usage), usage.cost_micro_usd > 0),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn document(crew: &Snapshot, place: &Place, name: &AgentName, latest: &Latest) -> documents::Worked {
    let totals = crew.members.get(name).cloned().unwrap_or_default();
    let one = |work: &AttemptSummary| documents::Work::of(work, Done::of(crew, place, work));
    documents::Worked {
        agent: name.clone(),
        landed: totals.landed,
        steps: totals.steps,
        usage: documents::Usage::of(totals.usage),
        work: latest.works.iter().map(one).collect(),
    }
}
