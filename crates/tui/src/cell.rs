//! Rows of cells, set in columns: as many columns as fit, the last one taking what is left.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use crate::theme::{Theme, Tone};

/// A piece of a row, sanitised when it is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl Cell {
    pub(crate) fn new(text: &str, tone: Tone) -> Self {
        Self {
            text: harness::sanitise::line(text),
            tone,
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(text, Tone::Plain)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(&text, Tone::Plain)
    }
}

/// A column but the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// Its content is set to the right.
    pub(crate) right: bool,
    /// Columns with the greatest number go first when there is no room; 0 stays.
    pub(crate) goes: u8,
}

/// A row: its cells, the last of which is what is left of the line: pieces one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    pub(crate) last: Vec<Cell>,
    pub(crate) chosen: bool,
}

/// The least that the last column wants.
const LAST: usize = 12;

/// A table's rows, of which only those that are seen are made.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    pub(crate) columns: &'a [Column],
    pub(crate) last: &'static str,
    pub(crate) rows: Vec<Row>,
    pub(crate) focused: bool,
}

impl Table<'_> {
    /// Draws it, a heading first where there are three lines or more.
    pub(crate) fn draw(&self, buffer: &mut Buffer, area: Rect, theme: Theme) {
        let mut area = area;
        let widths = self.widths(usize::from(area.width).saturating_sub(1));
        if has_heading(area) {
            let heading = Row {
                cells: self
                    .columns
                    .iter()
                    .map(|column| Cell::new(column.name, Tone::Dim))
                    .collect(),
                last: vec![Cell::new(self.last, Tone::Dim)],
                chosen: false,
            };
            self.row(buffer, area, theme, &widths, &heading);
            area.y += 1;
            area.height -= 1;
        }
        for (row, y) in self.rows.iter().zip(area.top()..area.bottom()) {
            let line = Rect { y, height: 1, ..area };
            self.row(buffer, line, theme, &widths, row);
            if row.chosen {
                buffer.set_style(line, theme.chosen(self.focused));
            }
        }
    }

    /// Each column's width; none where it has no room.
    fn widths(&self, room: usize) -> Vec<Option<usize>> {
        let content = |at: usize| self.rows.iter().filter_map(move |row| row.cells.get(at));
        let mut widths: Vec<Option<usize>> = (0..self.columns.len())
            .map(|at| {
                let widest = content(at).map(|cell| cell.text.width()).max().unwrap_or(0);
                let name = self.columns[at].name.width();
                (widest > 0).then_some(widest.max(name))
            })
            .collect();
        loop {
            let taken: usize = widths.iter().flatten().map(|width| width + 1).sum();
            let next = (0..widths.len())
                .filter(|at| widths[*at].is_some() && self.columns[*at].goes > 0)
                .max_by_key(|at| self.columns[*at].goes);
            match next {
                Some(at) if taken + LAST > room => widths[at] = None,
                Some(_) | None => return widths,
            }
        }
    }

    fn row(&self, buffer: &mut Buffer, area: Rect, theme: Theme, widths: &[Option<usize>], row: &Row) {
        let mark = if row.chosen { "▸" } else { " " };
        let mut x = put(buffer, area, 0, mark, theme, Tone::Plain);
        for ((cell, width), column) in row.cells.iter().zip(widths).zip(self.columns) {
            let Some(width) = *width else { continue };
            let text = harness::sanitise::fit(&cell.text, width);
            let pad = width.saturating_sub(text.width());
            let from = if column.right { x + pad } else { x };
            put(buffer, area, from, &text, theme, cell.tone);
            x += width + 1;
        }
        let mut is_first = true;
        for cell in row.last.iter().filter(|cell| !cell.text.is_empty()) {
            if !is_first {
                x = put(buffer, area, x, " · ", theme, Tone::Dim);
            }
            is_first = false;
            x = put(buffer, area, x, &cell.text, theme, cell.tone);
        }
    }
}

/// How many rows fit, and whether a heading stands above them.
pub(crate) fn room(area: Rect) -> usize {
    usize::from(area.height) - usize::from(has_heading(area))
}

fn has_heading(area: Rect) -> bool {
    area.height >= 3
}

/// Sanitised text at a column of an area's first line, ending in `…` where it does not fit; gives the column behind.
pub(crate) fn put(buffer: &mut Buffer, area: Rect, x: usize, text: &str, theme: Theme, tone: Tone) -> usize {
    let room = usize::from(area.width).saturating_sub(x);
    let shown = harness::sanitise::fit(text, room);
    let left = area.x.saturating_add(u16::try_from(x).unwrap_or(u16::MAX));
    if area.height > 0 && room > 0 {
        buffer.set_stringn(left, area.y, &shown, room, theme.of(tone));
    }
    x + shown.width()
}
