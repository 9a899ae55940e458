//! The acceptance criteria of a ticket's body: their text, the commitments among them, and what looks like
//! a commitment there and is none.
//!
//! The body is Markdown, and is read as such by a library: where an item ends, and what is code, is what
//! the author sees when it is shown.

mod item;

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use self::item::items;
use crate::clean::clean_line;
use crate::commitment::{Commitment, Run, one_line};
use crate::problem::ProblemKind;

/// The most problems that are told of one body.
const MOST_FAULTS: usize = 20;

/// The acceptance criteria of a body.
#[derive(Debug, Default)]
pub(crate) struct Criteria {
    /// Their text; none where they are missing or empty.
    pub(crate) text: Option<String>,
    /// The commitments among them, in the order of the text.
    pub(crate) commitments: Vec<Commitment>,
    /// What looks like a commitment and is not read, each with its line in the body, from 0.
    pub(crate) faults: Vec<(usize, ProblemKind)>,
}

/// Reads the acceptance criteria of a body.
pub(crate) fn read(body: &str) -> Criteria {
    // In a command that goes on over a line's end, the library makes two blanks of the two characters.
    let body = &*body.replace("\r\n", "\n");
    let events = events(body);
    let mut reader = Reader {
        body,
        open: None,
        is_near: false,
        is_titled: false,
        texts: Vec::new(),
        criteria: Criteria::default(),
    };
    let (mut at, mut depth) = (0, 0_usize);
    for (now, (event, _)) in events.iter().enumerate() {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            reader.block(&events[at..=now]);
            at = now + 1;
        }
    }
    reader.close(body.len());
    let mut criteria = reader.criteria;
    criteria.text = Some(reader.texts.join("\n\n")).filter(|text| !text.is_empty());
    criteria
}

/// Events of a body, each with its place there, in bytes.
type Events<'a> = [(Event<'a>, Range<usize>)];

/// The Markdown of a body, with places in it. A fence that is never closed is not a fence: it would hide
/// all that follows it.
fn events(body: &str) -> Vec<(Event<'_>, Range<usize>)> {
    let options = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_TABLES;
    let (mut found, mut from) = (Vec::new(), 0);
    loop {
        let parser = Parser::new_ext(&body[from..], options).into_offset_iter();
        found.extend(parser.map(|(event, at)| (event, at.start + from..at.end + from)));
        let Some((Event::End(TagEnd::CodeBlock), last)) = found.last() else {
            return found;
        };
        let last = last.clone();
        let begins = |(event, at): &(Event, Range<usize>)| {
            *at == last && matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))))
        };
        match found.iter().rposition(begins) {
            Some(start) if !is_closed(&body[last.clone()]) => {
                found.truncate(start);
                let line = body[last.clone()].find('\n').map_or(last.len(), |end| end + 1);
                from = last.start + line;
            }
            Some(_) | None => return found,
        }
    }
}

/// Whether the last line of a fenced block is a fence that closes the first.
fn is_closed(block: &str) -> bool {
    let mut lines = block.trim_end().lines();
    let (Some(first), Some(last)) = (lines.next(), lines.next_back()) else {
        return false;
    };
    let Some(mark) = first.chars().next() else {
        return false;
    };
    let width = first.chars().take_while(|c| *c == mark).count();
    let last = last.trim();
    last.chars().all(|c| c == mark) && last.len() >= width
}

/// The body, read block by block.
struct Reader<'a> {
    body: &'a str,
    /// The criteria at hand: the level of their heading, and where their text begins.
    open: Option<(HeadingLevel, usize)>,
    /// True below a heading that may be meant as theirs.
    is_near: bool,
    /// True below the title.
    is_titled: bool,
    texts: Vec<&'a str>,
    criteria: Criteria,
}

