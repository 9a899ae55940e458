//! The reader of Claude Code's output.

use std::collections::VecDeque;

use process::{Exit, Stream};

use super::failure::{self, Evidence};
use super::line::{self, Line, Reply};
use super::mcp;
use super::usage::{CostSource, UsageMeter};
use crate::client::Reader;
use crate::commitment::{self, Commitment};
use crate::directive::{self, Directive};
use crate::event::Event;
use crate::lines::{self, Lines};
use crate::mode::Announced;
use crate::money::Price;
use crate::outcome::{Failure, Outcome, Signal};
use crate::stderr;
use crate::step::Session;
use crate::unusable::Unusable;
use crate::usage::Usage;
use crate::verdict::{Given, LastLine};
use text::sanitise;

/// The bytes of a line that are kept: a tool's result is one line, and stands in it twice.
const LINE_LIMIT: usize = 4 << 20;
/// The most events that one call of `feed` returns; of more, the last are returned.
const MAX_EVENTS: usize = 100;
/// The most notes that one run makes.
const MAX_NOTES: usize = 20;

/// The reader of one run.
#[derive(Debug)]
pub(super) struct ClaudeReader {
    out: Lines,
    err: Lines,
    state: State,
}

/// Everything that was read of one run so far.
#[derive(Debug)]
struct State {
    evidence: Evidence,
    usage: UsageMeter,
    session: Option<String>,
    cwd: String,
    replies: Replies,
    notes: usize,
    pending: Pending,
}

/// The directives in the client's replies.
///
/// The signal of a turn is the one in its last reply: a client that goes on working after a signal did not
/// mean it. A background task that ends later opens another turn; of several turns the last signal counts.
#[derive(Debug, Default)]
struct Replies {
    /// The id of the last message.
    message: String,
    /// The signal in that message.
    signal: Option<Signal>,
    /// The signal of an earlier turn.
    earlier_signal: Option<Signal>,
    summary: Option<String>,
    modes: Announced,
    unusable: Unusable,
    /// The last line of the last reply.
    last_line: LastLine,
    /// The commitments that the agent has made.
    commitments: Vec<Commitment>,
    /// Whether the client replied at all.
    any: bool,
}

/// The events that the next return of `feed` or `end` will contain.
#[derive(Debug, Default)]
struct Pending {
    session: Option<String>,
    /// In the order in which they happened.
    events: VecDeque<Event>,
    /// The last line, not sanitised: of a flood of lines only the last one is sanitised.
    text: Option<String>,
}

impl ClaudeReader {
    pub(super) fn new(session: &Session, price: Option<Price>) -> Self {
        Self {
            out: Lines::with_limit(LINE_LIMIT),
            err: Lines::default(),
            state: State {
                evidence: Evidence::default(),
                usage: UsageMeter::new(session, price),
                session: None,
                cwd: String::new(),
                replies: Replies::default(),
                notes: 0,
                pending: Pending::default(),
            },
        }
    }
}

impl Reader for ClaudeReader {
    fn feed(&mut self, stream: Stream, bytes: &[u8]) -> Vec<Event> {
        let state = &mut self.state;
        match stream {
            Stream::Out => self.out.feed(bytes, |line| state.stdout_line(&line)),
            Stream::Err => self.err.feed(bytes, |line| state.stderr_line(&line)),
        }
        let usage = state.usage.take_delta();
        state.take_events(usage)
    }

    fn has_result(&self) -> bool {
        self.state.evidence.has_result()
    }

    fn verdict(&self) -> Option<&Given> {
        self.state.replies.last_line.given()
    }

