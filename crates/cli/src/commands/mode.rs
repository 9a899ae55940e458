//! `crew mode`: set an agent's task mode.

use clap::Args;
use client::repository::journal;
use client::{follow, lookup};
use model::attempt;
use model::command::Command;

use crate::asking::ask;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;

/// Set an agent's task mode: its next prompt says it
///
/// From execute to plan and back, from plan to break_up and back, from unify to execute. The modes delegate
/// and unify begin by themselves. `crew diagram task_mode` draws it.
#[derive(Debug, Args)]
pub(crate) struct Mode {
    /// The agent, or the ticket it is at.
    #[arg(value_name = "AGENT|TICKET")]
    which: String,
    /// The mode: execute, plan, break_up, delegate or unify.
    mode: String,
}

impl Mode {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let Some(mode) = attempt::Mode::named(&self.mode) else {
            let names = attempt::Mode::ALL.map(attempt::Mode::name);
            let hint = match model::settings::nearest(&self.mode, names) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("the modes are {}", names.join(", ")),
            };
            return Err(Error::usage(
                format!("there is no mode named {}", self.mode),
                hint,
            ));
        };
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let agent = lookup::agent_at(&crew, &place, &self.which)?;
        ask(context, place, Command::SetMode { agent, mode }).await
    }
}
