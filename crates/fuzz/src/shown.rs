//! What may be shown to a person.

/// Whether a character acts on a terminal, turns the reading order round or is not seen: the worst of them, named here once
/// more, so that what the code takes for harmless is not its own measure.
pub(crate) fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e01ef}')
}

/// The first character of a text that acts, line ends aside.
fn acting(text: &str) -> Option<char> {
    text.chars().find(|c| *c != '\n' && acts(*c))
}

/// Panics unless nothing of a text acts on a terminal or turns the reading order round.
#[track_caller]
pub(crate) fn harmless(text: &str) {
    assert_eq!(acting(text), None, "in {text:?}");
}

/// Panics unless nothing of a text acts on a terminal, turns the reading order round or begins a new line.
#[track_caller]
pub(crate) fn one_line(text: &str) {
    harmless(text);
    assert!(!text.contains('\n'), "in {text:?}");
}