    fn end(&mut self, exit: &Exit) -> (Vec<Event>, Outcome) {
        let state = &mut self.state;
        self.err.finish(|line| state.stderr_line(&line));
        self.out.finish(|line| state.stdout_line(&line));
        let (usage, delta, cost_source) = state.usage.end();
        if cost_source == CostSource::Unknown {
            state.note(
                "what this step cost is not known: it was cut off before the client could say, and neither `price` in \
                 its settings nor an earlier step tells what a token costs"
                    .into(),
            );
        }
        let events = state.take_events(delta);
        let replies = &mut state.replies;
        let signal = replies.signal.take().or(replies.earlier_signal.take());
        let signal = signal.unwrap_or(Signal::None);
        let or_failure = |failure: Option<Failure>| failure.map_or_else(|| Ok(signal.clone()), Err);
        let stated = state.evidence.of_stopped(exit).map(or_failure);
        let result = or_failure(state.evidence.failure(exit));
        let (refused_commitments, unusable) = std::mem::take(&mut replies.unusable).into_parts();
        let outcome = Outcome {
            result,
            stated,
            verdict: replies.last_line.given().cloned(),
            unusable,
            refused_commitments,
            usage,
            estimated: cost_source == CostSource::Estimate,
            total_micro_usd: state.usage.total_micro_usd(),
            summary: replies.summary.take(),
            modes: replies.modes.take(),
            commitments: std::mem::take(&mut replies.commitments),
            session: state.session.take(),
        };
        (events, outcome)
    }
}

impl State {
    fn stderr_line(&mut self, line: &lines::Line<'_>) {
        if let Some(beginning) = stderr::beginning(line) {
            self.evidence.stderr.push(beginning);
            let shown = sanitise::output_line(&String::from_utf8_lossy(beginning));
            self.evidence.stderr_class = failure::class_of_stderr(&shown).or(self.evidence.stderr_class);
            self.pending.text = Some(shown);
        }
    }

    fn stdout_line(&mut self, line: &lines::Line<'_>) {
        if line.bytes.iter().all(u8::is_ascii_whitespace) && !line.is_cut() {
            return;
        }
        // A line that was cut is no longer JSON. Only the result of a tool is ever so long, and that may be
        // ignored.
        let mut mended = String::new();
        let parsed = if line.is_cut() {
            Some(Line::Other)
        } else {
            line::parse(line.bytes, false, &mut mended).map(|parsed| parsed.line)
        };
        match parsed {
            None => {
                self.evidence.unreadable_lines += 1;
                let shown = stderr::beginning(line)
                    .map(String::from_utf8_lossy)
                    .unwrap_or_default();
                let shown = sanitise::fit(&sanitise::output_line(&shown), 80);
                self.note(format!("a line of its output that is no JSON: {shown}"));
            }
            Some(Line::Other) => {}
            Some(Line::TurnStarted {
                session,
                cwd,
                lacks_crew,
            }) => {
                if lacks_crew {
                    self.note(mcp::LACKING.to_owned());
                }
                self.evidence.turn_is_open = true;
                self.replies.begin_turn();
                self.cwd = cwd.into_owned();
                let session = line::shown_id(&session);
                if !session.is_empty() && self.session.as_ref() != Some(&session) {
                    self.session = Some(session.clone());
                    self.pending.session = Some(session);
                }
            }
            Some(Line::Reply(reply)) => self.reply(&reply),
            Some(Line::ToolResults(results)) => {
                for result in results.results {
                    self.push(Event::ToolEnd {
                        id: line::shown_id(&result.id),
                        ok: result.ok,
                    });
                }
            }
            Some(Line::ReplyStarted(tokens)) => self.usage.begin_reply(tokens),
            Some(Line::ReplyUsage(tokens)) => self.usage.update_reply(tokens),
            Some(Line::Retry(retry)) => {
                let (why, hopeless) = failure::of_retry(&retry);
                self.push(Event::Retrying {
                    why,
                    delay_ms: retry.delay_ms,
                });
                if let Some(failure) = hopeless
                    && self.evidence.hopeless.is_none()
                {
                    self.evidence.hopeless = Some(failure.clone());
                    self.push(Event::GivenUp { failure });
                }
                self.evidence.retry = Some(retry);
            }
            Some(Line::Denied { what }) => self.push(Event::Denied { what }),
            Some(Line::Limited { until_ms }) => self.evidence.limited_until_ms = until_ms,
            Some(Line::TurnEnded(result)) => {
                self.usage.end_turn(&result);
                if !self.replies.any && !result.is_error {
                    self.reply_text(&result.text);
                }
                self.evidence.turn_is_open = false;
                self.evidence.result = Some(*result);
            }
        }
    }

