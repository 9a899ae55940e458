//! The body of a ticket's file: title, description, sections, notes.

use jiff::Timestamp;

/// A note, as tk appends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The time when it was written.
    pub at: Timestamp,
    /// Its text, without the blank lines around it.
    pub text: String,
}

impl Note {
    /// Whether it is of the same second as `note` and begins with its lines: a person may have written below
    /// them.
    pub fn begins_as(&self, note: &Note) -> bool {
        let mut lines = self.text.lines();
        self.at.as_second() == note.at.as_second() && note.text.lines().all(|line| lines.next() == Some(line))
    }
}

/// The text of the first line that begins with `# `.
pub(crate) fn title(body: &str) -> Option<&str> {
    body.lines()
        .find_map(|line| line.strip_prefix("# "))
        .map(str::trim)
}

/// The text between the title and the first section.
pub(crate) fn description(body: &str) -> &str {
    let after_title = body
        .split_inclusive('\n')
        .scan(0, |at, line| {
            *at += line.len();
            Some((*at, line))
        })
        .find(|(_, line)| line.starts_with("# "))
        .map_or(0, |(at, _)| at);
    let rest = &body[after_title..];
    let end = headings(rest).first().map_or(rest.len(), |heading| heading.start);
    rest[..end].trim()
}

/// The notes, in the order of the file. tk appends them to the end of the file, whichever section is the
/// last.
pub(crate) fn notes(body: &str) -> Vec<Note> {
    let Some(start) = headings(body)
        .into_iter()
        .find(|heading| heading.name == "Notes")
        .map(|heading| heading.end)
    else {
        return Vec::new();
    };
    let mut notes: Vec<Note> = Vec::new();
    for line in body[start..].lines() {
        match (dated(line), notes.last_mut()) {
            (Some(at), _) => notes.push(Note {
                at,
                text: String::new(),
            }),
            (None, Some(note)) => {
                note.text.push_str(line);
                note.text.push('\n');
            }
            (None, None) => {}
        }
    }
    for note in &mut notes {
        note.text = note.text.trim().to_owned();
    }
    notes
}

/// The time in the first line of a note; `None` for any other line.
fn dated(line: &str) -> Option<Timestamp> {
    let stamp = line.trim_end().strip_prefix("**")?.strip_suffix("**")?;
    stamp.parse().ok()
}

/// The beginning of the first line of a note that an agent added with `crew ticket add-note`.
const BY_AGENT: &str = "Note by the agent ";

/// The beginning of the first line of a note that a hook of crew's added so.
const BY_HOOK: &str = "Note by the hook ";

/// The text of a note by an agent: a line with the agent's name, and the agent's words as a quotation.
///
/// The quotation shows where the note ends, and keeps a heading in it from being one of the ticket's.
pub fn note_by_agent(agent: &str, text: &str) -> String {
    quoted(BY_AGENT, agent, text)
}

/// The text of a note by a hook, which is named by its key in the settings; otherwise as
/// [`note_by_agent`].
pub(crate) fn note_by_hook(hook: &str, text: &str) -> String {
    quoted(BY_HOOK, hook, text)
}

fn quoted(by: &str, name: &str, text: &str) -> String {
    let mut note = format!("{by}{name}:");
    for line in text.lines() {
        note.push_str(if line.is_empty() { "\n>" } else { "\n> " });
        note.push_str(line);
    }
    note
}

/// The body without the notes of agents and hooks, and the notes of one line that `is_own` accepts, and
/// without a section `## Notes` that is empty then. A text below such a note is not a part of it, but was
/// added by somebody else, and stays.
pub(crate) fn without_notes(body: &str, is_own: impl Fn(&str) -> bool) -> String {
    let Some(heading) = headings(body).into_iter().find(|heading| heading.name == "Notes") else {
        return body.to_owned();
    };
    let lines: Vec<&str> = body[heading.end..].split_inclusive('\n').collect();
    let is_blank = |line: &str| line.trim().is_empty();
    let is_quoted = |line: &str| line.starts_with(BY_AGENT) || line.starts_with(BY_HOOK);
    let (mut rest, mut kept) = (lines.as_slice(), String::new());
    while let [line, others @ ..] = rest {
        rest = match rest {
            [before, date, between, text, after @ ..]
                if is_blank(before)
                    && dated(date).is_some()
                    && is_blank(between)
                    && (is_quoted(text) || is_own(text.trim_end())) =>
            {
                let quoted = after
                    .iter()
                    .take_while(|line| is_quoted(text) && line.starts_with('>'));
                &after[quoted.count()..]
            }
            _ => {
                kept.push_str(line);
                others
            }
        };
    }
    if !is_blank(&kept) {
        return format!("{}{kept}", &body[..heading.end]);
    }
    let above = &body[..heading.start];
    let above_that = ["\r\n", "\n"]
        .into_iter()
        .filter_map(|end| above.strip_suffix(end))
        .find(|above| above.is_empty() || above.ends_with('\n'));
    above_that.unwrap_or(above).to_owned()
}

