//! Retired words: the words that the code and the documents do not use any more, and what stands in their
//! place.
//!
//! One thing has one word, and the field's word where it has one. Identifiers are split into segments
//! (`take_up`, `TakeUp`), so that `String` does not count as `ring`. In prose (comments, string literals,
//! Markdown) only those words are refused that have no everyday meaning, or whose everyday meaning can be
//! told by the words around them.

mod table;
mod tokens;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::{Outcome, program};
use table::{IDENTIFIERS, In, NEEDED, NOT_OURS, PROSE};
use tokens::{Kind, Token, tokens};

/// The longest line with a comment, in characters.
const COLUMNS: usize = 110;
/// A function whose name has as many segments is named by a sentence, as tests are: its name is prose.
const SENTENCE: usize = 6;
/// Where something stands that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Identifier,
    Prose,
    LongLine,
}

/// Something that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    of: Of,
    /// From 1.
    line: usize,
    /// The retired word; nothing for a long line.
    word: &'static str,
    what: String,
}

/// Refuses retired words in every Rust and Markdown file that git knows or would add, and long comment lines
/// in Rust.
///
/// # Errors
///
/// There are some: they were printed, and how many there are in each crate is in the text. Or a file cannot
/// be read.
pub(crate) fn check(root: &Path) -> Outcome {
    let listed = program::output(
        root,
        "git",
        &[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "*.rs",
            "*.md",
        ],
    )?;
    let mut counts = BTreeMap::<&str, [usize; 3]>::new();
    for path in listed.split_terminator('\0') {
        if NOT_OURS.iter().any(|part| path.contains(part)) {
            continue;
        }
        // Git still lists a file that was removed.
        let Ok(text) = fs::read_to_string(root.join(path)) else {
            continue;
        };
        let found = if path.ends_with(".rs") {
            in_code(&text)
        } else {
            in_document(&text)
        };
        for Finding { of, line, word, what } in found {
            if !NEEDED
                .iter()
                .any(|needed| path.starts_with(needed.0) && needed.1 == word)
            {
                println!("{path}:{line}: {what}");
                counts.entry(part_of(path)).or_default()[of as usize] += 1;
            }
        }
    }
    if counts.is_empty() {
        return Ok(());
    }
    let mut text = String::from("retired words and long comment lines, by crate:");
    let mut all = [0; 3];
    for (part, count) in &counts {
        let _ = write!(text, "\n  {part}: {}", shown(*count));
        for (sum, count) in all.iter_mut().zip(count) {
            *sum += count;
        }
    }
    let _ = write!(text, "\n  in all: {}", shown(all));
    Err(text)
}

/// Counts in words, in the order of [`Of`].
fn shown([identifiers, prose, lines]: [usize; 3]) -> String {
    format!("{identifiers} in identifiers, {prose} in prose, {lines} long lines")
}

/// The crate, or the folder at the top, that a file is counted with.
fn part_of(path: &str) -> &str {
    let path = path.strip_prefix("crates/").unwrap_or(path);
    path.split('/').next().unwrap_or(path)
}

fn in_document(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    prose(text, 1, &mut found);
    found
}

fn in_code(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut before = "";
    for token in tokens(text) {
        match token.kind {
            Kind::Comment | Kind::Literal => prose(token.text, token.line, &mut found),
            Kind::Identifier => identifier(before, &token, &mut found),
        }
        before = if token.kind == Kind::Identifier {
            token.text
        } else {
            ""
        };
    }
    let commented = comment_lines(text);
    for (index, line) in text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > COLUMNS && commented.contains(&(index + 1)) {
            let what = format!("a comment line of {columns} columns → {COLUMNS} at most");
            found.push(Finding {
                of: Of::LongLine,
                line: index + 1,
                word: "",
                what,
            });
        }
    }
    found.sort_by_key(|finding| finding.line);
    found
}

/// The lines that have a comment or a part of one.
fn comment_lines(text: &str) -> Vec<usize> {
    let comments = tokens(text)
        .into_iter()
        .filter(|token| token.kind == Kind::Comment);
    comments
        .flat_map(|token| token.line..token.line + token.text.lines().count().max(1))
        .collect()
}

