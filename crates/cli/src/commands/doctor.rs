//! `crew doctor`: looks everything over, says what is wrong and what to do, and mends what can be mended.

use clap::Args;
use client::documents;
use client::documents::Level;
use doctor::{Caller, Finding};

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::{self, Style};

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
    /// Whether it changes anything.
    pub(crate) fn mends(&self) -> bool {
        self.fix
    }

    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let caller = Caller {
            dir: &context.dir,
            env: &context.env,
            whole_env: &context.whole_env,
        };
        let mut found = doctor::look(&caller, self.deep).await?;
        if self.fix {
            doctor::mend(&caller, self.deep, &mut found, ui::warn).await?;
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
    // Lines of an output may point at each other, so their blanks stay.
    let lines = says.lines().flat_map(|line| match line.starts_with('│') {
        true => ui::wrap_line(line, room, 2),
        false => ui::wrap(line, room, usize::MAX),
    });
    for line in lines {
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
