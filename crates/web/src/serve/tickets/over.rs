//! The tickets that are over, the latest first, archived ones too.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use client::documents;
use client::following::Files;
use model::view::{Charge, Sign, Snapshot, Standing, Summaries};
use model::{Moment, Oid, TicketId, Time};
use serde::{Deserialize, Serialize};
use store::Ledger;

use super::{is_over, look};
use crate::app::App;
use crate::problem::Problem;
use crate::serve::given;

/// The tickets of an answer, unless more or fewer are asked for.
const USUAL: usize = 50;

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    /// `true`: only these are listed here; those that are not over are in the view.
    #[serde(default)]
    over: bool,
    /// Words that the id or the title contains, in upper or lower case.
    q: Option<String>,
    /// Only those behind this place.
    before: Option<String>,
    limit: Option<usize>,
}

/// Tickets that are over.
#[derive(Debug, Serialize)]
struct Over {
    /// The latest first.
    tickets: Vec<OverTicket>,
    /// What to give as `before` for those that follow; `null` where there are none.
    next: Option<String>,
}

/// A ticket that is over.
#[derive(Debug, Serialize)]
struct OverTicket {
    id: TicketId,
    title: String,
    /// Its end in a word or two.
    word: &'static str,
    symbol: &'static str,
    /// The time at which it ended; `null` where the archive does not say.
    at: Option<Moment>,
    /// The agent of its last attempt.
    agent: Option<String>,
    /// The merge commit on the target, where it landed.
    commit: Option<Oid>,
    /// All its steps.
    usage: documents::Usage,
}

