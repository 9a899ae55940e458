//! `crew delegate`: a ticket for an agent, made and given to it in one command.

use clap::Args;
use client::engine::Engine;
use client::follow::Follow;
use client::repository::journal;
use client::ticket_folder::{New, Sought, TicketFolder};
use client::{follow, lookup, vouch};
use model::command::Command;
use model::view::Snapshot;
use model::{AgentName, TicketId};
use runtime::Place;

use crate::asking::ask_or_leave;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;

/// The tag of tickets that are made so.
const TAG: &str = "team";
/// The longest title that is made of a task, in characters.
const LONGEST_TITLE: usize = 100;
/// Give an idle agent a task: a ticket is made, and given to it at once
#[derive(Debug, Args)]
pub(crate) struct Delegate {
    /// The agent.
    agent: String,
    /// The task: its first line is the ticket's title, the rest its text.
    #[arg(allow_hyphen_values = true)]
    task: String,
}

impl Delegate {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        if context.hook().is_some() {
            return Err(Error::refused(
                "a hook gives no tasks out: one for `completed` that does would start itself without end",
                "`crew ticket create` makes a ticket there, and the row of such tickets ends",
            ));
        }
        let place = context.there()?;
        let ledger = journal(&place).await?;
        let crew = follow::present(ledger.as_ref()).await?;
        let agent = lookup::agent(&crew, &self.agent)?;
        expect_idle(&crew, &agent)?;
        let new = New {
            assignee: Some(agent.to_string()),
            tags: vec![TAG.to_owned()],
            ..of_task(&self.task)?
        };
        let is_up = Engine::of(&place)?.is_some();
        let ticket = create(&place, new)?;
        if let (Some(ledger), true) = (ledger, is_up) {
            vouch::wait_until_known(Follow::new(ledger, crew.seq), &ticket).await?;
        }
        vouch::vouch_for_new(&context.submitter(place.clone()), &place, &ticket, false).await?;
        // The ticket stands by now, and the queue gives it to its assignee.
        let left =
            format!("{ticket} is made for {agent}, and {agent} gets it as soon as it can be given out");
        ask_or_leave(context, place, Command::Assign { agent, ticket }, Some(&left)).await
    }
}

/// Refuses an agent that does not get the task now, before anything is made.
fn expect_idle(crew: &Snapshot, agent: &AgentName) -> Result<()> {
    let seen = crew.agent(agent);
    let busy = seen.as_ref().and_then(|agent| agent.ticket.as_ref());
    let (what, hint) = match (&seen, busy) {
        (Some(_), None) => return Ok(()),
        (Some(_), Some(ticket)) => (
            format!("{agent} is at work on {ticket}: a task is delegated to an idle agent"),
            format!(
                "`crew ps` shows who is idle; `crew ticket create \"…\" -a {agent}` leaves a ticket in the queue until {agent} is"
            ),
        ),
        (None, _) => (
            format!("there is no agent named {agent} any more"),
            "`crew ps` lists the agents, and `crew spawn <name>` makes one".to_owned(),
        ),
    };
    Err(client::Error::refused(what, hint).into())
}

/// The ticket of a task.
fn of_task(task: &str) -> Result<New> {
    let task = text::sanitise::prompt(task);
    let task = task.trim();
    let (first, rest) = task.split_once('\n').unwrap_or((task, ""));
    if first.trim().is_empty() {
        let hint = "crew delegate ada \"Fix the login page\"";
        return Err(client::Error::refused("the task is empty", hint).into());
    }
    let is_long = first.chars().count() > LONGEST_TITLE;
    let title: String = first.trim().chars().take(LONGEST_TITLE).collect();
    let description = if is_long { task } else { rest.trim() };
    Ok(New {
        title,
        description: Some(description.to_owned()).filter(|text| !text.is_empty()),
        ..New::default()
    })
}

fn create(place: &Place, new: New) -> Result<TicketId> {
    let folder = TicketFolder::find(&Sought::At(place.tickets_dir.clone()))?;
    let id = folder.create(new, None)?;
    TicketId::new(id.trim_end())
        .map_err(|error| client::Error::usage(error.to_string(), "look at its file").into())
}
