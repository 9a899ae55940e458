//! Columns for people.

use unicode_width::UnicodeWidthChar as _;

use crate::ui::out::{Style, Terminal};

/// A table: its last column takes what is left of the terminal's width.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    head: Vec<&'static str>,
    /// Columns whose content is set to the right.
    right: Vec<usize>,
    /// Columns that are left out where there is no room for all, the first one first.
    goes: Vec<usize>,
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
            text: format!("{}{}", &text[..indent], harness::sanitise::line(text)),
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

impl Table {
    /// With these headings.
    pub(crate) fn new(head: &[&'static str], right: &[usize]) -> Self {
        Self {
            head: head.to_vec(),
            right: right.to_vec(),
            goes: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Where the terminal is too narrow, these columns are left out, the first one first, until the others fit and the
    /// last one has some room.
    pub(crate) fn giving_way(mut self, columns: &[usize]) -> Self {
        columns.clone_into(&mut self.goes);
        self
    }

    /// Without headings.
    pub(crate) fn bare(columns: usize) -> Self {
        Self {
            head: vec![""; columns],
            right: Vec::new(),
            goes: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// One more row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(Row::Cells(cells.into_iter().collect()));
    }

    /// A line below the last row, under its n-th column.
    pub(crate) fn below(&mut self, column: usize, text: &str, style: Style) {
        self.rows.push(Row::Below(column, Cell::styled(text, style)));
    }

    /// Its lines, painted. A column that is empty everywhere is left out.
    pub(crate) fn lines(&self, terminal: &Terminal) -> Vec<String> {
        let mut widths = vec![0; self.head.len()];
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = (*width).max(columns(&cell.text));
                }
            }
        }
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
                    widths[*at].min(ROOM)
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
        let all = titled
            .then(|| self.line(&head, &shown, &widths, terminal))
            .into_iter();
        let rows = self.rows.iter().map(|row| match row {
            Row::Cells(cells) => self.line(cells, &shown, &widths, terminal),
            Row::Below(column, cell) => {
                let begin = begins(*column);
                match fit(&cell.text, begin, terminal) {
                    none if none.is_empty() => none,
                    fitted => format!("{}{}", " ".repeat(begin), terminal.paint(&fitted, cell.style)),
                }
            }
        });
        all.chain(rows).collect()
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
            let text = fit(&cell.text, used, terminal);
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

/// As much as fits behind `used` columns.
fn fit(text: &str, used: usize, terminal: &Terminal) -> String {
    match terminal.columns {
        Some(all) => harness::sanitise::fit(text, all.saturating_sub(used)),
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
