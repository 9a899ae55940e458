//! The engine's warnings while it runs: they are no event of any ticket, and a person has to know them.
//! Beside them the log for operators gets its events.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use model::Time;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tracing_subscriber::layer::{Identity, SubscriberExt as _};
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use crate::error::{Error, Result};
use client::clock;

/// The crates whose warnings are for people; a library's are about itself.
const OURS: &str = "runtime=warn,crew::notices=warn";
/// Durations, for measurements.
const TIMINGS: &str = "timing=trace";
/// The variable that names the file into which what things took is written; for `cargo xtask bench`.
pub(crate) const TIMINGS_FILE: &str = "CREW_TIMINGS";

/// Warnings, one a line, in the order in which they came.
#[derive(Debug)]
pub(crate) struct Notices {
    told: UnboundedReceiver<Notice>,
    /// The next one, which was looked at already.
    next: Option<Notice>,
}

#[derive(Debug)]
struct Notice {
    at: Time,
    text: String,
}

impl Notices {
    /// Collects the warnings from now on; of several listeners in a process only the first does. Durations
    /// are written into `timings`, a line each, where that is given. `log`: a listener beside them, which
    /// chooses its own events.
    pub(crate) fn listen<L>(timings: Option<&Path>, log: Option<L>) -> Result<Self>
    where
        L: Layer<Registry> + Send + Sync,
    {
        let append = |path: &Path| {
            let opened = File::options().create(true).append(true).open(path);
            opened.map_err(|source| {
                Error::from(client::Error::Io {
                    doing: "write",
                    path: path.to_owned(),
                    source,
                })
            })
        };
        let timings = timings.map(append).transpose()?;
        let (tell, told) = mpsc::unbounded_channel();
        let warnings = plain()
            .with_writer(move || Teller(tell.clone()))
            .with_filter(EnvFilter::new(OURS));
        let timings = timings.map(|file| {
            plain()
                .with_writer(Mutex::new(file))
                .with_filter(EnvFilter::new(TIMINGS))
        });
        let subscriber = tracing_subscriber::registry()
            .with(log)
            .with(warnings)
            .with(timings);
        drop(tracing::subscriber::set_global_default(subscriber));
        Ok(Self { told, next: None })
    }

    /// Collects the warnings of a command that is carried out without an engine.
    pub(crate) fn without_log() -> Result<Self> {
        Self::listen::<Identity>(None, None)
    }

    /// Waits until there is one; for ever, if there cannot be any.
    pub(crate) async fn arrive(&mut self) {
        if self.next.is_none() {
            self.next = self.told.recv().await;
        }
        if self.next.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// The next warning that is there; with a time, only one that came until then. Of two warnings in one
    /// millisecond, nothing says which was first.
    pub(crate) fn take(&mut self, until: Option<Time>) -> Option<String> {
        let next = self.next.take().or_else(|| self.told.try_recv().ok())?;
        if until.is_some_and(|until| next.at > until) {
            self.next = Some(next);
            return None;
        }
        Some(next.text)
    }
}

/// A warning of what runs beside the engine: it is shown as the engine's are.
pub(crate) fn warn(notice: &str) {
    tracing::warn!("{notice}");
}

/// Text, and nothing around it.
fn plain<S>() -> fmt::Layer<S, fmt::format::DefaultFields, fmt::format::Format<fmt::format::Full, ()>> {
    fmt::layer()
        .without_time()
        .with_level(false)
        .with_target(false)
        .with_ansi(false)
}

/// Takes one warning, which comes in one piece.
#[derive(Debug)]
struct Teller(UnboundedSender<Notice>);

impl io::Write for Teller {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let (at, text) = (clock::now(), String::from_utf8_lossy(piece).trim_end().to_owned());
        // The listener may be gone, at the very end.
        drop(self.0.send(Notice { at, text }));
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