    fn reply(&mut self, reply: &Reply<'_>) {
        if let Some(kind) = &reply.error {
            self.evidence.error_kind = Some(kind.clone().into_owned());
            return;
        }
        match &reply.parent {
            // A subagent's directives are for the agent that started it, not for crew.
            Some(parent) => self.usage.subagent_reply(parent, reply),
            None => {
                // A reply shows that the service answers again.
                (self.evidence.error_kind, self.evidence.hopeless) = (None, None);
                self.replies.begin_message(&reply.message);
                for text in &reply.text {
                    self.reply_text(text);
                }
            }
        }
        for tool in &reply.tools {
            self.push(tool.event(&self.cwd));
        }
    }

    /// Takes the directives from the text of a reply.
    fn reply_text(&mut self, text: &str) {
        self.replies.any = true;
        if let Some(last) = text.lines().rfind(|line| !line.trim().is_empty()) {
            self.pending.text = Some(last.chars().take(sanitise::EXCERPT).collect());
        }
        for line in text.lines() {
            self.replies.last_line.push(line);
            if let Some(made) = commitment::parse(line) {
                self.commitment(made);
                continue;
            }
            match directive::parse(line) {
                None => {}
                Some(Directive::Invalid(text)) => {
                    self.replies.unusable.add_line(text.clone());
                    self.note(text);
                }
                Some(Directive::Mode(mode)) => {
                    let counts = self.replies.modes.note(mode);
                    if counts {
                        self.push(Event::Mode { mode });
                    }
                }
                Some(Directive::Summary(text)) => {
                    self.replies.summary = Some(text.clone());
                    self.push(Event::Summary { text });
                }
                Some(Directive::Signal(signal)) => {
                    self.replies.signal = Some(signal.clone());
                    self.replies.unusable.signal();
                    if let Some(event) = Event::of_signal(signal) {
                        self.push(event);
                    }
                }
            }
        }
    }

    fn commitment(&mut self, made: Result<Commitment, String>) {
        let commitments = &mut self.replies.commitments;
        let why = match made {
            Ok(made) if commitments.contains(&made) => return,
            Ok(made) if commitments.len() < commitment::MOST => return commitments.push(made),
            Ok(made) => {
                let says = sanitise::fit(&made.says, 80);
                format!("one step may add {}, and “{says}” is one more", commitment::MOST)
            }
            Err(why) => sanitise::line(&why),
        };
        let text = format!("a line of commitment that does not count: {why}");
        self.replies.unusable.add_commitment(text.clone());
        self.note(text);
    }

    fn note(&mut self, text: String) {
        self.notes += 1;
        let text = match self.notes {
            ..MAX_NOTES => text,
            MAX_NOTES => "and more that could not be understood".into(),
            _ => return,
        };
        self.push(Event::Note { text });
    }

    fn push(&mut self, event: Event) {
        let events = &mut self.pending.events;
        if events.len() == MAX_EVENTS {
            events.pop_front();
        }
        events.push_back(event);
    }

    fn take_events(&mut self, usage: Usage) -> Vec<Event> {
        let Pending {
            session,
            events,
            text,
        } = std::mem::take(&mut self.pending);
        let mut all: Vec<Event> = session
            .map(|session| Event::Started { session })
            .into_iter()
            .collect();
        all.extend(events);
        all.extend((!usage.is_zero()).then_some(Event::Usage(usage)));
        all.extend(
            text.map(|line| sanitise::output_line(&line))
                .filter(|line| !line.is_empty())
                .map(|line| Event::Text { line }),
        );
        all
    }
}

impl Replies {
    fn begin_turn(&mut self) {
        self.message.clear();
        self.last_line.clear();
        if let Some(signal) = self.signal.take() {
            self.earlier_signal = Some(signal);
        }
    }

    /// A part of a message comes. A new message takes back the signal of the one before it.
    fn begin_message(&mut self, id: &str) {
        self.any = true;
        if self.message != id {
            id.clone_into(&mut self.message);
            self.signal = None;
            self.last_line.clear();
        }
    }
}
