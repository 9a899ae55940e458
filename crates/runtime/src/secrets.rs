//! Secrets in text: keys, tokens and passwords, found by the rules of gitleaks.
//!
//! The rules come with the crate `secrets_scanner`. Compiling all of them takes seconds in a debug build, so
//! a rule is compiled when one of its keywords first comes up; most changes have none.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use aho_corasick::AhoCorasick;
use secrets_scanner::{BinaryPolicy, ScanConfig, Scanner};
use toml::{Table, Value};

/// The rules of another source have this before their names.
const OTHER_RULES: &str = "kingfisher";
/// The rule that finds any random value with a telling name: where another finds something too, that one says
/// what it is.
const VAGUE: &str = "generic-api-key";
/// The greatest number of characters of a value that are shown.
const SHOWN: usize = 4;
/// A value that is shorter is not shown in part.
const LONG: usize = 16;

/// A rule's keyword is at most so many bytes from the value: only the text around keywords is given to the
/// rules, since each reads all that it is given.
const AROUND: usize = 2 << 10;
/// The same after the first line of a private key, which is long.
const AROUND_LONG: usize = 64 << 10;
/// The rules of long values have this in their names.
const OF_LONG_VALUES: &str = "private-key";
/// A part of a text is not cut within a word, unless that is longer.
const LONGEST_WORD: usize = 1 << 10;

/// A value that looks like a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The line in which it begins, from 1.
    pub line: u32,
    /// The name of the rule that found it, as gitleaks has it.
    pub rule: String,
    /// Where the value is in the text, in bytes.
    pub range: Range<usize>,
}

struct Rules {
    /// The rules of values that are long.
    long: BTreeSet<usize>,
    /// The keyword of each pattern of `keywords` belongs to these rules.
    of_keyword: Vec<Vec<usize>>,
    keywords: AhoCorasick,
    /// The rules, each as a set of its own with what holds for all.
    sets: Vec<Table>,
    compiled: Mutex<BTreeMap<usize, Option<Arc<Scanner>>>>,
}

static RULES: LazyLock<Option<Rules>> = LazyLock::new(Rules::read);

/// The values in a text that look like secrets, in order. `path`: of the file, as some rules hold for some
/// files only.
#[must_use]
pub fn find(path: &str, text: &[u8]) -> Vec<Found> {
    let Some(rules) = RULES.as_ref() else {
        return Vec::new();
    };
    let mut found: Vec<Found> = Vec::new();
    for (rule, windows) in rules.asked(text) {
        let Some(scanner) = rules.compiled(rule) else {
            continue;
        };
        let (mut counted, mut lines_before) = (0, 0);
        for window in windows {
            lines_before += memchr::memchr_iter(b'\n', &text[counted..window.start]).count();
            counted = window.start;
            let finds = scanner.scan_bytes(path, &text[window.clone()]);
            found.extend(finds.into_iter().map(|it| Found {
                line: u32::try_from(lines_before + it.line).unwrap_or(u32::MAX),
                rule: it.rule_id,
                range: window.start + it.secret_start_offset
                    ..(window.start + it.secret_end_offset).min(text.len()),
            }));
        }
    }
    found.retain(|it| !it.range.is_empty());
    found.sort_by_key(|it| (it.range.start, it.rule == VAGUE, it.range.end));
    let mut kept: Vec<Found> = Vec::new();
    for one in found {
        let overlaps = |it: &&mut Found| one.range.start < it.range.end;
        match kept.last_mut().filter(overlaps) {
            // One value, and two rules that find it.
            Some(last) => {
                last.range.end = last.range.end.max(one.range.end);
                if last.rule == VAGUE {
                    last.rule = one.rule;
                }
            }
            None => kept.push(one),
        }
    }
    kept
}

/// A value as it may be shown: the beginning of a long one, and no more.
#[must_use]
pub fn masked(value: &[u8]) -> String {
    let value = String::from_utf8_lossy(value);
    let shown = match value.chars().count() >= LONG {
        true => value.chars().take(SHOWN).collect(),
        false => String::new(),
    };
    format!("{}…", text::sanitise::line(&shown))
}

