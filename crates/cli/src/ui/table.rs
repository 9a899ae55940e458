//! Columns for people.

use unicode_width::UnicodeWidthChar as _;

use crate::ui::out::{Style, Terminal};
use crate::ui::wrap_line;

/// A table: its last column takes what is left of the terminal's width, and is cut there or goes on below.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    head: Vec<&'static str>,
    /// Columns whose content is set to the right.
    right: Vec<usize>,
    /// Columns that are left out where there is no room for all, the first one first.
    goes: Vec<usize>,
    /// Whether the last column, and the lines below a row, are read as a whole: they are broken at their
    /// words, and never cut.
    wraps: bool,
    /// The width of the widest cell of each column.
    widths: Vec<usize>,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
enum Row {
    Cells(Vec<Cell>),
    /// A line below a row, under its n-th column.
    Below(usize, Cell),
}

/// A piece of a row. Its text is sanitised when it is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// In a style.
    pub(crate) fn styled(text: &str, style: Style) -> Self {
        let indent = text.len() - text.trim_start_matches(' ').len();
        Self {
            text: format!("{}{}", &text[..indent], text::sanitise::line(text)),
            style,
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::styled(text, Style::Plain)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::styled(&text, Style::Plain)
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Self::styled(text, Style::Plain)
    }
}

const GAP: &str = "  ";
/// Room that the last column has before others give way for it.
const ROOM: usize = 8;
/// As much where it is broken at its words.
const READABLE: usize = 24;

impl Table {
    /// With these headings.
    pub(crate) fn new(head: &[&'static str], right: &[usize]) -> Self {
        Self {
            head: head.to_vec(),
            right: right.to_vec(),
            goes: Vec::new(),
            wraps: false,
            widths: vec![0; head.len()],
            rows: Vec::new(),
        }
    }

    /// Where the terminal is too narrow, these columns are left out, the first one first, until the others
    /// fit and the last one has some width.
    pub(crate) fn giving_way(mut self, columns: &[usize]) -> Self {
        columns.clone_into(&mut self.goes);
        self
    }

    /// The text of the last column and of the lines below a row goes on below where the terminal is too
    /// narrow for it.
    pub(crate) fn wrapped(mut self) -> Self {
        self.wraps = true;
        self
    }

    /// Without headings.
    pub(crate) fn bare(columns: usize) -> Self {
        Self {
            head: vec![""; columns],
            right: Vec::new(),
            goes: Vec::new(),
            wraps: false,
            widths: vec![0; columns],
            rows: Vec::new(),
        }
    }

    /// One more row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells = cells.into_iter().collect::<Vec<Cell>>();
        self.measure(&cells);
        self.rows.push(Row::Cells(cells));
    }

    /// Makes room for a row that comes when others were written.
    pub(crate) fn measure(&mut self, cells: &[Cell]) {
        for (width, cell) in self.widths.iter_mut().zip(cells) {
            *width = (*width).max(columns(&cell.text));
        }
    }

    /// Goes on behind what was written: the headings, and the rows so far.
    pub(crate) fn go_on(&mut self) {
        let last = self.head.len().saturating_sub(1);
        for (at, (width, name)) in self.widths.iter_mut().zip(&mut self.head).enumerate() {
            let name = std::mem::take(name);
            if *width > 0 || at == last {
                *width = (*width).max(columns(name));
            }
        }
        self.rows.clear();
    }

    /// A line below the last row, under its n-th column.
    pub(crate) fn below(&mut self, column: usize, text: &str, style: Style) {
        self.rows.push(Row::Below(column, Cell::styled(text, style)));
    }

