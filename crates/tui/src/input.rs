//! A line of text that a person edits.

use unicode_width::UnicodeWidthStr as _;

use crate::message::Key;

/// The most characters of a line.
const MAX_CHARS: usize = 4_000;

/// A line with a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Input {
    text: String,
    /// Bytes before the cursor; always between two characters.
    at: usize,
}

impl Input {
    /// A line with this text, and the cursor at its end.
    pub(crate) fn of(text: &str) -> Self {
        let mut input = Self::default();
        input.paste(text);
        input
    }

    /// The text of the line.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Inserts text, made harmless and on one line.
    pub(crate) fn paste(&mut self, text: &str) {
        // Spaces at both ends stay, since a person types them between words.
        for character in text.chars() {
            let clean = match character {
                '\n' | '\t' | '\r' => ' ',
                other => other,
            };
            let harmless = clean == ' ' || !text::sanitise::line(&format!("x{clean}")).eq("x");
            if harmless && self.text.chars().count() < MAX_CHARS {
                self.text.insert(self.at, clean);
                self.at += clean.len_utf8();
            }
        }
    }

    /// Handles a key; `false` when it has no meaning for a line.
    pub(crate) fn key(&mut self, key: Key) -> bool {
        match key {
            Key::Char(character) => self.paste(&character.to_string()),
            Key::Backspace | Key::Ctrl('h') => {
                let before = self.before();
                self.text.drain(before..self.at);
                self.at = before;
            }
            Key::Delete => {
                let after = self.after();
                self.text.drain(self.at..after);
            }
            Key::Left | Key::Ctrl('b') => self.at = self.before(),
            Key::Right | Key::Ctrl('f') => self.at = self.after(),
            Key::Home | Key::Ctrl('a') => self.at = 0,
            Key::End | Key::Ctrl('e') => self.at = self.text.len(),
            Key::Ctrl('u') => {
                self.text.drain(..self.at);
                self.at = 0;
            }
            Key::Ctrl('k') => self.text.truncate(self.at),
            Key::Ctrl('w') => {
                let head = self.text[..self.at].trim_end_matches(' ');
                let from = head.rfind(' ').map_or(0, |space| space + 1);
                self.text.drain(from..self.at);
                self.at = from;
            }
            Key::Ctrl(_)
            | Key::Enter
            | Key::Escape
            | Key::Tab
            | Key::BackTab
            | Key::Up
            | Key::Down
            | Key::PageUp
            | Key::PageDown => return false,
        }
        true
    }

    /// The part of the line that is visible in this number of columns, and the column of the cursor in it.
    pub(crate) fn shown(&self, columns: usize) -> (String, usize) {
        let room = columns.saturating_sub(1);
        let mut from = 0;
        while self.text[from..self.at].width() > room {
            from += self.text[from..].chars().next().map_or(1, char::len_utf8);
        }
        let mut shown = String::new();
        for character in self.text[from..].chars() {
            shown.push(character);
            if shown.width() > columns {
                shown.pop();
                break;
            }
        }
        (shown, self.text[from..self.at].width())
    }

    fn before(&self) -> usize {
        let last = self.text[..self.at].chars().next_back();
        self.at - last.map_or(0, char::len_utf8)
    }

    fn after(&self) -> usize {
        let next = self.text[self.at..].chars().next();
        self.at + next.map_or(0, char::len_utf8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Input {
        let mut input = Input::default();
        for character in text.chars() {
            input.key(Key::Char(character));
        }
        input
    }

    #[test]
    fn a_line_is_edited_where_the_cursor_is() {
        let mut input = typed("use two words");
        for key in [
            Key::Ctrl('w'),
            Key::Char('x'),
            Key::Home,
            Key::Delete,
            Key::Right,
            Key::Backspace,
        ] {
            assert!(input.key(key));
        }
        assert_eq!(input.text(), "e two x");
        for key in [Key::Ctrl('k'), Key::Char('é'), Key::Left, Key::Char('ü')] {
            input.key(key);
        }
        assert_eq!(input.text(), "üé");
        assert!(!input.key(Key::Enter));
    }

    #[test]
    fn hidden_characters_cannot_be_typed_or_pasted() {
        let mut input = typed("a\u{202e}b");
        input.paste("\u{1b}[2J c\nd");
        assert_eq!(input.text(), "ab[2J c d");
    }

    #[test]
    fn the_cursor_is_always_visible() {
        let input = typed("長い答えです");
        assert_eq!(input.shown(5), ("です".to_owned(), 4));
        assert_eq!(input.shown(0), (String::new(), 0));
        assert_eq!(typed("ab").shown(10), ("ab".to_owned(), 2));
    }
}
