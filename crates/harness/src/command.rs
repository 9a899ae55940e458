//! `command`: any program that reads a prompt and prints lines.
//!
//! The prompt is on its standard input. On its standard output, each alone on a line, it may say `DONE`,
//! `BLOCKED: why`, `QUESTION: text`, `WAKEUP: 10m why`, `MODE: plan`, `SUMMARY: text`, and in JSON what it used:
//! `{"crew":"usage","input_tokens":N,"output_tokens":N,"cost_usd":X}`. Exit 0: the step ended well.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use process::{Exit, Reason, Stream, find_program};
use serde_json::Value;

use crate::client::{Harness, Installation, Reader};
use crate::complaints::{Complaints, head};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::event::{Event, Mode, Usage};
use crate::lines::{Line, Lines};
use crate::money::{self, IMPLAUSIBLE};
use crate::outcome::{Class, Failure, Outcome, Signal};
use crate::sanitise;
use crate::step::{Launch, Session, StepRequest};
use crate::words::{self, Word};

/// A program of the user's own.
#[derive(Clone, Debug)]
pub struct Command {
    name: String,
    command: Vec<String>,
    root: PathBuf,
    env: Environment,
}

impl Command {
    /// From the table `[harness.<name>]`: `command` and then `args` are the program and its arguments, one word each,
    /// never a shell's line. `root`, absolute, is where a relative program begins (the folder of `crew.toml`: in the
    /// workspace an agent could replace it). `env` is its base environment, from [`assemble`](crate::environment::assemble).
    pub fn new(name: &str, command: &[String], args: &[String], root: &Path, env: Environment) -> Self {
        Self {
            name: name.to_owned(),
            command: [command, args].concat(),
            root: root.to_owned(),
            env,
        }
    }

    fn program(&self) -> Result<(PathBuf, &[String])> {
        match self.command.split_first() {
            Some((program, args)) if !program.is_empty() => Ok((self.placed(program), args)),
            _ => Err(Error::NoCommand {
                name: self.name.clone(),
            }),
        }
    }

    /// A bare name is left to `PATH`.
    fn placed(&self, program: &str) -> PathBuf {
        if program.contains('/') {
            // As a person would write it: without the `.` of `./agent.sh`.
            self.root.join(program).components().collect()
        } else {
            program.into()
        }
    }
}

impl Harness for Command {
    fn kind(&self) -> &'static str {
        "command"
    }

    fn check(&self) -> Result<Installation> {
        let (program, _) = self.program()?;
        let path = self.env.get(OsStr::new("PATH")).map(OsString::as_os_str);
        let program = find_program(&program, path, &self.root).map_err(|source| Error::Program {
            name: self.name.clone(),
            source,
        })?;
        Ok(Installation {
            program,
            version: None,
        })
    }

    fn start(&self, step: &StepRequest) -> Result<Launch> {
        let (program, args) = self.program()?;
        let mut env = self.env.clone();
        env.extend(step.env.clone());
        env.extend(step.variables()?);
        Ok(Launch {
            run_id: step.run_id.clone(),
            program,
            args: args.iter().map(Into::into).collect(),
            env,
            cwd: step.workspace.clone(),
            stdin: Some(step.prompt.clone()),
        })
    }

    fn reader(&self, _session: &Session) -> Box<dyn Reader> {
        Box::new(Said::default())
    }
}

/// What the program has said so far.
///
/// Of several signals the last one counts: it is the program's last word, and a `DONE` is only a request to be
/// verified. The same for several summaries and modes. Usage is summed. A program that does not exit 0 has failed,
/// whatever it said.
#[derive(Debug, Default)]
struct Said {
    out: Lines,
    err: Lines,
    words: Words,
}

#[derive(Debug, Default)]
struct Words {
    signal: Option<Signal>,
    failure: Option<Failure>,
    usage: Usage,
    mode: Option<Mode>,
    summary: Option<String>,
    complaints: Complaints,
    /// How many notes were made.
    notes: usize,
    news: News,
}

/// What one call of `feed` has found. Of each kind the last or the sum, so that a flood of lines is a few events.
#[derive(Debug, Default)]
struct News {
    /// Raw: of a flood of lines only the last is worth the cleaning.
    text: Vec<u8>,
    usage: Usage,
    failure: Option<Failure>,
    signal: Option<Signal>,
    mode: Option<Mode>,
    summary: Option<String>,
    notes: Vec<String>,
}

