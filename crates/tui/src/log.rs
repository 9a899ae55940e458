//! The output of a run, as lines.

use std::collections::VecDeque;

use model::RunId;

use crate::message::Printed;

/// The most lines that are kept, those that are folded away among them.
const MAX_LINES: usize = 10_000;
/// The most characters of a line that are kept.
const MAX_CHARS: usize = 2_000;

/// The output of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// The run.
    pub(crate) run: Option<RunId>,
    /// The latest lines.
    lines: VecDeque<Printed>,
    /// The text of the unfinished line.
    pub(crate) open: String,
    /// Whether what tools returned is shown.
    pub(crate) unfolded: bool,
}

impl Log {
    /// Starts with another run, of which no output was read.
    pub(crate) fn begin(&mut self, run: Option<RunId>) {
        *self = Self {
            run,
            unfolded: self.unfolded,
            ..Self::default()
        };
    }

    /// Takes more of the output.
    pub(crate) fn feed(&mut self, lines: Vec<Printed>, open: &str) {
        for line in lines {
            // What a tool got may stand between the tool and its end, and may be folded away.
            let mut before = self.lines.iter_mut().rev().filter(|_| line.joins);
            match before.find(|before| before.shown.0) {
                Some(last) => {
                    last.text = short(&format!("{} … {}", last.text, clean(&line.text)));
                    last.tone = line.tone;
                }
                None => self.lines.push_back(Printed {
                    text: short(&clean(&line.text)),
                    ..line
                }),
            }
        }
        let over = self.lines.len().saturating_sub(MAX_LINES);
        self.lines.drain(..over);
        self.open = short(&clean(open));
    }

    /// Whether there is something that is shown in one of the two ways only.
    pub(crate) fn has_folds(&self) -> bool {
        self.lines.iter().any(|line| line.shown.0 != line.shown.1)
    }

    /// The lines that are shown.
    pub(crate) fn shown(&self) -> impl DoubleEndedIterator<Item = &Printed> {
        let is_shown = |line: &&Printed| match self.unfolded {
            true => line.shown.1,
            false => line.shown.0,
        };
        self.lines.iter().filter(is_shown)
    }
}

fn clean(line: &str) -> String {
    text::sanitise::indented_line(line)
}

fn short(line: &str) -> String {
    line.chars().take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Tone;

    fn line(text: &str) -> Printed {
        Printed {
            tone: Tone::Plain,
            indent: 0,
            shown: (true, true),
            joins: false,
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_line_that_continues_another_stands_behind_it_and_folded_lines_are_hidden() {
        let mut log = Log::default();
        let result = Printed {
            shown: (false, true),
            ..line("result")
        };
        let end = Printed {
            joins: true,
            ..line("ok")
        };
        log.feed(vec![line("> Bash: ls")], "");
        log.feed(vec![end, result], "open");
        let shown = |log: &Log| -> Vec<String> { log.shown().map(|line| line.text.clone()).collect() };
        assert_eq!(shown(&log), ["> Bash: ls … ok"]);
        log.unfolded = true;
        assert_eq!(shown(&log), ["> Bash: ls … ok", "result"]);
        assert_eq!(log.open, "open");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut log = Log::default();
        for _ in 0..3 {
            log.feed(vec![line(&"x".repeat(2 * MAX_CHARS)); MAX_LINES], "");
        }
        assert_eq!(log.shown().count(), MAX_LINES);
        assert!(log.shown().all(|line| line.text.chars().count() <= MAX_CHARS));
    }
}
