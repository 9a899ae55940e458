//! `GET …/tickets`: a ticket with all that belongs to its page, its history, and the tickets that are over.

mod diff;
mod explained;
mod over;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use client::commits::Done;
use client::following::Files;
use client::lookup::Either;
use client::{checks, clock, documents, history, outputs, ticket_folder};
use model::policy::review::is_gatekeeper;
use model::ticket::{State as TicketState, Ticket};
use model::view::{AttemptSummary, By, Filter, Snapshot, Standing};
use model::{Look, Moment, RunId, TicketId};
use serde::Serialize;
use store::Ledger;

use super::given;
use crate::app::{App, Repo};
use crate::board::TicketDocument;
use crate::problem::Problem;

/// A ticket, with all that belongs to its page.
#[derive(Debug, Serialize)]
struct Page {
    ticket: TicketDocument,
    /// Its file without the front matter; `null` where there is none that can be read.
    text: Option<String>,
    /// Why it stands as it does, and what helps, as `crew explain` says it.
    explanation: documents::Explanation,
    /// The tickets that it waits for, those that are over too.
    deps: Vec<Linked>,
    /// The tickets that wait for it.
    dependants: Vec<Linked>,
    /// The attempts at it, the latest first.
    works: Vec<documents::Work>,
    /// The runs whose output can be read, the oldest first.
    runs: Vec<RunOf>,
    /// Its cost, step by step.
    cost: documents::Cost,
}

/// A ticket that another one is linked with.
#[derive(Debug, Serialize)]
struct Linked {
    id: TicketId,
    /// Its title; empty where there is no such ticket.
    title: String,
    word: &'static str,
    symbol: &'static str,
}

/// A run of a ticket.
#[derive(Debug, Serialize)]
struct RunOf {
    run: RunId,
    title: String,
    kind: Kind,
    /// The time at which it began; `null` where that is not known.
    since: Option<Moment>,
}

/// What a run does.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Step,
    Check,
    Review,
    SetUp,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/r/{repo}/tickets", get(over::over))
        .route("/r/{repo}/tickets/{id}", get(page))
        .route("/r/{repo}/tickets/{id}/history", get(events_of))
        .route("/r/{repo}/tickets/{id}/diff", get(diff::diff))
}

async fn page(State(app): State<App>, Path((repo, id)): Path<(String, String)>) -> Result<Response, Problem> {
    let repo = app.repo(&repo)?.clone();
    let id = given::ticket(&id)?;
    let ledger = repo.board.ledger();
    let files = repo.board.files();
    let crew = whole(&repo, ledger.as_ref(), &files, &id).await?;
    let Some(ticket) = crew.tickets.get(&id).cloned() else {
        return Err(Problem::not_found(
            format!("there is no ticket {id}, and there never was one"),
            "a ticket whose file was made just now is here within a second",
        ));
    };
    let filter = Filter {
        ticket: Some(id.clone()),
        ..Filter::default()
    };
    let costs = crew.costs_of(crew.sums(By::Step, &filter));
    let cost = documents::Cost::of(By::Step, filter, costs);
    let steps = match &ledger {
        Some(ledger) => outputs::steps_at(&repo.place, ledger, &repo.board.snapshot(), &id).await?,
        None => Vec::new(),
    };
    let explanation = explained::explained(&repo, ledger, files.settings.clone(), id.clone()).await?;
    given::aside(move || {
        let place = &repo.place;
        let mut works: Vec<&AttemptSummary> =
            crew.attempts.values().filter(|work| work.ticket == id).collect();
        works.sort_by(|a, b| AttemptSummary::latest_first(a, b));
        let mut runs: Vec<RunOf> = steps
            .into_iter()
            .map(|step| RunOf {
                since: outputs::began(place, &step.run).map(Moment),
                title: step.title(),
                kind: match step.number {
                    0 => Kind::SetUp,
                    _ if is_gatekeeper(&step.agent) => Kind::Review,
                    _ => Kind::Step,
                },
                run: step.run,
            })
            .collect();
        runs.extend(
            checks::last_round(place, Some(&id))
                .into_iter()
                .map(|check| RunOf {
                    since: outputs::began(place, &check.run).map(Moment),
                    title: check.title,
                    kind: Kind::Check,
                    run: check.run,
                }),
        );
        let look = look(&files);
        let links = |id: &TicketId| linked(&crew, &files, id, look);
        let waits_for_it = crew
            .tickets
            .values()
            .filter(|other| other.spec.deps.contains(&id));
        let page = Page {
            text: ticket_folder::text_of(place, &id),
            explanation,
            deps: ticket.spec.deps.iter().map(links).collect(),
            dependants: waits_for_it.map(|other| links(&other.id)).collect(),
            works: works
                .into_iter()
                .map(|work| documents::Work::of(work, Done::of(&crew, place, work)))
                .collect(),
            runs,
            cost,
            ticket: TicketDocument::of(
                &crew,
                &files.beside,
                &ticket,
                files.changed_at.get(&id).copied(),
                files.settings.run.max_steps,
                look,
            ),
        };
        given::document(&page)
    })
    .await
}