/// A text in which the values that look like secrets are masked; none where there is none.
#[must_use]
pub fn without(path: &str, text: &[u8]) -> Option<Vec<u8>> {
    let found = find(path, text);
    if found.is_empty() {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for Found { range, .. } in found {
        out.extend_from_slice(&text[at..range.start]);
        let lines = text[range.clone()].split(|byte| *byte == b'\n');
        // A value of many lines stays as many, each with the sign that a patch has before it.
        for (nth, line) in lines.enumerate() {
            match (nth, line.first()) {
                (0, _) => out.extend(masked(line).into_bytes()),
                (_, Some(sign @ (b'+' | b'-' | b' '))) => {
                    out.extend([&[b'\n', *sign], "…".as_bytes()].concat());
                }
                (_, Some(_) | None) => out.extend("\n…".as_bytes()),
            }
        }
        at = range.end;
    }
    out.extend_from_slice(&text[at..]);
    Some(out)
}

/// What somebody says, with the values that look like secrets masked.
#[must_use]
pub fn said(text: String) -> String {
    match without("", text.as_bytes()) {
        Some(masked) => String::from_utf8_lossy(&masked).into_owned(),
        None => text,
    }
}

/// The beginning of each file of a patch.
const FILE: &[u8] = b"diff --git ";

/// A patch in which the values that look like secrets are masked; none where there is none. Each file is
/// looked at under its own name, as it was before.
#[must_use]
pub fn without_in_patch(patch: &[u8]) -> Option<Vec<u8>> {
    let mut starts: Vec<usize> = memchr::memmem::find_iter(patch, FILE)
        .filter(|at| *at == 0 || patch[at - 1] == b'\n')
        .collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    let mut out = Vec::with_capacity(patch.len());
    let mut is_masked = false;
    for (start, end) in starts.iter().zip(ends) {
        let file = &patch[*start..end];
        let path = path_in(file);
        let masked = match text::is_secret_file(&path) {
            true => Some(without_lines(file)),
            false => without(&path, file),
        };
        match masked {
            Some(masked) => {
                is_masked = true;
                out.extend(masked);
            }
            None => out.extend_from_slice(file),
        }
    }
    is_masked.then_some(out)
}

/// A file of a patch without its lines, of which only the signs stay: of a file whose name says that it has
/// secrets no line is shown.
fn without_lines(file: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(file.len());
    let mut is_in_hunk = false;
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        is_in_hunk |= line.starts_with(b"@@");
        match line.first() {
            Some(sign @ (b'+' | b'-' | b' ')) if is_in_hunk => {
                out.push(*sign);
                out.extend_from_slice("…\n".as_bytes());
            }
            Some(_) | None => out.extend_from_slice(line),
        }
    }
    out
}

/// The path of a file of a patch: the new one, or that of a file that is gone.
fn path_in(file: &[u8]) -> String {
    let line = |start: &[u8]| {
        let mut lines = file.split(|byte| *byte == b'\n');
        let line = lines.find_map(|line| line.strip_prefix(start))?;
        let path = String::from_utf8_lossy(line);
        let path = path.trim_end_matches('\t').trim_matches('"');
        (path != "/dev/null").then(|| path.get(2..).unwrap_or(path).to_owned())
    };
    line(b"+++ ").or_else(|| line(b"--- ")).unwrap_or_default()
}

