//! One problem of a settings file, at its place in the text.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

use super::names::is_unseen;

/// One problem of a settings file. Displayed as `file:line:column: message`, with the hint on a second line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The file's name, as the caller gave it.
    pub file: String,
    /// The bytes of the text that the problem is about; empty at the place where something is missing.
    pub span: Range<usize>,
    /// The line that the span begins on, from 1.
    pub line: usize,
    /// The character of that line that the span begins at, from 1.
    pub column: usize,
    /// The fault, with the key in question.
    pub message: String,
    /// The remedy.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A problem at these bytes of the text. A span that is outside of the text, or cuts a character, is
    /// moved to the nearest place before that does not.
    #[must_use]
    pub fn new(file: &str, text: &str, span: Range<usize>, message: String, hint: Option<String>) -> Self {
        let start = text.floor_char_boundary(span.start);
        let end = text.floor_char_boundary(span.end).max(start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            file: file.to_owned(),
            span: start..end,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: seen(message),
            hint: hint.map(seen),
        }
    }
}

/// Makes the text of the file safe to quote: it can neither act on a terminal nor hide in it.
fn seen(text: String) -> String {
    let hides = |c: char| c != ' ' && is_unseen(c);
    if !text.contains(hides) {
        return text;
    }
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        if hides(c) {
            seen.extend(c.escape_unicode());
        } else {
            seen.push(c);
        }
    }
    seen
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}