/// Looks at an identifier, which follows the word `before`.
fn identifier(before: &str, token: &Token<'_>, found: &mut Vec<Finding>) {
    let segments = segments(token.text);
    let whole = segments.join("_");
    if before == "fn" && segments.len() >= SENTENCE {
        prose(&segments.join(" "), token.line, found);
        return;
    }
    let is_sentence = segments.len() >= SENTENCE && token.text.starts_with(char::is_lowercase);
    for retired in IDENTIFIERS {
        let is_there = match retired.at {
            In::Segments => {
                let word: Vec<&str> = retired.word.split('_').collect();
                !is_sentence && segments.windows(word.len()).any(|part| part == word.as_slice())
            }
            In::Type => {
                matches!(before, "struct" | "enum" | "union" | "trait" | "type") && whole == retired.word
            }
            In::Module => before == "mod" && whole == retired.word,
        };
        if is_there && !retired.but.contains(&whole.as_str()) {
            let what = format!("{} → {}", token.text, retired.becomes);
            found.push(Finding {
                of: Of::Identifier,
                line: token.line,
                word: retired.word,
                what,
            });
            return;
        }
    }
}

/// Looks at words of people's language that begin in line `first`.
fn prose(text: &str, first: usize, found: &mut Vec<Finding>) {
    for (index, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        for retired in PROSE {
            let rest = retired
                .but
                .iter()
                .fold(lower.clone(), |rest, (phrase, _)| rest.replace(phrase, " "));
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            if rest.split(|c| !is_part(c)).any(|word| word == retired.word) {
                let what = format!("“{}” → {}", retired.word, retired.becomes);
                found.push(Finding {
                    of: Of::Prose,
                    line: first + index,
                    word: retired.word,
                    what,
                });
            }
        }
    }
}

/// The parts of an identifier, in lower case: `TakeUp`, `take_up` and `TAKE_UP` have `take` and `up`.
fn segments(identifier: &str) -> Vec<String> {
    let mut segments = vec![String::new()];
    let chars: Vec<char> = identifier.chars().collect();
    for (index, &c) in chars.iter().enumerate() {
        let after_lower = index > 0 && chars[index - 1].is_lowercase();
        let before_lower = chars.get(index + 1).is_some_and(|next| next.is_lowercase());
        let after_upper = index > 0 && chars[index - 1].is_uppercase();
        let begins = c == '_' || c.is_uppercase() && (after_lower || after_upper && before_lower);
        if begins && segments.last().is_some_and(|last| !last.is_empty()) {
            segments.push(String::new());
        }
        if let Some(last) = segments.last_mut()
            && c != '_'
        {
            last.extend(c.to_lowercase());
        }
    }
    segments.retain(|segment| !segment.is_empty());
    segments
}
#[cfg(test)]
mod tests {
    use super::*;

    fn whats(found: &[Finding]) -> Vec<(usize, &str)> {
        found.iter().map(|one| (one.line, one.what.as_str())).collect()
    }

    #[test]
    fn identifiers_are_split_where_their_words_are() {
        for (identifier, expected) in [
            ("take_up", "take up"),
            ("TakeUp", "take up"),
            ("TAKE_UP", "take up"),
            ("HTTPServer", "http server"),
            ("_ring2", "ring2"),
            ("String", "string"),
        ] {
            assert_eq!(segments(identifier).join(" "), expected, "{identifier}");
        }
    }

