//! `crew peek`: the end of what an agent printed in its last step.

use clap::Args;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::Style;
use client::repository::journal;
use client::{documents, follow, lookup, outputs};

/// Show the end of an agent's latest output
#[derive(Debug, Args)]
pub(crate) struct Peek {
    /// The agent.
    agent: String,
    /// So many lines.
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    lines: usize,
}

/// Bytes that are read at the end of an output: more than a screen of anything.
const END: u64 = 256 << 10;

impl Peek {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let ledger = journal(&place).await?;
        let crew = follow::present(ledger.as_ref()).await?;
        let agent = lookup::agent(&crew, &self.agent)?;
        let last = match &ledger {
            Some(ledger) => outputs::last_step(&place, ledger, &crew, &agent).await?,
            None => None,
        };
        let Some(step) = last else {
            if context.json {
                context.out.json(&documents::Peek {
                    agent,
                    run: None,
                    ticket: None,
                    step: None,
                    lines: Vec::new(),
                    errors: Vec::new(),
                })?;
            } else {
                context.out.line(&format!("{agent} has not been stepped yet"))?;
            }
            return Ok(Exit::Done);
        };
        let printed = outputs::end(&step.dir(&place).join("out"), END);
        let printed = if context.json {
            printed
        } else {
            outputs::readable(&printed)
        };
        let text = text::sanitise::text(&printed);
        let lines: Vec<&str> = text.lines().collect();
        let shown = &lines[lines.len().saturating_sub(self.lines)..];
        let errors = text::sanitise::text(&outputs::errors(&step.dir(&place)));
        let errors: Vec<&str> = errors.lines().collect();
        let complained = &errors[errors.len().saturating_sub(self.lines)..];
        if context.json {
            let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
            context.out.json(&documents::Peek {
                agent,
                run: Some(step.run),
                ticket: Some(step.ticket),
                step: Some(step.number),
                lines: owned(shown),
                errors: owned(complained),
            })?;
            return Ok(Exit::Done);
        }
        let head = format!("{agent} on {}", step.title());
        context.out.styled(&head, Style::Dim)?;
        if shown.is_empty() && complained.is_empty() {
            context.out.styled("nothing was printed yet", Style::Dim)?;
        }
        for line in shown {
            context.out.line(line)?;
        }
        for line in complained {
            context.out.styled(&format!("stderr: {line}"), Style::Yellow)?;
        }
        Ok(Exit::Done)
    }
}
