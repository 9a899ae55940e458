//! Standard output: sanitised, coloured where a person looks, quiet when nobody reads any more.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufWriter, Stdout, Write};
use std::marker::PhantomData;

use crate::error::{Error, Result};
use crate::ui::{Cell, Table, wrap_line};
use client::documents::{Document, Line, Listed};
use client::error::Doing as _;

/// How a piece of text looks, where colours are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    /// As it is.
    #[default]
    Plain,
    /// Beside the point.
    Dim,
    /// A heading.
    Bold,
    /// Good.
    Green,
    /// Waiting.
    Yellow,
    /// Wrong.
    Red,
    /// At work.
    Cyan,
    /// Blanks that must be seen, on a red ground.
    Blanks,
}

impl Style {
    fn code(self) -> Option<&'static str> {
        match self {
            Style::Plain => None,
            Style::Dim => Some("2"),
            Style::Bold => Some("1"),
            Style::Green => Some("32"),
            Style::Yellow => Some("33"),
            Style::Red => Some("31"),
            Style::Cyan => Some("36"),
            Style::Blanks => Some("41"),
        }
    }
}

/// The known facts of the terminal that a stream goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// Whether it is one.
    pub(crate) is: bool,
    /// Whether colours are wanted.
    pub(crate) colour: bool,
    /// Its columns; none where nothing needs to be cut.
    pub(crate) columns: Option<usize>,
    /// Its lines.
    pub(crate) lines: usize,
    /// Whether a person fixed the columns (`COLUMNS`).
    pub(crate) is_fixed: bool,
}

impl Terminal {
    /// Of a stream.
    pub(crate) fn of(
        stream: &(impl std::os::fd::AsFd + io::IsTerminal),
        env: &BTreeMap<String, String>,
    ) -> Self {
        let set = |name: &str| {
            env.get(name)
                .map(String::as_str)
                .filter(|value| !value.is_empty())
        };
        let is = stream.is_terminal();
        let size = rustix::termios::tcgetwinsize(stream)
            .ok()
            .filter(|size| size.ws_col > 0);
        let fixed = set("COLUMNS")
            .and_then(|text| text.parse().ok())
            .filter(|columns| *columns >= 20);
        let columns = fixed.or(size.map(|size| usize::from(size.ws_col)));
        Self {
            is,
            colour: is && set("NO_COLOR").is_none() && set("TERM") != Some("dumb"),
            is_fixed: fixed.is_some(),
            columns: is.then(|| columns.unwrap_or(80)),
            lines: size.map_or(24, |size| usize::from(size.ws_row).max(4)),
        }
    }

    /// Sanitised text in a style.
    pub(crate) fn paint(&self, text: &str, style: Style) -> String {
        match style.code().filter(|_| self.colour && !text.is_empty()) {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => text.to_owned(),
        }
    }
}

/// Standard output.
#[derive(Debug)]
pub(crate) struct Out {
    stream: BufWriter<Stdout>,
    /// Nobody reads it any more, and that is no reason to end.
    muted: bool,
    /// What is kept back for a pager.
    held: Option<Vec<u8>>,
    /// Where it goes.
    pub(crate) terminal: Terminal,
}

impl Out {
    /// Standard output, by the environment's wishes.
    pub(crate) fn new(env: &BTreeMap<String, String>) -> Self {
        let stdout = io::stdout();
        let terminal = Terminal::of(&stdout, env);
        Self {
            stream: BufWriter::with_capacity(1 << 16, stdout),
            muted: false,
            held: None,
            terminal,
        }
    }

    /// Looks at the terminal's size again: people resize it.
    pub(crate) fn measure(&mut self) {
        if let Ok(size) = rustix::termios::tcgetwinsize(self.stream.get_ref())
            && self.terminal.is
            && !self.terminal.is_fixed
            && size.ws_col > 0
        {
            self.terminal.columns = Some(usize::from(size.ws_col));
            self.terminal.lines = usize::from(size.ws_row).max(4);
        }
    }