    #[test]
    fn a_file_is_taken_apart_into_comments_strings_and_identifiers() {
        let text = "let a = \"x \\\" // no\"; // a 'b\n/* c /* d */\ne */ 'f: loop { br#\"g\"h\"# '\"' '\\'' 1u8 r\"i\" } b\"j\"";
        let tokens: Vec<_> = tokens(text)
            .into_iter()
            .map(|token| (token.kind, token.line, token.text))
            .collect();
        assert_eq!(
            tokens,
            [
                (Kind::Identifier, 1, "let"),
                (Kind::Identifier, 1, "a"),
                (Kind::Literal, 1, "\"x \\\" // no\""),
                (Kind::Comment, 1, "// a 'b"),
                (Kind::Comment, 2, "/* c /* d */\ne */"),
                (Kind::Identifier, 3, "f"),
                (Kind::Identifier, 3, "loop"),
                (Kind::Literal, 3, "br#\"g\"h\"#"),
                (Kind::Literal, 3, "r\"i\""),
                (Kind::Literal, 3, "b\"j\""),
            ]
        );
    }

    #[test]
    fn what_is_not_ended_ends_with_the_file() {
        for text in [
            "\"é",
            "r#\"é\"",
            "/* é /* */",
            "'",
            "'\\",
            "'é",
            "// é",
            "b",
            "r#",
            "\"\\",
        ] {
            let length: usize = tokens(text).iter().map(|token| token.text.len()).sum();
            assert!(length <= text.len(), "{text}");
        }
    }

    #[test]
    fn every_retired_identifier_is_refused_and_its_new_word_named() {
        for retired in IDENTIFIERS {
            let text = match retired.at {
                In::Segments => format!("let old_{}_x = 1;", retired.word),
                In::Type => {
                    let (first, rest) = retired.word.split_at(1);
                    format!("struct {}{rest};", first.to_uppercase())
                }
                In::Module => format!("mod {};", retired.word),
            };
            let found = in_code(&text);
            let what = found.first().map_or("", |one| one.what.as_str());
            assert!(
                what.ends_with(&format!(" → {}", retired.becomes)),
                "{text}: {what}"
            );
        }
    }

    #[test]
    fn words_that_only_contain_a_retired_one_are_left_alone() {
        for text in [
            "use std::string::String; use std::convert::From; impl From<Spring> for Bark {}",
            "let (surface, shelfless, mushroom, unsettled) = (wait, barrier, groom, settler);",
            "flags.insert(Resolve::BENEATH); x.then(|| fold(past, behind));",
            "let progress_bar = Bar2::default();",
            "fn the_room_of_a_ticket_is_not_a_thing() {}",
        ] {
            assert_eq!(whats(&in_code(text)), [], "{text}");
        }
    }

    #[test]
    fn prose_is_looked_at_in_comments_strings_names_of_tests_and_documents() {
        let text =
            "/// Two\n/// Hands.\nfn the_spare_is_what_another_one_has_taken() { say(\"a\n seat\") }\n";
        assert_eq!(
            whats(&in_code(text)),
            [
                (2, "“hands” → adapters, executor"),
                (3, "“spare” → pooled checkout"),
                (4, "“seat” → slot"),
            ]
        );
        assert_eq!(whats(&in_document("a\nThe faces, `settle`")).len(), 2);
    }

    #[test]
    fn everyday_english_is_left_alone_where_the_words_around_it_say_so() {
        for text in [
            "on the other hand",
            "it hands out work",
            "a ring buffer",
            "its face",
            "String",
            "aside",
        ] {
            assert_eq!(whats(&in_document(text)), [], "{text}");
        }
        assert_eq!(in_document("the ring and its hands").len(), 2);
    }

    #[test]
    fn a_long_line_is_refused_where_it_has_a_comment() {
        let long = "x".repeat(COLUMNS);
        let at = |text: String| in_code(&text).iter().map(|one| one.line).collect::<Vec<_>>();
        assert_eq!(
            at(format!(
                "//{long}\nlet {long} = 1;\n/*\n{long}é\n*/\nlet {long} = 1; // y\n"
            )),
            [1, 4, 6]
        );
        assert_eq!(at(format!("//{}", "é".repeat(COLUMNS - 2))), Vec::<usize>::new());
    }

    #[test]
    fn a_file_is_counted_with_its_crate() {
        assert_eq!(part_of("crates/model/src/lib.rs"), "model");
        assert_eq!(part_of("docs/json.md"), "docs");
        assert_eq!(part_of("README.md"), "README.md");
    }
}
