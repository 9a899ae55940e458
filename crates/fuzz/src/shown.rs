//! Checks of text that people are shown.

/// Whether a character controls a terminal, reverses the reading order or is invisible. The list is
/// independent of the one in the tested code, and has only the worst characters.
pub(crate) fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e01ef}')
}

/// The first harmful character of a text, line ends excluded.
fn first_harmful(text: &str) -> Option<char> {
    text.chars().find(|c| *c != '\n' && is_harmful(*c))
}

/// Panics if a text has a harmful character.
#[track_caller]
pub(crate) fn harmless(text: &str) {
    assert_eq!(first_harmful(text), None, "in {text:?}");
}

/// Panics if a text has a harmful character or more than one line.
#[track_caller]
pub(crate) fn one_line(text: &str) {
    harmless(text);
    assert!(!text.contains('\n'), "in {text:?}");
}
