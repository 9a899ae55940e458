//! `crew notify`: tells a person what waits, by programs of their choice.

use clap::Args;
use notify::{End, Options, Report};
use tokio::sync::oneshot;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::interrupts::interrupts;
use crate::ui::{self, Style};
use client::documents;

/// Tell you what waits for you by programs of your choice (notify.toml), until interrupted
#[derive(Debug, Args)]
pub(crate) struct Notify {
    /// Tell what is due now, and end: 0 when all of it is told, 1 when a program has failed.
    #[arg(long)]
    once: bool,
    /// Send a message by every program of notify.toml to try them, and end: 1 when one has failed.
    #[arg(long, conflicts_with = "once")]
    test: bool,
}

impl Notify {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        if self.test {
            return test(context, &notify::test(&place, &context.whole_env)?);
        }
        let options = match self.once {
            true => Options::once(context.whole_env.clone()),
            false => Options::follow(context.whole_env.clone()),
        };
        let mut interrupt = interrupts()?;
        let (stop, mut stopped) = oneshot::channel::<()>();
        let stops = async {
            interrupt.recv().await;
            drop(stop);
            std::future::pending::<()>().await;
        };
        let mut shown = Ok(());
        let runs = notify::run(&place, &options, &mut stopped, |report| {
            if shown.is_ok() {
                shown = show(context, report, self.once);
            }
        });
        let ended = tokio::select! {
            ended = runs => ended?,
            () = stops => End::Stopped,
        };
        shown?;
        Ok(match ended {
            End::Stopped => Exit::Interrupted,
            End::Told | End::NoSettings => Exit::Done,
            End::NotTold => Exit::Failed,
            End::Elsewhere(pid) => {
                let process = pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
                ui::warn(&format!(
                    "a notifier runs here already{process}: one is enough, and `crew run` and `crew web` have one inside"
                ));
                Exit::Taken
            }
        })
    }
}

fn test(context: &mut Context, tried: &[(String, Option<String>)]) -> Result<Exit> {
    let has_failed = tried.iter().any(|(_, failure)| failure.is_some());
    if context.json {
        let tried = tried.iter().map(|(program, failure)| documents::Notified {
            program: program.clone(),
            id: None,
            title: None,
            failure: failure.clone(),
        });
        for one in tried {
            context.out.json_line(&one)?;
        }
    } else {
        for (program, failure) in tried {
            match failure {
                None => context
                    .out
                    .styled(&format!("{program} has taken a message"), Style::Green)?,
                Some(why) => context
                    .out
                    .styled(&format!("{program} failed: {why}"), Style::Red)?,
            }
        }
    }
    Ok(if has_failed { Exit::Failed } else { Exit::Done })
}

fn show(context: &mut Context, report: &Report, once: bool) -> Result<()> {
    let (document, style) = match report {
        // Who looks once sees what was told.
        Report::Begins { .. } => (None, Style::Dim),
        Report::Told { program, id, title } => (
            Some(documents::Notified {
                program: program.clone(),
                id: Some(id.clone()),
                title: Some(title.clone()),
                failure: None,
            }),
            Style::Plain,
        ),
        Report::Failed {
            program,
            id,
            title,
            why,
            ..
        } => (
            Some(documents::Notified {
                program: program.clone(),
                id: Some(id.clone()),
                title: Some(title.clone()),
                failure: Some(why.clone()),
            }),
            Style::Yellow,
        ),
        Report::Warning { .. } => {
            ui::warn(&report.words());
            return Ok(());
        }
    };
    if context.json {
        if let Some(document) = &document {
            context.out.json_line(document)?;
        }
    } else if document.is_some() || !once {
        context.out.styled(&report.words(), style)?;
    }
    context.out.flush()
}
