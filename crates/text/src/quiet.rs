//! Quiet text: words that a host of repositories does not act on.

/// The character that keeps a reference from being one. It is not shown.
const BREAK: char = '\u{200b}';
/// The words with which a commit or a pull request closes an issue.
const CLOSING: [&str; 9] = [
    "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
];

/// The text in which nobody is mentioned, no issue is referred to by its number, none is closed, and no
/// workflow is skipped: a break that is not shown stands in each `@name`, `#1` and `GH-1`, in an address
/// behind a closing word, and in `[skip ci]` and its like.
#[must_use]
pub fn quiet(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        out.push(c);
        let (before, behind) = (&text[..at], &text[at + c.len_utf8()..]);
        let next = behind.chars().next();
        let is_reference = match c {
            '@' => next.is_some_and(char::is_alphanumeric) && !ends_in_word(before),
            // `&#39;` is a character.
            '#' => next.is_some_and(|c| c.is_ascii_digit()) && !before.ends_with('&'),
            '-' => next.is_some_and(|c| c.is_ascii_digit()) && last_word(before).eq_ignore_ascii_case("gh"),
            ':' => behind.starts_with("//") && is_closing(before),
            _ => false,
        };
        if is_reference || skips_checks(c, before, behind) {
            out.push(BREAK);
        }
    }
    out
}

/// The text in which nothing tells a host to skip its workflows for the commit: a break that is not shown
/// stands in `[skip ci]` and its like.
#[must_use]
pub fn checked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        out.push(c);
        if skips_checks(c, &text[..at], &text[at + c.len_utf8()..]) {
            out.push(BREAK);
        }
    }
    out
}

/// Whether a character begins what makes a host skip its workflows: `[skip ci]`, `[ci skip]`, `[no ci]`,
/// `[skip actions]` and others in brackets, `***NO_CI***`, and the trailer `skip-checks:`.
fn skips_checks(c: char, before: &str, behind: &str) -> bool {
    let begins = |with: &str| {
        let start = behind.get(..with.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(with))
    };
    match c {
        '[' => behind.split_once(']').is_some_and(|(inside, _)| {
            let inside = inside.trim().to_ascii_lowercase();
            inside == "no ci" || inside.starts_with("skip ") || inside.ends_with(" skip")
        }),
        '*' => begins("**no_ci***"),
        '-' => begins("checks:") && last_word(before).eq_ignore_ascii_case("skip"),
        _ => false,
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn ends_in_word(text: &str) -> bool {
    text.chars().next_back().is_some_and(is_of_word)
}

/// The word at the end of a text; empty where it ends in something else.
fn last_word(text: &str) -> &str {
    let rest = text.trim_end_matches(is_of_word);
    &text[rest.len()..]
}

/// Whether the text ends in a closing word and the scheme of an address: `Fixes: https`.
fn is_closing(text: &str) -> bool {
    let scheme = last_word(text);
    let before = text[..text.len() - scheme.len()].trim_end();
    let word = last_word(before.strip_suffix(':').unwrap_or(before));
    CLOSING.iter().any(|closing| word.eq_ignore_ascii_case(closing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_called_and_no_issue_is_closed() {
        let told = quiet("Closes #1, see team/it#2 and GH-3. Ping @team!\nfixes: https://h/team/it/issues/4");
        assert_eq!(
            told,
            "Closes #\u{200b}1, see team/it#\u{200b}2 and GH-\u{200b}3. Ping @\u{200b}team!\n\
             fixes: https:\u{200b}//h/team/it/issues/4"
        );
    }

    #[test]
    fn no_workflow_is_skipped() {
        assert_eq!(
            quiet("a [skip ci] b [CI Skip] ***NO_CI***\nSkip-Checks: true [no ci"),
            "a [\u{200b}skip ci] b [\u{200b}CI Skip] *\u{200b}**NO_CI***\nSkip-\u{200b}Checks: true [no ci"
        );
        assert_eq!(
            checked("Mend #1 [skip actions]"),
            "Mend #1 [\u{200b}skip actions]"
        );
    }

    #[test]
    fn what_calls_nobody_stays_as_it_is() {
        for text in [
            "mail ann@example.org",
            "# A heading",
            "a @ b",
            "&#39;",
            "see https://h/issues/4",
            "utf-8",
            "é@x#",
            "[x] done, *a*, a-checks: [to do] skip",
        ] {
            assert_eq!(quiet(text), text);
        }
    }
}
