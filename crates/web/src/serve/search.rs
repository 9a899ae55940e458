//! `GET …/search`: a text in tickets, answers, events and commits.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::get;
use client::following::Files;
use client::{commits, ticket_folder};
use model::TicketId;
use model::journal::Stream;
use model::ticket::Ticket;
use model::view::{Snapshot, Summaries, describe_with};
use serde::{Deserialize, Serialize};
use store::{Journal as _, Ledger, Recorded};

use super::given;
use crate::app::{App, Repo};
use crate::problem::Problem;

/// The hits of an answer.
const MOST: usize = 50;
/// The latest rows of the journal that are looked through.
const ROWS: u64 = 5_000;
/// Rows that are read at a time.
const PAGE: u32 = 250;
/// The latest commits of the target that are looked through.
const COMMITS: usize = 500;
/// The signs of a commit's id that are shown.
const SHORT: usize = 8;
/// The signs of an excerpt before the text that was found, and in all.
const BEFORE: usize = 40;
const EXCERPT: usize = 200;

#[derive(Debug, Deserialize)]
struct Asked {
    /// Words, in upper or lower case: a hit has all of them.
    q: String,
}

/// What was found: tickets that are not over first, then those that are, then events and commits.
#[derive(Debug, Serialize)]
struct Found {
    hits: Vec<Hit>,
    /// `null`: there is nothing behind these.
    next: Option<String>,
}

/// A place that was found.
#[derive(Debug, Serialize)]
struct Hit {
    kind: Kind,
    /// The ticket that it is about.
    ticket: Option<TicketId>,
    /// Its title.
    title: String,
    /// The text that was found, with what stands around it.
    excerpt: String,
    /// The address of its page, below that of the repository.
    link: String,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Ticket,
    Answer,
    Event,
    Commit,
}

/// The words that are sought.
struct Words(Vec<String>);

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/r/{repo}/search", get(search))
}

async fn search(
    State(app): State<App>,
    Path(repo): Path<String>,
    query: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Problem> {
    let words = Words::of(&given::query(query)?.q);
    let repo = app.repo(&repo)?.clone();
    if words.0.is_empty() {
        return Err(Problem::bad_request("there is no text to find", "give it as `q`"));
    }
    let crew = repo.board.snapshot();
    let (ledger, files) = (repo.board.ledger(), repo.board.files());
    let (mut past, mut rows) = (Vec::new(), Vec::new());
    if let Some(ledger) = &ledger {
        past = archived(ledger, &crew, &words).await?;
        rows = in_rows(ledger, &crew, &words).await?;
    }
    given::aside(move || {
        let mut hits = in_tickets(&repo, &crew, &files, &words);
        hits.extend(past);
        hits.extend(rows);
        hits.extend(in_commits(&repo, &crew, &files, &words));
        hits.truncate(MOST);
        given::document(&Found { hits, next: None })
    })
    .await
}

impl Words {
    fn of(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_lowercase).collect())
    }

    /// The first line of a text that has one of the words, cut short, where the text has all of them.
    fn excerpt(&self, text: &str) -> Option<String> {
        let folded = text.to_lowercase();
        if !self.0.iter().all(|word| folded.contains(word.as_str())) {
            return None;
        }
        let first = self.0.first()?;
        let line = text
            .lines()
            .find(|line| line.to_lowercase().contains(first.as_str()));
        let line = line.or_else(|| text.lines().next()).unwrap_or_default();
        // Folding may change the length of a text: the place is about right, and a sign is never cut.
        let at = line.to_lowercase().find(first.as_str()).unwrap_or_default();
        let from = line.floor_char_boundary(at.saturating_sub(BEFORE));
        Some(line[from..].chars().take(EXCERPT).collect())
    }
}

/// The tickets of the fold and of the ticket folder, those that are not over first.
fn in_tickets(repo: &Repo, crew: &Snapshot, files: &Files, words: &Words) -> Vec<Hit> {
    let unseen = files.unseen(crew).map(|(_, ticket)| ticket);
    let known = crew.tickets.values();
    let mut tickets: Vec<&Arc<Ticket>> = unseen.chain(known).collect();
    tickets.sort_by_key(|ticket| (ticket.is_done(), std::cmp::Reverse(ticket.since)));
    let mut hits: Vec<Hit> = Vec::new();
    for ticket in tickets {
        if hits.len() == MOST || hits.iter().any(|hit| hit.ticket.as_ref() == Some(&ticket.id)) {
            continue;
        }
        let tags: Vec<&str> = ticket.spec.tags.iter().map(String::as_str).collect();
        let head = format!("{} {} {}", ticket.id, ticket.spec.title, tags.join(" "));
        let in_text = || words.excerpt(&ticket_folder::text_of(&repo.place, &ticket.id)?);
        if let Some(excerpt) = words.excerpt(&head).or_else(in_text) {
            hits.push(of_ticket(&ticket.id, &ticket.spec.title, excerpt));
        }
    }
    hits
}

