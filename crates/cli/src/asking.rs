//! Sending a command to the engine through the inbox. When no engine runs, the dispatcher is run here for
//! that command.

use std::pin::pin;

use client::documents;
use client::submit::Answer;
use model::TicketId;
use model::command::{Command, Outcome};
use model::journal::State;
use model::ticket::Ticket;
use model::view;
use store::Recorded;

use crate::commands::events;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::notices::Notices;
use crate::ui;
use crate::ui::Style;
use runtime::Place;

/// Asks, waits for the answer and prints it. Where the dispatcher was run for it here, also what came of it.
pub(crate) async fn ask(context: &mut Context, place: Place, command: Command) -> Result<Exit> {
    ask_or_leave(context, place, command, None).await
}

/// As [`ask`]; `left`: what stands although the command is refused, which is no failure then.
pub(crate) async fn ask_or_leave(
    context: &mut Context,
    place: Place,
    command: Command,
    left: Option<&str>,
) -> Result<Exit> {
    let mut notices = Notices::without_log()?;
    let answer = {
        let submitter = context.submitter(place);
        let mut asked = pin!(submitter.submit(&command));
        loop {
            tokio::select! {
                answer = &mut asked => break answer,
                // Where the dispatcher is run for it here, nobody else tells why it takes so long.
                () = notices.arrive() => warn_of(&mut notices),
            }
        }
    };
    warn_of(&mut notices);
    let mut answer = answer?;
    if let (Some(left), Outcome::Refused { why }) = (left, &answer.outcome) {
        let message = format!("{left}: {why}");
        answer.outcome = Outcome::Accepted { message };
    }
    let exit = report(context, &answer)?;
    let is_left = goes_on(&command) && !is_over(&command, &answer.happened);
    if exit == Exit::Done && !answer.was_up && !context.json && is_left {
        let says = "no engine runs here: `crew run` starts one, and it goes on then";
        context.out.wrapped(says, 0, Style::Yellow)?;
    }
    match (exit, &command) {
        // An engine that runs goes on with it.
        (Exit::Done, Command::Merge { ticket }) if !answer.was_up => Ok(merged(ticket, &answer.happened)),
        _ => Ok(exit),
    }
}

/// Tells of what there is by now.
fn warn_of(notices: &mut Notices) {
    while let Some(notice) = notices.take(None) {
        ui::warn(&notice);
    }
}

/// Whether a command lets something go on that only an engine carries on.
fn goes_on(command: &Command) -> bool {
    match command.bare() {
        Command::Answer { .. }
        | Command::Wake { .. }
        | Command::Retry { .. }
        | Command::Approve { .. }
        | Command::Reject { .. }
        | Command::Waive { .. }
        | Command::WaiveCommitment { .. }
        | Command::Drop { .. }
        | Command::Say { .. }
        | Command::Bait { .. }
        | Command::SetMode { .. }
        | Command::Rewind { .. }
        | Command::Assign { .. } => true,
        Command::CommitTo { .. }
        | Command::Spawn { .. }
        | Command::SpawnMany { .. }
        | Command::Kill { .. }
        | Command::Reap { .. }
        | Command::Cleanup { .. }
        | Command::Merge { .. }
        | Command::SetStatus { .. }
        | Command::Stop { .. }
        | Command::IfSeen { .. }
        | Command::IfIdle { .. }
        | Command::Tool { .. } => false,
    }
}

/// Whether the command's ticket is over already.
fn is_over(command: &Command, happened: &[Recorded]) -> bool {
    let ticket = command.ticket().and_then(|id| after(id, happened));
    ticket.is_some_and(Ticket::is_done)
}

/// The ticket as the last event of it left it.
fn after<'a>(ticket: &TicketId, happened: &'a [Recorded]) -> Option<&'a Ticket> {
    happened.iter().rev().find_map(|fold| match &fold.after {
        State::Ticket(after) if after.id == *ticket => Some(after.as_ref()),
        State::Ticket(_) | State::Project(_) => None,
    })
}

/// Whether a ticket that was to be merged here has landed.
fn merged(ticket: &TicketId, happened: &[Recorded]) -> Exit {
    match after(ticket, happened) {
        Some(after) if after.held.is_some() => Exit::Held,
        Some(after) if !after.is_done() => Exit::Failed,
        Some(_) => Exit::Done,
        // It is on its way, and could not be brought further: `crew inbox` says why.
        None => Exit::Held,
    }
}

fn report(context: &mut Context, answer: &Answer) -> Result<Exit> {
    let Answer {
        id,
        outcome,
        was_up: _,
        happened,
    } = answer;
    let (accepted, message) = match outcome {
        Outcome::Accepted { message } => (true, message),
        Outcome::Refused { why } => (false, why),
    };
    let happened = happened.iter().filter(|fold| view::matters(&fold.fact));
    if context.json {
        context.out.json(&documents::Answer {
            command: Some(id.clone()),
            accepted,
            message: message.clone(),
            events: happened.map(documents::Event::of).collect(),
        })?;
    } else if accepted {
        context.out.line(message)?;
        for fold in happened {
            context
                .out
                .styled(&format!("  {}", events::short(fold)), Style::Dim)?;
        }
    } else {
        return Err(Error::from(client::Error::Refused {
            what: ui::clean(message),
            hint: None,
        }));
    }
    Ok(if accepted { Exit::Done } else { Exit::Failed })
}
