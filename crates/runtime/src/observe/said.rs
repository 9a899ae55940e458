//! The output of a run, read while it goes on.

use std::time::SystemTime;

use harness::Reader;
use model::attempt::Mode;
use process::{Exit, Run, Stream, Tail};

use super::outcome::mode;
use super::tools::Tools;

/// Bytes of output that are read at a time.
const PIECE: usize = 256 * 1024;
/// Pieces of each stream that are read at one look. A flood takes several looks.
const PIECES: usize = 16;

/// The output of a run, read once from its beginning, piece by piece while the run goes on. An engine that
/// adopts the run reads it anew and comes to the same result.
///
/// Text, tools and usage are not taken here: a frontend that shows them reads the same files with a reader of
/// its own.
pub(super) struct Said {
    reader: Box<dyn Reader>,
    tails: [(Stream, Tail); 2],
    /// Bytes that were read, and whether the last reading came to the end of the output.
    bytes: u64,
    whole: bool,
    /// The last line of standard output.
    last_line: String,
    /// The id that the verdict of a review has to name, as the gatekeeper was told it; none for another run.
    review: Option<String>,
    /// The failure that ends the step, though its client has not noticed.
    pub(super) given_up: Option<harness::Failure>,
    /// The modes that the agent announced so far.
    pub(super) modes: Vec<Mode>,
    tools: Tools,
    /// Notes what is submitted; none of a run whose work does not land, and once it is noted.
    note: Option<NoteSubmitted>,
}

/// Notes the files of the workspace as those that were submitted at this time.
pub(super) type NoteSubmitted = Box<dyn FnOnce(SystemTime) + Send>;

impl Said {
    pub(super) fn new(
        run: &Run,
        reader: Box<dyn Reader>,
        review: Option<String>,
        note: Option<NoteSubmitted>,
    ) -> Self {
        Self {
            reader,
            tails: [Stream::Out, Stream::Err].map(|stream| (stream, Tail::new(run, stream, 0))),
            bytes: 0,
            whole: true,
            last_line: String::new(),
            review,
            given_up: None,
            modes: Vec::new(),
            tools: Tools::default(),
            note,
        }
    }

    /// The bytes that were read, if all of them were and a result is in them.
    pub(super) fn stated(&self) -> Option<u64> {
        let given = self.review.as_ref().zip(self.reader.verdict());
        let has_verdict = given.is_some_and(|(run, given)| given.of_run(run).is_ok());
        let has_result = self.reader.has_result() || has_verdict;
        (self.whole && has_result).then_some(self.bytes)
    }

    /// Reads new output, a bounded amount of it. An error is ignored here: the last reading meets it again,
    /// and reports it.
    pub(super) fn read_on(mut self, run: &Run) -> Self {
        self.whole = self.read(PIECES).unwrap_or(true);
        self.tools.note_beside(run);
        if self.stated().is_some()
            && let Ok(written) = self.written_at(run)
            && let Some(note) = self.note.take()
        {
            note(written);
        }
        self
    }

    /// When the last output of the run was written: its result is no younger.
    fn written_at(&self, run: &Run) -> std::io::Result<SystemTime> {
        run.dir().join(Stream::Out.file()).metadata()?.modified()
    }

    /// Reads at most so many pieces of each stream; gives whether that was everything.
    fn read(&mut self, pieces: usize) -> Result<bool, process::Error> {
        let mut whole = true;
        for (stream, tail) in &mut self.tails {
            let mut left = pieces;
            loop {
                if left == 0 {
                    whole = false;
                    break;
                }
                let piece = tail.read(PIECE)?;
                if piece.is_empty() {
                    break;
                }
                self.bytes += piece.len() as u64;
                for event in self.reader.feed(*stream, &piece) {
                    self.tools.take(&event);
                    if let harness::Event::GivenUp { failure } = event {
                        self.given_up = Some(failure);
                    } else if let harness::Event::Mode { mode: announced } = event {
                        self.modes.push(mode(announced));
                    } else if let (harness::Event::Text { line }, Stream::Out) = (event, *stream) {
                        self.last_line = line;
                    }
                }
                left -= 1;
            }
        }
        Ok(whole)
    }

    /// Reads the rest, and gives the outcome of the step, and the last line of its output.
    pub(super) fn end(mut self, exit: &Exit) -> Result<(harness::Outcome, String), process::Error> {
        while !self.read(PIECES)? {}
        let (events, mut outcome) = self.reader.end(exit);
        let given = outcome.verdict.take();
        if let (Some(run), Some(given)) = (&self.review, given) {
            match given.of_run(run).map(drop) {
                Ok(()) => outcome.verdict = Some(given),
                Err(why) => outcome.unusable = vec![format!("its last line is no verdict: {why}")],
            }
        }
        if outcome.verdict.is_some() && exit.reason == process::Reason::Stopped {
            // crew ended a process that had nothing to add to its verdict.
            outcome.stated = Some(Ok(harness::Signal::None));
        }
        let last = events.into_iter().rev().find_map(|event| {
            if let harness::Event::Text { line } = event {
                Some(line)
            } else {
                None
            }
        });
        Ok((outcome, last.unwrap_or(self.last_line)))
    }
}
