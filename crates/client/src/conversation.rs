//! The conversation of a step, for people: the entries of its transcript as lines.
//!
//! Every frontend shows these lines; it only wraps and colours them. What a tool returned is folded into a
//! few words, and each line says whether it is shown folded, unfolded, or in both cases.

mod calls;
mod file;
#[cfg(test)]
mod tests;
mod window;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use harness::entry::{Content, Entry, Excerpt, Field};
use model::Time;
use model::view::{self, dollars, span, tokens};
use text::sanitise;

use self::calls::Answered;
use crate::disk_use;
pub use file::{Reading, last_line, line_start};
pub use window::{Begin, Placed, Placing, Window, window};

/// The lines of a failed tool's result that are shown folded.
const FAILED: usize = 6;
/// The most columns of a result that is shown beside its tool.
const SHORT: usize = 60;
/// The most columns of a line that is shown folded for several.
const FIRST: usize = 100;
/// The most uses of tools that are remembered.
const TOOLS: usize = 1_000;
/// The most columns of a line of text that is shown whole while results are folded.
const LONG: usize = 1_000;
/// The columns by which a subagent's lines are indented.
const INDENT: usize = 4;

/// A line of a conversation, sanitised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The time that the client states.
    pub at: Option<Time>,
    /// The columns by which it is indented.
    pub indent: usize,
    /// The role of the line, which decides its style. The text shows it too.
    pub look: Look,
    /// When it is shown.
    pub shown: Shown,
    /// Whether it continues the line before it, if that was shown last.
    pub joins: bool,
    /// The text.
    pub text: String,
}

/// The role of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The agent's text, or a program's.
    Text,
    /// The agent's thoughts.
    Thought,
    /// A line for crew.
    Signal,
    /// A tool that is used.
    Tool,
    /// The end of a tool that worked.
    Worked,
    /// A failure.
    Failed,
    /// What a tool got or returned.
    Output,
    /// Something about the output.
    Note,
    /// Something that goes wrong and may pass.
    Trouble,
}

/// When a line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Always.
    Always,
    /// While results are folded.
    Folded,
    /// While results are unfolded.
    Unfolded,
}

/// The lines that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Those that are shown while results are folded.
    Folded,
    /// Those that are shown while results are unfolded.
    Unfolded,
    /// All.
    Both,
}

impl Detail {
    fn wants(self, shown: Shown) -> bool {
        match (self, shown) {
            (Self::Both, _) | (_, Shown::Always) => true,
            (Self::Folded, shown) => shown == Shown::Folded,
            (Self::Unfolded, shown) => shown == Shown::Unfolded,
        }
    }
}

/// Makes lines of entries. It remembers which tools are used, in bounded memory.
#[derive(Debug, Default)]
pub struct Conversation {
    /// The uses of tools, by id: the words for the tool, and the depth of a subagent that it started.
    tools: BTreeMap<String, (String, usize)>,
    /// Their ids, the oldest first.
    order: VecDeque<String>,
    /// The tool whose start is the last entry.
    begun: Option<String>,
    /// The subagent of the last entry.
    parent: Option<String>,
    /// The words of the step that do not count.
    uncounted: Uncounted,
}

/// The words of a step that do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uncounted {
    /// The tool by which the step has stated its result, beside which no word does.
    result: Option<String>,
    /// Those that were refused.
    refused: Vec<view::Uncounted>,
}

impl Uncounted {
    /// With the words that were refused.
    pub fn refused(refused: Vec<view::Uncounted>) -> Self {
        Self {
            result: None,
            refused,
        }
    }

    /// Why a line for crew does not count; none where it does.
    fn why(&self, line: &str, states_result: bool) -> Option<String> {
        let is_beside =
            |tool: &&String| states_result || tool.as_str() == "submit_work" && line.starts_with("SUMMARY: ");
        let result = self.result.as_ref().filter(is_beside);
        let stands = result.map(|tool| format!("the call {tool} stands"));
        stands.or_else(|| {
            let mut refused = self.refused.iter();
            let refused = refused.find(|refused| line.starts_with(refused.word.as_str()))?;
            Some(refused.why.clone())
        })
    }
}

/// The place of an entry's lines.
struct Place<'e> {
    at: Option<Time>,
    /// Whether the time stands at a line that is shown folded, and at one that is shown unfolded: it stands
    /// once, at the first line.
    timed: (bool, bool),
    indent: usize,
    each: &'e mut dyn FnMut(Line),
}

