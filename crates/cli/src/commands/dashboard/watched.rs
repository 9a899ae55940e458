//! The output of the run that is looked at, as it comes.

use std::path::PathBuf;

use client::conversation::{Detail, Line, Look, Reading, Shown, Uncounted};
use model::RunId;
use process::{Run, Stream, Tail};
use tui::{Msg, Printed, Tone};

use crate::error::Result;
use client::conversation::line_start;
use client::follow::Changes;
use runtime::Place;

/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;
/// Of a long standard error only so many bytes at its end are read.
const END: u64 = 256 << 10;
/// Of a long output only so many lines at its end are read.
const LINES: usize = 300;

/// A run that is looked at.
pub(super) struct Watched {
    run: RunId,
    dir: PathBuf,
    /// None as long as there is no run: a step is told of before its process is made.
    open: Option<Open>,
}

struct Open {
    reading: Reading,
    errors: Errors,
    changes: Changes,
}

/// Standard error, with the part that was read of a line that is not whole yet.
struct Errors {
    tail: Tail,
    rest: String,
}

impl Watched {
    /// Of a run, from near its end on.
    pub(super) fn new(place: &Place, run: RunId) -> Self {
        Self {
            dir: place.run_dir(&run),
            run,
            open: None,
        }
    }

    /// The lines that it printed since the last look.
    pub(super) fn more(&mut self) -> Result<Option<Msg>> {
        let mut lines = Vec::new();
        let mut is_new = false;
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                let Ok(run) = Run::open(&self.dir) else {
                    return Ok(None);
                };
                let changes = Changes::of_run(&self.dir);
                let is_of_agent = self.run.check_place().is_none();
                let (reading, last) =
                    Reading::near_end(&run, is_of_agent, &Uncounted::default(), Detail::Both, LINES)?;
                lines.extend(last.into_iter().map(printed));
                is_new = true;
                none.insert(Open {
                    reading,
                    errors: Errors::near_end(&run),
                    changes,
                })
            }
        };
        is_new |= open.reading.more(&mut |line| lines.push(printed(line)))?;
        is_new |= open.errors.more(&mut lines)?;
        Ok(is_new.then(|| Msg::Output {
            run: self.run.clone(),
            lines,
            open: open.reading.open().map(|line| line.text).unwrap_or_default(),
        }))
    }

    /// Waits until there may be more to read; waits for ever where nothing reports a change, since the
    /// journal reports its own beginning.
    pub(super) async fn changed(&mut self) {
        match &mut self.open {
            Some(open) => open.changes.wait().await,
            None => tokio::time::sleep(UNMADE).await,
        }
    }
}

impl Errors {
    fn near_end(run: &Run) -> Self {
        let path = run.dir().join(Stream::Err.file());
        let length = std::fs::metadata(&path).map_or(0, |meta| meta.len());
        let start = line_start(&path, length.saturating_sub(END));
        Self {
            tail: Tail::new(run, Stream::Err, start),
            rest: String::new(),
        }
    }

    /// Adds the whole lines that are there by now; says whether anything was read.
    fn more(&mut self, lines: &mut Vec<Printed>) -> Result<bool> {
        let mut is_any = false;
        loop {
            let piece = self.tail.read_text(PIECE)?;
            if piece.is_empty() {
                return Ok(is_any);
            }
            is_any = true;
            self.rest.push_str(&piece);
            let whole = match self.rest.rfind('\n') {
                Some(end) => end + 1,
                None if self.rest.len() > PIECE => self.rest.len(),
                None => 0,
            };
            for line in self.rest.drain(..whole).collect::<String>().lines() {
                if !line.trim().is_empty() {
                    lines.push(Printed {
                        tone: Tone::Waiting,
                        indent: 0,
                        shown: (true, true),
                        joins: false,
                        text: format!("stderr: {}", text::sanitise::indented_line(line)),
                    });
                }
            }
        }
    }
}

/// A line of the conversation, as the dashboard draws it.
fn printed(line: Line) -> Printed {
    let tone = match line.look {
        Look::Text => Tone::Plain,
        Look::Thought | Look::Output | Look::Note => Tone::Dim,
        Look::Signal => Tone::Bold,
        Look::Tool | Look::Worked => Tone::Moving,
        Look::Failed => Tone::Wrong,
        Look::Trouble => Tone::Waiting,
    };
    Printed {
        tone,
        indent: line.indent,
        shown: (line.shown != Shown::Unfolded, line.shown != Shown::Folded),
        joins: line.joins,
        text: line.text,
    }
}

/// How soon it is looked for a process that is being made.
const UNMADE: std::time::Duration = std::time::Duration::from_millis(250);
