//! Quoting: untrusted text in a message, with invisible and harmful characters escaped.

use std::fmt::Debug;

use crate::hides;

/// A text or a path in quotation marks, escaped as in code. Unlike `{:?}` alone, this also escapes
/// invisible characters that count as letters, such as the Hangul fillers.
#[must_use]
pub fn quoted(text: &(impl Debug + ?Sized)) -> String {
    with_hidden_escaped(format!("{text:?}").chars())
}

/// As [`quoted`], without the quotation marks.
#[must_use]
pub fn escaped(text: &str) -> String {
    with_hidden_escaped(text.chars().flat_map(char::escape_debug))
}

fn with_hidden_escaped(characters: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    for character in characters {
        if hides(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::*;

    #[test]
    fn visible_text_stays() {
        assert_eq!(quoted("it's é日👍"), "\"it's é日👍\"");
        assert_eq!(escaped("é日👍"), "é日👍");
    }

    #[test]
    fn every_hidden_character_is_escaped() {
        for character in ('\0'..=char::MAX).filter(|c| hides(*c)) {
            let text = format!("a{character}b");
            for shown in [quoted(&text), quoted(Path::new(&text)), escaped(&text)] {
                assert!(!shown.chars().any(hides) && shown.contains('\\'), "{shown}");
            }
        }
        assert_eq!(quoted("\u{3164}"), r#""\u{3164}""#);
        assert_eq!(escaped("\"\n\u{ffa0}"), r#"\"\n\u{ffa0}"#);
    }

    #[test]
    fn paths_that_differ_in_bytes_differ_when_quoted() {
        let path = Path::new(OsStr::from_bytes(b"a\xffb"));
        assert_eq!(quoted(path), r#""a\xFFb""#);
    }
}
