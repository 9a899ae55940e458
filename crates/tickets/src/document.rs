//! A ticket's file as a document, which keeps every byte that is not changed.

use std::ops::Range;
use std::path::Path;

use crate::commitment::{Commitment, Run};
use crate::front_matter::{self, Lines, RawEntry};
use crate::problem::{Problem, ProblemKind};
use crate::yaml::{self, Value};

/// The largest ticket's file, in bytes.
pub(crate) const MAX_BYTES: u64 = 1 << 20;

/// A ticket's file: its text, and the positions of its keys. An unchanged document renders to the bytes it
/// was parsed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    text: String,
    entries: Vec<Entry>,
    /// The start of the line that closes the front matter.
    close: usize,
    /// The start of the body.
    body: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    key: String,
    value: Value,
    /// The line number of the key, from 1.
    line: usize,
    /// The lines of the key and its value, with their line ends.
    span: Range<usize>,
    /// The rest of the first line after the colon, without the line end.
    first: Range<usize>,
}

impl Document {
    /// Parses the bytes of a file. `path` is only used for the problem.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Document, Problem> {
        Document::from_bytes(bytes).map_err(|(line, kind)| Problem {
            path: path.to_owned(),
            line,
            kind,
        })
    }

    fn from_bytes(bytes: &[u8]) -> Result<Document, (Option<usize>, ProblemKind)> {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > MAX_BYTES {
            return Err((None, ProblemKind::TooLarge { bytes: size }));
        }
        let line_of = |at: usize| bytes[..at].iter().filter(|b| **b == b'\n').count() + 1;
        if let Some(at) = bytes.iter().position(|b| *b == 0) {
            return Err((Some(line_of(at)), ProblemKind::Binary));
        }
        let text =
            std::str::from_utf8(bytes).map_err(|e| (Some(line_of(e.valid_up_to())), ProblemKind::NotUtf8))?;
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            return Err((None, ProblemKind::Empty));
        }
        Document::from_text(text.to_owned())
    }

    fn from_text(text: String) -> Result<Document, (Option<usize>, ProblemKind)> {
        let start = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        let mut lines = Lines::new(&text, start);
        if lines.next().is_none_or(|line| line.content.trim_end() != "---") {
            return Err((Some(1), ProblemKind::NoFrontMatter));
        }
        let mut raw: Vec<RawEntry> = Vec::new();
        let closing = loop {
            let Some(line) = lines.next() else {
                return Err((Some(1), ProblemKind::Unclosed));
            };
            if line.content.trim_end() == "---" {
                break line;
            }
            front_matter::add_line(&mut raw, &line)?;
        };
        let mut entries: Vec<Entry> = Vec::with_capacity(raw.len());
        let mut seen = std::collections::BTreeMap::new();
        for raw in raw {
            if let Some(first) = seen.insert(raw.key.clone(), raw.line) {
                return Err((Some(raw.line), ProblemKind::DuplicateKey { key: raw.key, first }));
            }
            yaml::check_key(&text[raw.span.start..raw.first.start])
                .map_err(|fault| (Some(raw.line), fault.kind))?;
            let value = yaml::parse(&text[raw.span.clone()], &text[raw.first.clone()], raw.lines).map_err(
                |fault| {
                    let line = raw.line + fault.line.min(raw.lines - 1);
                    (Some(line), fault.kind)
                },
            )?;
            entries.push(Entry {
                key: raw.key,
                value,
                line: raw.line,
                span: raw.span,
                first: raw.first,
            });
        }
        let (close, body) = (closing.start, closing.end);
        Ok(Document {
            text,
            entries,
            close,
            body,
        })
    }

    /// The bytes of the file.
    pub fn render(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The text of the file: [`Document::render`] as a string.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text after the front matter.
    pub fn body(&self) -> &str {
        &self.text[self.body..]
    }

    /// The first line of the body in the file, from 1.
    pub(crate) fn first_line_of_body(&self) -> usize {
        self.text[..self.body].matches('\n').count() + 1
    }

    /// The keys and their values, in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries
            .iter()
            .map(|entry| (entry.key.as_str(), &entry.value))
    }

    /// The value of a key, if the file has the key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The line number of a key, from 1.
    pub(crate) fn line(&self, key: &str) -> Option<usize> {
        self.entry(key).map(|entry| entry.line)
    }

    /// Sets a key to a text. Only the lines of the key change, and a comment after the value stays. A new
    /// key is added at the end of the front matter.
    pub fn set_text(&mut self, key: &str, text: &str) {
        if self.get(key) != Some(&Value::Text(text.to_owned())) {
            self.put(key, &yaml::scalar(text));
        }
    }

    /// Sets a key to a list, as [`Document::set_text`] does.
    pub fn set_list<T: AsRef<str>>(&mut self, key: &str, items: &[T]) {
        let wanted = Value::List(items.iter().map(|item| item.as_ref().to_owned()).collect());
        if self.get(key) != Some(&wanted) {
            self.put(key, &yaml::list(items));
        }
    }

    /// Sets the key `commitments`, an item a commitment; without any the key is removed.
    pub fn set_commitments(&mut self, commitments: &[Commitment]) {
        let key = "commitments";
        self.remove(key);
        if commitments.is_empty() {
            return;
        }
        let end = self.line_end();
        let mut lines = format!("{key}:{end}");
        for one in commitments {
            lines.push_str(&format!("  - says: {}{end}", text_in_map(&one.says)));
            let run = match &one.run {
                Some(Run::Shell(text)) => text_in_map(text),
                Some(Run::Argv(words)) => {
                    let words: Vec<String> = words.iter().map(|word| text_in_map(word)).collect();
                    format!("[{}]", words.join(", "))
                }
                None => continue,
            };
            lines.push_str(&format!("    run: {run}{end}"));
        }
        self.splice(self.close..self.close, &lines);
    }

    /// Removes a key; `false` when the file does not have it.
    pub fn remove(&mut self, key: &str) -> bool {
        let Some(span) = self.entry(key).map(|entry| entry.span.clone()) else {
            return false;
        };
        self.splice(span, "");
        true
    }

    /// Appends to the body, with the line ends of the file. A line end is added first if the body's last
    /// line has none.
    pub fn append(&mut self, text: &str) {
        let end = self.line_end();
        let mut added = String::new();
        if !self.text.ends_with('\n') {
            added.push_str(end);
        }
        for line in text.split_inclusive('\n') {
            let bare = line.strip_suffix('\n');
            added.push_str(bare.map_or(line, |bare| bare.strip_suffix('\r').unwrap_or(bare)));
            if bare.is_some() {
                added.push_str(end);
            }
        }
        self.text.push_str(&added);
        self.parse_again();
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    fn put(&mut self, key: &str, written: &str) {
        match self.entry(key) {
            Some(entry) => {
                let comment = yaml::split_comment(&self.text[entry.first.clone()]).1;
                let comment = if comment.trim_start().starts_with('#') {
                    comment.to_owned()
                } else {
                    String::new()
                };
                let span = entry.first.start..entry.span.end;
                let end = self.end_of(entry.span.clone()).to_owned();
                self.splice(span, &format!(" {written}{comment}{end}"));
            }
            None => {
                let line = format!("{key}: {written}{}", self.line_end());
                self.splice(self.close..self.close, &line);
            }
        }
    }

    fn splice(&mut self, span: Range<usize>, with: &str) {
        self.text.replace_range(span, with);
        self.parse_again();
    }

    /// Finds the keys again after a change of the text. A text that cannot be parsed, which crew should
    /// never make, is kept: the check before a write refuses it.
    fn parse_again(&mut self) {
        if let Ok(fresh) = Document::from_text(self.text.clone()) {
            *self = fresh;
        }
    }

    fn end_of(&self, span: Range<usize>) -> &str {
        let text = &self.text[span];
        if text.ends_with("\r\n") { "\r\n" } else { "\n" }
    }

    /// The line end of the file's first line.
    pub(crate) fn line_end(&self) -> &'static str {
        let first = self.text.find('\n').unwrap_or(0);
        if self.text[..first].ends_with('\r') {
            "\r\n"
        } else {
            "\n"
        }
    }
}

