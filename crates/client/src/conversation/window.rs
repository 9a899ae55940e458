//! A window of a run's output: so many lines from a place on, each with its place in the file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use harness::Transcript;
use process::{Run, Status, Stream};

use super::calls::Calls;
use super::file::Shower;
use super::{Conversation, Detail, Line, Shown, line_start};
use crate::error::{Doing as _, Result};

/// Bytes at the end of an output that are read first, where its last lines are wanted.
const NEAR: u64 = 256 << 10;
/// The most bytes at the end of an output that are read for its last lines.
const FAR: u64 = 16 << 20;
/// The most bytes of a file that are read at a time. A line that is longer is read in parts.
const PIECE: u64 = 1 << 20;

/// A line, with the place of the output at which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The byte of the output.
    pub at: u64,
    /// The line.
    pub line: Line,
}

/// The place at which a window begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// At the beginning of the output.
    Start,
    /// So that its last line is the last one of the output.
    End,
    /// At the first line that begins at this byte or behind it.
    At(u64),
}

/// Lines of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The lines, in order.
    pub lines: Vec<Placed>,
    /// The byte at which they begin.
    pub start: u64,
    /// The byte at which the next window begins.
    pub end: u64,
    /// The length of the output in bytes.
    pub length: u64,
    /// Whether the run has ended: nothing more is printed.
    pub is_done: bool,
}

/// Reads the lines of a run's output from a place on, with their places.
#[derive(Debug)]
pub struct Placing {
    run: Run,
    transcript: Transcript,
    conversation: Conversation,
    calls: Option<Calls>,
    /// The byte at which it goes on.
    offset: u64,
}

impl Placing {
    /// From the first line on that begins at a byte or behind it. `is_of_agent`: whether it is the run of an
    /// agent's step.
    ///
    /// # Errors
    /// There is no such run.
    pub fn new(dir: &Path, is_of_agent: bool, offset: u64) -> Result<Self> {
        let run = Run::open(dir)?;
        let offset = line_start(&dir.join(Stream::Out.file()), offset);
        let calls = is_of_agent.then(|| {
            let mut calls = Calls::of(&run);
            calls.look();
            calls.skip(offset);
            calls
        });
        Ok(Self {
            run,
            transcript: match is_of_agent {
                true => Transcript::of_agent(),
                false => Transcript::of_program(),
            },
            conversation: Conversation::default(),
            calls,
            offset,
        })
    }

    /// The byte at which the next line begins that was not read.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the run has ended: what it has printed by now is all.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.run.status(), Ok(Status::Ended(_)))
    }

    /// Gives the lines of the next piece of the output; returns whether there may be more now. The last line
    /// of a run that goes on is given once it is whole.
    ///
    /// # Errors
    /// The output cannot be read.
    pub fn more(&mut self, each: &mut dyn FnMut(Placed)) -> Result<bool> {
        // Asked before the file is read: what was printed at the end is in it.
        let is_done = self.is_done();
        if let Some(calls) = &mut self.calls {
            calls.look();
            self.conversation.uncounted.result = calls.result().map(str::to_owned);
        }
        let path = self.run.dir().join(Stream::Out.file());
        let bytes = read(&path, self.offset, PIECE).doing("read", &path)?;
        let is_full = bytes.len() as u64 == PIECE;
        let whole = match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) if !is_done || is_full => last + 1,
            None if !is_done && !is_full => 0,
            Some(_) | None => bytes.len(),
        };
        for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
            self.line(line, each);
        }
        if is_done && !is_full {
            self.end(each);
        }
        Ok(is_full)
    }

    fn line(&mut self, bytes: &[u8], each: &mut dyn FnMut(Placed)) {
        let at = self.offset;
        let mut placed = |line| each(Placed { at, line });
        while let Some(printed) = self
            .calls
            .as_ref()
            .and_then(Calls::next)
            .filter(|next| *next <= at)
        {
            let calls = self.calls.as_mut().map(|calls| calls.up_to(printed));
            for call in calls.iter().flatten() {
                self.conversation.call(call, &mut placed);
            }
        }
        let mut shower = Shower {
            conversation: &mut self.conversation,
            calls: self.calls.as_mut(),
            detail: Detail::Both,
            each: &mut placed,
        };
        self.transcript.feed(bytes, |entry| shower.entry(entry));
        self.offset += bytes.len() as u64;
    }

    /// Gives what is left when the output has ended.
    fn end(&mut self, each: &mut dyn FnMut(Placed)) {
        let at = self.offset;
        let mut placed = |line| each(Placed { at, line });
        let mut shower = Shower {
            conversation: &mut self.conversation,
            calls: self.calls.as_mut(),
            detail: Detail::Both,
            each: &mut placed,
        };
        self.transcript.end(|entry| shower.entry(entry));
        let calls = self.calls.as_mut().map(Calls::rest);
        for call in calls.iter().flatten() {
            self.conversation.call(call, &mut placed);
        }
    }
}

