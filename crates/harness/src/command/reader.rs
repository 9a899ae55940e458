//! The reader of a program's output.

use process::{Exit, Reason, Stream};

use super::record::{self, COMMITMENT, Record};
use crate::client::Reader;
use crate::commitment::{self, Commitment};
use crate::directive::{self, Directive};
use crate::event::Event;
use crate::lines::{Line, Lines};
use crate::mode::Mode;
use crate::outcome::{Class, Failure, Outcome, Signal};
use crate::stderr::{self, StderrTail};
use crate::unusable::Unusable;
use crate::usage::Usage;
use crate::verdict::{Given, LastLine};
use text::sanitise;

/// The most notes of one run: a program that makes a mistake once may make it in every line.
const MAX_NOTES: usize = 20;

/// The reader of one run.
///
/// Of several signals the last one counts, since a `DONE` is only a request to be verified; so do the last
/// summary and the last mode. Usage is added up. A program that does not exit with 0 has failed, whatever
/// it printed.
#[derive(Debug, Default)]
pub(super) struct CommandReader {
    out: Lines,
    err: Lines,
    state: State,
}

/// Everything that was read of one run so far.
#[derive(Debug, Default)]
struct State {
    signal: Option<Signal>,
    unusable: Unusable,
    failure: Option<Failure>,
    usage: Usage,
    mode: Option<Mode>,
    summary: Option<String>,
    commitments: Vec<Commitment>,
    stderr: StderrTail,
    last_line: LastLine,
    /// The number of notes that were made.
    notes: usize,
    pending: Pending,
}

/// The events that the next return of `feed` or `end` will contain: of each kind the last or the sum, so
/// that a flood of lines makes a few events.
#[derive(Debug, Default)]
struct Pending {
    /// The last line, not sanitised: of a flood of lines only the last one is sanitised.
    text: Vec<u8>,
    usage: Usage,
    failure: Option<Failure>,
    signal: Option<Signal>,
    mode: Option<Mode>,
    summary: Option<String>,
    notes: Vec<String>,
}

impl Reader for CommandReader {
    fn feed(&mut self, stream: Stream, bytes: &[u8]) -> Vec<Event> {
        let state = &mut self.state;
        match stream {
            Stream::Out => self.out.feed(bytes, |line| state.stdout_line(&line)),
            Stream::Err => self.err.feed(bytes, |line| state.stderr_line(&line)),
        }
        state.take_events()
    }

    fn has_result(&self) -> bool {
        let open = self.out.open();
        let open = narrowed(open).unwrap_or_else(|| open.to_vec());
        let unfinished = std::str::from_utf8(&open).ok();
        let is_signal = |line| matches!(directive::parse(line), Some(Directive::Signal(_)));
        self.state.signal.is_some() || unfinished.is_some_and(is_signal)
    }

    fn verdict(&self) -> Option<&Given> {
        self.state.last_line.given()
    }

    fn end(&mut self, exit: &Exit) -> (Vec<Event>, Outcome) {
        let state = &mut self.state;
        self.err.finish(|line| state.stderr_line(&line));
        self.out.finish(|line| state.stdout_line(&line));
        let events = state.take_events();
        let mut state = std::mem::take(state);
        let stated = state.stated(exit);
        let result = match state.reported_failure(exit).or_else(|| Failure::of_exit(exit)) {
            None => Ok(state.signal.take().unwrap_or(Signal::None)),
            // A kill from outside is retried without limit. A program that is killed each time after its
            // `DONE` would be paid for without end, so that counts as a crash.
            Some(failure)
                if exit.reason == Reason::Exited
                    && failure.class == Class::Lost
                    && state.signal == Some(Signal::Done) =>
            {
                Err(Failure::new(
                    Class::Crash,
                    &format!("it said DONE, but {}", failure.message),
                ))
            }
            Some(mut failure) => {
                if exit.reason == Reason::Exited
                    && failure.class == Class::Crash
                    && let Some(last_line) = state.stderr.last()
                {
                    failure.message = format!("{}: {last_line}", failure.message);
                }
                Err(failure)
            }
        };
        let State {
            usage,
            mode,
            summary,
            unusable,
            last_line,
            commitments,
            ..
        } = state;
        let (refused_commitments, unusable) = unusable.into_parts();
        (
            events,
            Outcome {
                result,
                stated,
                verdict: last_line.given().cloned(),
                unusable,
                refused_commitments,
                usage,
                total_micro_usd: None,
                estimated: false,
                summary,
                mode,
                commitments,
                session: None,
            },
        )
    }
}

impl State {
    fn stderr_line(&mut self, line: &Line<'_>) {
        if let Some(beginning) = stderr::beginning(line) {
            self.stderr.push(beginning);
            self.pending.set_text(beginning);
        }
    }

    /// The result that a program stated which crew then stopped.
    fn stated(&self, exit: &Exit) -> Option<Result<Signal, Failure>> {
        let signal = self.signal.clone().filter(|_| exit.reason == Reason::Stopped)?;
        Some(self.failure.clone().map_or(Ok(signal), Err))
    }

    /// The failure that the program reported by itself. It does not count when crew stopped the program or
    /// its time ran out.
    fn reported_failure(&mut self, exit: &Exit) -> Option<Failure> {
        let failure = self.failure.take();
        failure.filter(|_| matches!(exit.reason, Reason::Exited))
    }