/// Notes of one run: a program that gets it wrong once may get it wrong in every line.
const NOTES: usize = 20;

impl Reader for Said {
    fn feed(&mut self, stream: Stream, bytes: &[u8]) -> Vec<Event> {
        let words = &mut self.words;
        match stream {
            Stream::Out => self.out.feed(bytes, |line| words.out(&line)),
            Stream::Err => self.err.feed(bytes, |line| words.err(&line)),
        }
        words.take_news()
    }

    fn end(&mut self, exit: &Exit) -> (Vec<Event>, Outcome) {
        let words = &mut self.words;
        self.err.finish(|line| words.err(&line));
        self.out.finish(|line| words.out(&line));
        let events = words.take_news();
        let mut words = std::mem::take(words);
        let result = match words.failed(exit).or_else(|| Failure::of_exit(exit)) {
            None => Ok(words.signal.take().unwrap_or(Signal::None)),
            // What comes from outside passes; what comes each time after the work was reported would be paid for again and again.
            Some(failure)
                if exit.reason == Reason::Exited
                    && failure.class == Class::Lost
                    && words.signal == Some(Signal::Done) =>
            {
                Err(Failure::new(
                    Class::Crash,
                    &format!("it said DONE, but {}", failure.message),
                ))
            }
            Some(mut failure) => {
                if exit.reason == Reason::Exited
                    && failure.class == Class::Crash
                    && let Some(complaint) = words.complaints.last()
                {
                    failure.message = format!("{}: {complaint}", failure.message);
                }
                Err(failure)
            }
        };
        let Words {
            usage, mode, summary, ..
        } = words;
        (
            events,
            Outcome {
                result,
                usage,
                total_micro_usd: None,
                estimated: false,
                summary,
                mode,
                session: None,
            },
        )
    }
}

impl Words {
    fn err(&mut self, line: &Line<'_>) {
        if let Some(head) = head(line) {
            self.complaints.keep(head);
            self.news.text(head);
        }
    }

    /// How it says that it has failed, whatever its exit code: but crew's own stop is not its failure, nor is its time limit.
    fn failed(&mut self, exit: &Exit) -> Option<Failure> {
        let failure = self.failure.take();
        failure.filter(|_| matches!(exit.reason, Reason::Exited))
    }

    fn out(&mut self, line: &Line<'_>) {
        if line.cut {
            if looks_like_usage(line.bytes) {
                self.note("a line of usage that is too long".into());
            } else {
                self.take(beginning(line.bytes).and_then(words::with_text));
            }
        } else if self.said(line.bytes) {
            return;
        }
        if let Some(head) = head(line) {
            self.news.text(head);
        }
    }

    /// Takes in a line that has a meaning; `true` when it is not to be shown. Spaces, tabs and a carriage return may
    /// follow; anything else before or after, and it is text: "not done yet" is not done.
    fn said(&mut self, bytes: &[u8]) -> bool {
        let Ok(line) = std::str::from_utf8(bytes) else {
            return false;
        };
        let line = line.trim_end_matches([' ', '\t', '\r']);
        if looks_like_usage(line.as_bytes()) {
            match usage(line) {
                Ok(usage) => {
                    self.usage.add(usage);
                    self.news.usage.add(usage);
                }
                Err(why) => self.unread("usage", &why),
            }
            return true;
        }
        if is_meant(line.as_bytes(), b"\"failure\"") {
            match failure(line) {
                Ok(failure) => {
                    (self.failure, self.news.failure) = (Some(failure.clone()), Some(failure));
                }
                Err(why) => self.unread("failure", &why),
            }
            return true;
        }
        self.take(words::read(line));
        false
    }

    fn take(&mut self, word: Option<Word>) {
        match word {
            None => {}
            Some(Word::Note(text)) => self.note(text),
            Some(Word::Mode(mode)) => (self.mode, self.news.mode) = (Some(mode), Some(mode)),
            Some(Word::Summary(text)) => {
                (self.summary, self.news.summary) = (Some(text.clone()), Some(text));
            }
            Some(Word::Signal(signal)) => {
                self.news.signal = Some(signal.clone());
                self.signal = Some(signal);
            }
        }
    }

