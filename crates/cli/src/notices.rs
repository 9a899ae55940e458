//! What the engine warns of while it runs: no event of any ticket, and a person has to know.

use std::io;

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tracing_subscriber::EnvFilter;

/// The crates whose warnings are for people; a library's are about itself.
const OURS: &str = "runtime=warn";

/// Warnings, one a line, in the order in which they came.
#[derive(Debug)]
pub(crate) struct Notices(UnboundedReceiver<String>);

impl Notices {
    /// Hears what is warned of from now on; of several listeners in a process only the first does.
    pub(crate) fn listen() -> Self {
        let (tell, told) = mpsc::unbounded_channel();
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(OURS))
            .without_time()
            .with_level(false)
            .with_target(false)
            .with_ansi(false)
            .with_writer(move || Teller(tell.clone()))
            .finish();
        drop(tracing::subscriber::set_global_default(subscriber));
        Self(told)
    }

    /// The next one; never, if there cannot be any.
    pub(crate) async fn next(&mut self) -> String {
        match self.0.recv().await {
            Some(notice) => notice,
            None => std::future::pending().await,
        }
    }

    /// One that is there already.
    pub(crate) fn waiting(&mut self) -> Option<String> {
        self.0.try_recv().ok()
    }
}

/// Takes one warning, which comes in one piece.
#[derive(Debug)]
struct Teller(UnboundedSender<String>);

impl io::Write for Teller {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        // Whoever listened may be gone, at the very end.
        drop(self.0.send(String::from_utf8_lossy(piece).trim_end().to_owned()));
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
