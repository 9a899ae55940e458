//! `crew spawn`: one more agent, or several.

use std::io::IsTerminal as _;

use clap::Args;
use model::AgentName;
use model::command::Command;
use model::settings::MAX_AGENTS;

use crate::asking::ask;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui::Style;

/// Add an idle agent by name, or so many that crew names
#[derive(Debug, Args)]
pub(crate) struct Spawn {
    /// A name, or a number of agents; one agent when nothing is said.
    #[arg(value_name = "NAME|COUNT")]
    which: Option<String>,
    /// Do not ask, however many they are.
    #[arg(short, long)]
    yes: bool,
}

/// More than so many at once is asked about: it is likely a slip, and each is a row on every screen.
const MANY: u32 = 20;

/// Asks whether so many are meant, where somebody can answer.
fn agreed(context: &mut Context, count: u32) -> Result<bool> {
    let what = format!(
        "{count} agents are many: each stays until `crew reap`, and [agents] count says how many work at once"
    );
    if context.json || !std::io::stdin().is_terminal() {
        let hint = format!("if they are meant: crew spawn {count} --yes");
        return Err(Error::refused(what, hint));
    }
    context.out.wrapped(&what, 0, Style::Plain)?;
    context.out.confirm("Spawn them? [y/N] ", false)
}

impl Spawn {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let command = self.command()?;
        let place = context.there()?;
        if let Command::SpawnMany { count } = &command
            && *count > MANY
            && !self.yes
            && !agreed(context, *count)?
        {
            context.out.line("nobody was spawned")?;
            return Ok(Exit::Failed);
        }
        ask(context, place, command).await
    }

    fn command(&self) -> Result<Command> {
        let Some(which) = self.which.as_deref() else {
            return Ok(Command::SpawnMany { count: 1 });
        };
        if !which.is_empty() && which.bytes().all(|byte| byte.is_ascii_digit()) {
            return match which.parse() {
                Ok(count) if (1..=MAX_AGENTS).contains(&count) => Ok(Command::SpawnMany { count }),
                Ok(_) | Err(_) => {
                    let range = format!("between 1 and {MAX_AGENTS} can be spawned at once");
                    Err(Error::usage(format!("{which} agents cannot be spawned"), range))
                }
            };
        }
        let name = AgentName::new(which).map_err(|error| {
            Error::usage(
                error.to_string(),
                "a name is letters, digits, `.`, `_` and `-`, such as ada",
            )
        })?;
        Ok(Command::Spawn { name })
    }
}
