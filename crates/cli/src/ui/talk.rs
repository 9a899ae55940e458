//! A conversation, printed as it goes on.

use client::clock::local_time;
use client::conversation::{Line, Look};

use crate::error::Result;
use crate::ui::{Out, Style, wrap_line};

/// The columns of a time and the gap behind it.
const TIME: usize = 10;

/// Prints the lines of a conversation. The line of a tool waits for its end, which may stand beside it.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    waits: Option<Line>,
    /// Whether the client states times. They have a column then.
    has_times: bool,
}

impl Talk {
    /// `has_times`: whether times have a column from the first line on.
    pub(crate) fn new(has_times: bool) -> Self {
        Self {
            waits: None,
            has_times,
        }
    }

    /// Prints the next line, or has it wait.
    pub(crate) fn line(&mut self, out: &mut Out, line: Line) -> Result<()> {
        self.has_times |= line.at.is_some();
        if line.joins {
            let waits = self.waits.take();
            return match waits {
                Some(start) => self.joined(out, &start, &line),
                None => self.put(
                    out,
                    &Line {
                        indent: line.indent + 2,
                        text: format!("… {}", line.text),
                        ..line
                    },
                ),
            };
        }
        self.release(out)?;
        match line.look {
            Look::Tool => self.waits = Some(line),
            Look::Text
            | Look::Thought
            | Look::Signal
            | Look::Worked
            | Look::Failed
            | Look::Output
            | Look::Note
            | Look::Trouble => self.put(out, &line)?,
        }
        Ok(())
    }

    /// Prints what waits.
    pub(crate) fn release(&mut self, out: &mut Out) -> Result<()> {
        match self.waits.take() {
            Some(line) => self.put(out, &line),
            None => Ok(()),
        }
    }

    /// Prints a tool with its end beside it, which has a style of its own where both fit into one line.
    fn joined(&self, out: &mut Out, start: &Line, end: &Line) -> Result<()> {
        let text = format!("{} … {}", start.text, end.text);
        let lines = self.wrapped(out, start, &text);
        let last = lines.len() - 1;
        for (at, line) in lines.iter().enumerate() {
            let painted = match line.rsplit_once(&end.text) {
                Some((begin, "")) if at == last => {
                    let begin = out.terminal.paint(begin, style(start.look));
                    begin + &out.terminal.paint(&end.text, style(end.look))
                }
                _ => out.terminal.paint(line, style(start.look)),
            };
            self.write(out, at, start, &painted)?;
        }
        Ok(())
    }

    fn put(&self, out: &mut Out, line: &Line) -> Result<()> {
        for (at, text) in self.wrapped(out, line, &line.text).iter().enumerate() {
            let painted = out.terminal.paint(text, style(line.look));
            self.write(out, at, line, &painted)?;
        }
        Ok(())
    }

    /// The text in lines that fit beside the column of times, indented as the line is.
    fn wrapped(&self, out: &Out, line: &Line, text: &str) -> Vec<String> {
        let room = out
            .terminal
            .columns
            .map(|columns| columns.saturating_sub(self.lead()));
        let hang = match line.look {
            // Prose goes on where it began, and code as well.
            Look::Text | Look::Thought => text.len() - text.trim_start_matches(' ').len(),
            Look::Signal
            | Look::Tool
            | Look::Worked
            | Look::Failed
            | Look::Output
            | Look::Note
            | Look::Trouble => 2,
        };
        wrap_line(
            &format!("{}{text}", " ".repeat(line.indent)),
            room,
            line.indent + hang,
        )
    }

    fn lead(&self) -> usize {
        if self.has_times { TIME } else { 0 }
    }

    fn write(&self, out: &mut Out, nth: usize, line: &Line, painted: &str) -> Result<()> {
        let time = match line.at.filter(|_| nth == 0) {
            Some(at) => local_time(at),
            None => String::new(),
        };
        let blank = " ".repeat(self.lead().saturating_sub(time.len()));
        let time = out.terminal.paint(&time, Style::Dim);
        let line = format!("{time}{blank}{painted}");
        out.write(&format!("{}\n", line.trim_end_matches(' ')))
    }
}

fn style(look: Look) -> Style {
    match look {
        Look::Text => Style::Plain,
        Look::Thought | Look::Output | Look::Note => Style::Dim,
        Look::Signal => Style::Bold,
        Look::Tool => Style::Cyan,
        Look::Worked => Style::Green,
        Look::Failed => Style::Red,
        Look::Trouble => Style::Yellow,
    }
}
