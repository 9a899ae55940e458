//! The output of a run, as lines.

use std::collections::VecDeque;

use model::RunId;

use crate::theme::Tone;

/// The most lines that are kept.
const MAX_LINES: usize = 2_000;
/// The most bytes of a line that are read.
const MAX_BYTES: usize = 64 << 10;
/// The most characters of a line that are kept.
const MAX_CHARS: usize = 2_000;

/// The output of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// The run.
    pub(crate) run: Option<RunId>,
    /// The latest lines, sanitised.
    pub(crate) lines: VecDeque<(Tone, String)>,
    /// The unfinished lines of standard output and standard error.
    rest: [Vec<u8>; 2],
    /// The unfinished line of standard output, sanitised.
    pub(crate) open: String,
}

impl Log {
    /// Starts with another run, of which no output was read.
    pub(crate) fn begin(&mut self, run: Option<RunId>) {
        *self = Self {
            run,
            ..Self::default()
        };
    }

    /// Takes more of the output.
    pub(crate) fn feed(&mut self, error: bool, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let rest = &mut self.rest[usize::from(error)];
            let room = MAX_BYTES.saturating_sub(rest.len());
            rest.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(rest);
                self.line(error, &String::from_utf8_lossy(&line));
            }
        }
        let open = String::from_utf8_lossy(&self.rest[0]);
        self.open = short(&text::sanitise::indented_line(&open));
    }

    fn line(&mut self, error: bool, line: &str) {
        if error {
            let clean = text::sanitise::indented_line(line);
            if !clean.is_empty() {
                self.push(Tone::Waiting, &format!("stderr: {clean}"));
            }
            return;
        }
        self.push(Tone::Plain, &text::sanitise::indented_line(line));
    }

    fn push(&mut self, tone: Tone, line: &str) {
        self.lines.push_back((tone, short(line)));
        if self.lines.len() > MAX_LINES {
            self.lines.pop_front();
        }
    }
}

fn short(line: &str) -> String {
    line.chars().take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut log = Log::default();
        for piece in pieces {
            log.feed(false, piece);
        }
        log.lines.into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn lines_come_whole_and_harmless_however_they_are_cut() {
        let bytes = "one\n10 %\r20 %\n\u{1b}[31mred\u{1b}[0m ü\nopen".as_bytes();
        let whole = lines(&[bytes]);
        assert_eq!(whole, ["one", "20 %", "red ü"]);
        let cut: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(lines(&cut), whole);
        let mut log = Log::default();
        log.feed(false, bytes);
        assert_eq!(log.open, "open");
    }

    #[test]
    fn a_line_that_points_at_a_place_above_it_keeps_its_indentation() {
        let seen = lines(&[b"E   assert two() == 3\nE\t      ^^^^^\n    done  \n"]);
        assert_eq!(seen, ["E   assert two() == 3", "E          ^^^^^", "    done"]);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut log = Log::default();
        for _ in 0..3 {
            log.feed(false, "line\n".repeat(MAX_LINES).as_bytes());
            log.feed(false, &vec![b'x'; 2 * MAX_BYTES]);
            log.feed(false, b"\n");
        }
        assert_eq!(log.lines.len(), MAX_LINES);
        assert!(
            log.lines
                .iter()
                .all(|(_, line)| line.chars().count() <= MAX_CHARS)
        );
    }
}