/// True if the body has a section `## Notes`.
pub(crate) fn has_notes(body: &str) -> bool {
    headings(body).iter().any(|heading| heading.name == "Notes")
}

struct Heading<'a> {
    name: &'a str,
    start: usize,
    end: usize,
}

/// The `## ` headings outside of fenced blocks.
fn headings(body: &str) -> Vec<Heading<'_>> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                if let Some(name) = line.strip_prefix("## ") {
                    found.push(Heading {
                        name: name.trim(),
                        start,
                        end: at,
                    });
                }
            }
        }
    }
    // A fence that is never closed is not a fence.
    if fence.is_some() {
        headings_ignoring_fences(body)
    } else {
        found
    }
}

fn headings_ignoring_fences(body: &str) -> Vec<Heading<'_>> {
    let mut at = 0;
    body.split_inclusive('\n')
        .filter_map(|line| {
            let start = at;
            at += line.len();
            line.strip_prefix("## ").map(|name| Heading {
                name: name.trim(),
                start,
                end: at,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "# Title | here\n\nWhat to do.\n\n```sh\n## not a heading\n```\n\n## Acceptance Criteria\n\nIt works.\n\n```\n## inside\n```\n\n## Notes\n\n**2026-01-31T12:00:00Z**\n\nfirst\n\n**bold**\n\n**2026-01-31T12:00:01Z**\n\nsecond\n";

    #[test]
    fn a_body_is_taken_apart() {
        assert_eq!(title(BODY), Some("Title | here"));
        assert_eq!(description(BODY), "What to do.\n\n```sh\n## not a heading\n```");
        let texts: Vec<String> = notes(BODY).into_iter().map(|note| note.text).collect();
        assert_eq!(texts, ["first\n\n**bold**", "second"]);
    }

    #[test]
    fn a_body_without_somebodys_notes_is_as_it_was_before_them() {
        let own = |text: &str| text.starts_with("MINE: ");
        let note = "\n**2026-01-31T12:00:02Z**\n\nMINE: third\n";
        let bare = "# Title\n\nWhat to do.\n";
        for before in [bare, "", BODY, "# T\n\n## Notes\n\n## Design\n\nAs drawn.\n"] {
            let section = if before.contains("## Notes") {
                ""
            } else {
                "\n## Notes\n"
            };
            for times in 1..3 {
                let with = format!("{before}{section}{}", note.repeat(times));
                assert_eq!(without_notes(&with, own), before, "{with:?}");
                let crlf = with.replace('\n', "\r\n");
                assert_eq!(without_notes(&crlf, own), before.replace('\n', "\r\n"));
                let below = format!("{with}the blue one\n");
                assert!(without_notes(&below, own).ends_with("the blue one\n"));
            }
            assert_eq!(without_notes(before, own), before);
        }
        assert_eq!(without_notes("# T\n\n## Notes\n\n\n", own), "# T\n");
        let theirs = format!("{bare}\n## Notes\n{}", note.replace("MINE", "THEIRS"));
        assert_eq!(without_notes(&theirs, own), theirs);
    }

    #[test]
    fn a_body_without_an_agents_notes_is_as_it_was_before_them() {
        let before = "# Title\n\nWhat to do.\n";
        for text in [
            "one line",
            "a\n\n## Acceptance Criteria\n```\nb\n",
            "> quoted\n**2026-01-31T12:00:03Z**",
            "",
        ] {
            let [by_agent, by_hook] = [note_by_agent("ann", text), note_by_hook("comment", text)]
                .map(|note| format!("\n**2026-01-31T12:00:02Z**\n\n{note}\n"));
            let with = format!("{before}\n## Notes\n{by_hook}{by_agent}");
            assert_eq!(without_notes(&with, |_| false), before, "{with:?}");
            let note = by_agent;
            let with = format!("{before}\n## Notes\n{}", note.repeat(2));
            assert_eq!(without_notes(&with, |_| false), before, "{with:?}");
            assert_eq!(
                without_notes(&with.replace('\n', "\r\n"), |_| false),
                before.replace('\n', "\r\n")
            );
            assert_eq!(notes(&with).len(), 2, "{with:?}");
            let below = format!("{with}the blue one\n");
            assert!(without_notes(&below, |_| false).ends_with("the blue one\n"));
            let person = format!("{with}\n**2026-01-31T12:00:02Z**\n\nthe red one\n");
            assert!(without_notes(&person, |_| false).ends_with("\n\nthe red one\n"));
        }
    }

    #[test]
    fn odd_bodies_do_no_harm() {
        assert_eq!(title(""), None);
        assert_eq!(description("no title\n## S\nx"), "no title");
        assert_eq!(
            description("a\n```\n## S\nx"),
            "a\n```",
            "a fence that is never closed"
        );
        assert_eq!(notes("## Notes\n\nfree text\n"), []);
        let quoted = "Write so:\n\n```\n## Notes\n```\n";
        assert!(!has_notes(quoted) && has_notes(&format!("{quoted}\n## Notes  \n")));
        assert_eq!(title("text\n# Late\n"), Some("Late"));
    }
}