impl Rules {
    /// None if the crate's rules are none: its own tests and those below say that they are.
    fn read() -> Option<Self> {
        let mut all: Table = toml::from_str(secrets_scanner::rules::BUNDLED_RULES).ok()?;
        let Some(Value::Array(rules)) = all.remove("rules") else {
            return None;
        };
        let mut sets = Vec::new();
        let mut long = BTreeSet::new();
        let mut words: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for rule in rules {
            let id = rule.get("id")?.as_str()?;
            if id.starts_with(OTHER_RULES) {
                continue;
            }
            if id.contains(OF_LONG_VALUES) {
                long.insert(sets.len());
            }
            let keywords = rule.get("keywords").and_then(Value::as_array);
            for keyword in keywords.into_iter().flatten().filter_map(Value::as_str) {
                words
                    .entry(keyword.to_ascii_lowercase())
                    .or_default()
                    .push(sets.len());
            }
            let mut set = all.clone();
            set.insert("rules".to_owned(), Value::Array(vec![with_own_stop_words(rule)]));
            sets.push(set);
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(words.keys())
            .ok()?;
        Some(Self {
            long,
            of_keyword: words.into_values().collect(),
            keywords,
            sets,
            compiled: Mutex::default(),
        })
    }

    /// The rules of which a keyword is in the text, each with the parts of it around one.
    fn asked(&self, text: &[u8]) -> BTreeMap<usize, Vec<Range<usize>>> {
        let mut asked: BTreeMap<usize, Vec<Range<usize>>> = BTreeMap::new();
        for it in self.keywords.find_overlapping_iter(text) {
            for rule in &self.of_keyword[it.pattern().as_usize()] {
                let windows = asked.entry(*rule).or_default();
                let after = match self.long.contains(rule) {
                    true => AROUND_LONG,
                    false => AROUND,
                };
                let end = end_of_word(text, it.end().saturating_add(after));
                match windows.last_mut() {
                    Some(last) if it.start().saturating_sub(AROUND) <= last.end => {
                        last.end = last.end.max(end);
                    }
                    Some(_) | None => {
                        windows.push(start_of_word(text, it.start().saturating_sub(AROUND))..end);
                    }
                }
            }
        }
        asked
    }

    fn compiled(&self, rule: usize) -> Option<Arc<Scanner>> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let scanner = compiled.entry(rule).or_insert_with(|| {
            let set = self.sets.get(rule)?;
            let config = ScanConfig {
                redact: false,
                // Whoever writes a secret could write the mark beside it.
                honor_allow_markers: false,
                capture_context: false,
                binary_policy: BinaryPolicy::Scan,
                ..ScanConfig::default()
            };
            let scanner = |set: &Table| Scanner::from_toml(&toml::to_string(set).ok()?).ok();
            // A rule without a group is refused with one.
            let found = with_first_group(set).and_then(|set| scanner(&set));
            Some(Arc::new(found.or_else(|| scanner(set))?.with_config(config)))
        });
        scanner.clone()
    }
}

fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=_-.".contains(&byte)
}

/// The place at which a word around `at` begins.
fn start_of_word(text: &[u8], at: usize) -> usize {
    let before = text[at.saturating_sub(LONGEST_WORD)..at].iter().rev();
    at - before.take_while(|byte| is_in_word(**byte)).count()
}

/// The place at which a word around `at` ends.
fn end_of_word(text: &[u8], at: usize) -> usize {
    let at = at.min(text.len());
    let after = text[at..].iter().take(LONGEST_WORD);
    at + after.take_while(|byte| is_in_word(**byte)).count()
}

/// A rule with the value that gitleaks takes where the rule names none: its expression's first group. The
/// crate takes all that matches, the name of the value too.
fn with_first_group(set: &Table) -> Option<Table> {
    let mut set = set.clone();
    let rule = set
        .get_mut("rules")?
        .as_array_mut()?
        .first_mut()?
        .as_table_mut()?;
    if rule.contains_key("secretGroup") {
        return None;
    }
    rule.insert("secretGroup".to_owned(), Value::Integer(1));
    Some(set)
}

