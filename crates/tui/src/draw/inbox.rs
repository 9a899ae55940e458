//! Drawing the inbox: a row for each entry, and below the chosen one all that `crew inbox` shows about it.

use model::view::Item;
use model::{Look, TicketId};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::lists::{ago, beside, column, empty, figure};
use super::wrap::wrap;
use crate::app::App;
use crate::cell::{Cell, Row, Table, room};
use crate::choose::first;
use crate::hints::{key_of, remedies};
use crate::pane::Pane;
use crate::theme::Tone;

/// A line with its tone.
type Line = (Tone, String);

/// The lines of a check's output that are shown: as many as there is room for beside the advice.
const PRINTED: [usize; 3] = [12, 5, 0];
/// The indentation of the lines below a row.
const INDENT: &str = "  ";

/// The lines below the chosen row, as far as they are shown.
struct Below {
    lines: Vec<Line>,
    /// The number of lines by which they can be scrolled.
    max_scroll: usize,
}

impl Below {
    fn of(app: &App, area: Rect) -> Self {
        let nothing = Self {
            lines: Vec::new(),
            max_scroll: 0,
        };
        let Some(item) = app.inbox.get(app.in_inbox.at()) else {
            return nothing;
        };
        let is_focused = app.focus == Pane::Inbox;
        // Where nobody scrolls, every entry keeps its row.
        let rows = if is_focused { 1 } else { app.inbox.len() };
        let fits = room(area).saturating_sub(rows);
        let least = if is_focused { PRINTED[1] } else { PRINTED[2] };
        let with = |printed| about(item, app.look(), usize::from(area.width), printed);
        let mut all = PRINTED.into_iter().filter(|printed| *printed >= least).map(with);
        let mut lines = all
            .find(|lines| lines.len() <= fits)
            .unwrap_or_else(|| with(least));
        if !is_focused {
            shorten(&mut lines, fits, area);
            return Self { lines, ..nothing };
        }
        let max_scroll = lines.len().saturating_sub(fits);
        let scrolled = app.scroll.get(&Pane::Inbox).copied().unwrap_or(0);
        lines.drain(..scrolled.min(max_scroll));
        lines.truncate(fits);
        Self { lines, max_scroll }
    }
}

/// The most lines by which the chosen entry can be scrolled in this area.
pub(super) fn max_scroll(app: &App, area: Rect) -> usize {
    Below::of(app, area).max_scroll
}

/// Cuts to at most this number of lines, with `…` at the end of the last one if any is missing.
fn shorten(lines: &mut Vec<Line>, most: usize, area: Rect) {
    if lines.len() <= most {
        return;
    }
    lines.truncate(most);
    if let Some((_, last)) = lines.last_mut() {
        let columns = usize::from(area.width).saturating_sub(2);
        *last = format!("{} …", text::sanitise::fit(last, columns).trim_end_matches('…'));
    }
}

/// An entry in lines: its title, its reason, at most so many lines of the output, and the advice.
fn about(item: &Item, look: Look, columns: usize, printed: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |tone, begin: &str, hang: &str, text: &str| {
        let width = columns.saturating_sub(INDENT.len() + hang.chars().count());
        for (nth, line) in wrap(text, width).into_iter().enumerate() {
            let mark = if nth == 0 { begin } else { hang };
            lines.push((tone, format!("{INDENT}{mark}{line}")));
        }
    };
    add(Tone::Bold, "", "", &text::sanitise::line(&item.title));
    for line in text::sanitise::text(item.why.trim()).lines() {
        add(Tone::Plain, "", "", line);
    }
    for line in item.excerpt(printed) {
        add(Tone::Plain, "│ ", "│ ", &text::sanitise::indented_line(line));
    }
    if let Some(says) = item.by_itself(look) {
        add(Tone::Dim, "", "", &says);
    }
    for act in &item.acts {
        let key = key_of(act).map(|(key, _)| format!("  (key {key})"));
        let advice = format!("{}{}", act.typed(), key.unwrap_or_default());
        add(Tone::Waiting, "→ ", "  ", &text::sanitise::line(&advice));
    }
    lines
}

/// The visible rows, where the chosen one has so many lines below it: the position of the first, and their
/// number.
fn window(app: &App, area: Rect, below: usize) -> (usize, usize) {
    let lines = room(area).saturating_sub(below);
    (first(app.in_inbox.at(), app.inbox.len(), lines.max(1)), lines)
}

/// The numbers of entries that have no row, above and below the visible ones.
pub(super) fn hidden(app: &App, area: Rect) -> (usize, usize) {
    if app.inbox.is_empty() {
        return (0, 0);
    }
    let window = window(app, area, Below::of(app, area).lines.len());
    beside(window, app.inbox.len())
}

/// Draws the inbox.
pub(super) fn inbox(app: &App, buffer: &mut Buffer, area: Rect) {
    if app.inbox.is_empty() {
        return empty(app, buffer, area, "nothing waits for you");
    }
    let columns = [
        column("", 0),
        column("TICKET", 0),
        column("AGENT", 4),
        column("WHAT", 0),
        figure("FOR", 3),
    ];
    let at = app.in_inbox.at();
    let below = Below::of(app, area).lines;
    let (from, lines) = window(app, area, below.len());
    let shown = app.inbox.iter().enumerate().skip(from).take(lines);
    let mut rows: Vec<Row> = shown
        .map(|(place, item)| row(app, item, place == at, place == at && !below.is_empty()))
        .collect();
    if let Some(chosen) = rows.iter_mut().find(|row| row.chosen) {
        chosen.below = below;
    }
    let table = Table {
        columns: &columns,
        last: "WHY",
        rows,
        focused: app.focus == Pane::Inbox,
    };
    table.draw(buffer, area, app.theme);
}

/// The row of an entry. `is_open`: the reason stands below it.
fn row(app: &App, item: &Item, chosen: bool, is_open: bool) -> Row {
    let (symbol, tone) = match item.kind.asks() {
        true => ("?", Tone::Waiting),
        false => ("!", Tone::Wrong),
    };
    let again = item.by_itself(app.look()).map(|again| format!(" ({again})"));
    let why = format!("{}{}", item.why, again.unwrap_or_default());
    let last = match &item.ticket {
        _ if is_open => Vec::new(),
        Some(_) => vec![
            item.title.as_str().into(),
            Cell::new(&why, Tone::Dim),
            Cell::new(&remedies(item), Tone::Dim),
        ],
        None => vec![item.title.as_str().into(), why.as_str().into()],
    };
    let ticket = item.ticket.as_ref().map_or("", TicketId::as_str);
    Row {
        cells: vec![
            Cell::new(symbol, tone),
            ticket.into(),
            item.agent.as_ref().map_or("", |agent| agent.as_str()).into(),
            Cell::new(item.kind.name(), tone),
            ago(app, item.since),
        ],
        last,
        chosen,
        below: Vec::new(),
    }
}
