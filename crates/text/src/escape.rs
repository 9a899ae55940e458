//! Quoting: text of others in a message, with escapes for every character that hides.

use std::fmt::Debug;

use crate::hides;

/// A text, a path or a part of one as it is written in code: in quotation marks, with escapes for characters
/// that have no place in a line and for characters that hide. `{:?}` alone lets those of them through that
/// count as letters, as the Hangul fillers do.
#[must_use]
pub fn quoted(text: &(impl Debug + ?Sized)) -> String {
    written_out(format!("{text:?}").chars())
}

/// The same as [`quoted`], without the quotation marks.
#[must_use]
pub fn escaped(text: &str) -> String {
    written_out(text.chars().flat_map(char::escape_debug))
}

fn written_out(characters: impl Iterator<Item = char>) -> String {
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
    fn what_is_seen_stays() {
        assert_eq!(quoted("it's é日👍"), "\"it's é日👍\"");
        assert_eq!(escaped("é日👍"), "é日👍");
    }

    #[test]
    fn nothing_that_hides_passes() {
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
    fn a_path_of_any_bytes_is_told_from_others() {
        let path = Path::new(OsStr::from_bytes(b"a\xffb"));
        assert_eq!(quoted(path), r#""a\xFFb""#);
    }
}