    /// A line of text, sanitised.
    pub(crate) fn line(&mut self, text: &str) -> Result<()> {
        self.styled(text, Style::Plain)
    }

    /// A line of text in a style, sanitised. Spaces at its beginning stay.
    pub(crate) fn styled(&mut self, text: &str, style: Style) -> Result<()> {
        let indent = text.len() - text.trim_start_matches(' ').len();
        let clean = text::sanitise::line(text);
        let painted = self.terminal.paint(&clean, style);
        self.write(&format!("{}{painted}\n", &text[..indent]))
    }

    /// A line of text in a style, sanitised; where the line is wider than the terminal it goes on below, at
    /// the column `hang`.
    pub(crate) fn wrapped(&mut self, text: &str, hang: usize, style: Style) -> Result<()> {
        for line in wrap_line(text, self.terminal.columns, hang) {
            self.write(&format!("{}\n", self.terminal.paint(&line, style)))?;
        }
        Ok(())
    }

    /// Asks for yes or no on the terminal. A bare return is `usual`; the end of the input is no.
    pub(crate) fn confirm(&mut self, question: &str, usual: bool) -> Result<bool> {
        self.write(question)?;
        self.flush()?;
        let mut answer = String::new();
        io::stdin()
            .lock()
            .read_line(&mut answer)
            .doing("read", "the answer")?;
        Ok(match answer.trim().to_ascii_lowercase().as_str() {
            _ if answer.is_empty() => false,
            "" => usual,
            answer => matches!(answer, "y" | "yes"),
        })
    }

    /// Several lines of untrusted text, sanitised.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        let clean = text::sanitise::text(text);
        self.write(&clean)
    }

    /// A table.
    pub(crate) fn table(&mut self, table: &Table) -> Result<()> {
        let lines = table.lines(&self.terminal);
        for line in lines {
            self.write(&format!("{line}\n"))?;
        }
        Ok(())
    }

    /// A table of a great many rows, which are made twice: each is measured, then each is written.
    pub(crate) fn long_table<R>(&mut self, mut table: Table, rows: R) -> Result<()>
    where
        R: Iterator<Item = Vec<Cell>> + Clone,
    {
        rows.clone().for_each(|cells| table.measure(&cells));
        for cells in rows {
            table.row(cells);
            self.part(&mut table)?;
        }
        Ok(())
    }

    /// Writes the beginning of a table whose rows were all measured. More rows are to come, and those written
    /// are no longer held.
    pub(crate) fn part(&mut self, table: &mut Table) -> Result<()> {
        self.table(table)?;
        table.go_on();
        Ok(())
    }

    /// A JSON document, indented.
    pub(crate) fn json(&mut self, document: &impl Document) -> Result<()> {
        serde_json::to_writer_pretty(Plain(self), document).map_err(|error| output(error.into()))?;
        self.write("\n")
    }

    /// A JSON document, indented, whose entries are written one by one.
    pub(crate) fn json_list<D: Listed>(&mut self, document: &D) -> Result<List<'_, D>> {
        let json = serde_json::to_string_pretty(document).map_err(|error| Error::Output(error.into()))?;
        self.write(begun(&plain_json(&json)))?;
        Ok(List {
            out: self,
            is_empty: true,
            of: PhantomData,
        })
    }

    /// A JSON document on one line.
    pub(crate) fn json_line(&mut self, line: &impl Line) -> Result<()> {
        serde_json::to_writer(Plain(self), line).map_err(|error| output(error.into()))?;
        self.write("\n")
    }

    /// Text that crew made itself, or that is wanted raw.
    pub(crate) fn write(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())
    }

    /// From now on nothing is printed: nobody reads it.
    pub(crate) fn mute(&mut self) {
        self.muted = true;
    }

    /// Bytes that are wanted raw.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if self.muted {
            return Ok(());
        }
        match &mut self.held {
            Some(held) => held.extend_from_slice(bytes),
            None => self.stream.write_all(bytes).map_err(output)?,
        }
        Ok(())
    }

    /// From now on what is printed for a person at a terminal is kept back: a pager may get the whole.
    pub(crate) fn hold(&mut self) {
        if self.terminal.is {
            self.held = Some(Vec::new());
        }
    }

    /// What was kept back; from now on nothing is any more.
    pub(crate) fn held(&mut self) -> Option<String> {
        let held = self.held.take()?;
        Some(String::from_utf8_lossy(&held).into_owned())
    }

    /// Gives everything to whoever reads it.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.muted {
            return Ok(());
        }
        self.stream.flush().map_err(output)
    }
}

