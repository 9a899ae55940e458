//! What may be shown to a person.

/// The first character of a text that acts on a terminal, turns the reading order round or is not seen, line ends aside.
fn acting(text: &str) -> Option<char> {
    let turns = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    text.chars().find(|c| *c != '\n' && (c.is_control() || turns(*c)))
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
