//! The reader of a program's output.

use process::{Exit, Reason, Stream};

use super::line::{self, Meaning};
use super::record::{COMMITMENT, Record};
use crate::client::Reader;
use crate::commitment::{self, Commitment};
use crate::directive::{self, Directive};
use crate::event::Event;
use crate::lines::{Line, Lines};
use crate::mode::{Announced, Mode};
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
/// Of several signals the last one counts, since a `DONE` is only a request to be verified; so does the last
/// summary. Usage is added up. A program that does not exit with 0 has failed, whatever
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
    modes: Announced,
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
    /// Each of them: there are few.
    modes: Vec<Mode>,
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
        let open = line::bytes(&Line {
            bytes: open,
            dropped: 0,
            is_closed: false,
        });
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
            mut modes,
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
                modes: modes.take(),
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
        let bytes = line::bytes(line);
        // A line that was cut or is no text is no verdict, and ends one before it.
        let whole = std::str::from_utf8(&bytes).ok().filter(|_| !line.is_cut());
        self.last_line.push(whole.unwrap_or("…"));
        match line::parse(&bytes, line.is_cut()) {
            Meaning::Record(record) => return self.record(record),
            Meaning::TooLong(what) => {
                let text = format!("a line of {what} that is too long");
                match what == COMMITMENT {
                    true => self.refuse(text),
                    false => self.cannot_use(text),
                }
            }
            Meaning::Directive(directive) => self.directive(directive),
            Meaning::Text => {}
        }
        let line = Line {
            bytes: &bytes,
            ..*line
        };
        if let Some(beginning) = stderr::beginning(&line) {
            self.pending.set_text(beginning);
        }
    }

    fn record(&mut self, record: Record) {
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
    }

    fn directive(&mut self, directive: Directive) {
        match directive {
            Directive::Invalid(text) => self.cannot_use(text),
            Directive::Mode(mode) => {
                let counts = self.modes.note(mode);
                self.pending.modes.extend(counts.then_some(mode));
            }
            Directive::Summary(text) => {
                (self.summary, self.pending.summary) = (Some(text.clone()), Some(text));
            }
            Directive::Signal(signal) => {
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
            modes,
            summary,
            notes,
        } = std::mem::take(&mut self.pending);
        let mut events: Vec<Event> = notes.into_iter().map(|text| Event::Note { text }).collect();
        events.extend((!usage.is_zero()).then_some(Event::Usage(usage)));
        events.extend(failure.map(|failure| Event::GivenUp { failure }));
        events.extend(modes.into_iter().map(|mode| Event::Mode { mode }));
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
