//! Standard output: sanitised, coloured where a person looks, quiet when nobody reads any more.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufWriter, Stdout, Write as _};

use crate::documents::{Document, Line};
use crate::error::{Doing as _, Error, Result};
use crate::ui::{Table, wrap_line};

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
        }
    }
}

/// What is known of the terminal that a stream goes to.
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
        let clean = harness::sanitise::line(text);
        let painted = self.terminal.paint(&clean, style);
        self.write(&format!("{}{painted}\n", &text[..indent]))
    }

    /// A line of text in a style, sanitised; where it is wider than the terminal it goes on below, at the column `hang`.
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
        let clean = harness::sanitise::text(text);
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

    /// A JSON document, indented.
    pub(crate) fn json(&mut self, document: &impl Document) -> Result<()> {
        self.serialized(serde_json::to_string_pretty(document))
    }

    /// A JSON document on one line.
    pub(crate) fn json_line(&mut self, line: &impl Line) -> Result<()> {
        self.serialized(serde_json::to_string(line))
    }

    fn serialized(&mut self, json: serde_json::Result<String>) -> Result<()> {
        let json = json.map_err(|error| Error::Output(error.into()))?;
        self.write(&format!("{}\n", plain_json(&json)))
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
        self.stream.write_all(bytes).map_err(output)
    }

    /// Gives everything to whoever reads it.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.muted {
            return Ok(());
        }
        self.stream.flush().map_err(output)
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

/// JSON that does a terminal no harm either: what hides or reorders is written as escapes, which say the same.
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
    use super::plain_json;

    #[test]
    fn json_hides_nothing_and_says_the_same() {
        let value = serde_json::json!({ "title": "a\u{202e}b\u{9b}31m\u{e0041}ü\u{1b}[2J" });
        let text = plain_json(&value.to_string());
        assert_eq!(text, r#"{"title":"a\u202eb\u009b31m\udb40\udc41ü\u001b[2J"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