    /// Its lines, painted. A column that is empty everywhere is left out.
    pub(crate) fn lines(&self, terminal: &Terminal) -> Vec<String> {
        let mut widths = self.widths.clone();
        let last = self.head.len().saturating_sub(1);
        let mut shown: Vec<usize> = (0..self.head.len())
            .filter(|at| widths[*at] > 0 || *at == last)
            .collect();
        for at in &shown {
            widths[*at] = widths[*at].max(columns(self.head[*at]));
        }
        let needs = |shown: &[usize]| -> usize {
            let of = |at: &usize| {
                if *at == last {
                    widths[*at].min(if self.wraps { READABLE } else { ROOM })
                } else {
                    widths[*at]
                }
            };
            shown.iter().map(of).sum::<usize>() + GAP.len() * shown.len().saturating_sub(1)
        };
        for goes in &self.goes {
            if terminal.columns.is_none_or(|room| needs(&shown) <= room) {
                break;
            }
            shown.retain(|at| at != goes);
        }
        let head: Vec<Cell> = self
            .head
            .iter()
            .map(|name| Cell::styled(name, Style::Dim))
            .collect();
        let begins = |column: usize| -> usize {
            shown
                .iter()
                .take_while(|at| **at < column)
                .map(|at| widths[*at] + GAP.len())
                .sum()
        };
        let titled = self.head.iter().any(|name| !name.is_empty());
        let mut lines = Vec::new();
        if titled {
            lines.push(self.line(&head, &shown, &widths, terminal));
        }
        for row in &self.rows {
            match row {
                Row::Cells(cells) if self.wraps && cells.len() > last => {
                    let whole = &cells[last];
                    let (beside, below) =
                        (begins(last), shown.get(1).map_or(0, |at| begins(*at)) + GAP.len());
                    let wanted = beside + READABLE.min(columns(&whole.text));
                    // Where there is little room beside the others, there may be more below them.
                    let is_beside = beside <= below || terminal.columns.is_none_or(|all| all >= wanted);
                    let begin = if is_beside { beside } else { below };
                    let mut texts = self.pieces(whole, begin, 0, terminal);
                    let mut first = cells.clone();
                    first[last].text = if is_beside && !texts.is_empty() {
                        texts.remove(0)
                    } else {
                        String::new()
                    };
                    lines.push(self.line(&first, &shown, &widths, terminal));
                    lines.extend(
                        texts
                            .iter()
                            .map(|text| set_in(text, begin, whole.style, terminal)),
                    );
                }
                Row::Cells(cells) => lines.push(self.line(cells, &shown, &widths, terminal)),
                Row::Below(column, cell) => {
                    let begin = begins(*column);
                    let texts = self.pieces(cell, begin, 2, terminal);
                    lines.extend(texts.iter().map(|text| set_in(text, begin, cell.style, terminal)));
                }
            }
        }
        lines
    }

    /// The shown part of a cell that begins at a column, a line each: as much as fits, or all of it.
    fn pieces(&self, cell: &Cell, begin: usize, hang: usize, terminal: &Terminal) -> Vec<String> {
        if !self.wraps {
            return vec![fit(&cell.text, begin, terminal)];
        }
        let room = terminal.columns.map(|all| all.saturating_sub(begin).max(1));
        wrap_line(&cell.text, room, hang)
    }

    fn line(&self, cells: &[Cell], shown: &[usize], widths: &[usize], terminal: &Terminal) -> String {
        let mut out = String::new();
        let mut used = 0;
        for (nth, at) in shown.iter().enumerate() {
            let Some(cell) = cells.get(*at) else { break };
            if nth > 0 {
                out.push_str(GAP);
                used += GAP.len();
            }
            let is_last = nth + 1 == shown.len();
            let text = if is_last && self.wraps {
                cell.text.clone()
            } else {
                fit(&cell.text, used, terminal)
            };
            let pad = if is_last {
                0
            } else {
                widths[*at].saturating_sub(columns(&text))
            };
            let pad = " ".repeat(pad);
            let painted = terminal.paint(&text, cell.style);
            if self.right.contains(at) {
                out.push_str(&format!("{pad}{painted}"));
            } else {
                out.push_str(&format!("{painted}{pad}"));
            }
            used += widths[*at];
        }
        let kept = out.trim_end_matches(' ').len();
        out.truncate(kept);
        out
    }
}

/// A line that begins at a column.
fn set_in(text: &str, begin: usize, style: Style, terminal: &Terminal) -> String {
    match text {
        "" => String::new(),
        text => format!("{}{}", " ".repeat(begin), terminal.paint(text, style)),
    }
}

/// As much as fits behind `used` columns.
fn fit(text: &str, used: usize, terminal: &Terminal) -> String {
    match terminal.columns {
        Some(all) => text::sanitise::fit(text, all.saturating_sub(used)),
        None => text.to_owned(),
    }
}

