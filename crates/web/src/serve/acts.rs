//! Acts on entries of the inbox: the server finds the entry as it is now, so that no act hits another one.

use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::put;
use axum::{Extension, Json, Router};
use client::ticket_folder::{Sought, TicketFolder};
use model::TicketId;
use model::command::{Command, Outcome, Seen};
use model::view::{Act, Item};
use serde::Deserialize;

use super::commands::{again, asked_for, command_id, submit};
use super::status::{self, Wanted};
use crate::app::{App, Device, Repo};
use crate::asking::Asked;
use crate::problem::Problem;

/// An act of an entry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    /// The place of the act among the entry's, from 0.
    act: usize,
    /// Its verb, as the page showed it.
    verb: String,
    /// The person's own text.
    #[serde(default)]
    text: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/r/{repo}/inbox/{item}/acts/{id}", put(act))
}

async fn act(
    State(app): State<App>,
    Extension(device): Extension<Device>,
    Path((repo, item, id)): Path<(String, String, String)>,
    Json(body): Json<Body>,
) -> Result<Response, Problem> {
    let repo = app.repo(&repo)?;
    let id = command_id(&id)?;
    repo.board.ready().await;
    // Sent again after its answer was lost: the entry may be gone because of it.
    if let Some(answer) = again(&app, repo, &device, &id).await {
        return Ok(answer);
    }
    let Some(found) = repo.board.item(&item) else {
        let what = "this waits for nobody any more: somebody has done it, or it went on by itself";
        return Err(Problem::settled(what, None));
    };
    let act = found.acts.get(body.act).filter(|act| act.verb() == body.verb);
    let Some(act) = act else {
        let now = repo.board.document("item", &item);
        return Err(Problem::settled("other acts are offered here now", now));
    };
    let text = body.text.trim();
    if act.wants_text() && text.is_empty() {
        let hint = format!("`{}` is the line to type", act.typed());
        return Err(Problem::bad_request("this act wants a text of yours", hint));
    }
    let wanted = match act {
        Act::Undep { ticket, on } => return Ok(undep(&app, repo, &device, id, (ticket, on)).await),
        Act::Reopen { ticket } => Some((ticket, Wanted::Open)),
        Act::Close { ticket } => Some((ticket, Wanted::Closed)),
        Act::Answer { .. }
        | Act::Approve { .. }
        | Act::Reject { .. }
        | Act::Retry { .. }
        | Act::Waive { .. }
        | Act::WaiveCommitment { .. }
        | Act::Drop { .. }
        | Act::Merge { .. }
        | Act::Wake { .. }
        | Act::Kill { .. }
        | Act::ByHand { .. } => None,
    };
    if let Some((ticket, wanted)) = wanted {
        // The act may be on another ticket than the entry, such as one that failed and is waited for.
        let seen = repo
            .board
            .snapshot()
            .tickets
            .get(ticket)
            .map(|known| Seen::of(known));
        let set = (ticket.clone(), wanted, seen);
        return Ok(status::carry_out(&app, repo, &device, id, set).await);
    }
    let command = match (act, act.command(text)) {
        // What a page shows may be old: the tip is what the person has looked at.
        (_, Some(command)) => as_seen(repo, &found, command),
        (_, None) => {
            let hint = format!("type `{}`", act.typed());
            return Err(Problem::bad_request("this act is not done here", hint));
        }
    };
    Ok(submit(&app, repo, &device, id, command).await)
}

/// The command on condition that the entry's ticket is as it is now.
fn as_seen(repo: &Repo, item: &Item, command: Command) -> Command {
    let snapshot = repo.board.snapshot();
    let ticket = item.ticket.as_ref().and_then(|id| snapshot.tickets.get(id));
    match (ticket, &command) {
        // These name what they are about.
        (_, Command::Answer { .. }) | (None, _) => command,
        // No engine has seen it: there is nothing that could have moved on.
        (Some(ticket), _) if ticket.since.0 == 0 => command,
        (Some(ticket), _) => Command::IfSeen {
            seen: Seen::of(ticket),
            then: Box::new(command),
        },
    }
}

/// Removes a dependency from a ticket's file.
async fn undep(
    app: &App,
    repo: &Repo,
    device: &Device,
    id: String,
    (ticket, on): (&TicketId, &TicketId),
) -> Response {
    let folder = repo.place.tickets_dir.clone();
    let words = format!("take the dependency on {on} from {ticket}");
    let asked = Asked::now(id.clone(), words, app.submitter(repo, device).person().to_owned());
    let (ticket, on) = (ticket.to_string(), on.to_string());
    let remove = move || {
        let folder = TicketFolder::find(&Sought::At(folder))?;
        let message = folder.remove_dependency(&ticket, &on)?;
        Ok(client::submit::Answer {
            id,
            outcome: Outcome::Accepted {
                message: message.trim_end().to_owned(),
            },
            was_up: true,
            happened: Vec::new(),
        })
    };
    let task = async move {
        match tokio::task::spawn_blocking(remove).await {
            Ok(done) => done,
            Err(error) => Err(client::Error::refused(
                format!("the file could not be changed: {error}"),
                "try it again",
            )),
        }
    };
    asked_for(repo, asked, task).await
}
