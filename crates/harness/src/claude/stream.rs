//! The reader of a run's output.

use std::collections::VecDeque;

use process::Exit;

use super::ended::{self, Clues};
use super::line::{self, Line, Reply};
use super::spent::{Priced, Spent};
use crate::client::Reader;
use crate::complaints::head;
use crate::event::{Event, Mode, Usage};
use crate::lines::{self, Lines};
use crate::money::Price;
use crate::outcome::{Outcome, Signal};
use crate::sanitise;
use crate::step::Session;
use crate::words::{self, Word};

/// Bytes of a line that are kept: a tool's result is a line, and twice in it.
const LINE: usize = 4 << 20;
/// Events of one kind that one piece of output can come to; of more, the last are told.
const EVENTS: usize = 100;
/// Notes of one run.
const NOTES: usize = 20;

/// What the client has said so far.
#[derive(Debug)]
pub(super) struct Stream {
    out: Lines,
    err: Lines,
    said: Said,
}

#[derive(Debug)]
struct Said {
    clues: Clues,
    spent: Spent,
    session: Option<String>,
    cwd: String,
    words: Spoken,
    notes: usize,
    news: News,
}

/// What its replies say to crew.
///
/// A signal is what the last reply of a turn says: one that it went on after was not its last word. Of several turns
/// (a task in the background that ends later opens another) the last signal counts.
#[derive(Debug, Default)]
struct Spoken {
    /// The message that spoke last.
    message: String,
    /// Its signal.
    last: Option<Signal>,
    /// The signal of an earlier turn.
    earlier: Option<Signal>,
    summary: Option<String>,
    mode: Option<Mode>,
    /// Whether any reply was seen.
    any: bool,
}

/// What one call of `feed` has found.
#[derive(Debug, Default)]
struct News {
    started: Option<String>,
    /// What happened, in order.
    events: VecDeque<Event>,
    text: Option<String>,
}

impl Stream {
    pub(super) fn new(session: &Session, price: Option<Price>) -> Self {
        Self {
            out: Lines::limited(LINE),
            err: Lines::default(),
            said: Said {
                clues: Clues::default(),
                spent: Spent::new(session, price),
                session: None,
                cwd: String::new(),
                words: Spoken::default(),
                notes: 0,
                news: News::default(),
            },
        }
    }
}

impl Reader for Stream {
    fn feed(&mut self, stream: process::Stream, bytes: &[u8]) -> Vec<Event> {
        let said = &mut self.said;
        match stream {
            process::Stream::Out => self.out.feed(bytes, |line| said.out(&line)),
            process::Stream::Err => self.err.feed(bytes, |line| said.err(&line)),
        }
        let used = said.spent.news();
        said.take_news(used)
    }

    fn end(&mut self, exit: &Exit) -> (Vec<Event>, Outcome) {
        let said = &mut self.said;
        self.err.finish(|line| said.err(&line));
        self.out.finish(|line| said.out(&line));
        let (usage, rest, priced) = said.spent.end();
        if priced == Priced::Unknown {
            said.note(
                "what this step cost is not known: it was cut off before the client could say, and neither `price` in \
                 its settings nor an earlier step tells what a token costs"
                    .into(),
            );
        }
        let events = said.take_news(rest);
        let words = &mut said.words;
        let result = match said.clues.failure(exit) {
            Some(failure) => Err(failure),
            None => Ok(words.last.take().or(words.earlier.take()).unwrap_or(Signal::None)),
        };
        let outcome = Outcome {
            result,
            usage,
            estimated: priced == Priced::Estimated,
            total_micro_usd: said.spent.total(),
            summary: words.summary.take(),
            mode: words.mode,
            session: said.session.take(),
        };
        (events, outcome)
    }
}

impl Said {
    fn err(&mut self, line: &lines::Line<'_>) {
        if let Some(head) = head(line) {
            self.clues.complaints.keep(head);
            let shown = sanitise::output_line(&String::from_utf8_lossy(head));
            self.clues.said = ended::said(&shown).or(self.clues.said);
            self.news.text = Some(shown);
        }
    }