fn look(files: &Files) -> Look {
    Look {
        now: clock::now(),
        engine: files.beside.engine,
    }
}

/// The fold with the ticket folder, and with a ticket and those that it waits for, archived or not.
async fn whole(
    repo: &Repo,
    ledger: Option<&Ledger>,
    files: &Files,
    id: &TicketId,
) -> Result<Arc<Snapshot>, Problem> {
    let mut crew = repo.board.snapshot();
    let unseen: BTreeMap<TicketId, Arc<Ticket>> = files
        .unseen(&crew)
        .map(|(id, ticket)| (id.clone(), Arc::clone(ticket)))
        .collect();
    if !unseen.is_empty() {
        Arc::make_mut(&mut crew).tickets.extend(unseen);
    }
    if let Some(ledger) = ledger {
        restore(ledger, &mut crew, id).await?;
        let deps = crew.tickets.get(id).map(|ticket| ticket.spec.deps.clone());
        for dep in deps.unwrap_or_default() {
            restore(ledger, &mut crew, &dep).await?;
        }
    }
    Ok(crew)
}

async fn restore(ledger: &Ledger, crew: &mut Arc<Snapshot>, id: &TicketId) -> Result<(), Problem> {
    if crew.archived.tickets.contains(id) {
        ledger.restore(Arc::make_mut(crew), id, None).await?;
    }
    Ok(())
}

fn linked(crew: &Snapshot, files: &Files, id: &TicketId, look: Look) -> Linked {
    let Some(ticket) = crew.tickets.get(id) else {
        return Linked {
            id: id.clone(),
            title: String::new(),
            word: "missing",
            symbol: "!",
        };
    };
    let standing = Standing::of(ticket, files.beside.facts(id), look);
    Linked {
        id: id.clone(),
        title: ticket.spec.title.clone(),
        word: standing.word,
        symbol: standing.sign.symbol(),
    }
}

async fn events_of(
    State(app): State<App>,
    Path((repo, id)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let repo = app.repo(&repo)?;
    let id = given::ticket(&id)?;
    let mut rows = Vec::new();
    let mut events = Vec::new();
    if let Some(ledger) = repo.board.ledger() {
        let crew = repo.board.snapshot();
        let which = Either::Ticket(id.clone());
        history::each(&ledger, &crew, Some(&which), |row| rows.push(row.clone())).await?;
        for row in &rows {
            let effects = history::effects(&ledger, row.seq).await?;
            events.push(documents::HistoryEvent::of(row, &effects));
        }
    }
    given::document(&documents::History {
        of: Some(id.to_string()),
        events,
    })
}

/// Whether a ticket is over, and nobody's word is waited for.
fn is_over(ticket: &Ticket) -> bool {
    matches!(ticket.state, TicketState::Done(_))
}