/// gitleaks looks for stop words in the value alone, the crate wherever the expressions beside them look: in
/// the name of the value as well, so that nothing named `token` or `password` is found.
fn with_own_stop_words(mut rule: Value) -> Value {
    let Some(Value::Array(lists)) = rule.get_mut("allowlists") else {
        return rule;
    };
    let mut own = Vec::new();
    for list in lists.iter_mut().filter_map(Value::as_table_mut) {
        let is_any = list.get("condition").is_none_or(|it| it.as_str() == Some("OR"));
        if is_any
            && list.contains_key("regexTarget")
            && let Some(words) = list.remove("stopwords")
        {
            own.push(Value::Table(Table::from_iter([("stopwords".to_owned(), words)])));
        }
    }
    lists.append(&mut own);
    rule
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value that no scanner finds in this file.
    fn token() -> String {
        ["ghp_", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1", "dE4fG6"].concat()
    }

    #[test]
    fn a_token_is_found_with_its_line_and_its_rule_and_masked() {
        let token = token();
        let text = format!("one\nlet token = \"{token}\"; // gitleaks:allow\n");
        let found = find("src/a.rs", text.as_bytes());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].line, found[0].rule.as_str()), (2, "github-pat"));
        assert_eq!(&text[found[0].range.clone()], token);
        let masked = without("src/a.rs", text.as_bytes()).unwrap();
        assert_eq!(
            String::from_utf8(masked).unwrap(),
            "one\nlet token = \"ghp_…\"; // gitleaks:allow\n"
        );
    }

    #[test]
    fn a_value_far_inside_a_long_text_is_found_at_its_place() {
        let token = token();
        for filler in ["a line of words\n", "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo"] {
            let before = filler.repeat(4000);
            let text = format!("{before} {token} {before} {token}");
            let found = find("a.txt", text.as_bytes());
            let places: Vec<&str> = found.iter().map(|it| &text[it.range.clone()]).collect();
            assert_eq!(places, [&token, &token]);
            let lines = u32::try_from(before.matches('\n').count()).unwrap();
            assert_eq!((found[0].line, found[1].line), (lines + 1, 2 * lines + 1));
        }
    }

    #[test]
    fn what_is_named_a_password_or_a_token_is_found_and_its_name_stays() {
        let value = ["aB3dE5gH7jK9mN1p", "Q3sT5vW7yZ9bC1x2"].concat();
        for (name, line) in [
            ("password = '", format!("password = '{value}'\n")),
            ("DB_PASSWORD=", format!("DB_PASSWORD={value}\n")),
            ("let token = \"", format!("let token = \"{value}\";\n")),
            (
                "\"client_secret\": \"",
                format!("\"client_secret\": \"{value}\",\n"),
            ),
            ("api_key: ", format!("api_key: {value}\n")),
        ] {
            let found = find("a.txt", line.as_bytes());
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!(&line[found[0].range.clone()], value, "{line}");
            let masked = String::from_utf8(without("a.txt", line.as_bytes()).unwrap()).unwrap();
            assert!(masked.starts_with(&format!("{name}aB3d…")), "{masked}");
        }
    }

    #[test]
    fn of_a_file_with_the_name_of_secrets_no_line_is_shown() {
        let patch = "diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1 +1,2 @@\n-A=1\n+A=2\n+-- b\n";
        let masked = String::from_utf8(without_in_patch(patch.as_bytes()).unwrap()).unwrap();
        assert_eq!(
            masked,
            "diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1 +1,2 @@\n-…\n+…\n+…\n"
        );
    }

    #[test]
    fn each_file_of_a_patch_is_masked_by_the_rules_for_its_name() {
        let data = ["c2VjcmV0LXZh", "bHVlLTEyMzQ1"].concat();
        let file = |name: &str| {
            format!(
                "diff --git a/{name} b/{name}\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,3 @@\n+kind: Secret\n+data:\n+  pw: {data}\n"
            )
        };
        let patch = format!("{}{}", file("a.txt"), file("b.yaml"));
        let masked = String::from_utf8(without_in_patch(patch.as_bytes()).unwrap()).unwrap();
        assert!(masked.starts_with(&file("a.txt")), "{masked}");
        assert_eq!(masked.matches(&data).count(), 1, "{masked}");
        assert_eq!(masked.lines().count(), patch.lines().count());
        assert_eq!(without_in_patch(file("a.txt").as_bytes()), None);
    }

    #[test]
    fn plain_code_and_the_hashes_of_a_lock_file_are_none() {
        let lock = format!(
            "[[package]]\nname = \"a\"\nchecksum = \"{}\"\n",
            "9f86d081884c7d65".repeat(4)
        );
        for (path, text) in [
            ("Cargo.lock", lock.as_str()),
            (
                "src/a.rs",
                "let key = map.keys().next(); let password = read_password();\n",
            ),
            ("a.env.example", "API_KEY=changeme\nTOKEN=<your token>\n"),
        ] {
            assert_eq!(find(path, text.as_bytes()), [], "{path}");
        }
    }

    #[test]
    fn a_private_key_of_a_patch_is_masked_and_keeps_its_lines() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
        let line = |what: &str| format!("+-----{what} PRIVATE KEY-----");
        let patch = format!(
            "@@ -0,0 +1,4 @@\n{}\n+{body}\n+{body}\n{}\n",
            line("BEGIN"),
            line("END")
        );
        let masked = String::from_utf8(without("a.txt", patch.as_bytes()).unwrap()).unwrap();
        assert!(!masked.contains(body), "{masked}");
        assert_eq!(masked.lines().count(), patch.lines().count(), "{masked}");
    }

    #[test]
    fn every_rule_compiles() {
        let rules = RULES.as_ref().unwrap();
        assert!(rules.sets.len() > 200);
        // All of them take half a minute here; every tenth shows that the sets are whole.
        for rule in (0..rules.sets.len()).step_by(10) {
            assert!(rules.compiled(rule).is_some(), "{}", rules.sets[rule]["rules"]);
        }
    }

    mod deep {
        use super::*;

        #[test]
        fn every_single_rule_compiles() {
            let rules = RULES.as_ref().unwrap();
            for rule in 0..rules.sets.len() {
                assert!(rules.compiled(rule).is_some(), "{}", rules.sets[rule]["rules"]);
            }
        }
    }
}
