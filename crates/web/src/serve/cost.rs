//! `GET …/cost`: what was paid, for what.

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::get;
use client::{clock, documents};
use model::AgentName;
use model::view::{By, Filter, TicketCost};
use serde::Deserialize;

use super::given;
use crate::app::App;
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
struct Asked {
    by: Option<Sums>,
    /// A span (`24h`), a day of UTC or a moment.
    since: Option<String>,
    ticket: Option<String>,
    agent: Option<String>,
}

/// What is summed up.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
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
            Self::Step => By::Step,
            Self::Attempt => By::Attempt,
            Self::Ticket => By::Ticket,
            Self::Agent => By::Agent,
            Self::Day => By::Day,
        }
    }
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/r/{repo}/cost", get(cost))
}

async fn cost(
    State(app): State<App>,
    Path(repo): Path<String>,
    query: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Problem> {
    let asked = given::query(query)?;
    let repo = app.repo(&repo)?;
    let agent = asked.agent.map(AgentName::new).transpose();
    let filter = Filter {
        ticket: asked.ticket.as_deref().map(given::ticket).transpose()?,
        agent: agent.map_err(|error| Problem::bad_request(error.to_string(), "name an agent by its name"))?,
        since: asked
            .since
            .map(|text| clock::since(&text, clock::now()))
            .transpose()?,
    };
    let usual = if filter.ticket.is_some() {
        By::Step
    } else {
        By::Ticket
    };
    let by = asked.by.map_or(usual, Sums::by);
    let ledger = repo.board.ledger();
    let mut crew = repo.board.snapshot();
    if let (Some(ledger), Some(ticket)) = (&ledger, &filter.ticket)
        && crew.archived.tickets.contains(ticket)
    {
        ledger
            .restore(std::sync::Arc::make_mut(&mut crew), ticket, None)
            .await?;
    }
    let mut sums = crew.sums(by, &filter);
    if let (Some(ledger), None) = (&ledger, &filter.ticket) {
        let add = |cost: &TicketCost| {
            for charge in &cost.charges {
                sums.add(charge, Some(&cost.title));
            }
        };
        ledger.ticket_costs(&crew, add).await?;
    }
    let costs = crew.costs_of(sums);
    given::document(&documents::Cost::of(by, filter, costs))
}