impl Conversation {
    /// Calls `each` for each line of the next entry.
    pub fn read(&mut self, entry: Entry, each: &mut dyn FnMut(Line)) {
        let Entry {
            at_ms,
            parent,
            content,
        } = entry;
        let depth = self.depth(parent.as_deref());
        let mut place = Place {
            at: at_ms.map(Time),
            timed: (false, false),
            indent: depth * INDENT,
            each,
        };
        let begun = self.begun.take();
        if parent != self.parent {
            // Several subagents may speak in turn; the first line after its start needs no name.
            if let Some(id) = parent.as_ref().filter(|id| begun.as_ref() != Some(*id))
                && let Some((tool, _)) = self.tools.get(id)
            {
                place.line(Look::Note, &format!("({tool})"));
            }
            self.parent = parent;
        }
        self.content(content, depth, begun.as_deref(), &mut place);
    }

    fn content(&mut self, content: Content, depth: usize, begun: Option<&str>, place: &mut Place<'_>) {
        match content {
            Content::Started { session } => {
                place.put(Look::Note, Shown::Unfolded, 0, &format!("session {session}"));
            }
            Content::Text { text } => place.excerpt(Look::Text, Shown::Always, 0, &text),
            Content::Thinking { text } => {
                let first = text.head.lines().find(|line| !line.trim().is_empty());
                let first = sanitise::fit(first.unwrap_or_default().trim(), FIRST);
                let more = if text.lines > 1 { " …" } else { "" };
                place.put(Look::Thought, Shown::Folded, 0, &format!("~ {first}{more}"));
                place.thought(&text);
            }
            Content::Signal { text, states_result } => {
                let text = text.replace('\n', " ");
                match self.uncounted.why(&text, states_result) {
                    None => place.line(Look::Signal, &format!("» {text}")),
                    Some(why) => place.line(Look::Failed, &format!("✗ does not count: {text} ({why})")),
                }
            }
            Content::Unusable { text } => place.line(Look::Failed, &format!("✗ not used: {text}")),
            Content::ToolStart {
                id,
                tool,
                of_crew: _,
                target,
                arguments,
            } => {
                let words = tool_words(&tool, &target);
                place.line(Look::Tool, &format!("> {words}"));
                for field in arguments {
                    place.field(&field, &target);
                }
                self.remember(id.clone(), sanitise::fit(&words, SHORT), depth + 1);
                self.begun = Some(id);
            }
            Content::ToolEnd {
                id,
                tool,
                ok,
                result,
                took_ms,
            } => {
                let words = end_words(ok, &result, took_ms);
                let look = if ok { Look::Worked } else { Look::Failed };
                if begun == Some(id.as_str()) {
                    place.join(look, &words);
                } else {
                    let known = self.tools.get(&id).map(|(tool, _)| tool.as_str());
                    let tool = known.or(tool.as_deref()).unwrap_or("a tool");
                    place.line(look, &format!("< {tool} … {words}"));
                }
                if !ok {
                    place.end_of(&result);
                }
                place.excerpt(Look::Output, Shown::Unfolded, INDENT, &result);
            }
            Content::Usage(usage) => {
                let cost = match usage.cost_micro_usd {
                    0 => String::new(),
                    1..5_000 => ", <$0.01".to_owned(),
                    micro => format!(", {}", dollars(micro)),
                };
                let (input, output) = (tokens(usage.input_tokens), tokens(usage.output_tokens));
                place.line(Look::Note, &format!("= {input} tokens in, {output} out{cost}"));
            }
            Content::Retrying { why, delay_ms } => {
                let again = delay_ms.map_or_else(String::new, |millis| {
                    format!("; again in {}.{} s", millis / 1_000, millis % 1_000 / 100)
                });
                place.line(Look::Trouble, &format!("… {why}{again}"));
            }
            Content::Denied { what } => place.line(Look::Failed, &format!("! not permitted: {what}")),
            Content::Note { text } => place.line(Look::Trouble, &format!("! {text}")),
            Content::Finished { ok: true, .. } => {}
            Content::Finished { ok: false, text } => {
                let text = if text.is_empty() { "it failed" } else { &text };
                place.line(Look::Failed, &format!("! {}", text.replace('\n', " ")));
            }
        }
    }

    /// Calls `each` for each line of a call of crew's tools, with its answer.
    fn call(&mut self, call: &Answered, each: &mut dyn FnMut(Line)) {
        self.begun = None;
        let mut place = Place {
            at: call.at,
            timed: (false, false),
            indent: 0,
            each,
        };
        let tool = format!("crew {}", call.tool);
        place.line(Look::Tool, &format!("> {}", tool_words(&tool, &call.target)));
        for field in &call.arguments {
            place.field(field, &call.target);
        }
        let says = call.says.trim();
        if call.is_taken {
            place.join(Look::Worked, "taken");
            place.lines(Look::Output, Shown::Unfolded, INDENT, says);
        } else {
            let why = sanitise::fit(&sanitise::line(says), 4 * FIRST);
            place.join(Look::Failed, &format!("refused: {why}"));
        }
    }

    /// The depth of an entry: 0 of the agent itself, 1 of a subagent that it started.
    fn depth(&self, parent: Option<&str>) -> usize {
        parent.map_or(0, |id| self.tools.get(id).map_or(1, |(_, depth)| *depth))
    }

