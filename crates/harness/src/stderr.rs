//! The last lines of standard error, where the reason of a failure often stands.

use std::collections::VecDeque;

use crate::lines::Line;
use text::sanitise;

/// The number of lines that are kept: the last one may have nothing visible in it.
const MAX_LINES: usize = 4;

/// The last lines of standard error, not sanitised.
#[derive(Debug, Default)]
pub(crate) struct StderrTail(VecDeque<Vec<u8>>);

impl StderrTail {
    pub(crate) fn push(&mut self, line: &[u8]) {
        if self.0.len() == MAX_LINES {
            self.0.pop_front();
        }
        self.0.push_back(line.to_owned());
    }

    /// The last line with something visible in it: sanitised, at most 300 columns.
    pub(crate) fn last(&self) -> Option<String> {
        let shown = |line: &Vec<u8>| sanitise::output_line(&String::from_utf8_lossy(line));
        let last = self.0.iter().rev().map(shown).find(|line| !line.is_empty())?;
        Some(sanitise::fit(&last, 300))
    }
}

/// The beginning of a line, as much as is ever shown of one; `None` when nothing in it is visible.
pub(crate) fn beginning<'a>(line: &Line<'a>) -> Option<&'a [u8]> {
    let beginning = &line.bytes[..line.bytes.len().min(sanitise::EXCERPT)];
    beginning
        .iter()
        .any(|byte| byte.is_ascii_graphic() || !byte.is_ascii())
        .then_some(beginning)
}
