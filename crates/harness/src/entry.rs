//! The entries of a transcript: what an agent said and did, for people.

use serde::{Deserialize, Serialize};
use text::sanitise;

use crate::usage::Usage;

/// The most bytes of one value of a tool's input that are kept.
pub(crate) const VALUE: usize = 4 << 10;
/// The most bytes that are kept from the beginning of a long text.
const HEAD: usize = 8 << 10;
/// The most bytes that are kept from the end of a long text.
const TAIL: usize = 24 << 10;

/// An entry of a transcript. All text is sanitised and of bounded length, fit to be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The time that the client states, in milliseconds since 1970.
    pub at_ms: Option<i64>,
    /// The id of the tool use that started the subagent whose entry this is; `None` for the agent itself.
    pub parent: Option<String>,
    /// What happened.
    pub content: Content,
}

/// What happened, according to one entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Content {
    /// The client began, or resumed, a session.
    Started {
        /// The session's id.
        session: String,
    },
    /// The agent, or a program, wrote a text.
    Text {
        /// The lines.
        text: Excerpt,
    },
    /// The agent thought.
    Thinking {
        /// The lines.
        text: Excerpt,
    },
    /// A line that the agent wrote for crew: `DONE`, `QUESTION: …`, a commitment.
    Signal {
        /// The line, or what it means where it is no text for people.
        text: String,
        /// Whether it states the result of the step, as `DONE` does and a verdict: such a line does not count
        /// beside a result that was stated by a call.
        states_result: bool,
    },
    /// A line that was meant for crew and does not count.
    Unusable {
        /// A message that quotes the line and says why.
        text: String,
    },
    /// The agent began to use a tool.
    ToolStart {
        /// The client's id for this use.
        id: String,
        /// The tool; of one of crew's, `crew` and its name.
        tool: String,
        /// The name of the tool, where it is one of crew's.
        of_crew: Option<String>,
        /// A command, a path, a pattern: what people recognise the use by. May be empty.
        target: String,
        /// The input of the tool.
        arguments: Vec<Field>,
    },
    /// The use of a tool ended.
    ToolEnd {
        /// The id of the use.
        id: String,
        /// The tool; `None` when its start was not read.
        tool: Option<String>,
        /// Whether the tool reported success.
        ok: bool,
        /// What it returned.
        result: Excerpt,
        /// Milliseconds from start to end, if the client states both times.
        took_ms: Option<u64>,
    },
    /// The usage of the turn that has ended, or that a program states.
    Usage(Usage),
    /// The service refused, and the client retries by itself.
    Retrying {
        /// The reason of the refusal.
        why: String,
        /// Milliseconds until the retry, if the client states them.
        delay_ms: Option<u64>,
    },
    /// The client was not permitted to use a tool.
    Denied {
        /// The tool, and the message of the refusal.
        what: String,
    },
    /// Something that a person may want to know about the output itself.
    Note {
        /// A message.
        text: String,
    },
    /// The client ended its turn.
    Finished {
        /// Whether it reports success.
        ok: bool,
        /// The reason of a failure; empty otherwise.
        text: String,
    },
}

/// A field of a tool's input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// The beginning of its value; `…` for a value that is no text, number or truth value.
    pub value: String,
    /// The bytes of the value that were left out at its end.
    pub left_out: usize,
}

/// The beginning and the end of a text, of at most 32 KiB together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The beginning; the whole text where nothing was left out.
    pub head: String,
    /// The end, after what was left out.
    pub tail: String,
    /// The bytes of the text between them.
    pub left_out: u64,
    /// The number of lines of the whole text.
    pub lines: u64,
}

impl Field {
    /// The field, fit to be shown.
    pub(crate) fn sanitised(self) -> Self {
        Self {
            name: sanitise::fit(&sanitise::line(&self.name), 60),
            value: sanitise::text(&self.value),
            left_out: self.left_out,
        }
    }
}

