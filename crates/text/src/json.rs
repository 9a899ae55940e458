//! JSON with slips that clients make.

/// The surrogates of which a character is made are written as JSON writes them: `\ud83d`.
const ESCAPE: usize = 6;

/// JSON in which half of a character (a lone surrogate, as programs in JavaScript write it where they cut a
/// text) is the sign for an unknown one, and a control character in a text is escaped, or a blank. No reader
/// of JSON takes either as it stands.
#[must_use]
pub fn mended_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut rest, mut is_text) = (json, false);
    while let Some(one) = rest.chars().next() {
        let (instead, length) = match one {
            '\\' => escape(rest),
            '\n' if is_text => (Some("\\n"), 1),
            '\t' if is_text => (Some("\\t"), 1),
            one if is_text && one.is_control() => (Some(" "), one.len_utf8()),
            one => (None, one.len_utf8()),
        };
        is_text ^= one == '"';
        let (piece, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        out.push_str(instead.unwrap_or(piece));
        rest = after;
    }
    out
}

/// What stands in place of the escape that a text begins with, if something else does, and its length.
fn escape(text: &str) -> (Option<&'static str>, usize) {
    let Some(first) = surrogate(text) else {
        // The character after the backslash belongs to it, and may be a backslash.
        let second = text.chars().nth(1).map_or(0, char::len_utf8);
        return (None, 1 + second);
    };
    let second = text.get(ESCAPE..).and_then(surrogate);
    match first < 0xDC00 && second.is_some_and(|second| second >= 0xDC00) {
        true => (None, 2 * ESCAPE),
        false => (Some("\\ufffd"), ESCAPE),
    }
}

/// The surrogate that a text begins with.
fn surrogate(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    (0xD800..0xE000).contains(&code).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::mended_json;

    #[test]
    fn only_half_characters_and_control_characters_are_changed() {
        for (written, mended) in [
            (r#"{"a":"cut \ud83d"}"#, r#"{"a":"cut \ufffd"}"#),
            (
                r"\ude00\ud83d\ud83d\ude00\uD83D\n",
                r"\ufffd\ufffd\ud83d\ude00\ufffd\n",
            ),
            (r"a \\ud83d \u00e9 \ud8", r"a \\ud83d \u00e9 \ud8"),
            (
                "{\n\t\"a\":\"b\\\"\n\t\u{1}é\"}\n",
                "{\n\t\"a\":\"b\\\"\\n\\t é\"}\n",
            ),
            ("a\\", "a\\"),
        ] {
            assert_eq!(mended_json(written), mended);
        }
    }
}
