//! The cost of steps, and its purpose.

use model::attempt::Class;
use model::view::{self, By, Costs, Filter};
use model::{AgentName, Moment, RunId, TicketId};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::Usage;

/// The cost of steps, in sums.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cost {
    /// The kind of the sums: one for each agent, ticket, day or step.
    by: By,
    /// The filter that was asked for.
    of: Asked,
    /// A sum for each, in the order that belongs to it.
    #[serde(serialize_with = "each_line")]
    #[schemars(with = "Vec<Line>")]
    lines: Vec<view::Line>,
    /// The sum of all of them.
    total: Sum,
    /// Steps that run and pass the filter: they count when they have ended.
    running: u32,
}

/// The filter of steps; `null` where a field does not matter.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CostFilter")]
struct Asked {
    /// Only of this ticket.
    ticket: Option<TicketId>,
    /// Only of this agent.
    agent: Option<AgentName>,
    /// Only of steps that ended then or later.
    since: Option<Moment>,
}

/// A sum, with the fields that its steps have in common; the others are `null`. `step` to `failure` are set
/// only for a single step.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CostLine")]
struct Line {
    /// The ticket.
    ticket: Option<TicketId>,
    /// Its title.
    title: Option<String>,
    /// The ticket's n-th attempt, from 1.
    attempt: Option<u32>,
    /// The agent that worked.
    agent: Option<AgentName>,
    /// The day of UTC: `2026-01-31`.
    #[schemars(extend("format" = "date"))]
    day: Option<String>,
    /// The step, from 1; one that failed is followed by another of the same number.
    step: Option<u32>,
    /// Its run: a folder in `.crew/runs/`.
    run: Option<RunId>,
    /// The journal's row that records its end.
    seq: Option<u64>,
    /// The time at which it ended.
    at: Option<Moment>,
    /// The class of its failure; `null` when it ended well.
    failure: Option<Class>,
    #[serde(flatten)]
    sum: Sum,
}

/// A sum of steps.
#[derive(Debug, Serialize, JsonSchema)]
struct Sum {
    /// Steps that ended.
    steps: u64,
    /// The number of them that did not end well.
    failed: u64,
    /// The usage of all of them.
    usage: Usage,
}

impl Cost {
    /// The document of the snapshot's sums.
    pub fn of(by: By, asked: Filter, costs: Costs) -> Self {
        Self {
            by,
            of: Asked {
                ticket: asked.ticket,
                agent: asked.agent,
                since: asked.since.map(Moment),
            },
            lines: costs.lines,
            total: Sum::of(costs.total),
            running: costs.running,
        }
    }
}

/// Each is made as it is written: there may be a great many.
fn each_line<S: Serializer>(lines: &[view::Line], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(lines.iter().map(Line::of))
}

impl Line {
    fn of(line: &view::Line) -> Self {
        let charge = line.charge.as_ref();
        Self {
            ticket: line.ticket.clone(),
            title: line.title.clone(),
            attempt: line.attempt,
            agent: line.agent.clone(),
            day: line.day.map(|day| day.to_string()),
            step: charge.map(|charge| charge.step),
            run: charge.and_then(|charge| charge.run.clone()),
            seq: charge.map(|charge| charge.seq),
            at: charge.map(|charge| Moment(charge.at)),
            failure: charge.and_then(|charge| charge.failed),
            sum: Sum::of(line.sum),
        }
    }
}

impl Sum {
    fn of(sum: view::Sum) -> Self {
        Self {
            steps: sum.steps,
            failed: sum.failed,
            usage: Usage::of(sum.usage),
        }
    }
}
