//! Report: the one line that a shim writes on its standard output for the engine that started it.

use serde::{Deserialize, Serialize};

/// The report, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Report {
    /// The shim has the run: the program was started, or the run's record names the fault.
    Begun,
    /// Another shim has or had the run.
    Taken,
    /// The run could not begin, and may be started again.
    GaveUp {
        /// The reason in a sentence, for people.
        why: String,
        /// The number of the system's error, where the system refused.
        errno: Option<i32>,
    },
}

impl Report {
    /// The report that a shim has written. A program that is no shim may write anything: its text is then the
    /// reason why nothing began. A shim that was killed writes nothing.
    pub(crate) fn parse(written: &[u8]) -> Self {
        serde_json::from_slice(written).unwrap_or_else(|_| {
            let text = String::from_utf8_lossy(written);
            let why = match text.trim() {
                "" => "it ended without a word",
                words => words,
            };
            Self::GaveUp {
                why: why.to_owned(),
                errno: None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let gave_up = Report::GaveUp {
            why: "cannot start /bin/true (os error 28)".to_owned(),
            errno: Some(24),
        };
        for report in [Report::Begun, Report::Taken, gave_up] {
            let mut written = serde_json::to_vec(&report).unwrap();
            written.push(b'\n');
            assert_eq!(Report::parse(&written), report);
        }
    }

    #[test]
    fn the_text_of_a_program_that_is_no_shim_has_no_error_number() {
        let words = "/w/No space left on device (os error 28)";
        let report = Report::GaveUp {
            why: words.to_owned(),
            errno: None,
        };
        assert_eq!(Report::parse(format!("{words}\n").as_bytes()), report);
    }
}