    fn stdout_line(&mut self, line: &Line<'_>) {
        let narrow;
        let line = match narrowed(line.bytes) {
            Some(bytes) => {
                narrow = bytes;
                &Line {
                    bytes: &narrow,
                    is_cut: line.is_cut,
                }
            }
            None => line,
        };
        // A line that was cut or is no text is no verdict, and ends one before it.
        let whole = std::str::from_utf8(line.bytes).ok().filter(|_| !line.is_cut);
        self.last_line.push(whole.unwrap_or("…"));
        if line.is_cut {
            if record::is_usage(line.bytes) {
                self.cannot_use("a line of usage that is too long".into());
            } else if record::is_commitment(line.bytes) {
                self.refuse("a line of commitment that is too long".into());
            } else {
                self.directive(valid_prefix(line.bytes).and_then(directive::parse_with_text));
            }
        } else if self.whole_line(line.bytes) {
            return;
        }
        if let Some(beginning) = stderr::beginning(line) {
            self.pending.set_text(beginning);
        }
    }

    /// Reads a line that was not cut; `true` when it is a record, which people do not see.
    fn whole_line(&mut self, bytes: &[u8]) -> bool {
        let Ok(line) = std::str::from_utf8(bytes) else {
            return false;
        };
        let Some(record) = record::parse(line) else {
            self.directive(directive::parse(line));
            return false;
        };
        match record {
            Record::Usage(usage) => {
                self.usage.add(usage);
                self.pending.usage.add(usage);
            }
            Record::Failure(failure) => {
                (self.failure, self.pending.failure) = (Some(failure.clone()), Some(failure));
            }
            Record::Commitment(made) => {
                if self.commitments.len() >= commitment::MOST {
                    self.refuse(format!(
                        "a commitment beyond the {} of one step (“{}”)",
                        commitment::MOST,
                        sanitise::fit(&made.says, 80)
                    ));
                } else if !self.commitments.contains(&made) {
                    self.commitments.push(made);
                }
            }
            Record::Invalid { what, why } => {
                // Both may quote the line.
                let what = sanitise::fit(&sanitise::line(&what), 40);
                let why = sanitise::line(&why);
                let text = format!("a line of {what} that does not count: {why}");
                match what == COMMITMENT {
                    true => self.refuse(text),
                    false => self.cannot_use(text),
                }
            }
        }
        true
    }

    fn directive(&mut self, directive: Option<Directive>) {
        match directive {
            None => {}
            Some(Directive::Invalid(text)) => {
                self.cannot_use(text);
            }
            Some(Directive::Mode(mode)) => (self.mode, self.pending.mode) = (Some(mode), Some(mode)),
            Some(Directive::Summary(text)) => {
                (self.summary, self.pending.summary) = (Some(text.clone()), Some(text));
            }
            Some(Directive::Signal(signal)) => {
                self.pending.signal = Some(signal.clone());
                self.signal = Some(signal);
                self.unusable.signal();
            }
        }
    }

    /// A line that was meant for crew is not valid.
    fn cannot_use(&mut self, text: String) {
        self.unusable.add_line(text.clone());
        self.note(text);
    }

    /// A commitment is not taken.
    fn refuse(&mut self, text: String) {
        self.unusable.add_commitment(text.clone());
        self.note(text);
    }

    fn note(&mut self, text: String) {
        self.notes += 1;
        match self.notes {
            ..MAX_NOTES => self.pending.notes.push(text),
            MAX_NOTES => self
                .pending
                .notes
                .push("and more that could not be understood".into()),
            _ => {}
        }
    }

    fn take_events(&mut self) -> Vec<Event> {
        let Pending {
            text,
            usage,
            failure,
            signal,
            mode,
            summary,
            notes,
        } = std::mem::take(&mut self.pending);
        let mut events: Vec<Event> = notes.into_iter().map(|text| Event::Note { text }).collect();
        events.extend((!usage.is_zero()).then_some(Event::Usage(usage)));
        events.extend(failure.map(|failure| Event::GivenUp { failure }));
        events.extend(mode.map(|mode| Event::Mode { mode }));
        events.extend(summary.map(|text| Event::Summary { text }));
        events.extend(signal.and_then(Event::of_signal));
        let line = sanitise::output_line(&String::from_utf8_lossy(&text));
        events.extend((!line.is_empty()).then_some(Event::Text { line }));
        events
    }
}

impl Pending {
    fn set_text(&mut self, line: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(line);
    }
}

/// A line of ASCII in UTF-16, or one with a byte order mark, in UTF-8 without the mark; `None` for any other
/// line. Some programs print so when their output is no terminal. The newline of UTF-16 leaves a NUL at the
/// end of its line, or at the beginning of the next one.
fn narrowed(line: &[u8]) -> Option<Vec<u8>> {
    if let Some(rest) = line.strip_prefix("\u{feff}".as_bytes()) {
        return Some(rest.to_vec());
    }
    let marks = [[0xff, 0xfe], [0xfe, 0xff]];
    let is_marked = marks.iter().any(|mark| line.starts_with(mark));
    let rest = if is_marked { &line[2..] } else { line };
    let letters: Vec<u8> = rest.iter().copied().filter(|byte| *byte != 0).collect();
    let nuls = rest.len() - letters.len();
    let is_wide = !letters.is_empty() && letters.is_ascii() && nuls.abs_diff(letters.len()) <= 1;
    // One letter with one NUL may be anything.
    (is_wide && nuls > 1).then_some(letters)
}

/// The valid text at the start of a line that was cut, maybe within a character; `None` when the line is
/// not UTF-8.
fn valid_prefix(line: &[u8]) -> Option<&str> {
    match std::str::from_utf8(line) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&line[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}
