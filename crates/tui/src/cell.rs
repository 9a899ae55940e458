//! Tables: as many columns as fit, the last of which takes the rest of the line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use crate::theme::{Theme, Tone};

/// A text in a row, sanitised when it is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl Cell {
    pub(crate) fn new(text: &str, tone: Tone) -> Self {
        Self {
            text: text::sanitise::line(text),
            tone,
        }
    }

    /// The name of something that stands so many levels deep in a tree.
    pub(crate) fn in_tree(depth: usize, name: &str) -> Self {
        let mut cell = Self::from(name);
        cell.text.insert_str(0, &model::view::branch(depth));
        cell
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

/// A column other than the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// Whether its content is aligned to the right.
    pub(crate) right: bool,
    /// Columns with the greatest number are left out first when there is no room; a column with 0 is never
    /// left out.
    pub(crate) drop_order: u8,
}

/// A row of a table. The last column holds several texts, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    pub(crate) last: Vec<Cell>,
    pub(crate) chosen: bool,
    /// Sanitised lines below it, over all columns.
    pub(crate) below: Vec<(Tone, String)>,
}

/// The least width of the last column.
const LAST_WIDTH: usize = 12;

/// A table with its visible rows.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    pub(crate) columns: &'a [Column],
    pub(crate) last: &'static str,
    pub(crate) rows: Vec<Row>,
    pub(crate) focused: bool,
}

impl Table<'_> {
    /// Draws the table, with a heading if there are three lines or more.
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
                below: Vec::new(),
            };
            self.row(buffer, area, theme, &widths, &heading);
            area.y += 1;
            area.height -= 1;
        }
        let mut lines = (area.top()..area.bottom()).map(|y| Rect { y, height: 1, ..area });
        for row in &self.rows {
            let Some(line) = lines.next() else { return };
            self.row(buffer, line, theme, &widths, row);
            if row.chosen {
                buffer.set_style(line, theme.chosen(self.focused));
            }
            for ((tone, text), line) in row.below.iter().zip(&mut lines) {
                put(buffer, line, 0, text, theme, *tone);
            }
        }
    }

    /// The width of each column; `None` for a column that is empty or left out.
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
                .filter(|at| widths[*at].is_some() && self.columns[*at].drop_order > 0)
                .max_by_key(|at| self.columns[*at].drop_order);
            match next {
                Some(at) if taken + LAST_WIDTH > room => widths[at] = None,
                Some(_) | None => return widths,
            }
        }
    }

    fn row(&self, buffer: &mut Buffer, area: Rect, theme: Theme, widths: &[Option<usize>], row: &Row) {
        let mark = if row.chosen { "▸" } else { " " };
        let mut x = put(buffer, area, 0, mark, theme, Tone::Plain);
        for ((cell, width), column) in row.cells.iter().zip(widths).zip(self.columns) {
            let Some(width) = *width else { continue };
            let text = text::sanitise::fit(&cell.text, width);
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

/// The number of rows that fit into an area below the heading.
pub(crate) fn room(area: Rect) -> usize {
    usize::from(area.height) - usize::from(has_heading(area))
}

fn has_heading(area: Rect) -> bool {
    area.height >= 3
}

/// Draws sanitised text at a column of an area's first line, with `…` if it does not fit. Returns the
/// column after it.
pub(crate) fn put(buffer: &mut Buffer, area: Rect, x: usize, text: &str, theme: Theme, tone: Tone) -> usize {
    let room = usize::from(area.width).saturating_sub(x);
    let shown = text::sanitise::fit(text, room);
    let left = area.x.saturating_add(u16::try_from(x).unwrap_or(u16::MAX));
    if area.height > 0 && room > 0 {
        buffer.set_stringn(left, area.y, &shown, room, theme.of(tone));
    }
    x + shown.width()
}
