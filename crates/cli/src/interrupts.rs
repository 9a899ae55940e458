//! Interrupts from the keyboard.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{Error, Result};

/// Interrupts from now on. Make this before a loop: an interrupt that comes while nobody waits is seen at the
/// next look.
pub(crate) fn interrupts() -> Result<Signal> {
    signal(SignalKind::interrupt()).map_err(|source| {
        Error::from(client::Error::Io {
            doing: "listen for signals to",
            path: "crew".into(),
            source,
        })
    })
}
