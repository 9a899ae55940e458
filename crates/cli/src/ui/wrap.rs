//! Text that is read as a whole: broken at its words to fit a terminal.

use crate::ui::table::columns;

/// The lines of untrusted text, sanitised, each of at most so many columns; at most `most` of them, the last ending in
/// `…` when something is missing. Without columns, lines are as long as they are.
pub(crate) fn wrap(text: &str, width: Option<usize>, most: usize) -> Vec<String> {
    let clean = harness::sanitise::text(text);
    let width = width.unwrap_or(usize::MAX).max(1);
    let mut lines = Vec::new();
    for line in clean.trim().lines() {
        pieces(line, width, &mut lines);
        if lines.len() > most {
            break;
        }
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            let room = width.saturating_sub(2);
            *last = format!("{} …", harness::sanitise::fit(last, room).trim_end_matches('…'));
        }
    }
    lines
}

fn pieces(line: &str, width: usize, lines: &mut Vec<String>) {
    let mut now = String::new();
    let mut used = 0;
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let wide = columns(word);
        if used > 0 && used + 1 + wide <= width {
            now.push(' ');
            now.push_str(word);
            used += 1 + wide;
            continue;
        }
        if used > 0 {
            lines.push(std::mem::take(&mut now));
        }
        used = 0;
        // A word that is wider than the terminal is broken where the line ends.
        for character in word.chars() {
            let one = columns(character.encode_utf8(&mut [0; 4]));
            if used > 0 && used + one > width {
                lines.push(std::mem::take(&mut now));
                used = 0;
            }
            now.push(character);
            used += one;
        }
    }
    lines.push(now);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_where_they_can_and_nothing_is_wider_than_the_terminal() {
        assert_eq!(
            wrap("which one of the two", Some(9), 9),
            ["which one", "of the", "two"]
        );
        assert_eq!(wrap("a\nb\u{1b}[2Jc", Some(9), 9), ["a", "bc"]);
        assert_eq!(wrap("長い題名です x", Some(5), 9), ["長い", "題名", "です", "x"]);
        assert_eq!(wrap("one two three four", Some(5), 2), ["one", "two …"]);
        assert_eq!(wrap("as long as it is", None, 9), ["as long as it is"]);
        let long = "x".repeat(10_000);
        assert!(wrap(&long, Some(40), 8).iter().all(|line| columns(line) <= 40));
        assert_eq!(wrap(&long, Some(40), 8).len(), 8);
    }
}
