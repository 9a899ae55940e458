//! The output of the run that is looked at, as it comes.

use std::path::PathBuf;

use client::outputs::Readable;
use model::RunId;
use process::{Run, Stream, Tail};
use tui::Msg;

use crate::error::Result;
use client::follow::Changes;
use runtime::Place;

/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;
/// Of a long output only so many bytes at its end are read.
const END: u64 = 256 << 10;

/// A run that is looked at.
pub(super) struct Watched {
    run: RunId,
    dir: PathBuf,
    /// None as long as there is no run: a step is told of before its process is made.
    open: Option<Open>,
}

struct Open {
    streams: [(bool, Tail, Readable); 2],
    changes: Changes,
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
    pub(super) fn more(&mut self) -> Result<Vec<Msg>> {
        if self.open.is_none() {
            let Ok(run) = Run::open(&self.dir) else {
                return Ok(Vec::new());
            };
            let changes = Changes::of(&self.dir);
            let streams = [(false, Stream::Out), (true, Stream::Err)].map(|(error, stream)| {
                let length = std::fs::metadata(self.dir.join(stream.file())).map_or(0, |meta| meta.len());
                let tail = Tail::new(&run, stream, length.saturating_sub(END));
                (error, tail, Readable::default())
            });
            self.open = Some(Open { streams, changes });
        }
        let mut told = Vec::new();
        for (error, tail, readable) in self.open.iter_mut().flat_map(|open| &mut open.streams) {
            loop {
                let bytes = tail.read(PIECE)?;
                if bytes.is_empty() {
                    break;
                }
                let bytes = readable.feed(&bytes);
                if bytes.is_empty() {
                    continue;
                }
                told.push(Msg::Output {
                    run: self.run.clone(),
                    error: *error,
                    bytes,
                });
            }
        }
        Ok(told)
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

/// How soon it is looked for a process that is being made.
const UNMADE: std::time::Duration = std::time::Duration::from_millis(250);
