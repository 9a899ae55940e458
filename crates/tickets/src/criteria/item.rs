//! An item of a list: its words, and the commands in it.

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use super::Events;
use crate::clean::clean_line;
use crate::commitment::one_line;

/// Languages of a code block whose lines with `$ ` are commands. A block without one is taken for a shell's.
const SHELLS: [&str; 8] = [
    "",
    "sh",
    "bash",
    "zsh",
    "shell",
    "console",
    "terminal",
    "shell-session",
];

/// What one item of a list has of its own, or one block that is in no list.
#[derive(Default)]
pub(super) struct Item {
    /// Where it begins in the body, in bytes.
    pub(super) at: usize,
    /// False for what is in no item.
    pub(super) is_item: bool,
    pieces: Vec<Piece>,
    /// The commands of its code blocks.
    pub(super) block: Vec<String>,
    /// Code blocks of a shell without a line that begins with `$ `: the place in the body, the first line.
    pub(super) unmarked: Vec<(usize, String)>,
}

enum Piece {
    Text(String),
    /// Any other code span.
    Code(String),
    /// The command of a code span that begins with `$ `.
    Command(String),
}

impl Item {
    fn push(&mut self, text: &str) {
        if let Some(Piece::Text(last)) = self.pieces.last_mut() {
            last.push_str(text);
        } else {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    /// A code span: a command, or words.
    fn code(&mut self, code: &str) {
        match code.strip_prefix("$ ").map(str::trim) {
            Some(run) if !run.is_empty() => self.pieces.push(Piece::Command(run.to_owned())),
            Some(_) | None => self.pieces.push(Piece::Code(code.to_owned())),
        }
    }

    /// A code block of the language: each line that begins with `$ ` is a command.
    fn code_block(&mut self, language: Option<&str>, code: &str, at: usize) {
        if language.is_some_and(|language| !SHELLS.contains(&language)) {
            return;
        }
        let before = self.block.len();
        let mut lines = code.lines();
        while let Some(line) = lines.next() {
            let Some(line) = line.trim().strip_prefix("$ ") else {
                continue;
            };
            let mut run = line.trim().to_owned();
            while run.ends_with('\\') {
                let Some(next) = lines.next().map(str::trim) else {
                    break;
                };
                run.pop();
                run.push_str(next.strip_prefix("> ").unwrap_or(next));
            }
            if !run.is_empty() {
                self.block.push(run);
            }
        }
        let is_marked = language.is_some_and(|language| !language.is_empty());
        let first = code.lines().map(str::trim).find(|line| !line.is_empty());
        if let Some(first) = first
            && is_marked
            && self.block.len() == before
        {
            self.unmarked.push((at, first.to_owned()));
        }
    }

    pub(super) fn spans(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Command(run) => Some(run.as_str()),
            Piece::Text(_) | Piece::Code(_) => None,
        })
    }

    pub(super) fn has_command(&self) -> bool {
        !self.block.is_empty() || self.spans().next().is_some()
    }

    /// Whether something is meant as a command and is not written as one.
    pub(super) fn has_stray(&self) -> bool {
        self.pieces.iter().enumerate().any(|(nth, piece)| match piece {
            Piece::Text(text) => text.contains("`$ ") || nth == 0 && text.trim_start().starts_with("$ "),
            Piece::Code(code) => is_unspaced(code),
            Piece::Command(_) => false,
        })
    }

    /// Its words, else its first command.
    pub(super) fn shown(&self) -> String {
        let says = self.says(None);
        match self.block.first() {
            Some(run) if says.is_empty() => clean_line(&format!("$ {run}")),
            Some(_) | None => says,
        }
    }

    /// Its words, on one line. Of several commands only the one that is meant is shown; without one, all
    /// that are in the words.
    pub(super) fn says(&self, nth: Option<usize>) -> String {
        let quoted = |code: &str| {
            let quote = if code.contains('`') { "``" } else { "`" };
            format!("{quote}{code}{quote}")
        };
        let (mut says, mut at) = (String::new(), 0);
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => says.push_str(text),
                Piece::Code(code) => says.push_str(&quoted(code)),
                Piece::Command(run) => {
                    match nth {
                        Some(nth) if nth != at => says.push('…'),
                        Some(_) | None => says.push_str(&quoted(&format!("$ {run}"))),
                    }
                    at += 1;
                }
            }
        }
        clean_line(&one_line(&says))
    }
}

/// Whether a code span is a command whose author has left out the blank: `$make test`, and not `$HOME` or
/// `$total = 0`.
fn is_unspaced(code: &str) -> bool {
    let after = code.strip_prefix('$').and_then(|rest| rest.split_once(' '));
    after.is_some_and(|(word, rest)| {
        word.starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, '.' | '/')) && !rest.starts_with('=')
    })
}

/// The items of a block's lists, in the order of the text, and what is in no item. What is quoted or struck
/// through is left out, as is a comment.
pub(super) fn items(events: &Events<'_>) -> Vec<Item> {
    let at = events.first().map_or(0, |(_, place)| place.start);
    let mut items = vec![Item {
        at,
        ..Item::default()
    }];
    let (mut within, mut hidden, mut code) = (vec![0], 0_usize, None);
    for (event, place) in events {
        let last = within.last().copied().unwrap_or(0);
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::Strikethrough | Tag::HtmlBlock) => hidden += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::Strikethrough | TagEnd::HtmlBlock) => hidden -= 1,
            _ if hidden > 0 => {}
            Event::Start(Tag::Item) => {
                within.push(items.len());
                items.push(Item {
                    at: place.start,
                    is_item: true,
                    ..Item::default()
                });
            }
            Event::End(TagEnd::Item) => {
                within.pop();
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match kind {
                    CodeBlockKind::Indented => None,
                    CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next().map(str::to_lowercase),
                };
                code = Some((language, String::new()));
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((language, text)) = code.take() {
                    items[last].code_block(language.as_deref(), &text, place.start);
                }
            }
            Event::Text(text) => match &mut code {
                Some((_, code)) => code.push_str(text),
                None => items[last].push(text),
            },
            Event::Code(text) => items[last].code(text),
            Event::SoftBreak
            | Event::HardBreak
            | Event::Start(Tag::Paragraph | Tag::TableCell | Tag::Heading { .. }) => items[last].push(" "),
            _ => {}
        }
    }
    items
}
