//! Hidden characters: those that are invisible, or change how the text around them looks.

/// Whether a character acts on a terminal, is invisible, or changes how the text around it looks. White space
/// with a width does not count; line breaks and tabs do, as control characters.
#[must_use]
pub fn hides(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'      // C0, DEL, C1
        | '\u{ad}' | '\u{34f}' | '\u{61c}'         // soft hyphen, grapheme joiner, Arabic letter mark
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
        | '\u{17b4}' | '\u{17b5}'                  // Khmer inherent vowels
        | '\u{180b}'..='\u{180f}'                  // Mongolian selectors
        | '\u{200b}'..='\u{200f}'                  // zero-width space and joiners, direction marks
        | '\u{2028}'..='\u{202e}'                  // line and paragraph ends, embeddings and overrides
        | '\u{2060}'..='\u{206f}'                  // word joiner, invisible operators, isolates
        | '\u{2800}'                               // empty Braille: an ink-less letter
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' // variation selectors: bytes can be smuggled in them
        | '\u{feff}' | '\u{fff0}'..='\u{fffb}'     // byte order mark, annotations
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' // shorthand and musical formatting
        | '\u{e0000}'..='\u{e0fff}'                // tags
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_does_not_hide() {
        assert_eq!("aé日👍 \u{a0}\u{3000}_-".chars().find(|c| hides(*c)), None);
    }

    #[test]
    fn every_control_hides() {
        assert!(('\0'..=char::MAX).filter(|c| c.is_control()).all(hides));
    }
}
