//! Output without what differs from run to run: times, commits, process ids, the width of columns.

/// Every line, normal.
pub fn lines(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().map(nameless) {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let words: Vec<String> = line
            .trim_start_matches(' ')
            .split("  ")
            .filter(|w| !w.is_empty())
            .map(words)
            .collect();
        out.push_str(&format!("{}{}\n", &line[..indent], words.join("  ")));
    }
    out
}

fn words(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in text.trim().split(' ') {
        let bare = word.trim_matches(|c: char| ",.;:()".contains(c));
        let normal = match bare {
            _ if is_shape(bare, "0000-00-00") => Some("[date]"),
            _ if is_shape(bare, "00:00:00") => Some("[time]"),
            _ if is_shape(bare, "0000-00-00T00:00:00Z") => Some("[moment]"),
            _ if is_shape(bare, "0000-00-00T00:00:00.000Z") => Some("[moment]"),
            // Before spans: a commit may be nothing but digits and a d.
            _ if matches!(bare.len(), 8 | 40) && bare.bytes().all(|b| b.is_ascii_hexdigit()) => {
                Some("[commit]")
            }
            _ if is_span(bare) => Some("[span]"),
            _ => None,
        };
        words.push(match normal {
            Some(normal) => word.replacen(bare, normal, 1),
            None if words.last().is_some_and(|before| before == "process") => "[pid]".to_owned(),
            None => word.to_owned(),
        });
    }
    words.join(" ")
}

fn is_shape(word: &str, shape: &str) -> bool {
    word.len() == shape.len()
        && word
            .bytes()
            .zip(shape.bytes())
            .all(|(a, b)| if b == b'0' { a.is_ascii_digit() } else { a == b })
}

fn is_span(word: &str) -> bool {
    let number = word.trim_end_matches(['s', 'm', 'h', 'd']);
    number.len() + 1 == word.len() && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// A line without ids in the middle of words: a session's, a commit's, and the one of a repository's folder
/// of workspaces.
fn nameless(line: &str) -> String {
    let is_id = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut out = String::new();
    let mut rest = line;
    while let Some(begin) = rest.find(is_id) {
        let id = &rest[begin..];
        let end = id.find(|c| !is_id(c)).unwrap_or(id.len());
        out.push_str(&rest[..begin]);
        match &id[..end] {
            uuid if is_hex(uuid, &[8, 4, 4, 4, 12]) => out.push_str("[uuid]"),
            commit if is_hex(commit, &[40]) => out.push_str("[commit]"),
            folder if folder.strip_prefix("repo-").is_some_and(|id| is_hex(id, &[8])) => {
                out.push_str("repo-[id]");
            }
            word => out.push_str(word),
        }
        rest = &id[end..];
    }
    out + rest
}

fn is_hex(text: &str, parts: &[usize]) -> bool {
    let is_hex = text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
    is_hex && text.split('-').map(str::len).eq(parts.iter().copied())
}
