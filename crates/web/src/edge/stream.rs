//! Streams: each is one of few of its device, and ends when the device is revoked.

use axum::body::Body;
use axum::http::header;
use axum::response::Response;
use futures_util::StreamExt as _;

use crate::app::{App, Device};
use crate::problem::Problem;

/// The answer, tied to its device where it is a stream.
pub(super) fn tied(app: &App, device: &Device, answer: Response) -> Result<Response, Problem> {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        return Ok(answer);
    }
    let Some(held) = app.devices.hold_stream(&device.id) else {
        return Err(Problem::TooMany {
            what: "this device has too many streams open: close some of its tabs".to_owned(),
        });
    };
    let (head, body) = answer.into_parts();
    let body = body.into_data_stream().take_until(Box::pin(held.revoked()));
    Ok(Response::from_parts(head, Body::from_stream(body)))
}
