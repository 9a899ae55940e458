//! Tokens: the pieces of a Rust file that have words.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Comment,
    /// A string, of bytes too.
    Literal,
    Identifier,
}

/// A piece of Rust that has words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    /// Of its first character, from 1.
    pub(super) line: usize,
    pub(super) text: &'t str,
}

/// The comments, string literals and identifiers of a Rust file, in order.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (length, kind) = piece(rest, c);
        if let Some(kind) = kind {
            tokens.push(Token {
                kind,
                line,
                text: &rest[..length],
            });
        }
        line += rest[..length].matches('\n').count();
        at += length;
    }
    tokens
}

/// The length of the piece that `rest` begins with (with the character `c`), and its kind if it has words.
fn piece(rest: &str, c: char) -> (usize, Option<Kind>) {
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), Some(Kind::Comment));
    }
    if rest.starts_with("/*") {
        return (block(rest), Some(Kind::Comment));
    }
    let unprefixed = rest.trim_start_matches(['b', 'c']);
    let prefix = rest.len() - unprefixed.len();
    if prefix < 2 {
        if unprefixed.starts_with('"') {
            return (prefix + quoted(unprefixed), Some(Kind::Literal));
        }
        if let Some(length) = raw(unprefixed) {
            return (prefix + length, Some(Kind::Literal));
        }
    }
    if c == '\'' {
        return (character(rest), None);
    }
    if c.is_alphabetic() || c == '_' {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        return (
            rest.find(|c| !word(c)).unwrap_or(rest.len()),
            Some(Kind::Identifier),
        );
    }
    if c.is_ascii_digit() {
        let number = |c: char| c.is_alphanumeric() || c == '_';
        return (rest.find(|c| !number(c)).unwrap_or(rest.len()), None);
    }
    (c.len_utf8(), None)
}

/// The length of a block comment, which may have others in it.
fn block(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// The length of a string with its quotes.
fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a raw string: `r"…"`, `r#"…"#`. Nothing where there is none.
fn raw(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let marks = after.len() - after.trim_start_matches('#').len();
    let inner = after[marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    let before = rest.len() - inner.len();
    Some(inner.find(&end).map_or(rest.len(), |at| before + at + end.len()))
}

/// The length of a character with its quotes, or of the mark of a lifetime or label.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let after = at + escaped.len_utf8();
            rest[after..].find('\'').map_or(1, |end| after + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}
