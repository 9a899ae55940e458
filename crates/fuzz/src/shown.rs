//! What may be shown to a person.

/// The first character of a text that acts on a terminal, line ends aside.
fn acting(text: &str) -> Option<char> {
    text.chars().find(|c| c.is_control() && *c != '\n')
}

/// Panics unless nothing of a text acts on a terminal.
#[track_caller]
pub(crate) fn harmless(text: &str) {
    assert_eq!(acting(text), None, "in {text:?}");
}

/// Panics unless nothing of a text acts on a terminal, turns the reading order round or begins a new line.
#[track_caller]
pub(crate) fn one_line(text: &str) {
    harmless(text);
    let turns = |c: char| matches!(c, '\n' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert_eq!(text.chars().find(|c| turns(*c)), None, "in {text:?}");
}
