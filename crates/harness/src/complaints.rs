//! The last lines of standard error: the reason of a failure is often in them.

use std::collections::VecDeque;

use crate::lines::Line;
use crate::sanitise;

/// Lines that are kept: the last may be nothing but colour.
const KEPT: usize = 4;

/// The last of them, raw.
#[derive(Debug, Default)]
pub(crate) struct Complaints(VecDeque<Vec<u8>>);

impl Complaints {
    pub(crate) fn keep(&mut self, head: &[u8]) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(head.to_owned());
    }

    /// The last that can be seen.
    pub(crate) fn last(&self) -> Option<String> {
        let shown = |line: &Vec<u8>| sanitise::output_line(&String::from_utf8_lossy(line));
        let last = self.0.iter().rev().map(shown).find(|line| !line.is_empty())?;
        Some(sanitise::fit(&last, 300))
    }
}

/// As much of a line as can be shown, the file has the rest; `None` when nothing of it can be seen.
pub(crate) fn head<'a>(line: &Line<'a>) -> Option<&'a [u8]> {
    let head = &line.bytes[..line.bytes.len().min(sanitise::EXCERPT)];
    head.iter()
        .any(|byte| byte.is_ascii_graphic() || !byte.is_ascii())
        .then_some(head)
}
