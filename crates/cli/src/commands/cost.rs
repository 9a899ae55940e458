//! `crew cost`: what was paid, for what.

use clap::{Args, ValueEnum};
use model::view::{By, Filter, Line, Sum, TicketCost};

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui;
use crate::ui::{Cell, Style, Table};
use client::lookup::{self, Either};
use client::repository::journal;
use client::{clock, documents, follow};

/// Show tokens and money: by ticket, or by step, attempt, agent or day
#[derive(Debug, Args)]
pub(crate) struct Cost {
    /// Only of this ticket or agent.
    #[arg(value_name = "TICKET|AGENT")]
    which: Option<String>,
    /// What is summed up; days are those of UTC. By default tickets, and the steps of one that is named.
    #[arg(long, value_name = "WHAT")]
    by: Option<Sums>,
    /// Only steps that ended since: a span (`24h`, `7d`), a day (`2026-01-31`) or a moment
    /// (`2026-01-31T08:00:00Z`).
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sums {
    Step,
    Attempt,
    Ticket,
    Agent,
    Day,
}

impl Sums {
    fn by(self) -> By {
        match self {
            Sums::Step => By::Step,
            Sums::Attempt => By::Attempt,
            Sums::Ticket => By::Ticket,
            Sums::Agent => By::Agent,
            Sums::Day => By::Day,
        }
    }
}

impl Cost {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let ledger = journal(&place).await?;
        let mut crew = follow::present(ledger.as_ref()).await?;
        let mut filter = Filter::default();
        match self
            .which
            .map(|which| lookup::either(&crew, &place, &which))
            .transpose()?
        {
            Some(Either::Ticket(ticket)) => filter.ticket = Some(ticket),
            Some(Either::Agent(agent)) => filter.agent = Some(agent),
            None => {}
        }
        filter.since = self
            .since
            .map(|text| clock::since(&text, clock::now()))
            .transpose()?;
        let sums = self.by.unwrap_or(if filter.ticket.is_some() {
            Sums::Step
        } else {
            Sums::Ticket
        });
        if let (Some(ledger), Some(ticket)) = (&ledger, &filter.ticket) {
            ledger.restore(&mut crew, ticket, None).await?;
        }
        let mut added = crew.sums(sums.by(), &filter);
        if let (Some(ledger), None) = (&ledger, &filter.ticket) {
            let add = |cost: &TicketCost| {
                for charge in &cost.charges {
                    added.add(charge, Some(&cost.title));
                }
            };
            ledger.ticket_costs(&crew, add).await?;
        }
        let costs = crew.costs_of(added);
        if context.json {
            context.out.json(&documents::Cost::of(sums.by(), filter, costs))?;
            return Ok(Exit::Done);
        }
        if costs.lines.is_empty() {
            let none = if filter == Filter::default() {
                "no step has ended yet, so nothing was paid"
            } else {
                "no step of these has ended, so nothing was paid for them"
            };
            context.out.line(none)?;
        } else {
            let total = (costs.lines.len() > 1).then(|| total(sums, costs.total));
            let rows = costs.lines.iter().map(|line| row(sums, line)).chain(total);
            context.out.long_table(table(sums), rows)?;
        }
        if costs.total.usage.estimated_micro_usd > 0 {
            let about = "~ is estimated in part: the client told no price, or was stopped before it did";
            context.out.styled(about, Style::Dim)?;
        }
        let running = match costs.running {
            0 => return Ok(Exit::Done),
            1 => "one step is running: it counts when it has ended".to_owned(),
            n => format!("{n} steps are running: they count when they have ended"),
        };
        context.out.styled(&running, Style::Dim)?;
        Ok(Exit::Done)
    }
}

fn table(sums: Sums) -> Table {
    let (head, right): (&[&'static str], &[usize]) = match sums {
        Sums::Step => (
            &[
                "ENDED", "TICKET", "ATTEMPT", "AGENT", "STEP", "IN", "OUT", "COST", "",
            ],
            &[2, 4, 5, 6, 7],
        ),
        Sums::Attempt => (
            &[
                "TICKET", "ATTEMPT", "AGENT", "STEPS", "FAILED", "IN", "OUT", "COST", "TITLE",
            ],
            &[1, 3, 4, 5, 6, 7],
        ),
        Sums::Ticket => (
            &["TICKET", "STEPS", "FAILED", "IN", "OUT", "COST", "TITLE"],
            &[1, 2, 3, 4, 5],
        ),
        Sums::Agent => (
            &["AGENT", "STEPS", "FAILED", "IN", "OUT", "COST"],
            &[1, 2, 3, 4, 5],
        ),
        Sums::Day => (&["DAY", "STEPS", "FAILED", "IN", "OUT", "COST"], &[1, 2, 3, 4, 5]),
    };
    // Where there is no room for all, what was used stays.
    let goes: &[usize] = match sums {
        Sums::Step => &[0, 2, 3],
        Sums::Attempt => &[2, 4, 1, 3],
        Sums::Ticket | Sums::Agent | Sums::Day => &[2, 1],
    };
    Table::new(head, right).giving_way(goes)
}

fn row(sums: Sums, line: &Line) -> Vec<Cell> {
    let some = |text: Option<String>| Cell::from(text.unwrap_or_default());
    let ticket = || some(line.ticket.as_ref().map(ToString::to_string));
    let title = || some(line.title.clone());
    let agent = || some(line.agent.as_ref().map(ToString::to_string));
    let attempt = || some(line.attempt.map(|number| number.to_string()));
    let ends = |first: Vec<Cell>, last: Vec<Cell>| -> Vec<Cell> {
        first.into_iter().chain(figures(line.sum)).chain(last).collect()
    };
    match sums {
        Sums::Step => {
            let charge = line.charge.as_ref();
            let ended = charge.and_then(|charge| charge.failed);
            let ended = ended.map_or_else(Cell::default, |class| Cell::styled(class.name(), Style::Yellow));
            let [_, _, used @ ..] = figures(line.sum);
            let first = [
                some(charge.map(|charge| ui::local(charge.at))),
                ticket(),
                attempt(),
                agent(),
                some(charge.map(|charge| charge.step.to_string())),
            ];
            first.into_iter().chain(used).chain([ended]).collect()
        }
        Sums::Attempt => ends(vec![ticket(), attempt(), agent()], vec![title()]),
        Sums::Ticket => ends(vec![ticket()], vec![title()]),
        Sums::Agent => ends(vec![agent()], Vec::new()),
        Sums::Day => ends(vec![some(line.day.map(|day| day.to_string()))], Vec::new()),
    }
}

/// Steps, failed ones, tokens in and out, money.
fn figures(sum: Sum) -> [Cell; 5] {
    let failed = if sum.failed > 0 {
        Cell::styled(&sum.failed.to_string(), Style::Yellow)
    } else {
        Cell::default()
    };
    [
        sum.steps.to_string().into(),
        failed,
        ui::tokens(sum.usage.input_tokens).into(),
        ui::tokens(sum.usage.output_tokens).into(),
        ui::cost(sum.usage).into(),
    ]
}

fn total(sums: Sums, total: Sum) -> Vec<Cell> {
    let bold = |text: &str| Cell::styled(text, Style::Bold);
    let gap = match sums {
        Sums::Step => 4,
        Sums::Attempt => 2,
        Sums::Ticket | Sums::Agent | Sums::Day => 0,
    };
    let used = figures(total)
        .into_iter()
        .skip(if let Sums::Step = sums { 2 } else { 0 });
    let gaps = std::iter::repeat_n(Cell::default(), gap);
    [bold("total")].into_iter().chain(gaps).chain(used).collect()
}
