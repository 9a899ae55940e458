//! The errors of the service.

use std::path::PathBuf;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the service.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The port is taken, or there is no loopback interface.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Listen {
        /// The requested port; 0 for any.
        port: u16,
        /// The cause.
        source: std::io::Error,
    },
    /// The file of the log cannot be written.
    #[error("cannot write the log {}", path.display())]
    Log {
        /// The file of the log.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The thread of the service cannot be started.
    #[error("cannot start the service's thread")]
    Thread {
        /// The cause.
        source: std::io::Error,
    },
    /// The script in a prompt is missing or invalid. The request is answered with status 400, and its
    /// `problem` has the message.
    #[error("{0}")]
    Script(String),
}