impl Reader<'_> {
    /// Reads a block that is not in another.
    fn block(&mut self, events: &Events<'_>) {
        let Some((first, place)) = events.first() else {
            return;
        };
        let (words, has_code) = words(events);
        match first {
            Event::Start(Tag::Heading { level, .. }) => {
                if *level == HeadingLevel::H1 && !std::mem::replace(&mut self.is_titled, true) {
                    self.close(place.start);
                    return;
                }
                let ends = |(open, _): (HeadingLevel, usize)| *level <= open || words == "notes";
                if self.open.is_some_and(ends) {
                    self.close(place.start);
                }
                if self.open.is_none() {
                    self.begin(*level, &words, place.end);
                }
            }
            // A line of its own, in bold or not, is as good as a heading.
            Event::Start(Tag::Paragraph) if self.open.is_none() && words.split(' ').count() <= 6 => {
                let was_near = self.is_near;
                let named = if has_code { "" } else { &words };
                self.begin(HeadingLevel::H6, named, place.end);
                self.is_near |= was_near || resembles(&words);
            }
            Event::Start(Tag::HtmlBlock) => {
                let html = &self.body[place.clone()];
                if html.starts_with("<!--") && !html.contains("-->") && html.contains("`$ ") {
                    self.fault(place.start, html, "its comment (`<!--`) is never closed");
                }
            }
            _ => {}
        }
        if self.open.is_some() {
            self.criterion(events);
        } else if self.is_near {
            for item in items(events).iter().filter(|item| item.has_command()) {
                self.fault(
                    item.at,
                    &item.shown(),
                    "it is not under a heading `Acceptance Criteria`",
                );
            }
        }
    }

    fn begin(&mut self, level: HeadingLevel, words: &str, end: usize) {
        if matches!(words, "acceptance criteria" | "acceptance") {
            self.open = Some((level, end));
        }
        self.is_near = self.open.is_none() && resembles(words);
    }

    fn close(&mut self, at: usize) {
        if let Some((_, start)) = self.open.take() {
            let text = self.body[start..at].trim();
            self.texts.extend(Some(text).filter(|text| !text.is_empty()));
        }
        self.is_near = false;
    }

    /// Reads a block of the criteria.
    fn criterion(&mut self, events: &Events<'_>) {
        for item in items(events) {
            for (at, line) in &item.unmarked {
                self.fault(*at, line, "no line of its code block begins with `$ `");
            }
            let why = if item.is_item {
                for nth in 0..item.spans().count() {
                    self.promise(item.says(Some(nth)), item.spans().nth(nth));
                }
                for run in &item.block {
                    self.promise(item.says(None), Some(run));
                }
                "a command stands in backticks, as `$ command` with a blank"
            } else {
                "it is in no item of a list"
            };
            if item.is_item && item.has_stray() || !item.is_item && (item.has_command() || item.has_stray()) {
                let says = item.shown();
                let text = one_line(&says);
                self.push_fault(item.at, ProblemKind::UnreadCommitment { text, why });
                self.promise(format!("a command that cannot be read: {says}"), None);
            }
        }
    }

    fn promise(&mut self, says: String, run: Option<&str>) {
        let says = match run {
            Some(run) if says.is_empty() => clean_line(run),
            Some(_) | None => says,
        };
        self.criteria.commitments.push(Commitment {
            says,
            run: run.map(|run| Run::Shell(run.to_owned())),
        });
    }

    fn fault(&mut self, at: usize, text: &str, why: &'static str) {
        let text = one_line(text);
        self.push_fault(at, ProblemKind::NoCommitment { text, why });
    }

    fn push_fault(&mut self, at: usize, kind: ProblemKind) {
        if self.criteria.faults.len() < MOST_FAULTS {
            let line = self.body[..at].matches('\n').count();
            self.criteria.faults.push((line, kind));
        }
    }
}

/// The words of a heading or a paragraph in small letters, without its code and what is around them, and
/// whether there is code.
fn words(events: &Events<'_>) -> (String, bool) {
    let (mut words, mut has_code) = (String::new(), false);
    for (event, _) in events {
        match event {
            Event::Text(text) => words.push_str(text),
            Event::SoftBreak | Event::HardBreak => words.push(' '),
            Event::Code(_) => has_code = true,
            _ => {}
        }
    }
    let words = words.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    (one_line(&words), has_code)
}

/// Whether a heading with these words may be meant as that of the criteria.
fn resembles(words: &str) -> bool {
    let meant = [
        "accept",
        "criteri",
        "commitment",
        "definition of done",
        "done when",
    ];
    meant.iter().any(|part| words.contains(part))
}

#[cfg(test)]
mod tests;
