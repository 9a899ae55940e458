//! Text that is read as a whole: broken at its words to fit a terminal.

use crate::ui::table::columns;

/// The treatment of a word that is wider than the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wide {
    /// It is broken where the line ends.
    Breaks,
    /// It stays whole, and the terminal breaks it: it may be a path, or a command to be copied.
    Stays,
}

/// One line of untrusted text, sanitised, broken at its words where the line is wider than so many columns;
/// the rest goes on at the column `hang`. Spaces at the line's beginning stay.
pub(crate) fn wrap_line(text: &str, width: Option<usize>, hang: usize) -> Vec<String> {
    let indent = &text[..text.len() - text.trim_start_matches(' ').len()];
    let text = format!("{indent}{}", text::sanitise::line(text));
    let Some(room) = width.filter(|room| columns(&text) > *room) else {
        return vec![text];
    };
    let hang = " ".repeat(if hang * 3 > room { 2 } else { hang });
    let mut lines = Vec::new();
    pieces(&text, indent, &hang, room, Wide::Stays, &mut lines);
    lines
}

/// The lines of untrusted text, sanitised, each of at most so many columns; at most `most` of them, the last
/// ending in `…` when something is missing. Without columns, lines are as long as they are.
pub(crate) fn wrap(text: &str, width: Option<usize>, most: usize) -> Vec<String> {
    let clean = text::sanitise::text(text);
    let width = width.unwrap_or(usize::MAX).max(1);
    let mut lines = Vec::new();
    for line in clean.trim().lines() {
        pieces(line, "", "", width, Wide::Breaks, &mut lines);
        if lines.len() > most {
            break;
        }
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            let room = width.saturating_sub(2);
            *last = format!("{} …", text::sanitise::fit(last, room).trim_end_matches('…'));
        }
    }
    lines
}

fn pieces(line: &str, begin: &str, hang: &str, width: usize, wide: Wide, lines: &mut Vec<String>) {
    let mut now = begin.to_owned();
    // Columns of words in the line, which begins behind `edge` blank ones.
    let (mut used, mut edge) = (0, columns(begin));
    let mut gap = 0;
    for word in line.split(' ') {
        gap += 1;
        if word.is_empty() {
            continue;
        }
        // Text in columns keeps its blanks; in other text one blank is as good as two.
        let blanks = std::mem::take(&mut gap).min(if wide == Wide::Stays { usize::MAX } else { 1 });
        let size = columns(word);
        let room = width.saturating_sub(edge).max(1);
        if used > 0 && used + blanks + size <= room {
            now.extend(std::iter::repeat_n(' ', blanks));
            now.push_str(word);
            used += blanks + size;
            continue;
        }
        if used > 0 {
            lines.push(std::mem::replace(&mut now, hang.to_owned()));
            (used, edge) = (0, columns(hang));
        }
        let room = width.saturating_sub(edge).max(1);
        for character in word.chars() {
            let one = columns(character.encode_utf8(&mut [0; 4]));
            if wide == Wide::Breaks && used > 0 && used + one > room {
                lines.push(std::mem::replace(&mut now, hang.to_owned()));
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

    #[test]
    fn a_long_line_goes_on_below_its_beginning() {
        let text = "  5s  t-1  one two three four";
        assert_eq!(wrap_line(text, Some(80), 11), [text]);
        assert_eq!(wrap_line(text, None, 11), [text]);
        assert_eq!(
            wrap_line(text, Some(25), 8),
            ["  5s  t-1  one two three", "        four"]
        );
        assert!(
            wrap_line(&"長い ".repeat(30), Some(20), 4)
                .iter()
                .all(|line| columns(line) <= 20)
        );
        assert_eq!(wrap_line("x".repeat(30).as_str(), Some(20), 2), ["x".repeat(30)]);
    }
}