/// What is known of a ticket that is over.
#[derive(Debug, Default)]
struct Known {
    title: String,
    sign: Option<(Sign, &'static str)>,
    at: Option<Time>,
    agent: Option<String>,
    commit: Option<Oid>,
    usage: model::attempt::Usage,
}

pub(super) async fn over(
    State(app): State<App>,
    Path(repo): Path<String>,
    query: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Problem> {
    let asked = given::query(query)?;
    if !asked.over {
        return Err(Problem::bad_request(
            "the tickets that are not over are in the view",
            "write `?over=true` for those that are",
        ));
    }
    let before = asked.before.as_deref().map(place).transpose()?;
    let repo = app.repo(&repo)?;
    let crew = repo.board.snapshot();
    let files = repo.board.files();
    let mut all = of_fold(&crew, &files);
    if let Some(ledger) = repo.board.ledger() {
        of_archive(&ledger, &crew, &mut all).await?;
    }
    let words = asked.q.unwrap_or_default().to_lowercase();
    let mut found: Vec<(Place, Known)> = all
        .into_iter()
        .map(|(id, known)| ((known.at.unwrap_or_default(), id), known))
        .filter(|((_, id), known)| is_found(&words, id, &known.title))
        .filter(|(place, _)| before.as_ref().is_none_or(|before| place < before))
        .collect();
    found.sort_by(|(a, _), (b, _)| b.cmp(a));
    let most = given::limit(asked.limit, USUAL);
    let rest = found.len() > most;
    found.truncate(most);
    if let Some(ledger) = repo.board.ledger() {
        name(&ledger, &crew, &mut found).await?;
    }
    let next = found
        .last()
        .filter(|_| rest)
        .map(|((at, id), _)| format!("{}:{id}", at.0));
    let tickets = found
        .into_iter()
        .map(|((_, id), known)| document(id, known))
        .collect();
    given::document(&Over { tickets, next })
}

/// The place of a ticket in the list.
type Place = (Time, TicketId);

fn place(text: &str) -> Result<Place, Problem> {
    let place = text.split_once(':').and_then(|(at, id)| {
        let at = at.parse().ok()?;
        Some((Time(at), TicketId::new(id).ok()?))
    });
    place.ok_or_else(|| {
        Problem::bad_request(
            "`before` is no place in this list",
            "give the `next` of an answer",
        )
    })
}

fn is_found(words: &str, id: &TicketId, title: &str) -> bool {
    let (id, title) = (id.as_str().to_lowercase(), title.to_lowercase());
    words
        .split_whitespace()
        .all(|word| id.contains(word) || title.contains(word))
}

/// Those of the fold that are over.
fn of_fold(crew: &Snapshot, files: &Files) -> BTreeMap<TicketId, Known> {
    let look = look(files);
    let over = crew.tickets.values().filter(|ticket| is_over(ticket));
    let mut all: BTreeMap<TicketId, Known> = over
        .map(|ticket| {
            let standing = Standing::of(ticket, files.beside.facts(&ticket.id), look);
            let known = Known {
                title: ticket.spec.title.clone(),
                sign: Some((standing.sign, standing.word)),
                at: Some(ticket.since),
                ..Known::default()
            };
            (ticket.id.clone(), known)
        })
        .collect();
    for work in crew.attempts.values() {
        if let Some(known) = all.get_mut(&work.ticket) {
            known.agent = Some(work.agent.to_string());
            known.commit = work.landed.clone().or(known.commit.take());
        }
    }
    charge(&mut all, &crew.charges);
    all
}

/// Adds the archived ones.
async fn of_archive(
    ledger: &Ledger,
    crew: &Snapshot,
    all: &mut BTreeMap<TicketId, Known>,
) -> Result<(), Problem> {
    for id in &crew.archived.tickets {
        let word = match crew.archived.dropped.contains(id) {
            true => Some((Sign::Dropped, "dropped")),
            false => None,
        };
        let known = Known {
            sign: word,
            ..Known::default()
        };
        all.insert(id.clone(), known);
    }
    let add = |id: &TicketId, summaries: &Summaries| {
        let Some(known) = all.get_mut(id) else { return };
        if let Some(last) = summaries.attempts.last() {
            known.title.clone_from(&last.title);
            known.agent = Some(last.agent.to_string());
            known.at = last.until;
            for attempt in &summaries.attempts {
                known.usage.add(attempt.usage);
            }
        }
        if let Some(landed) = summaries.landed.last() {
            known.title.clone_from(&landed.title);
            known.commit = Some(landed.commit.clone());
            known.at = Some(landed.at);
            known.sign = Some((Sign::Landed, "landed"));
        }
    };
    ledger.attempt_summaries(crew, add).await?;
    Ok(())
}

/// Reads the states of those that are shown and that nobody ever worked on: no summary names them.
async fn name(ledger: &Ledger, crew: &Snapshot, found: &mut [(Place, Known)]) -> Result<(), Problem> {
    let unnamed = found.iter().filter(|(_, known)| known.title.is_empty());
    let ids = unnamed.map(|((_, id), _)| id.clone());
    let ids: BTreeSet<TicketId> = ids.filter(|id| crew.archived.tickets.contains(id)).collect();
    if ids.is_empty() {
        return Ok(());
    }
    for (id, _, ticket) in ledger.archived(&ids).await? {
        if let Some((_, known)) = found.iter_mut().find(|((_, one), _)| *one == id) {
            known.title.clone_from(&ticket.spec.title);
            known.at = Some(ticket.since);
        }
    }
    Ok(())
}

fn charge(all: &mut BTreeMap<TicketId, Known>, charges: &[Charge]) {
    for charge in charges {
        if let Some(known) = all.get_mut(&charge.ticket) {
            known.usage.add(charge.usage);
        }
    }
}

fn document(id: TicketId, known: Known) -> OverTicket {
    let (sign, word) = known.sign.unwrap_or((Sign::Closed, "closed"));
    OverTicket {
        id,
        title: known.title,
        word,
        symbol: sign.symbol(),
        at: known.at.map(Moment),
        agent: known.agent,
        commit: known.commit,
        usage: documents::Usage::of(known.usage),
    }
}
