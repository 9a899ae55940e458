//! Why a journal cannot be taken up.

use model::journal::Stream;

/// A reason for which the core refuses to start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A stream holds the state of another kind.
    #[error("stream `{stream}` holds the state of another kind of stream")]
    WrongKind {
        /// The stream.
        stream: Stream,
    },
}
