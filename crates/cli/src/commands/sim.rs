//! `crew sim`: a simulated crew's history, told step by step.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sim::{Case, Who};

use crate::context::Context;
use crate::documents;
use crate::error::{Doing as _, Error, Result};
use crate::exit::Exit;
use crate::ui::Style;

/// Look into the simulation that proves crew: the engine in a made-up world
#[derive(Debug, Args)]
pub(crate) struct Sim {
    #[command(subcommand)]
    command: Command,
}

/// The column at which a line of a trace says what happened.
const TOLD: usize = 20;

#[derive(Debug, Subcommand)]
enum Command {
    Replay(Replay),
}

/// Tell what happens in a simulation, step by step: what the world does, what the engine makes of it, which ticket moves
#[derive(Debug, Args)]
struct Replay {
    /// The seed, or a file that `cargo xtask sim` has written for one that failed.
    #[arg(value_name = "SEED|FILE")]
    which: String,
    /// Only lines that name this ticket, agent or run.
    #[arg(long, value_name = "NAME")]
    of: Option<String>,
}

impl Sim {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit> {
        let Command::Replay(replay) = self.command;
        replay.run(context)
    }
}

impl Replay {
    fn run(self, context: &mut Context) -> Result<Exit> {
        let case = self.case(context)?;
        let (outcome, mut trace) = case.replay();
        if let Some(of) = &self.of {
            if !trace.iter().any(|line| names(&line.what, of)) {
                let told = sim::names(&trace).into_iter().collect::<Vec<_>>().join(", ");
                return Err(Error::usage(
                    format!("nothing in {case} is called {of}"),
                    format!("it tells of {told}, and of runs such as t-1.1.1"),
                ));
            }
            trace.retain(|line| names(&line.what, of) || line.who == Who::Broken);
        }
        let exit = if outcome.is_ok() { Exit::Done } else { Exit::Failed };
        if context.json {
            context
                .out
                .json(&documents::Simulation::of(&case, &outcome, &trace))?;
            return Ok(exit);
        }
        for line in &trace {
            let style = match line.who {
                Who::Person => Style::Bold,
                Who::Hand | Who::World => Style::Dim,
                Who::Engine => Style::Plain,
                Who::Ticket => Style::Green,
                Who::Broken => Style::Red,
            };
            context.out.wrapped(&line.to_string(), TOLD, style)?;
        }
        match outcome {
            Ok(summary) => {
                context.out.line("")?;
                let held = format!("{case}: every promise held");
                context.out.wrapped(&held, 2, Style::Plain)?;
                for line in summary.to_string().lines() {
                    context.out.wrapped(line, 2, Style::Plain)?;
                }
            }
            Err(failure) => {
                context.out.line("")?;
                let broken = format!("{case} breaks \"{}\": {}", failure.invariant, failure.what);
                context.out.wrapped(&broken, 2, Style::Plain)?;
                context.out.line("drawn:")?;
                for line in failure.options.lines() {
                    context.out.wrapped(line, 2, Style::Plain)?;
                }
            }
        }
        Ok(exit)
    }

    fn case(&self, context: &Context) -> Result<Case> {
        if let Ok(seed) = self.which.parse() {
            return Ok(Case::of(seed));
        }
        let path: PathBuf = context.dir.join(&self.which);
        let text = std::fs::read_to_string(&path).doing("read", &path)?;
        Case::read(&text).map_err(|why| {
            Error::usage(
                format!("{} is no simulation: {why}", path.display()),
                "`crew sim replay 7` tells of seed 7",
            )
        })
    }
}

/// Whether a text names something, or a run of it, and not only what begins like it.
fn names(text: &str, name: &str) -> bool {
    let of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let of_it = |word: &str| {
        let rest = word.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    text.split(|c: char| !of_a_name(c)).any(of_it)
}
