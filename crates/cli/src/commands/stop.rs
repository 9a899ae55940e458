//! `crew stop`: ends the engine; the state is kept.

use clap::Args;
use model::command::{Command, OnStop};
use model::settings;

use crate::asking::ask;
use crate::context::Context;
use crate::documents;
use crate::error::Result;
use crate::exit::Exit;
use crate::follow::{Changes, interrupts};

/// End the engine that runs here; what was done is kept
#[derive(Debug, Args)]
pub(crate) struct Stop {
    /// Running steps run on, and the next engine adopts them.
    #[arg(long, conflicts_with = "kill")]
    leave: bool,
    /// Running steps are ended too.
    #[arg(long)]
    kill: bool,
    /// Wait until the engine has ended.
    #[arg(long)]
    wait: bool,
}

const NONE: &str = "no engine runs here";

impl Stop {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        if place.holder()?.is_none() {
            if context.json {
                context.out.json(&documents::Answer {
                    command: None,
                    accepted: true,
                    message: NONE.to_owned(),
                    events: Vec::new(),
                })?;
            } else {
                context.out.line(NONE)?;
            }
            return Ok(Exit::Done);
        }
        // Settings that cannot be read do not keep anybody from stopping: the steps are waited for then.
        let usual = place
            .settings()
            .map_or(settings::OnStop::Finish, |settings| settings.run.on_stop);
        let running = match (self.leave, self.kill, usual) {
            (true, ..) | (false, false, settings::OnStop::Leave) => OnStop::Leave,
            (false, true, _) | (false, false, settings::OnStop::Kill) => OnStop::Kill,
            (false, false, settings::OnStop::Finish) => OnStop::Finish,
        };
        let exit = ask(context, place.clone(), Command::Stop { running }).await?;
        if self.wait {
            context.out.flush()?;
            let mut interrupt = interrupts()?;
            let mut changes = Changes::of(&place.crew_dir);
            while place.holder()?.is_some() {
                tokio::select! {
                    () = changes.wait() => {}
                    _ = interrupt.recv() => return Ok(Exit::Interrupted),
                }
            }
        }
        Ok(exit)
    }
}
