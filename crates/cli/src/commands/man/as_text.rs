//! A page as plain text, for a pipe and for a machine without `man`: reads the few requests of roff that the
//! pages have.

use crate::ui;

/// The indentation of a section's text.
const INDENT: usize = 7;

/// The text of a page, in lines of at most so many columns.
pub(super) fn text(roff: &str, columns: usize) -> String {
    let mut page = Page {
        columns,
        lines: Vec::new(),
        paragraph: String::new(),
        indent: INDENT,
    };
    let mut lines = roff.lines();
    while let Some(line) = lines.next() {
        let (request, rest) = line.split_once(' ').unwrap_or((line, ""));
        match request {
            ".SH" => {
                page.end_paragraph();
                page.indent = INDENT;
                page.blank();
                page.lines.push(unescaped(rest.trim_matches('"')));
            }
            ".TP" => {
                page.end_paragraph();
                page.blank();
                page.indent = INDENT;
                page.paragraph = unescaped(lines.next().unwrap_or_default());
                page.end_paragraph();
                page.indent = 2 * INDENT;
            }
            ".PP" | ".IP" => {
                page.end_paragraph();
                page.blank();
            }
            ".br" => page.end_paragraph(),
            ".RS" => {
                page.end_paragraph();
                page.indent += INDENT;
            }
            ".RE" => {
                page.end_paragraph();
                page.indent = page.indent.saturating_sub(INDENT).max(INDENT);
            }
            // The title and the definitions of the page.
            _ if line.starts_with(['.', '\'']) => {}
            _ => {
                if !page.paragraph.is_empty() {
                    page.paragraph.push(' ');
                }
                page.paragraph.push_str(unescaped(line).trim_end());
            }
        }
    }
    page.end_paragraph();
    page.lines.join("\n") + "\n"
}

struct Page {
    columns: usize,
    lines: Vec<String>,
    paragraph: String,
    indent: usize,
}

impl Page {
    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        if paragraph.trim().is_empty() {
            return;
        }
        let room = self.columns.saturating_sub(self.indent).max(20);
        for line in ui::wrap(&paragraph, Some(room), usize::MAX) {
            self.lines.push(format!("{}{line}", " ".repeat(self.indent)));
        }
    }

    /// An empty line, unless there is one already, or a section begins.
    fn blank(&mut self) {
        if self.lines.last().is_some_and(|line| line.starts_with(' ')) {
            self.lines.push(String::new());
        }
    }
}

/// The text behind roff's escapes: fonts go, and the characters that they stand for come.
fn unescaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        shown.push_str(before);
        let (skipped, says) = if after.starts_with("*(Aq") || after.starts_with("(aq") {
            (if after.starts_with('*') { 4 } else { 3 }, "'")
        } else if after.starts_with('f') {
            (2, "")
        } else if after.starts_with('&') {
            (1, "")
        } else {
            (0, "")
        };
        shown.push_str(says);
        let after = after.get(skipped..).unwrap_or_default();
        // What stands behind any other escape is the character itself.
        let own = match (skipped, after.chars().next()) {
            (0, Some(own)) => {
                shown.push(own);
                own.len_utf8()
            }
            _ => 0,
        };
        rest = &after[own..];
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn a_page_is_read_without_man() {
        let page = ".TH crew-x 1\n.SH NAME\ncrew\\-x \\- crew\\*(Aqs own\n.SH OPTIONS\n.TP\n\\fB\\-C\\fR \\fI<DIR>\\fR\nWork in \\\\ this folder\n";
        assert_eq!(
            text(page, 80),
            "NAME\n       crew-x - crew's own\n\nOPTIONS\n       -C <DIR>\n              Work in \\ this folder\n"
        );
    }
}
