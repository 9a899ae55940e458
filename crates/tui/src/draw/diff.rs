//! Drawing the diff that is looked at.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use super::wrap::wrap;
use crate::app::App;
use crate::cell::put;
use crate::diff::Looked;
use crate::message::DiffLine;
use crate::pane::Pane;
use crate::theme::Tone;

/// A line, in pieces with their tones.
type Line = Vec<(Tone, String)>;

/// Draws the diff: what is said about it stays at the top, and the rest is scrolled.
pub(super) fn diff(app: &App, buffer: &mut Buffer, area: Rect) {
    let Some(looked) = &app.diff else { return };
    let (head, lines) = (head(app, looked, area), lines(looked, area));
    let most = hidden(head.len(), lines.len(), area);
    let from = app.scroll.get(&Pane::Diff).copied().unwrap_or(0).min(most);
    let shown = head.iter().chain(&lines[from..]);
    for (line, y) in shown.zip(area.top()..area.bottom()) {
        let row = Rect { y, height: 1, ..area };
        let mut x = 0;
        for (tone, piece) in line {
            x = put(buffer, row, x, piece, app.theme, *tone);
        }
    }
}

/// The most lines by which the diff can be scrolled in this area.
pub(super) fn max_scroll(app: &App, area: Rect) -> usize {
    let Some(looked) = &app.diff else { return 0 };
    hidden(head(app, looked, area).len(), lines(looked, area).len(), area)
}

/// The lines that have no room below the head.
fn hidden(head: usize, lines: usize, area: Rect) -> usize {
    lines.saturating_sub(usize::from(area.height).saturating_sub(head))
}

/// A warning, where there is other work by now.
fn head(app: &App, looked: &Looked, area: Rect) -> Vec<Line> {
    if looked.read.is_none() || !looked.has_moved(app.ticket(&looked.ticket)) {
        return Vec::new();
    }
    let says = "! the work has moved on since this was read: d shows it as it is now";
    wrapped(Tone::Waiting, says, area)
}

fn lines(looked: &Looked, area: Rect) -> Vec<Line> {
    match &looked.read {
        None => wrapped(Tone::Dim, "git reads it …", area),
        Some(Err(why)) => wrapped(Tone::Waiting, why, area),
        Some(Ok(diff)) => diff.lines.iter().flat_map(|line| pieces(line, area)).collect(),
    }
}

fn wrapped(tone: Tone, text: &str, area: Rect) -> Vec<Line> {
    let lines = wrap(text, usize::from(area.width)).into_iter();
    lines.map(|line| vec![(tone, line)]).collect()
}

/// A line of the diff, wrapped: the blanks behind it take the room that is left, and lines of their own.
fn pieces(line: &DiffLine, area: Rect) -> Vec<Line> {
    let mut lines = wrapped(line.tone, &line.text, area);
    let columns = usize::from(area.width).max(1);
    let taken = lines
        .last()
        .and_then(|last| last.last())
        .map_or(0, |(_, text)| text.width());
    let mut blanks = line.blanks.chars().peekable();
    let mut room = columns.saturating_sub(taken);
    while blanks.peek().is_some() {
        let piece = (Tone::Blanks, blanks.by_ref().take(room).collect());
        match lines.last_mut() {
            Some(last) => last.push(piece),
            None => lines.push(vec![piece]),
        }
        if blanks.peek().is_some() {
            lines.push(Vec::new());
        }
        room = columns;
    }
    lines
}
