//! `crew stop`: ends the engine; the state is kept.

use clap::Args;
use model::command::{Command, OnStop};
use model::settings;

use crate::asking::ask;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupts::interrupts;
use client::documents;
use client::follow::Changes;

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
        let place = match context.there() {
            Err(Error::Client(client::Error::Runtime(why @ runtime::Error::CrewDir { .. }))) => {
                return self.by_signal(context, &why);
            }
            other => other?,
        };
        if place.engine()?.is_none() {
            return told(context, NONE);
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
            while place.engine()?.is_some() {
                tokio::select! {
                    () = changes.wait() => {}
                    _ = interrupt.recv() => return Ok(Exit::Interrupted),
                }
            }
        }
        Ok(exit)
    }

    /// Stops an engine whose journal cannot be asked: `why`.
    fn by_signal(&self, context: &mut Context, why: &runtime::Error) -> Result<Exit> {
        if self.leave || self.kill {
            return Err(Error::refused(
                format!("{why}; so the engine can be told nothing but to stop"),
                "crew stop, without more: it ends as run.on_stop in crew.toml says",
            ));
        }
        let Some(engine) = runtime::stop_by_signal(&context.dir, &context.env)? else {
            return told(context, NONE);
        };
        let exit = told(
            context,
            &format!("{why}; {} was told to stop by a signal", engine.engine),
        )?;
        if self.wait {
            context.out.flush()?;
            engine.wait();
        }
        Ok(exit)
    }
}

/// Says what came of it where nothing was asked of the journal.
fn told(context: &mut Context, says: &str) -> Result<Exit> {
    if context.json {
        context.out.json(&documents::Answer {
            command: None,
            accepted: true,
            message: says.to_owned(),
            events: Vec::new(),
        })?;
    } else {
        context.out.line(says)?;
    }
    Ok(Exit::Done)
}
