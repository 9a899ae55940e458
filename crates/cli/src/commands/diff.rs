//! `crew diff`: the change that a ticket would make on the target, or has made there.

use clap::Args;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::{self, Style, Table, page};
use client::diff::lines::{Mark, lines};
use client::diff::{self, Diff as Change, FileChange, FileChangeKind, PatchForm};
use client::repository::journal;
use client::{documents, follow, lookup};

/// Show what a ticket would change on the target, or has changed there
///
/// While an agent has the ticket, that is all of its workspace as it is now, committed or not. Submitted work
/// is shown as the merge that is to land, landed work as its merge, and work that did not land as it is kept.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The ticket, or the agent that has it.
    #[arg(value_name = "TICKET|AGENT")]
    name: String,
    /// Only the files, with the lines that are added and removed.
    #[arg(long)]
    stat: bool,
    /// The bytes of a patch for `git apply`, not made harmless for a terminal: secrets are not masked.
    #[arg(long, conflicts_with = "stat")]
    raw: bool,
}

impl Diff {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let (place, settings) = context.ready()?;
        let ledger = journal(&place).await?;
        let mut crew = follow::present(ledger.as_ref()).await?;
        let id = diff::ticket_of(&crew, lookup::either(&crew, &place, &self.name)?)?;
        if let Some(ledger) = &ledger {
            ledger.restore(&mut crew, &id, None).await?;
        }
        let change = Change::of(&place, &settings, &crew, &id)?;
        if context.json {
            context.out.json(&documents::Diff::new(&change)?)?;
            return Ok(Exit::Done);
        }
        if self.raw {
            context.out.bytes(&change.patch(PatchForm::Apply)?)?;
            return Ok(Exit::Done);
        }
        let terminal = context.out.terminal;
        let head = ui::clean(&change.words(&settings.project.target));
        let mut text = format!("{}\n", terminal.paint(&head, Style::Dim));
        for line in change.warnings() {
            text.push_str(&format!("{}\n", terminal.paint(&line, Style::Yellow)));
        }
        for line in change.brought()?.words() {
            let line = runtime::secrets::said(ui::clean(&line));
            text.push_str(&format!("{}\n", terminal.paint(&line, Style::Dim)));
        }
        if self.stat {
            stat(&mut text, context, &change.files()?);
        } else {
            let patch = change.readable()?;
            patch_lines(&mut text, context, &patch.text);
            if patch.has_secrets {
                text.push_str(&format!("{}\n", terminal.paint(&masked(&id), Style::Yellow)));
            }
        }
        page(context, || diff::pager(&place), &text)?;
        Ok(Exit::Done)
    }
}

/// A line for each file, their sum, and the modes that are others now.
fn stat(text: &mut String, context: &Context, files: &[FileChange]) {
    let mut table = Table::new(&["", "ADDED", "REMOVED", "FILE"], &[1, 2]);
    for file in files {
        let row = Row::of(file);
        table.row([
            ui::Cell::styled(row.word, row.style),
            row.added.into(),
            row.removed.into(),
            row.name.as_str().into(),
        ]);
    }
    if files.is_empty() {
        text.push_str("no file differs\n");
        return;
    }
    for line in table.lines(&context.out.terminal) {
        text.push_str(&format!("{line}\n"));
    }
    text.push_str(&format!("{}\n", sum(files)));
    for line in mode_changes(files) {
        text.push_str(&format!("{line}\n"));
    }
}

/// A file that differs, in words.
pub(super) struct Row {
    pub(super) word: &'static str,
    pub(super) style: Style,
    pub(super) added: String,
    pub(super) removed: String,
    /// Its path, not sanitised.
    pub(super) name: String,
}

impl Row {
    pub(super) fn of(file: &FileChange) -> Self {
        let (word, style) = match file.kind {
            FileChangeKind::Added => ("new", Style::Green),
            FileChangeKind::Deleted => ("deleted", Style::Red),
            FileChangeKind::Modified => ("", Style::Plain),
            FileChangeKind::Renamed => ("moved", Style::Cyan),
            FileChangeKind::Type => ("type", Style::Yellow),
        };
        let count = |count: Option<u64>, sign: char| match count {
            Some(count) => format!("{sign}{count}"),
            None => "binary".to_owned(),
        };
        let (added, removed) = file.lines.unzip();
        let path = file.path.to_string_lossy();
        let name = match &file.moved_from {
            Some(from) => format!("{} → {path}", from.to_string_lossy()),
            None if file.is_submodule => format!("{path} (submodule)"),
            None => path.into_owned(),
        };
        Self {
            word,
            style,
            added: count(added, '+'),
            removed: count(removed, '-'),
            name,
        }
    }
}

/// The number of files, and of the lines that are added and removed in them.
pub(super) fn sum(files: &[FileChange]) -> String {
    let sum = |of: fn(&(u64, u64)) -> u64| -> u64 {
        let lines = files.iter().filter_map(|file| file.lines.as_ref());
        lines.map(of).sum()
    };
    let (added, removed) = (sum(|lines| lines.0), sum(|lines| lines.1));
    let files = text::counted(files.len(), "file");
    format!("{files}, +{added} -{removed}")
}

/// A line for each file that has another mode now, as git has it in its summary.
pub(super) fn mode_changes(files: &[FileChange]) -> impl Iterator<Item = String> {
    files.iter().filter_map(|file| {
        let (old, new) = file.modes.as_ref()?;
        let line = format!(" mode change {old} => {new} {}", file.path.to_string_lossy());
        Some(text::sanitise::code(&line))
    })
}

/// The patch, made harmless and in colours where they are wanted.
fn patch_lines(text: &mut String, context: &Context, patch: &str) {
    if patch.is_empty() {
        text.push_str("no file differs\n");
    }
    let terminal = &context.out.terminal;
    for line in lines(patch) {
        text.push_str(&terminal.paint(&line.text, style(line.mark)));
        text.push_str(&terminal.paint(&line.blanks, Style::Blanks));
        text.push('\n');
    }
}

/// The style of a line of a patch.
pub(super) fn style(mark: Mark) -> Style {
    match mark {
        Mark::Head => Style::Bold,
        Mark::Hunk => Style::Cyan,
        Mark::Added => Style::Green,
        Mark::Removed => Style::Red,
        Mark::Same => Style::Plain,
    }
}

/// The line below a patch in which values are masked.
pub(super) fn masked(ticket: &model::TicketId) -> String {
    format!("what looks like secrets is masked here: `crew diff {ticket} --raw` shows it")
}
