//! The transcript of a run: its output as entries for people, whichever client printed it.

use std::collections::{BTreeMap, VecDeque};

use crate::entry::{Content, Entry, Excerpt};
use crate::kinds::KINDS;
use crate::lines::{Line, Lines};
use text::sanitise;

/// The bytes of a line that are kept: a tool's result is one line, and may stand in it twice.
const LINE: usize = 4 << 20;
/// The most uses of tools that are remembered until they end.
const TOOLS: usize = 256;

/// Reads the standard output of one run as it comes.
///
/// A line in the output format of one of the [`KINDS`] becomes the entries that it stands for, whichever
/// program printed it: a program that starts an agent client passes its stream on. The entries do not depend
/// on how the output is cut into pieces. Memory is bounded whatever is fed, and reading can begin at any
/// line: the end of a tool's use whose start was not read has no name.
#[derive(Debug)]
pub struct Transcript {
    is_of_agent: bool,
    lines: Lines,
    memory: Memory,
}

/// What is remembered of the lines before.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The working directory of the client.
    pub(crate) cwd: String,
    /// Whether the agent has replied in this turn.
    pub(crate) has_replied: bool,
    /// The uses of tools that have not ended: name and time of the start, by id.
    tools: BTreeMap<String, (String, Option<i64>)>,
    /// Their ids, the oldest first.
    order: VecDeque<String>,
}

impl Transcript {
    /// Of an agent's step.
    pub fn of_agent() -> Self {
        Self {
            is_of_agent: true,
            lines: Lines::with_limit(LINE),
            memory: Memory::default(),
        }
    }

    /// Of a program that is no agent, such as a check: all that it prints is text.
    pub fn of_program() -> Self {
        Self {
            is_of_agent: false,
            ..Self::of_agent()
        }
    }

    /// Takes the next bytes, and calls `each` for each entry in them, in order.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Entry)) {
        let (is_of_agent, memory) = (self.is_of_agent, &mut self.memory);
        self.lines
            .feed(bytes, |line| read(is_of_agent, memory, &line, &mut each));
    }

    /// Ends the output, and calls `each` for the entries of its last, unfinished line.
    pub fn end(&mut self, mut each: impl FnMut(Entry)) {
        let (is_of_agent, memory) = (self.is_of_agent, &mut self.memory);
        self.lines
            .finish(|line| read(is_of_agent, memory, &line, &mut each));
    }

    /// The text of the line that is not finished, sanitised; empty where it may become a document.
    pub fn open(&self) -> String {
        match self.lines.open() {
            [b'{', ..] if self.is_of_agent => String::new(),
            open => {
                let beginning = &open[..open.len().min(sanitise::EXCERPT)];
                sanitise::indented_line(&String::from_utf8_lossy(beginning))
            }
        }
    }
}

fn read(is_of_agent: bool, memory: &mut Memory, line: &Line<'_>, each: &mut dyn FnMut(Entry)) {
    let is_read = is_of_agent && KINDS.iter().any(|kind| (kind.entries)(memory, line, each));
    if !is_read {
        each(Entry::of_text(line));
    }
}

impl Entry {
    /// A line of plain text.
    pub(crate) fn of_text(line: &Line<'_>) -> Self {
        let source = String::from_utf8_lossy(line.bytes);
        // A line that overwrote itself is shown as a terminal leaves it, however often it did.
        let source = sanitise::shown(&source);
        let mut text = match source.len() <= sanitise::EXCERPT {
            true => Excerpt::one_line(sanitise::indented_line(source)),
            false => Excerpt::shown(source),
        };
        text.left_out += line.dropped;
        Content::Text { text }.into()
    }
}

impl From<Content> for Entry {
    fn from(content: Content) -> Self {
        Self {
            at_ms: None,
            parent: None,
            content,
        }
    }
}

impl Memory {
    /// A tool is used.
    pub(crate) fn start(&mut self, id: &str, tool: &str, at_ms: Option<i64>) {
        if self
            .tools
            .insert(id.to_owned(), (tool.to_owned(), at_ms))
            .is_none()
        {
            self.order.push_back(id.to_owned());
        }
        if self.order.len() > TOOLS
            && let Some(oldest) = self.order.pop_front()
        {
            self.tools.remove(&oldest);
        }
    }

    /// The use of a tool ended: the tool, and the time of its start.
    pub(crate) fn end(&mut self, id: &str) -> Option<(String, Option<i64>)> {
        let used = self.tools.remove(id)?;
        self.order.retain(|open| open != id);
        Some(used)
    }
}
