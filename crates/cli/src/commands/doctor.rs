//! `crew doctor`: looks everything over, says what is wrong and what to do, and mends what can be mended.

use clap::Args;
use git::Lock;
use runtime::Place;

use crate::context::Context;
use crate::doctor::{self, Finding, Level};
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::{self, Style};
use client::documents;

/// Look over settings, git, agents' clients, repository, journal and leftovers; say what is wrong and what to
/// do
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Mend what can be mended without losing anything.
    #[arg(long)]
    fix: bool,
    /// Read every object of the repository too (`git fsck --strict`), and all of a long journal: in large
    /// ones that takes long.
    #[arg(long)]
    deep: bool,
}

impl Doctor {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let mut found = doctor::look(context, self.deep).await?;
        if self.fix {
            mend(context, self.deep, &mut found).await?;
        }
        let left = |level| {
            found
                .iter()
                .filter(|finding| finding.level == level && !finding.fixed)
                .count()
        };
        let (wrong, notes) = (left(Level::Wrong), left(Level::Note));
        if context.json {
            context.out.json(&documents::Doctor {
                findings: found.iter().map(documents::Finding::from).collect(),
                wrong,
                notes,
            })?;
        } else {
            let mut area = None;
            for finding in &found {
                show(context, finding, area.replace(finding.area) != Some(finding.area))?;
            }
            context.out.write("\n")?;
            let (says, style) = match (wrong, notes) {
                (0, 0) => ("all is well".to_owned(), Style::Green),
                (0, n) => (format!("nothing is wrong; {n} worth knowing"), Style::Green),
                (n, _) => (
                    format!("{n} {} wrong", if n == 1 { "thing is" } else { "things are" }),
                    Style::Red,
                ),
            };
            context.out.styled(&says, style)?;
            if !self.fix && found.iter().any(|finding| finding.fix.is_some()) {
                context
                    .out
                    .line("`crew doctor --fix` mends what is marked with +")?;
            }
        }
        Ok(if wrong == 0 { Exit::Done } else { Exit::Failed })
    }
}

/// Does what can be done, as the holder of the repository. `deep`: as it was looked over.
async fn mend(context: &Context, deep: bool, found: &mut Vec<Finding>) -> Result<()> {
    if found.iter().all(|finding| finding.fix.is_none()) {
        return Ok(());
    }
    let place = context.place()?;
    let is_held = place.holder()?.is_some();
    if let Some(by) = place.lasting_holder(ui::warn).await? {
        return Err(runtime::Error::Held { by }.into());
    }
    if is_held {
        // The former holder has worked here since.
        *found = doctor::look(context, deep).await?;
    }
    let lock = Lock::take_for_command(&place.repository.lock_path())?;
    let place = Place {
        repository: place.repository.clone().locked(&lock),
        ..place
    };
    for finding in found {
        let Some(fix) = &finding.fix else { continue };
        match fix.carry_out(&place) {
            Ok(()) => finding.fixed = true,
            Err(error) => {
                finding.level = Level::Wrong;
                finding.says.push_str(&format!(
                    "\nit could not be mended: {}",
                    text::with_causes(&error)
                ));
                finding.hint = error.hint().or(finding.hint.take());
            }
        }
    }
    Ok(())
}

fn show(context: &mut Context, finding: &Finding, first: bool) -> Result<()> {
    const INDENT: usize = 14;
    let (mark, style) = match finding.level {
        _ if finding.fixed => ("✓", Style::Green),
        Level::Fine => ("✓", Style::Green),
        Level::Note => ("·", Style::Yellow),
        Level::Wrong => ("✗", Style::Red),
    };
    let area = if first { finding.area.name() } else { "" };
    let mark = context.out.terminal.paint(mark, style);
    let can = if finding.fix.is_some() && !finding.fixed {
        "+ "
    } else {
        ""
    };
    let room = context
        .out
        .terminal
        .columns
        .map(|columns| columns.saturating_sub(INDENT).max(20));
    let mut head = format!("{mark} {area:<INDENT$}", INDENT = INDENT - 2);
    let says = format!("{can}{}", finding.says);
    for line in ui::wrap(&says, room, usize::MAX) {
        context.out.write(&format!("{head}{line}\n"))?;
        head = " ".repeat(INDENT);
    }
    let below = if finding.fixed {
        finding.fix.as_ref().map(|fix| format!("mended: {fix}"))
    } else {
        finding.hint.clone()
    };
    for line in below.iter().flat_map(|text| ui::wrap(text, room, usize::MAX)) {
        let painted = context.out.terminal.paint(&line, Style::Dim);
        context.out.write(&format!("{}{painted}\n", " ".repeat(INDENT)))?;
    }
    Ok(())
}