/// A window of a run's output: at most so many lines that are shown while results are folded, with those that
/// belong to them.
///
/// # Errors
/// There is no such run, or its output cannot be read.
pub fn window(dir: &Path, is_of_agent: bool, begin: Begin, most: usize) -> Result<Window> {
    let path = dir.join(Stream::Out.file());
    let length = std::fs::metadata(&path).map_or(0, |meta| meta.len());
    match begin {
        Begin::Start => from(dir, is_of_agent, 0, length, most),
        Begin::At(offset) => from(
            dir,
            is_of_agent,
            line_start(&path, offset.min(length)),
            length,
            most,
        ),
        Begin::End => near_end(dir, is_of_agent, length, most),
    }
}

fn from(dir: &Path, is_of_agent: bool, offset: u64, length: u64, most: usize) -> Result<Window> {
    let mut placing = Placing::new(dir, is_of_agent, offset)?;
    let start = placing.offset();
    let mut lines: Vec<Placed> = Vec::new();
    let mut count = 0;
    // The first line beyond the window.
    let mut beyond = None;
    loop {
        let goes_on = placing.more(&mut |placed| {
            count += usize::from(counts(&placed.line));
            // A window ends between two lines of the file, be it a little long.
            let is_beyond = count > most && lines.last().is_some_and(|last| last.at != placed.at);
            match beyond {
                None if is_beyond => beyond = Some(placed.at),
                None => lines.push(placed),
                Some(_) => {}
            }
        })?;
        if beyond.is_some() || !goes_on {
            break;
        }
    }
    let end = beyond.unwrap_or_else(|| placing.offset());
    Ok(Window {
        lines,
        start,
        end,
        length: length.max(end),
        is_done: placing.is_done(),
    })
}

fn near_end(dir: &Path, is_of_agent: bool, length: u64, most: usize) -> Result<Window> {
    let mut bytes = NEAR;
    loop {
        let mut placing = Placing::new(dir, is_of_agent, length.saturating_sub(bytes))?;
        let start = placing.offset();
        let mut lines: VecDeque<Placed> = VecDeque::new();
        let mut count = 0;
        let mut is_cut = false;
        while placing.more(&mut |placed| {
            count += usize::from(counts(&placed.line));
            lines.push_back(placed);
            while count > most && lines.len() > 1 {
                let first = lines.pop_front();
                count -= usize::from(first.is_some_and(|first| counts(&first.line)));
                is_cut = true;
            }
        })? {}
        if is_cut || start == 0 || bytes >= FAR {
            let is_whole = |first: &&Placed| is_cut && first.at > start;
            let start = lines.front().filter(is_whole).map_or(start, |first| first.at);
            let end = placing.offset();
            return Ok(Window {
                lines: lines.into(),
                start,
                end,
                length: length.max(end),
                is_done: placing.is_done(),
            });
        }
        bytes *= 4;
    }
}

/// A line that continues another counts as a part of it, and what is folded away does not count.
fn counts(line: &Line) -> bool {
    !line.joins && line.shown != Shown::Unfolded
}

/// Bytes of a file; none where it is not there yet.
fn read(path: &Path, offset: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
