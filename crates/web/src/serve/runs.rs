//! `GET …/runs/{run}/…`: what a step, a check or a set-up printed, in windows, as it comes, or whole.

mod find;
mod follow;
mod raw;

use std::path::PathBuf;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::get;
use client::conversation::{Begin, Look, Placed, Shown, window};
use client::outputs;
use model::{Moment, RunId};
use serde::{Deserialize, Serialize};

use super::given;
use crate::app::App;
use crate::problem::Problem;

/// The lines of an answer, unless more or fewer are asked for.
const USUAL: usize = 300;
/// The most lines of an answer.
const MOST: usize = 2_000;
/// The most lines of standard error.
const ERRORS: usize = 100;

#[derive(Debug, Deserialize)]
struct Asked {
    /// `start`, `end`, or a byte of the output.
    from: Option<String>,
    lines: Option<usize>,
}

/// Lines of an output.
#[derive(Debug, Serialize)]
struct Output {
    lines: Vec<OutputLine>,
    /// The byte at which they begin.
    start: u64,
    /// The byte at which the next ones begin.
    end: u64,
    /// The length of the output, in bytes.
    length: u64,
    /// Whether the run has ended.
    done: bool,
    /// The last lines of its standard error.
    errors: Vec<String>,
}

/// A line for people.
#[derive(Debug, Serialize)]
struct OutputLine {
    /// The byte at which it begins.
    at: u64,
    /// The role of the line.
    look: &'static str,
    /// The columns by which it is indented.
    indent: usize,
    text: String,
    /// When it is shown: `always`, or while results are `folded` or `unfolded`.
    shown: &'static str,
    /// Whether it continues the line before it, if that was shown last.
    joins: bool,
    /// The time that the client states; `null` where it states none.
    time: Option<Moment>,
}

/// A run whose output is kept here.
#[derive(Clone, Debug)]
struct Kept {
    run: RunId,
    dir: PathBuf,
    /// Whether it is an agent's step: its output is a conversation.
    is_of_agent: bool,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/r/{repo}/runs/{run}/output", get(output))
        .route("/r/{repo}/runs/{run}/follow", get(follow::follow))
        .route("/r/{repo}/runs/{run}/find", get(find::find))
        .route("/r/{repo}/runs/{run}/raw", get(raw::raw))
}

/// The run of an address, if its output is kept here.
fn kept(app: &App, repo: &str, run: &str) -> Result<Kept, Problem> {
    let place = &app.repo(repo)?.place;
    let run = given::run(run)?;
    let dir = place.run_dir(&run);
    if !dir.is_dir() {
        return Err(Problem::not_found(
            format!("the output of run {run} is not kept here"),
            "outputs of tickets that are over are taken away after a while, or with `crew clean`",
        ));
    }
    Ok(Kept {
        is_of_agent: !run.is_check() && !run.is_set_up(),
        run,
        dir,
    })
}

async fn output(
    State(app): State<App>,
    Path((repo, run)): Path<(String, String)>,
    query: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Problem> {
    let asked = given::query(query)?;
    let kept = kept(&app, &repo, &run)?;
    let begin = match asked.from.as_deref() {
        None | Some("end") => Begin::End,
        Some("start") => Begin::Start,
        Some(offset) => Begin::At(place(offset)?),
    };
    let most = asked.lines.unwrap_or(USUAL).clamp(1, MOST);
    given::aside(move || {
        let window = window(&kept.dir, kept.is_of_agent, begin, most)?;
        let errors = outputs::errors(&kept.dir);
        let errors: Vec<&str> = errors.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = errors.len().saturating_sub(ERRORS);
        given::document(&Output {
            lines: window.lines.into_iter().map(OutputLine::of).collect(),
            start: window.start,
            end: window.end,
            length: window.length,
            done: window.is_done,
            errors: errors[last..]
                .iter()
                .map(|line| text::sanitise::indented_line(line))
                .collect(),
        })
    })
    .await
}

/// A byte of an output.
fn place(offset: &str) -> Result<u64, Problem> {
    offset.parse().map_err(|_no_number| {
        Problem::bad_request(
            format!("{} is no place in an output", text::quoted(offset)),
            "write `from=start`, `from=end` or a number of bytes",
        )
    })
}

impl OutputLine {
    fn of(Placed { at, line }: Placed) -> Self {
        Self {
            at,
            look: match line.look {
                Look::Text => "text",
                Look::Thought => "thought",
                Look::Signal => "signal",
                Look::Tool => "tool",
                Look::Worked => "worked",
                Look::Failed => "failed",
                Look::Output => "output",
                Look::Note => "note",
                Look::Trouble => "trouble",
            },
            indent: line.indent,
            text: line.text,
            shown: match line.shown {
                Shown::Always => "always",
                Shown::Folded => "folded",
                Shown::Unfolded => "unfolded",
            },
            joins: line.joins,
            time: line.at.map(Moment),
        }
    }
}