    fn remember(&mut self, id: String, words: String, depth: usize) {
        if self.tools.insert(id.clone(), (words, depth)).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > TOOLS
            && let Some(oldest) = self.order.pop_front()
        {
            self.tools.remove(&oldest);
        }
    }
}

impl Place<'_> {
    fn line(&mut self, look: Look, text: &str) {
        self.put(look, Shown::Always, 0, text);
    }

    fn put(&mut self, look: Look, shown: Shown, indent: usize, text: &str) {
        self.push(look, shown, indent, false, text);
    }

    /// A line that continues the one before it.
    fn join(&mut self, look: Look, text: &str) {
        self.push(look, Shown::Always, 0, true, text);
    }

    fn push(&mut self, look: Look, shown: Shown, indent: usize, joins: bool, text: &str) {
        let (folded, unfolded) = (shown != Shown::Unfolded, shown != Shown::Folded);
        let is_first = folded && !self.timed.0 || unfolded && !self.timed.1;
        self.timed = (self.timed.0 || folded, self.timed.1 || unfolded);
        (self.each)(Line {
            at: self.at.filter(|_| is_first),
            indent: self.indent + indent,
            look,
            shown,
            joins,
            text: text.to_owned(),
        });
    }

    fn excerpt(&mut self, look: Look, shown: Shown, indent: usize, text: &Excerpt) {
        self.lines(look, shown, indent, &text.head);
        if text.left_out > 0 {
            let left_out = format!("… {} left out …", disk_use::in_words(text.left_out));
            self.put(Look::Note, shown, indent, &left_out);
        }
        self.lines(look, shown, indent, &text.tail);
    }

    fn lines(&mut self, look: Look, shown: Shown, indent: usize, text: &str) {
        for line in text.lines() {
            if shown == Shown::Always && line.len() > LONG {
                self.put(look, Shown::Folded, indent, &sanitise::fit(line, LONG));
                self.put(look, Shown::Unfolded, indent, line);
            } else {
                self.put(look, shown, indent, line);
            }
        }
    }

    /// The thoughts of an agent, unfolded.
    fn thought(&mut self, text: &Excerpt) {
        for (nth, line) in text.head.lines().chain(text.tail.lines()).enumerate() {
            let mark = if nth == 0 { "~" } else { " " };
            self.put(Look::Thought, Shown::Unfolded, 0, &format!("{mark} {line}"));
        }
    }

    /// The last lines of a result that failed, while it is folded.
    fn end_of(&mut self, result: &Excerpt) {
        let all = result.head.lines().chain(result.tail.lines());
        let all: Vec<&str> = all.filter(|line| !line.trim().is_empty()).collect();
        if all.len() == 1 && is_short(all[0]) {
            return;
        }
        for line in &all[all.len().saturating_sub(FAILED)..] {
            self.put(
                Look::Output,
                Shown::Folded,
                INDENT,
                &sanitise::fit(line, 4 * FIRST),
            );
        }
    }

    /// A field of a tool's input, unless the line of the tool has it whole.
    fn field(&mut self, field: &Field, target: &str) {
        let Field {
            name,
            value,
            left_out,
        } = field;
        if value == target && *left_out == 0 {
            return;
        }
        if value.trim_end().contains('\n') {
            self.put(Look::Output, Shown::Unfolded, INDENT, &format!("{name}:"));
            for line in value.lines() {
                self.put(Look::Output, Shown::Unfolded, 2 * INDENT, line);
            }
        } else {
            let line = format!("{name}: {}", value.trim_end());
            self.put(Look::Output, Shown::Unfolded, INDENT, &line);
        }
        if *left_out > 0 {
            let left_out = format!("… {} left out", disk_use::in_words(*left_out as u64));
            self.put(Look::Note, Shown::Unfolded, 2 * INDENT, &left_out);
        }
    }
}

/// A tool with what people recognise its use by.
fn tool_words(tool: &str, target: &str) -> String {
    match target.is_empty() {
        true => tool.to_owned(),
        false => format!("{tool}: {target}"),
    }
}

/// The end of a tool's use in a few words.
fn end_words(ok: bool, result: &Excerpt, took_ms: Option<u64>) -> String {
    let mut words = if ok { "ok" } else { "failed" }.to_owned();
    if let Some(took) = took_ms.filter(|took| *took >= 1_000) {
        words.push_str(&format!(" after {}", span(Duration::from_millis(took))));
    }
    let only = result.head.trim();
    match result.lines {
        0 if result.left_out > 0 => words.push_str(", more than can be shown"),
        0 => {}
        1 if result.left_out == 0 && is_short(only) => words.push_str(&format!(": {only}")),
        1 => words.push_str(", 1 line"),
        lines => words.push_str(&format!(", {lines} lines")),
    }
    words
}

fn is_short(line: &str) -> bool {
    sanitise::fit(line, SHORT) == line
}