/// A text inside of a map, where a word such as `no` or `1.0` without quotes is no text.
fn text_in_map(text: &str) -> String {
    let written = yaml::scalar(text);
    match written.starts_with(['"', '\'']) {
        true => written,
        false => format!("'{}'", written.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Document, Problem> {
        Document::parse(Path::new("x.md"), text.as_bytes())
    }

    const TK: &str = "---\nid: ab-1\nstatus: open\ndeps: []\nlinks: []\n# a comment\nx-own:   {deep: [1, 2]}\ncreated: 2026-01-31T12:00:00Z\n\ntype: task\npriority: 2\nassignee: Jo: Smith\n---\n# A | \"title\"\n\nstatus: not this one\n\n---\nstatus: closed\n---\n";

    #[test]
    fn only_the_line_of_the_key_changes() {
        let mut doc = parse(TK).unwrap();
        doc.set_text("status", "in_progress");
        assert_eq!(doc.text(), TK.replacen("status: open", "status: in_progress", 1));
        doc.set_text("status", "open");
        doc.set_list("deps", &["ab-2", "ab-3"]);
        assert_eq!(doc.text(), TK.replacen("deps: []", "deps: [ab-2, ab-3]", 1));
        doc.set_list::<&str>("deps", &[]);
        assert_eq!(doc.text(), TK);
        doc.set_list("tags", &["verify"]);
        assert_eq!(
            doc.text(),
            TK.replacen("Smith\n---\n", "Smith\ntags: [verify]\n---\n", 1)
        );
        assert!(doc.remove("tags"));
        assert!(!doc.remove("tags"));
        assert_eq!(doc.text(), TK);
    }

    #[test]
    fn commitments_that_are_written_are_read_again() {
        let words = ["test", "-e", "a b", "it's: \"#1\""].map(str::to_owned).to_vec();
        let says = |says: &str, run| Commitment {
            says: says.to_owned(),
            run,
        };
        let all = [
            says("- the page: is there # now", Some(Run::Argv(words))),
            says("no", Some(Run::Shell("grep -q \"a\" 'b' | wc -l".to_owned()))),
            says("1", None),
        ];
        let mut doc = parse(TK).unwrap();
        doc.set_commitments(&all);
        let read = crate::commitment::in_front_matter(doc.get("commitments"));
        assert_eq!(read, (all.to_vec(), true), "{}", doc.text());
        doc.set_commitments(&[]);
        assert_eq!(doc.text(), TK);
    }

    #[test]
    fn line_ends_a_mark_and_comments_stay() {
        let text = "\u{feff}---\r\nstatus: open   # mine\r\ndeps:\r\n  - a\r\n  # inner\r\n  - b\r\n# after\r\n---\r\n# T\r\nx";
        let mut doc = parse(text).unwrap();
        assert_eq!(doc.get("deps"), Some(&Value::List(vec!["a".into(), "b".into()])));
        doc.set_text("status", "closed");
        doc.set_list("deps", &["b"]);
        doc.set_text("new", "1");
        doc.append("\nmore\n");
        assert_eq!(
            doc.text(),
            "\u{feff}---\r\nstatus: closed   # mine\r\ndeps: [b]\r\n# after\r\nnew: 1\r\n---\r\n# T\r\nx\r\n\r\nmore\r\n"
        );
    }

    #[test]
    fn a_list_at_the_left_edge_and_a_block_text_belong_to_their_key() {
        let doc = parse("---\ndeps:\n- a\n- b\nwhy: |\n  one: two\n\n  three\nlast: 1\n---").unwrap();
        assert_eq!(doc.get("deps"), Some(&Value::List(vec!["a".into(), "b".into()])));
        assert_eq!(doc.get("why"), Some(&Value::Text("one: two\n\nthree\n".into())));
        assert_eq!(doc.get("last"), Some(&Value::Text("1".into())));
        assert_eq!(doc.body(), "");
    }

    proptest! {
        #[test]
        fn an_untouched_document_renders_its_bytes(
            mark in prop::bool::ANY,
            head in "([a-z-]{1,6}: ?[ -~]{0,12}\r?\n|#[ -~]{0,8}\n|\n| +- [a-z]{1,4}\n){0,6}",
            body in "([ -~é]{0,20}\r?\n|---\n){0,8}[ -~]{0,5}",
        ) {
            let text = format!("{}---\n{head}---\n{body}", if mark { "\u{feff}" } else { "" });
            if let Ok(doc) = parse(&text) {
                prop_assert_eq!(doc.text(), text.as_str());
                prop_assert_eq!(doc.body(), body.as_str());
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "(---\n|[a-c]:|[\\[\\]{}\"'|>&*!#\n -]){0,40}") {
            let _ = Document::parse(Path::new("x"), &bytes);
            let _ = parse(&text);
            let _ = parse(&format!("---\n{text}\n---\nbody"));
        }

        #[test]
        fn setting_a_key_leaves_the_body_and_the_other_keys(status in "[a-z_]{1,8}", other in "[ -~]{0,20}", body in "([ -~]{0,12}\n|---\n|status: x\n){0,6}") {
            let text = format!("---\nid: a\nx: {other}\nstatus: open\n---\n{body}");
            if let Ok(mut doc) = parse(&text) {
                let before = doc.get("x").cloned();
                doc.set_text("status", &status);
                prop_assert_eq!(doc.body(), body.as_str());
                prop_assert_eq!(doc.get("x"), before.as_ref());
                let wanted = Value::Text(status.clone());
                prop_assert_eq!(doc.get("status"), Some(&wanted).filter(|_| status != "null"));
                prop_assert_eq!(doc.text(), text.replacen("status: open", &format!("status: {}", yaml::scalar(&status)), 1));
            }
        }
    }
}
