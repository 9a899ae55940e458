//! Commands of the page: `PUT …/commands/{id}` asks once, however often it is sent.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::put;
use axum::{Extension, Json, Router};
use model::command::{Command, Seen};
use model::ticket::Ticket;
use model::{AgentName, TicketId};
use serde::Deserialize;
use tokio::sync::watch;
use uuid::Uuid;

use crate::app::{App, Device, Repo};
use crate::asking::{self, Asked};
use crate::problem::Problem;

/// The longest wait for a decision before the page is told that it is pending.
const PATIENCE: Duration = Duration::from_secs(2);

/// A command, with what the person saw when they decided on it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    command: Command,
    #[serde(default)]
    seen: Option<SeenMark>,
}

/// What the command is about, as the page showed it.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum SeenMark {
    /// A ticket.
    Ticket { ticket: TicketId, mark: String },
    /// An agent that had no ticket.
    Idle { idle: AgentName },
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/r/{repo}/commands/{id}", put(ask).get(show))
}

async fn ask(
    State(app): State<App>,
    Extension(device): Extension<Device>,
    Path((repo, id)): Path<(String, String)>,
    Json(body): Json<Body>,
) -> Result<Response, Problem> {
    let repo = app.repo(&repo)?;
    let id = command_id(&id)?;
    repo.board.ready().await;
    // Sent again after its answer was lost: what was seen may be over because of it.
    if let Some(answer) = again(&app, repo, &device, &id).await {
        return Ok(answer);
    }
    let command = conditioned(repo, body)?;
    Ok(submit(&app, repo, &device, id, command).await)
}

async fn show(
    State(app): State<App>,
    Path((repo, id)): Path<(String, String)>,
) -> Result<Json<Asked>, Problem> {
    let repo = app.repo(&repo)?;
    let id = command_id(&id)?;
    match repo.asking.known(&id) {
        Some(asked) => Ok(Json(asked.borrow().clone())),
        None => Err(Problem::not_found(
            format!("no command of the id {id} was asked since this server began"),
            "send the command again with the same id: it is carried out once",
        )),
    }
}

/// Submits a command in the name of a device, and says how it stands.
pub(crate) async fn submit(
    app: &App,
    repo: &Repo,
    device: &Device,
    id: String,
    command: Command,
) -> Response {
    let submitter = app.submitter(repo, device);
    let asked = Asked::now(id.clone(), in_words(&command), submitter.person().to_owned());
    let task = async move { submitter.submit_as(&id, &command).await };
    asked_for(repo, asked, task).await
}

/// How a command stands that was asked for already, by this server or by one before it; none where its id is
/// new, or nobody has decided on it.
pub(crate) async fn again(app: &App, repo: &Repo, device: &Device, id: &str) -> Option<Response> {
    if let Some(asked) = repo.asking.known(id) {
        return Some(answer(asked).await);
    }
    let outcome = repo.board.ledger()?.outcome(id).await.ok()??;
    let words = "what was asked before the page's server began anew".to_owned();
    let asked = Asked::now(
        id.to_owned(),
        words,
        app.submitter(repo, device).person().to_owned(),
    );
    Some(Json(asked.with(outcome)).into_response())
}

/// Carries a task out in the name of a device, once, and says how it stands.
pub(crate) async fn asked_for<T>(repo: &Repo, asked: Asked, task: T) -> Response
where
    T: Future<Output = client::Result<client::submit::Answer>> + Send + 'static,
{
    let board = repo.board.clone();
    answer(repo.asking.ask(asked, task, move |asked| board.put_asked(asked))).await
}

async fn answer(asked: watch::Receiver<Asked>) -> Response {
    let asked = asking::decided(asked, PATIENCE).await;
    let status = match asked.state {
        asking::State::Pending => StatusCode::ACCEPTED,
        asking::State::Accepted | asking::State::Refused => StatusCode::OK,
    };
    (status, Json(asked)).into_response()
}

/// The id of a command: the page chooses a UUID.
pub(crate) fn command_id(id: &str) -> Result<String, Problem> {
    match Uuid::try_parse(id) {
        Ok(id) => Ok(id.to_string()),
        Err(_) => Err(Problem::bad_request(
            "the id of a command is a UUID",
            "the page chooses a new one for each command, and sends the same one again",
        )),
    }
}

/// The command with its condition. An act that cannot be undone names what the person saw.
fn conditioned(repo: &Repo, Body { command, seen }: Body) -> Result<Command, Problem> {
    expect_of_a_person(&command)?;
    let (ticket, mark) = match seen {
        Some(SeenMark::Ticket { ticket, mark }) => (ticket, mark),
        Some(SeenMark::Idle { idle }) => return if_idle(repo, command, idle),
        None if names_what_was_seen(&command) => return Ok(command),
        None => {
            return Err(Problem::bad_request(
                "this act names what was seen",
                "`seen` has the ticket, and the `seen` of its document as `mark`; of an agent without a ticket it has the \
                 name as `idle`",
            ));
        }
    };
    let Some(seen) = Seen::from_mark(ticket, &mark) else {
        return Err(Problem::bad_request(
            "`seen.mark` is no mark of a ticket",
            "it is the `seen` of the ticket's document",
        ));
    };
    let snapshot = repo.board.snapshot();
    if let Some(ticket) = snapshot.tickets.get(&seen.ticket)
        && !seen.holds(ticket)
    {
        let id = &seen.ticket;
        let now = repo.board.document("ticket", id.as_str());
        let what = format!(
            "{id} has moved on since you looked at it: it is {} now",
            ticket.state_name()
        );
        return Err(Problem::settled(what, now));
    }
    Ok(Command::IfSeen {
        seen,
        then: Box::new(command),
    })
}

