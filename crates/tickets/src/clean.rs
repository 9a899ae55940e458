//! Cleaning: untrusted text made harmless for a terminal, with a visible replacement of every harmful
//! character.

use std::fmt::Write;

/// Replaces every control, direction and zero-width character by a visible one; newlines and tabs stay.
pub(crate) fn clean(text: &str) -> String {
    replaced(text, |c| matches!(c, '\n' | '\t'))
}

/// As [`clean`], for text that must stay on one line: newlines and tabs are replaced too.
pub(crate) fn clean_line(text: &str) -> String {
    replaced(text, |_| false)
}

fn replaced(text: &str, keep: impl Fn(char) -> bool) -> String {
    // Nearly all text is this, of which listings have a great deal.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let code = u32::from(c);
        match c {
            _ if keep(c) || !is_harmful(c) => out.push(c),
            // The Unicode block "Control Pictures" has a character for each of these.
            '\0'..='\x1f' => out.push(char::from_u32(0x2400 + code).unwrap_or('\u{fffd}')),
            '\x7f' => out.push('\u{2421}'),
            _ => {
                let written = write!(out, "<U+{code:04X}>");
                debug_assert!(written.is_ok());
            }
        }
    }
    out
}

/// True if a character can deceive. A variation selector for text or picture style is harmless.
fn is_harmful(c: char) -> bool {
    text::hides(c) && !matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_that_a_terminal_obeys_passes() {
        let corpus = [
            "\x1b[31mred",
            "\x1b]0;title\x07",
            "\x1b]52;c;AAAA\x1b\\",
            "\x1b]8;;http://x\x1b\\link",
            "\x1bPq\x1b\\",
            "\u{9b}31m",
            "\u{9d}0;t\u{9c}",
            "a\rb",
            "a\x08b",
            "\u{202e}evil",
            "zero\u{200b}width",
            "\u{2066}iso\u{2069}",
            "\u{feff}bom",
            "\x7f",
            "\0",
            "\u{e0041}tag",
            "\u{2028}line",
            "\u{3164}filler",
            "\u{e0101}selector",
        ];
        for text in corpus {
            for shown in [clean(text), clean_line(text)] {
                assert!(!shown.chars().any(is_harmful), "{text:?} → {shown:?}");
            }
        }
        assert_eq!(clean("a\n\tb é 日本 👍 ⚠\u{fe0f}"), "a\n\tb é 日本 👍 ⚠\u{fe0f}");
        assert_eq!(clean_line("a\nb"), "a␊b");
        assert_eq!(clean("\x1b[31m"), "␛[31m");
    }
}
