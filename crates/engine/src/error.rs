//! Why a journal cannot be taken up.

use model::journal::Stream;

/// What the core refuses to start on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A stream holds the state of another kind.
    #[error("stream `{stream}` holds the state of another kind of stream")]
    WrongKind {
        /// The stream.
        stream: Stream,
    },
}
