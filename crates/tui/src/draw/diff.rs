//! Drawing the diff that is looked at.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::wrap::wrap;
use crate::app::App;
use crate::cell::put;
use crate::diff::Looked;
use crate::pane::Pane;
use crate::theme::Tone;

/// A line with its tone.
type Line = (Tone, String);

/// Draws the diff: what is said about it stays at the top, and the rest is scrolled.
pub(super) fn diff(app: &App, buffer: &mut Buffer, area: Rect) {
    let Some(looked) = &app.diff else { return };
    let (head, lines) = (head(app, looked, area), lines(looked, area));
    let most = hidden(head.len(), lines.len(), area);
    let from = app.scroll.get(&Pane::Diff).copied().unwrap_or(0).min(most);
    let shown = head.iter().chain(&lines[from..]);
    for ((tone, line), y) in shown.zip(area.top()..area.bottom()) {
        put(buffer, Rect { y, height: 1, ..area }, 0, line, app.theme, *tone);
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
    let lines = wrap(says, usize::from(area.width)).into_iter();
    lines.map(|line| (Tone::Waiting, line)).collect()
}

fn lines(looked: &Looked, area: Rect) -> Vec<Line> {
    let columns = usize::from(area.width);
    let wrapped = |tone, line: &str| wrap(line, columns).into_iter().map(move |line| (tone, line));
    match &looked.read {
        None => wrapped(Tone::Dim, "git reads it …").collect(),
        Some(Err(why)) => wrapped(Tone::Waiting, why).collect(),
        Some(Ok(diff)) => {
            let lines = diff.lines.iter();
            lines.flat_map(|(tone, line)| wrapped(*tone, line)).collect()
        }
    }
}