impl Excerpt {
    /// Of a whole text, which is kept as it is.
    pub(crate) fn of(text: &str) -> Self {
        Self::made(text, str::to_owned)
    }

    /// Of a whole text, fit to be shown.
    pub(crate) fn shown(text: &str) -> Self {
        Self::made(text, sanitise::text)
    }

    /// Of one line, which may be empty.
    pub(crate) fn one_line(line: String) -> Self {
        Self {
            head: line + "\n",
            lines: 1,
            ..Self::default()
        }
    }

    fn made(text: &str, copy: fn(&str) -> String) -> Self {
        let lines = lines_of(text);
        if text.len() <= HEAD + TAIL {
            return Self {
                head: copy(text),
                lines,
                ..Self::default()
            };
        }
        let head = &text[..text.floor_char_boundary(HEAD)];
        let tail = &text[text.ceil_char_boundary(text.len() - TAIL)..];
        // Both parts are of whole lines where lines are not too long for that.
        let head = head.rfind('\n').map_or(head, |end| &head[..=end]);
        let tail = tail.find('\n').map_or(tail, |end| &tail[end + 1..]);
        Self {
            head: copy(head),
            tail: copy(tail),
            left_out: (text.len() - head.len() - tail.len()) as u64,
            lines,
        }
    }

    /// Adds a text that begins on a line of its own.
    pub(crate) fn push(&mut self, text: &str) {
        let added = Self::of(text);
        self.lines += added.lines;
        let end = match self.left_out {
            0 => &mut self.head,
            _ => &mut self.tail,
        };
        if end.len() + text.len() > HEAD + TAIL {
            self.left_out += text.len() as u64;
            return;
        }
        if !end.is_empty() && !end.ends_with('\n') {
            end.push('\n');
        }
        end.push_str(text);
    }

    /// The same, fit to be shown. Lines that overwrote themselves are as a terminal leaves them.
    pub(crate) fn sanitised(self) -> Self {
        let clean = |text: &str| match text.contains('\r') {
            true => text
                .lines()
                .map(|line| sanitise::indented_line(line) + "\n")
                .collect(),
            false => sanitise::text(text),
        };
        Self {
            head: clean(&self.head),
            tail: clean(&self.tail),
            ..self
        }
    }
}

/// The number of lines, of which the last need not be closed.
fn lines_of(text: &str) -> u64 {
    let closed = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
    closed + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_whole_lines_of_its_beginning_and_end() {
        let text: String = (0..10_000).map(|n| format!("line {n} ü\n")).collect();
        let excerpt = Excerpt::of(&text);
        assert_eq!(excerpt.lines, 10_000);
        assert!(excerpt.head.starts_with("line 0 ü\n") && excerpt.head.ends_with('\n'));
        assert!(excerpt.tail.starts_with("line ") && excerpt.tail.ends_with("line 9999 ü\n"));
        let kept = (excerpt.head.len() + excerpt.tail.len()) as u64;
        assert!(kept <= (HEAD + TAIL) as u64);
        assert_eq!(kept + excerpt.left_out, text.len() as u64);
    }

    #[test]
    fn a_line_too_long_keeps_its_ends_too() {
        let text = "ü".repeat(100_000);
        let excerpt = Excerpt::of(&text);
        assert_eq!(
            (excerpt.lines, excerpt.head.len(), excerpt.tail.len()),
            (1, HEAD, TAIL)
        );
        assert_eq!(excerpt.left_out as usize, text.len() - HEAD - TAIL);
    }

    #[test]
    fn parts_are_joined_by_lines_and_bounded() {
        let mut excerpt = Excerpt::of("one");
        excerpt.push("two\nthree");
        assert_eq!((excerpt.head.as_str(), excerpt.lines), ("one\ntwo\nthree", 3));
        for _ in 0..100 {
            excerpt.push(&"x".repeat(1_000));
        }
        assert!(excerpt.head.len() <= HEAD + TAIL && excerpt.left_out > 0);
        assert_eq!(excerpt.lines, 103);
    }
}