/// The command on condition that its agent has no ticket, as the person saw it.
fn if_idle(repo: &Repo, command: Command, idle: AgentName) -> Result<Command, Problem> {
    let (Command::Kill { agent } | Command::Cleanup { agent } | Command::Reap { agent }) = &command else {
        return Err(Problem::bad_request(
            "this act is on no agent",
            "`seen` has the ticket, and the `seen` of its document as `mark`",
        ));
    };
    if *agent != idle {
        let what = format!("this act is on {agent}, and {idle} was seen");
        return Err(Problem::bad_request(
            what,
            "`seen.idle` is the agent of the command",
        ));
    }
    let snapshot = repo.board.snapshot();
    let has = |ticket: &&Arc<Ticket>| ticket.slot() == Some(&idle);
    if let Some(ticket) = snapshot.tickets.values().find(has) {
        let what = format!("{idle} was given {} since you looked at it", ticket.id);
        return Err(Problem::settled(
            what,
            repo.board.document("agent", idle.as_str()),
        ));
    }
    Ok(Command::IfIdle {
        agent: idle,
        then: Box::new(command),
    })
}

/// Refuses commands that no person gives, and those whose conditions the page does not know.
fn expect_of_a_person(command: &Command) -> Result<(), Problem> {
    match command {
        Command::Spawn { .. }
        | Command::SpawnMany { .. }
        | Command::Assign { .. }
        | Command::Kill { .. }
        | Command::Cleanup { .. }
        | Command::Merge { .. }
        | Command::Retry { .. }
        | Command::Drop { .. }
        | Command::Waive { .. }
        | Command::WaiveCommitment { .. }
        | Command::Approve { .. }
        | Command::Reject { .. }
        | Command::Answer { .. }
        | Command::Wake { .. }
        | Command::Say { .. }
        | Command::Bait { .. }
        | Command::Reap { .. }
        | Command::SetMode { .. }
        | Command::Stop { .. } => Ok(()),
        Command::SetStatus { .. }
        | Command::CommitTo { .. }
        | Command::Rewind { .. }
        | Command::IfSeen { .. }
        | Command::IfIdle { .. }
        | Command::Tool { .. } => Err(Problem::bad_request(
            "this command is not given here",
            "`crew --help` lists the commands to type",
        )),
    }
}

/// Whether a command says by itself what the person saw, or does no harm where that has changed.
fn names_what_was_seen(command: &Command) -> bool {
    match command {
        Command::Approve { tip, .. } => tip.is_some(),
        Command::Answer { question, .. } => question.is_some(),
        Command::Kill { .. }
        | Command::Cleanup { .. }
        | Command::Merge { .. }
        | Command::Drop { .. }
        | Command::Waive { .. }
        | Command::WaiveCommitment { .. }
        | Command::Reject { .. }
        | Command::Reap { .. }
        | Command::SetStatus { .. }
        | Command::CommitTo { .. }
        | Command::Rewind { .. }
        | Command::IfSeen { .. }
        | Command::IfIdle { .. }
        | Command::Tool { .. } => false,
        Command::Spawn { .. }
        | Command::SpawnMany { .. }
        | Command::Assign { .. }
        | Command::Retry { .. }
        | Command::Wake { .. }
        | Command::Say { .. }
        | Command::Bait { .. }
        | Command::SetMode { .. }
        | Command::Stop { .. } => true,
    }
}

/// The command in words, without the person's own text.
pub(crate) fn in_words(command: &Command) -> String {
    let of = |verb: &str, what: &dyn std::fmt::Display| format!("{verb} {what}");
    match command {
        Command::Spawn { name } => of("spawn", name),
        Command::SpawnMany { count } => format!("spawn {count} more"),
        Command::Assign { agent, ticket } => format!("assign {ticket} to {agent}"),
        Command::Kill { agent } => of("kill", agent),
        Command::Cleanup { agent } => of("clean up after", agent),
        Command::Merge { ticket } => of("merge", ticket),
        Command::Retry { ticket } => of("retry", ticket),
        Command::Drop { ticket, .. } => of("drop", ticket),
        Command::SetStatus { ticket, status, .. } => format!("set {ticket} to {}", status.word()),
        Command::Waive { ticket, .. } => of("waive", ticket),
        Command::WaiveCommitment { ticket, id, .. } => format!("waive commitment {id} of {ticket}"),
        Command::CommitTo { ticket, .. } => of("add a commitment to", ticket),
        Command::Approve { ticket, .. } => of("approve", ticket),
        Command::Reject { ticket, .. } => of("send back", ticket),
        Command::Answer { agent, .. } => of("answer", agent),
        Command::Wake { agent } => of("wake", agent),
        Command::Say { agent, .. } => of("say something to", agent),
        Command::Bait { agent } => of("bait", agent),
        Command::Reap { agent } => of("reap", agent),
        Command::SetMode { agent, mode } => format!("set {agent} to {}", mode.name()),
        Command::Rewind { ticket, .. } => of("rewind", ticket),
        Command::Stop { .. } => "stop the engine".to_owned(),
        Command::Tool { call, .. } => call.name().to_owned(),
        Command::IfSeen { then, .. } | Command::IfIdle { then, .. } => in_words(then),
    }
}
