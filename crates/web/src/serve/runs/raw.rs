//! `GET …/raw`: the bytes of an output, as a file.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

use super::kept;
use crate::app::App;
use crate::problem::Problem;
use crate::serve::streamed::streamed;

/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;

pub(super) async fn raw(
    State(app): State<App>,
    Path((repo, run)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let kept = kept(&app, &repo, &run)?;
    let opened = File::open(kept.dir.join("out")).await;
    let file = opened.map_err(|_none| {
        Problem::not_found(
            format!("run {} has printed nothing yet", kept.run),
            "it is here as soon as the run prints",
        )
    })?;
    let pieces = streamed(file, |mut file| async move {
        let mut bytes = vec![0; PIECE];
        match file.read(&mut bytes).await {
            Ok(0) => None,
            Ok(read) => {
                bytes.truncate(read);
                Some((Ok(Bytes::from(bytes)), file))
            }
            Err(error) => Some((Err(error), file)),
        }
    });
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        // The name of a run has no sign that would need to be quoted.
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{}.txt\"", kept.run),
        ),
    ];
    Ok((headers, pieces).into_response())
}
