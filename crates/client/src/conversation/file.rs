//! The conversation of a run, read from the file of its output.
//!
//! Nothing is read whole: a run is read in pieces from its beginning, or from near its end.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use harness::Transcript;
use harness::entry::Entry;
use process::{Run, Stream, Tail};

use super::calls::Calls;
use super::{Conversation, Detail, Line, Look, Shown, Uncounted};
use crate::error::Result;
use crate::outputs;

/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;
/// Bytes at the end of an output that are read first, where its last lines are wanted.
const NEAR: u64 = 256 << 10;
/// The most bytes at the end of an output that are read for its last lines: most of a client's stream has no
/// lines for people.
const FAR: u64 = 16 << 20;
/// Bytes in which the beginning of a line is looked for.
const LINE: u64 = 4 << 20;

/// The standard output of a run, which is read as it grows.
#[derive(Debug)]
pub struct Reading {
    tail: Tail,
    transcript: Transcript,
    conversation: Conversation,
    /// The calls of crew's tools; none of a program that is no agent.
    calls: Option<Calls>,
    has_times: bool,
    detail: Detail,
}

impl Reading {
    /// Of a run, from its beginning on. `is_of_agent`: whether it is an agent's step; `uncounted`: the words
    /// of it that are known not to count.
    pub fn new(run: &Run, is_of_agent: bool, uncounted: Uncounted, detail: Detail) -> Self {
        Self::at(run, is_of_agent, uncounted, detail, 0)
    }

    fn at(run: &Run, is_of_agent: bool, uncounted: Uncounted, detail: Detail, offset: u64) -> Self {
        let calls = is_of_agent.then(|| {
            let mut calls = Calls::of(run);
            calls.look();
            calls.skip(offset);
            calls
        });
        Self {
            tail: Tail::new(run, Stream::Out, offset),
            transcript: match is_of_agent {
                true => Transcript::of_agent(),
                false => Transcript::of_program(),
            },
            conversation: Conversation {
                uncounted,
                ..Conversation::default()
            },
            has_times: calls.as_ref().is_some_and(|calls| calls.next().is_some()),
            calls,
            detail,
        }
    }

    /// Whether times stand beside the lines from the first one on, as far as is known.
    pub fn has_times(&self) -> bool {
        self.has_times
    }

    /// Of a run, from its last lines on: `most` of them, if there are so many within its last 16 MiB.
    ///
    /// # Errors
    /// The output cannot be read.
    pub fn near_end(
        run: &Run,
        is_of_agent: bool,
        uncounted: &Uncounted,
        detail: Detail,
        most: usize,
    ) -> Result<(Self, VecDeque<Line>)> {
        let path = run.dir().join(Stream::Out.file());
        let length = std::fs::metadata(&path).map_or(0, |meta| meta.len());
        let mut window = NEAR;
        loop {
            let offset = line_start(&path, length.saturating_sub(window));
            let mut reading = Self::at(run, is_of_agent, uncounted.clone(), detail, offset);
            let mut last = Last::of(most, detail);
            reading.more(&mut |line| last.push(line))?;
            if last.count == most || offset == 0 || window >= FAR {
                return Ok((reading, last.lines));
            }
            window *= 4;
        }
    }

    /// Calls `each` for each line that is there by now and was not read. Returns whether anything was.
    ///
    /// # Errors
    /// The output cannot be read.
    pub fn more(&mut self, each: &mut dyn FnMut(Line)) -> Result<bool> {
        let mut is_any = false;
        if let Some(calls) = &mut self.calls {
            calls.look();
            self.conversation.uncounted.result = calls.result().map(str::to_owned);
        }
        loop {
            let read = self.tail.offset();
            let bytes = self.tail.read(PIECE)?;
            is_any |= !bytes.is_empty();
            let mut rest = bytes.as_slice();
            // Each call stands behind what was printed before it. A line that is not whole then stands behind
            // the call.
            while let Some(at) = self.calls.as_ref().and_then(Calls::next)
                && let Ok(before) = usize::try_from(at.saturating_sub(read))
                && before <= bytes.len()
            {
                let (first, others) = rest.split_at(before.saturating_sub(bytes.len() - rest.len()));
                rest = others;
                self.feed(first, each);
                self.calls_up_to(at, each);
                is_any = true;
            }
            self.feed(rest, each);
            if bytes.is_empty() {
                return Ok(is_any);
            }
        }
    }

    fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(Line)) {
        let mut shown = Shower {
            conversation: &mut self.conversation,
            calls: self.calls.as_mut(),
            detail: self.detail,
            each,
        };
        self.transcript.feed(bytes, |entry| shown.entry(entry));
    }

    fn calls_up_to(&mut self, read: u64, each: &mut dyn FnMut(Line)) {
        let calls = self.calls.as_mut().map(|calls| calls.up_to(read));
        for call in calls.iter().flatten() {
            self.conversation.call(call, &mut wanted(self.detail, each));
        }
    }

    /// The line that is being written, where it is text.
    pub fn open(&self) -> Option<Line> {
        let text = self.transcript.open();
        (!text.is_empty()).then_some(Line {
            at: None,
            indent: 0,
            look: Look::Text,
            shown: Shown::Always,
            joins: false,
            text,
        })
    }

    /// Ends the output: calls `each` for the lines of its last, unfinished line.
    pub fn end(&mut self, each: &mut dyn FnMut(Line)) {
        let mut shown = Shower {
            conversation: &mut self.conversation,
            calls: self.calls.as_mut(),
            detail: self.detail,
            each,
        };
        self.transcript.end(|entry| shown.entry(entry));
        let calls = self.calls.as_mut().map(Calls::rest);
        for call in calls.iter().flatten() {
            self.conversation.call(call, &mut wanted(self.detail, each));
        }
    }
}

/// Shows entries, with the calls before them.
pub(super) struct Shower<'r> {
    pub(super) conversation: &'r mut Conversation,
    pub(super) calls: Option<&'r mut Calls>,
    pub(super) detail: Detail,
    pub(super) each: &'r mut dyn FnMut(Line),
}

impl Shower<'_> {
    pub(super) fn entry(&mut self, entry: Entry) {
        let mut each = wanted(self.detail, self.each);
        let calls = self.calls.as_mut().map(|calls| calls.before(&entry));
        for call in calls.iter().flatten() {
            self.conversation.call(call, &mut each);
        }
        self.conversation.read(entry, &mut each);
    }
}

/// Passes on the lines that are wanted.
fn wanted(detail: Detail, each: &mut dyn FnMut(Line)) -> impl FnMut(Line) {
    move |line| {
        if detail.wants(line.shown) {
            each(line);
        }
    }
}

/// The last lines. A line that continues another counts as a part of it, and what is folded away beside lines
/// that are not does not count.
#[derive(Debug)]
struct Last {
    most: usize,
    detail: Detail,
    count: usize,
    lines: VecDeque<Line>,
}

impl Last {
    fn of(most: usize, detail: Detail) -> Self {
        Self {
            most,
            detail,
            count: 0,
            lines: VecDeque::new(),
        }
    }

    fn counts(&self, line: &Line) -> bool {
        !line.joins && (self.detail != Detail::Both || line.shown != Shown::Unfolded)
    }

    fn push(&mut self, line: Line) {
        self.count += usize::from(self.counts(&line));
        self.lines.push_back(line);
        if self.count > self.most {
            self.count -= 1;
            self.lines.pop_front();
            while self.lines.front().is_some_and(|line| !self.counts(line)) {
                self.lines.pop_front();
            }
        }
    }
}

/// The offset of the first line that begins at this offset or behind it; the offset itself where it is in a
/// line that is very long.
pub fn line_start(path: &Path, offset: u64) -> u64 {
    let Some(before) = offset.checked_sub(1) else {
        return 0;
    };
    let read = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(before))?;
        let mut rest = BufReader::with_capacity(PIECE, file.take(LINE));
        let line = rest.skip_until(b'\n')? as u64;
        io::Result::Ok((line < LINE).then_some(before + line))
    };
    read().ok().flatten().unwrap_or(offset)
}

/// Bytes in which the last line is looked for: most lines of a client's stream have none for people.
const LAST: u64 = 64 << 10;

/// The last line of a run's conversation that is not blank; empty where there is none. `is_of_agent`: whether
/// the run is an agent's step.
pub fn last_line(dir: &Path, is_of_agent: bool) -> String {
    let mut transcript = match is_of_agent {
        true => Transcript::of_agent(),
        false => Transcript::of_program(),
    };
    let mut conversation = Conversation::default();
    if let Some(run) = is_of_agent.then(|| Run::open(dir)).and_then(Result::ok) {
        let mut calls = Calls::of(&run);
        calls.look();
        conversation.uncounted.result = calls.result().map(str::to_owned);
    }
    let mut last = String::new();
    let mut read = |entry| {
        conversation.read(entry, &mut |line: Line| {
            if line.shown == Shown::Unfolded || line.text.trim().is_empty() {
                return;
            }
            match line.joins {
                true => last.push_str(&format!(" … {}", line.text)),
                false => line.text.trim().clone_into(&mut last),
            }
        });
    };
    transcript.feed(
        outputs::end(&dir.join(Stream::Out.file()), LAST).as_bytes(),
        &mut read,
    );
    // A final line that is being written counts too.
    transcript.end(&mut read);
    last
}