    /// A line for crew that cannot be taken; why it cannot may quote it.
    fn unread(&mut self, what: &str, why: &str) {
        self.note(format!(
            "a line of {what} that does not count: {}",
            sanitise::line(why)
        ));
    }

    fn note(&mut self, text: String) {
        self.notes += 1;
        match self.notes {
            ..NOTES => self.news.notes.push(text),
            NOTES => self
                .news
                .notes
                .push("and more that could not be understood".into()),
            _ => {}
        }
    }

    fn take_news(&mut self) -> Vec<Event> {
        let News {
            text,
            usage,
            failure,
            signal,
            mode,
            summary,
            notes,
        } = std::mem::take(&mut self.news);
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

impl News {
    fn text(&mut self, line: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(line);
    }
}

/// Whether a line is meant for crew's ledger: JSON with a `crew` in it that says `usage`. An agent's own JSON is text.
fn looks_like_usage(line: &[u8]) -> bool {
    is_meant(line, b"\"usage\"")
}

/// Whether a line is JSON with a `crew` and this word in it.
fn is_meant(line: &[u8], word: &[u8]) -> bool {
    let contains = |word: &[u8]| line.windows(word.len()).any(|window| window == word);
    line.first() == Some(&b'{') && contains(b"\"crew\"") && contains(word)
}

fn json(line: &str) -> Result<Value, String> {
    serde_json::from_str(line).map_err(|error| format!("it is no JSON: {error}"))
}

/// The text of a line that was cut, maybe within a character; none where it is no text.
fn beginning(line: &[u8]) -> Option<&str> {
    match std::str::from_utf8(line) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&line[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

/// What a program may say of its failure.
const CLASSES: &str = "transient, rate_limited, overloaded, auth, session_in_use, session_missing, crash, malformed_output, budget";

/// Says how the step has failed: `{"crew":"failure","class":"rate_limited","message":"…","until_ms":N}`.
fn failure(line: &str) -> Result<Failure, String> {
    let value = json(line)?;
    if value.get("crew").and_then(Value::as_str) != Some("failure") {
        return Err("\"crew\" is not \"failure\"".into());
    }
    let Some(class) = value.get("class") else {
        return Err(format!("no \"class\" says how: {CLASSES}"));
    };
    let class: Class = serde_json::from_value(class.clone()).map_err(|_| {
        format!(
            "the class {} is none of {CLASSES}",
            sanitise::fit(&class.to_string(), 40)
        )
    })?;
    // Its own to tell: not what only crew can know, and what costs nothing however often it comes.
    if let Class::Lost | Class::KilledByUs | Class::Timeout = class {
        return Err(format!("that class is crew's to say; yours are {CLASSES}"));
    }
    let message = value.get("message").and_then(Value::as_str).unwrap_or_default();
    let until_ms = match value.get("until_ms") {
        None | Some(Value::Null) => None,
        Some(until) => Some(until.as_u64().ok_or("until_ms is no whole number")?),
    };
    let message = sanitise::line(message);
    Ok(Failure {
        until_ms,
        ..Failure::new(
            class,
            if message.is_empty() {
                "it said no more"
            } else {
                &message
            },
        )
    })
}

fn usage(line: &str) -> Result<Usage, String> {
    let value = json(line)?;
    if value.get("crew").and_then(Value::as_str) != Some("usage") {
        return Err("\"crew\" is not \"usage\"".into());
    }
    let count = |key: &str| match value.get(key) {
        None => Ok(0),
        Some(count) => count
            .as_u64()
            .filter(|count| *count <= IMPLAUSIBLE)
            .ok_or_else(|| {
                format!(
                    "{key} is no plausible number of tokens: {}",
                    sanitise::fit(&count.to_string(), 40)
                )
            }),
    };
    let cost_micro_usd = match value.get("cost_usd") {
        None => 0,
        Some(cost) => cost.as_f64().and_then(money::micro).ok_or_else(|| {
            format!(
                "cost_usd is no plausible number of dollars: {}",
                sanitise::fit(&cost.to_string(), 40)
            )
        })?,
    };
    Ok(Usage {
        input_tokens: count("input_tokens")?,
        output_tokens: count("output_tokens")?,
        cost_micro_usd,
    })
}