    fn out(&mut self, line: &lines::Line<'_>) {
        if line.bytes.iter().all(u8::is_ascii_whitespace) && !line.cut {
            return;
        }
        // Of a line that is too long nothing is known but that it was there: only a tool's result can be so long.
        let read = if line.cut {
            Some(Line::Other)
        } else {
            line::read(line.bytes)
        };
        match read {
            None => {
                self.clues.unread += 1;
                let shown = head(line).map(String::from_utf8_lossy).unwrap_or_default();
                let shown = sanitise::fit(&sanitise::output_line(&shown), 80);
                self.note(format!("a line of its output that is no JSON: {shown}"));
            }
            Some(Line::Other) => {}
            Some(Line::Init { session, cwd }) => {
                self.clues.open = true;
                self.words.turn();
                self.cwd = cwd;
                let session = line::id(&session);
                if !session.is_empty() && self.session.as_ref() != Some(&session) {
                    self.session = Some(session.clone());
                    self.news.started = Some(session);
                }
            }
            Some(Line::Reply(reply)) => self.reply(&reply),
            Some(Line::Tools(ended)) => {
                for (id, ok) in ended {
                    self.tell(Event::ToolEnd {
                        id: line::id(&id),
                        ok,
                    });
                }
            }
            Some(Line::Begun(tokens)) => self.spent.begun(tokens),
            Some(Line::Grown(tokens)) => self.spent.grown(tokens),
            Some(Line::Retry(retry)) => {
                let (why, hopeless) = ended::retried(&retry);
                self.tell(Event::Retrying {
                    why,
                    delay_ms: retry.delay_ms,
                });
                if let Some(failure) = hopeless
                    && self.clues.given_up.is_none()
                {
                    self.clues.given_up = Some(failure.clone());
                    self.tell(Event::GivenUp { failure });
                }
                self.clues.retry = Some(retry);
            }
            Some(Line::Denied { what }) => self.tell(Event::Denied { what }),
            Some(Line::Limited { until_ms }) => self.clues.limited_until_ms = until_ms,
            Some(Line::Result(ended)) => {
                self.spent.settle(&ended);
                if !self.words.any && !ended.is_error {
                    self.speak(&ended.text);
                }
                self.clues.open = false;
                self.clues.ended = Some(*ended);
            }
        }
    }

    fn reply(&mut self, reply: &Reply) {
        if let Some(kind) = &reply.error {
            self.clues.kind = Some(kind.clone());
            return;
        }
        match &reply.parent {
            // What it answers to the agent that started it is that agent's to judge.
            Some(parent) => self.spent.below(parent, reply),
            None => {
                // It was answered: what was refused before is over.
                (self.clues.kind, self.clues.given_up) = (None, None);
                self.words.message(&reply.message);
                for text in &reply.text {
                    self.speak(text);
                }
            }
        }
        for tool in &reply.tools {
            self.tell(tool.start(&self.cwd));
        }
    }

    /// Takes in what a reply says.
    fn speak(&mut self, text: &str) {
        self.words.any = true;
        for line in text.lines() {
            if !line.trim().is_empty() {
                let shown: String = line.chars().take(sanitise::EXCERPT).collect();
                self.news.text = Some(sanitise::output_line(&shown));
            }
            match words::read(line) {
                None => {}
                Some(Word::Note(text)) => self.note(text),
                Some(Word::Mode(mode)) => {
                    self.words.mode = Some(mode);
                    self.tell(Event::Mode { mode });
                }
                Some(Word::Summary(text)) => {
                    self.words.summary = Some(text.clone());
                    self.tell(Event::Summary { text });
                }
                Some(Word::Signal(signal)) => {
                    self.words.last = Some(signal.clone());
                    if let Some(event) = Event::of_signal(signal) {
                        self.tell(event);
                    }
                }
            }
        }
    }

    fn note(&mut self, text: String) {
        self.notes += 1;
        let text = match self.notes {
            ..NOTES => text,
            NOTES => "and more that could not be understood".into(),
            _ => return,
        };
        self.tell(Event::Note { text });
    }

    fn tell(&mut self, event: Event) {
        let events = &mut self.news.events;
        if events.len() == EVENTS {
            events.pop_front();
        }
        events.push_back(event);
    }

    fn take_news(&mut self, used: Usage) -> Vec<Event> {
        let News {
            started,
            events,
            text,
        } = std::mem::take(&mut self.news);
        let mut all: Vec<Event> = started
            .map(|session| Event::Started { session })
            .into_iter()
            .collect();
        all.extend(events);
        all.extend((!used.is_zero()).then_some(Event::Usage(used)));
        all.extend(
            text.filter(|line| !line.is_empty())
                .map(|line| Event::Text { line }),
        );
        all
    }
}

impl Spoken {
    /// Another turn begins.
    fn turn(&mut self) {
        self.message.clear();
        if let Some(last) = self.last.take() {
            self.earlier = Some(last);
        }
    }

    /// A message speaks: when it is not the one that spoke last, that one went on after its signal.
    fn message(&mut self, id: &str) {
        self.any = true;
        if self.message != id {
            id.clone_into(&mut self.message);
            self.last = None;
        }
    }
}
