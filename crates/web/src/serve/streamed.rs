//! Bodies that are made piece by piece.

use std::error::Error;
use std::future::Future;

use axum::body::{Body, Bytes};
use futures_util::{StreamExt as _, stream};

/// A body of the pieces that `more` makes of a state, up to its first `None`.
///
/// A body may be asked once more after its end, as the layer that compresses does; `unfold` alone panics.
pub(super) fn streamed<S, E, F>(state: S, more: impl FnMut(S) -> F + Send + 'static) -> Body
where
    S: Send + 'static,
    E: Into<Box<dyn Error + Send + Sync>> + 'static,
    F: Future<Output = Option<(Result<Bytes, E>, S)>> + Send + 'static,
{
    Body::from_stream(stream::unfold(state, more).fuse())
}
