//! The diff that is looked at, in lines: what `crew diff` shows, as far as a pane can hold it.

use client::Result;
use client::diff::{Diff as Change, FileChange, lines as patch};
use client::repository::settings;
use model::view::Snapshot;
use model::{Oid, TicketId};
use runtime::Place;
use tui::{Diff, DiffLine, Tone};

use crate::commands::diff::{Row, masked, mode_changes, style, sum};
use crate::ui::Style;

/// The most files that are listed.
const FILES: usize = 200;
/// The most lines of the patch that are shown.
const LINES: usize = 5_000;

/// Reads the diff of a ticket, which `crew` has. Blocks.
pub(super) fn read(place: &Place, crew: &Snapshot, ticket: &TicketId) -> Result<Diff> {
    let settings = settings(place)?;
    let change = Change::of(place, &settings, crew, ticket)?;
    let mut lines = vec![DiffLine::new(Tone::Dim, change.words(&settings.project.target))];
    let warnings = change.warnings().into_iter();
    lines.extend(warnings.map(|says| DiffLine::new(Tone::Waiting, says)));
    for line in change.brought()?.words() {
        lines.push(DiffLine::new(
            Tone::Dim,
            runtime::secrets::said(text::sanitise::line(&line)),
        ));
    }
    files(&mut lines, &change.files()?, ticket);
    match change.readable() {
        Ok(patch) => {
            patch_lines(&mut lines, &patch.text, ticket);
            if patch.has_secrets {
                lines.push(DiffLine::new(Tone::Waiting, masked(ticket)));
            }
        }
        // The files are there also where the patch is too large.
        Err(error) => lines.push(DiffLine::new(Tone::Waiting, error.words())),
    }
    Ok(Diff {
        commit: change
            .commit
            .as_ref()
            .and_then(|commit| Oid::new(commit.as_str()).ok()),
        lines,
    })
}

/// A line for each file, their sum, and the modes that are others now.
fn files(lines: &mut Vec<DiffLine>, files: &[FileChange], ticket: &TicketId) {
    if files.is_empty() {
        lines.push(DiffLine::new(Tone::Plain, "no file differs".to_owned()));
        return;
    }
    for file in files.iter().take(FILES) {
        let row = Row::of(file);
        let line = format!("{:>7} {:>7} {:7} {}", row.added, row.removed, row.word, row.name);
        lines.push(DiffLine::new(tone(row.style), text::sanitise::code(&line)));
    }
    if files.len() > FILES {
        let more = text::counted(files.len() - FILES, "more file");
        let says = format!("… {more}: `crew diff {ticket} --stat` lists all");
        lines.push(DiffLine::new(Tone::Waiting, says));
    }
    lines.push(DiffLine::new(Tone::Plain, sum(files)));
    lines.extend(
        mode_changes(files)
            .take(FILES)
            .map(|line| DiffLine::new(Tone::Plain, line)),
    );
    lines.push(DiffLine::new(Tone::Plain, String::new()));
}

/// The lines of the patch, made harmless as for `crew diff`.
fn patch_lines(lines: &mut Vec<DiffLine>, patch: &str, ticket: &TicketId) {
    let shown = patch::lines(patch).take(LINES);
    lines.extend(shown.map(|line| DiffLine {
        tone: tone(style(line.mark)),
        text: line.text,
        blanks: line.blanks,
    }));
    let all = patch.lines().count();
    if all > LINES {
        let more = text::counted(all - LINES, "more line");
        lines.push(DiffLine::new(
            Tone::Waiting,
            format!("… {more}: `crew diff {ticket}` shows all"),
        ));
    }
}

fn tone(style: Style) -> Tone {
    match style {
        Style::Plain => Tone::Plain,
        Style::Dim => Tone::Dim,
        Style::Bold => Tone::Bold,
        Style::Green => Tone::Good,
        Style::Yellow => Tone::Waiting,
        Style::Red => Tone::Removed,
        Style::Blanks => Tone::Blanks,
        Style::Cyan => Tone::Moving,
    }
}
