//! Wrapping text into lines of a given width.

use unicode_width::UnicodeWidthChar as _;

/// Cuts sanitised text into lines of at most this number of columns, at spaces if there are any close to
/// the end.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut width = 0;
    for character in text.chars() {
        let wide = character.width().unwrap_or(0);
        if width + wide > columns {
            let cut = line.rfind(' ').filter(|at| *at > line.len() / 2);
            let rest = cut.map_or_else(String::new, |at| line.split_off(at));
            lines.push(std::mem::replace(&mut line, rest.trim_start().to_owned()));
            width = line.chars().map(|character| character.width().unwrap_or(0)).sum();
            if character == ' ' && line.is_empty() {
                continue;
            }
        }
        line.push(character);
        width += wide;
    }
    lines.push(line);
    lines
}

/// Wraps sanitised text into at most this number of lines; `…` ends the last one where there is more.
pub(crate) fn at_most(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines = wrap(text, columns);
    let rest = lines.split_off(most.saturating_sub(1).min(lines.len()));
    if most > 0 && !rest.is_empty() {
        lines.push(text::sanitise::fit(&rest.join(" "), columns));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{at_most, wrap};

    #[test]
    fn what_is_left_out_is_shown() {
        assert_eq!(at_most("one two three", 8, 2), ["one two", "three"]);
        assert_eq!(at_most("one two three four", 8, 2), ["one two", "three f…"]);
        assert_eq!(at_most("one two three", 7, 1), ["one tw…"]);
        assert_eq!(at_most("one", 8, 0), [""; 0]);
    }

    #[test]
    fn lines_break_at_spaces_and_never_exceed() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("長い題名です", 5), ["長い", "題名", "です"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("ab", 0), ["a", "b"]);
    }
}
