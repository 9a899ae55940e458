//! The lines of a patch, made harmless, for frontends that show them.

use serde::Serialize;

/// The characters that git calls white space at the end of a line.
const BLANKS: [char; 5] = [' ', '\t', '\r', '\u{b}', '\u{c}'];

/// What a line of a patch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// A line of the head of a file: its names, modes, and what git says of it.
    Head,
    /// The place at which a hunk begins.
    Hunk,
    /// A line that is added.
    Added,
    /// A line that is removed.
    Removed,
    /// A line that stays as it is.
    Same,
}

/// A line of a patch, made harmless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// What it is.
    pub mark: Mark,
    /// The line with its sign, without the blanks.
    pub text: String,
    /// The blanks at its end, where it is an added line: git marks them.
    pub blanks: String,
}

/// The lines of a patch, as git prints it.
pub fn lines(patch: &str) -> impl Iterator<Item = Line> {
    let mut is_head = true;
    // A carriage return is a part of the line.
    patch.split_terminator('\n').map(move |line| {
        // Within a hunk, each line has a sign before it.
        if line.starts_with("diff ") {
            is_head = true;
        }
        let mark = match line.as_bytes().first() {
            Some(b'@') => Mark::Hunk,
            Some(_) | None if is_head => Mark::Head,
            Some(b'+') => Mark::Added,
            Some(b'-') => Mark::Removed,
            Some(_) | None => Mark::Same,
        };
        is_head &= !line.starts_with("@@");
        let blanks = match mark {
            Mark::Added => line.len() - line.trim_end_matches(BLANKS).len(),
            Mark::Head | Mark::Hunk | Mark::Removed | Mark::Same => 0,
        };
        let (text, blanks) = line.split_at(line.len() - blanks);
        Line {
            mark,
            text: text::sanitise::code(text),
            blanks: text::sanitise::code(blanks),
        }
    })
}

/// The lines of files that are named first, then those of all others: what a person is to look at must not
/// stand behind what a limit cuts off.
#[must_use]
pub fn those_first(lines: Vec<Line>, paths: &[String]) -> Vec<Line> {
    let mut files: Vec<Vec<Line>> = Vec::new();
    for line in lines {
        let begins = line.mark == Mark::Head && line.text.starts_with("diff ");
        match files.last_mut() {
            Some(file) if !begins => file.push(line),
            Some(_) | None => files.push(vec![line]),
        }
    }
    let is_named = |file: &Vec<Line>| {
        let head = file.first().map_or("", |line| line.text.as_str());
        let quoted = head.strip_suffix('"').and_then(|head| head.rsplit_once(" \"b/"));
        let quoted = quoted.map(|(_, path)| git::unquoted(path));
        let is_of = |path: &String| match &quoted {
            Some(quoted) => quoted == path,
            None => head.ends_with(&format!(" b/{path}")),
        };
        paths.iter().any(is_of)
    };
    let (mut first, others): (Vec<_>, Vec<_>) = files.into_iter().partition(is_named);
    first.extend(others);
    first.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::{Mark, lines, those_first};

    const PATCH: &str = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new  \n same\n--- not a head\ndiff --git a/lib/crew.toml b/lib/crew.toml\nold mode 100644\n";

    #[test]
    fn a_line_has_its_mark() {
        let marks: Vec<Mark> = lines(PATCH).map(|line| line.mark).collect();
        use Mark::{Added, Head, Hunk, Removed, Same};
        let expected = [Head, Head, Head, Hunk, Removed, Added, Same, Removed, Head, Head];
        assert_eq!(marks, expected);
        let added = lines(PATCH).nth(5).unwrap();
        assert_eq!((added.text.as_str(), added.blanks.as_str()), ("+new", "  "));
    }

    #[test]
    fn a_named_file_comes_first_with_all_its_lines() {
        let lines = those_first(lines(PATCH).collect(), &["lib/crew.toml".to_owned()]);
        assert_eq!(lines.len(), 10);
        assert_eq!(lines[0].text, "diff --git a/lib/crew.toml b/lib/crew.toml");
        assert_eq!(lines[1].text, "old mode 100644");
        assert_eq!(lines[2].text, "diff --git a/a b/a");
    }

    #[test]
    fn a_named_file_comes_first_also_where_git_puts_its_name_in_quotes() {
        let other = "diff --git a/a b/a\nold mode 100644\n";
        let quoted = "diff --git \"a/caf\\303\\251\\t/crew.toml\" \"b/caf\\303\\251\\t/crew.toml\"\n";
        let patch = format!("{other}{quoted}");
        let lines = those_first(lines(&patch).collect(), &["café\t/crew.toml".to_owned()]);
        assert!(lines[0].text.starts_with("diff --git \"a/caf"), "{lines:?}");
    }
}