fn of_ticket(id: &TicketId, title: &str, excerpt: String) -> Hit {
    Hit {
        kind: Kind::Ticket,
        ticket: Some(id.clone()),
        title: title.to_owned(),
        excerpt,
        link: format!("t/{id}"),
    }
}

/// The archived tickets: their titles, and what their agents said of their work.
async fn archived(ledger: &Ledger, crew: &Snapshot, words: &Words) -> Result<Vec<Hit>, Problem> {
    let mut hits = Vec::new();
    let look = |id: &TicketId, summaries: &Summaries| {
        for work in summaries.attempts.iter().rev() {
            let summary = work.summary.as_deref().unwrap_or_default();
            let text = format!("{id} {}\n{summary}", work.title);
            if let Some(excerpt) = words.excerpt(&text) {
                hits.push(of_ticket(id, &work.title, excerpt));
                return;
            }
        }
    };
    ledger.attempt_summaries(crew, look).await?;
    Ok(hits)
}

/// The latest rows of the journal, the newest first.
async fn in_rows(ledger: &Ledger, crew: &Snapshot, words: &Words) -> Result<Vec<Hit>, Problem> {
    let head = ledger.0.head().await?.0;
    let last = head.saturating_sub(ROWS);
    let (mut end, mut hits) = (head, Vec::new());
    while end > last && hits.len() < MOST {
        let begin = end.saturating_sub(u64::from(PAGE));
        let rows = ledger.tail(begin, PAGE).await?;
        let found = rows.iter().rev().filter(|row| row.seq <= end);
        hits.extend(found.filter_map(|row| of_row(row, crew, words)));
        end = begin;
    }
    Ok(hits)
}

fn of_row(row: &Recorded, crew: &Snapshot, words: &Words) -> Option<Hit> {
    let excerpt = words.excerpt(&describe_with(&row.fact, &row.after))?;
    let ticket = match &row.stream {
        Stream::Project => None,
        Stream::Ticket(id) => Some(id.clone()),
    };
    let title = ticket.as_ref().and_then(|id| crew.tickets.get(id));
    Some(Hit {
        kind: match row.fact.name() {
            "answered" => Kind::Answer,
            _ => Kind::Event,
        },
        title: title.map(|ticket| ticket.spec.title.clone()).unwrap_or_default(),
        ticket,
        excerpt,
        link: format!("events#{}", row.seq),
    })
}

/// The latest commits of the target that came with a ticket: its page tells what landed. There is no page for
/// the others.
fn in_commits(repo: &Repo, crew: &Snapshot, files: &Files, words: &Words) -> Vec<Hit> {
    let target = &files.settings.project.target;
    // A target that is not there yet has no commits.
    let commits = commits::of_tickets(&repo.place, target, COMMITS).unwrap_or_default();
    let hits = commits.iter().filter_map(|commit| {
        let line = format!("{} {}", commit.commit.as_str().get(..SHORT)?, commit.subject);
        words.excerpt(&line)?;
        let ticket = TicketId::new(commit.ticket.as_str()).ok()?;
        let title = crew.tickets.get(&ticket).map(|ticket| &ticket.spec.title);
        Some(Hit {
            kind: Kind::Commit,
            title: title.unwrap_or(target).clone(),
            // Its id stands at its beginning.
            excerpt: line.chars().take(EXCERPT).collect(),
            link: format!("t/{ticket}"),
            ticket: Some(ticket),
        })
    });
    hits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_has_all_words_and_an_excerpt_never_cuts_a_sign() {
        let excerpt = |words: &str, text: &str| Words::of(words).excerpt(text);
        assert_eq!(
            excerpt("parse DATES", "Dates\nParse them").as_deref(),
            Some("Parse them")
        );
        assert_eq!(excerpt("parse years", "Parse dates"), None);
        let long = format!("{}é needle {}", "ü".repeat(60), "x".repeat(400));
        let found = excerpt("needle", &long).unwrap();
        assert!(found.starts_with('ü') && found.contains("needle"), "{found}");
        assert_eq!(found.chars().count(), EXCERPT);
    }
}