/// How many columns a sanitised text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|character| character.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPE: Terminal = Terminal {
        is: false,
        colour: false,
        columns: None,
        lines: 24,
        is_fixed: false,
    };

    fn table() -> Table {
        let mut table = Table::new(&["A", "N", "EMPTY", "TITLE"], &[1]);
        table.row(["ü".into(), "7".into(), "".into(), "a long title".into()]);
        table.row(["日本".into(), "12".into(), "".into(), "x\u{1b}[2Jy\nz".into()]);
        table.below(3, "why", Style::Plain);
        table
    }

    #[test]
    fn columns_line_up_whatever_the_width_of_their_characters() {
        assert_eq!(
            table().lines(&PIPE),
            [
                "A      N  TITLE",
                "ü      7  a long title",
                "日本  12  xy z",
                "          why"
            ]
        );
    }

    #[test]
    fn where_it_is_narrow_columns_give_way_in_their_order_and_the_rest_stays_whole() {
        let narrow = |columns| Terminal {
            is: true,
            columns: Some(columns),
            ..PIPE
        };
        let mut table = Table::new(&["WHEN", "WHO", "WHAT", "COST", "TITLE"], &[3]).giving_way(&[0, 1]);
        table.row([
            "03:04:05".into(),
            "ada".into(),
            "t-1".into(),
            "$3.18".into(),
            "a long title".into(),
        ]);
        let row = |columns| table.lines(&narrow(columns)).remove(1);
        assert_eq!(row(80), "03:04:05  ada  t-1   $3.18  a long title");
        assert_eq!(row(36), "03:04:05  ada  t-1   $3.18  a long …");
        assert_eq!(row(30), "ada  t-1   $3.18  a long title");
        assert_eq!(row(22), "t-1   $3.18  a long t…");
        assert_eq!(row(12), "t-1   $3.18");
        assert_eq!(table.lines(&PIPE)[1], "03:04:05  ada  t-1   $3.18  a long title");
    }

    #[test]
    fn what_is_read_as_a_whole_goes_on_below_and_is_never_cut() {
        let narrow = |columns| Terminal {
            is: true,
            columns: Some(columns),
            ..PIPE
        };
        let mut table = Table::new(&["N", "WHEN", "WHAT"], &[0])
            .giving_way(&[1])
            .wrapped();
        table.row([
            "7".into(),
            "03:04:05".into(),
            "one two three four five six".into(),
        ]);
        table.below(2, "because: seven eight nine ten eleven", Style::Plain);
        assert_eq!(
            table.lines(&narrow(38)),
            [
                "N  WHEN      WHAT",
                "7  03:04:05  one two three four five",
                "             six",
                "             because: seven eight nine",
                "               ten eleven",
            ]
        );
        assert_eq!(
            table.lines(&narrow(20))[1..],
            [
                "7  one two three",
                "   four five six",
                "   because: seven",
                "     eight nine ten",
                "     eleven",
            ]
        );
        assert_eq!(table.lines(&PIPE).len(), 3);
        let mut table = Table::bare(3).wrapped();
        table.row([
            "t-1".into(),
            "a title that is long".into(),
            "why, in some words".into(),
        ]);
        assert_eq!(
            table.lines(&narrow(30)),
            ["t-1  a title that is long", "       why, in some words"]
        );
    }

    #[test]
    fn what_is_written_in_parts_is_laid_out_as_the_whole() {
        let narrow = |columns| Terminal {
            is: true,
            columns: Some(columns),
            ..PIPE
        };
        let rows = [
            ["1", "", "short"],
            ["23", "in_progress", "one two three four five six seven"],
        ];
        let new = || {
            Table::new(&["SEQUENCE", "STATE", "EMPTY", "WHAT"], &[0])
                .giving_way(&[1])
                .wrapped()
        };
        let cells = |[seq, state, what]: [&str; 3]| [seq.into(), state.into(), Cell::default(), what.into()];
        for terminal in [PIPE, narrow(60), narrow(36), narrow(24)] {
            let (mut whole, mut parts, mut lines) = (new(), new(), Vec::new());
            rows.iter().for_each(|row| parts.measure(&cells(*row)));
            for row in rows {
                for table in [&mut whole, &mut parts] {
                    table.row(cells(row));
                    table.below(3, "because of something", Style::Dim);
                }
                lines.extend(parts.lines(&terminal));
                parts.go_on();
            }
            assert_eq!(lines, whole.lines(&terminal));
        }
    }

    #[test]
    fn a_terminal_cuts_and_colours_and_a_pipe_does_not() {
        let narrow = Terminal {
            is: true,
            colour: true,
            columns: Some(16),
            lines: 24,
            is_fixed: false,
        };
        let lines = table().lines(&narrow);
        assert_eq!(lines[1], "ü      7  a lon…");
        assert_eq!(
            lines[0],
            "\u{1b}[2mA\u{1b}[0m      \u{1b}[2mN\u{1b}[0m  \u{1b}[2mTITLE\u{1b}[0m"
        );
    }
}
