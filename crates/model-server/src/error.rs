//! What can go wrong.

use std::path::PathBuf;

/// The result of what can fail here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the service cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The port is taken, or there is no loopback.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Listen {
        /// The port asked for; 0 for any.
        port: u16,
        /// What the system said.
        source: std::io::Error,
    },
    /// The log's file cannot be written.
    #[error("cannot write the log {}", path.display())]
    Log {
        /// The log's file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The service's thread cannot be had.
    #[error("cannot start the service's thread")]
    Thread {
        /// What the system said.
        source: std::io::Error,
    },
    /// A prompt's script cannot be read: it is answered with status 400 and stands in the request's `problem`.
    #[error("{0}")]
    Script(String),
}