/// A document that is being written, as far as the list that it ends with.
#[must_use = "the document has an end"]
pub(crate) struct List<'a, D> {
    out: &'a mut Out,
    is_empty: bool,
    of: PhantomData<D>,
}

impl<D: Listed> List<'_, D> {
    /// The next entry.
    pub(crate) fn entry(&mut self, entry: &D::Entry) -> Result<()> {
        let json = serde_json::to_string_pretty(entry).map_err(|error| Error::Output(error.into()))?;
        let is_first = std::mem::take(&mut self.is_empty);
        self.out.write(&next(&plain_json(&json), is_first))
    }

    /// The end of the document.
    pub(crate) fn end(self) -> Result<()> {
        self.out.write(ended(self.is_empty))
    }
}

/// A document with an empty list at its end, as far as that list.
fn begun(json: &str) -> &str {
    json.strip_suffix("]\n}").unwrap_or(json)
}

/// One more entry of the list.
fn next(json: &str, is_first: bool) -> String {
    let comma = if is_first { "" } else { "," };
    format!("{comma}\n{json}").replace('\n', "\n    ")
}

/// The text behind the last entry.
fn ended(is_empty: bool) -> &'static str {
    if is_empty { "]\n}\n" } else { "\n  ]\n}\n" }
}

/// Standard output, for JSON as serde_json writes it: whole characters at a time.
struct Plain<'a>(&'a mut Out);

impl Write for Plain<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(json).map_err(io::Error::other)?;
        if !self.0.muted {
            self.0.stream.write_all(plain_json(text).as_bytes())?;
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn output(error: io::Error) -> Error {
    // A terminal that was closed says EIO.
    let is_gone = error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
    if is_gone || error.kind() == io::ErrorKind::BrokenPipe {
        Error::Closed
    } else {
        Error::Output(error)
    }
}

/// JSON that does a terminal no harm either: characters that hide or reorder text are written as escapes,
/// which mean the same.
fn plain_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        // Controls are escapes already, but for the ends of its lines.
        if character != '\n' && text::hides(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{begun, ended, next, plain_json};

    #[test]
    fn a_list_that_is_written_entry_by_entry_is_the_document_that_has_them_all() {
        let pretty = |value: &serde_json::Value| serde_json::to_string_pretty(value).unwrap();
        let empty = pretty(&json!({ "of": "t-1", "zone": [] }));
        let entries = [
            json!({ "a": [1, 2], "b": {}, "c": [] }),
            json!({ "d": "line\nline" }),
        ];
        for n in 0..=entries.len() {
            let mut text = begun(&empty).to_owned();
            for (nth, entry) in entries[..n].iter().enumerate() {
                text += &next(&pretty(entry), nth == 0);
            }
            text += ended(n == 0);
            let whole = pretty(&json!({ "of": "t-1", "zone": &entries[..n] }));
            assert_eq!(text, format!("{whole}\n"));
        }
    }

    #[test]
    fn json_hides_nothing_and_says_the_same() {
        let value = serde_json::json!({ "title": "a\u{202e}b\u{9b}31m\u{e0041}ü\u{1b}[2J" });
        let text = plain_json(&value.to_string());
        assert_eq!(text, r#"{"title":"a\u202eb\u009b31m\udb40\udc41ü\u001b[2J"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
