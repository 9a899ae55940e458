//! Untrusted text made harmless for a terminal. Nothing is hidden: what could act is shown as what it is.

use std::fmt::Write;

/// `text` with every control, direction and zero-width character replaced by a visible stand-in; newlines and tabs stay.
pub fn clean(text: &str) -> String {
    replaced(text, |c| matches!(c, '\n' | '\t'))
}

/// As [`clean`], for text that must stay on one line: newlines and tabs are replaced too.
pub fn clean_line(text: &str) -> String {
    replaced(text, |_| false)
}

fn replaced(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let code = u32::from(c);
        match c {
            _ if keep(c) || !acts(c) => out.push(c),
            // The block "Control Pictures" has one for each of these.
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

/// What says whether the character before it is drawn as a text or as a picture hides nothing.
fn acts(c: char) -> bool {
    text::hides(c) && !matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_on_a_terminal_passes() {
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
                assert!(!shown.chars().any(acts), "{text:?} → {shown:?}");
            }
        }
        assert_eq!(clean("a\n\tb é 日本 👍 ⚠\u{fe0f}"), "a\n\tb é 日本 👍 ⚠\u{fe0f}");
        assert_eq!(clean_line("a\nb"), "a␊b");
        assert_eq!(clean("\x1b[31m"), "␛[31m");
    }
}
