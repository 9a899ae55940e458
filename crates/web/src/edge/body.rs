//! Bodies: those of requests are JSON, whole and not long; those of problems say what went wrong.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::one;
use crate::problem::Problem;

/// The most bytes of a body.
const MOST: usize = 1 << 20;
/// The longest wait for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The request with its whole body, where its method has one.
pub(super) async fn whole(request: Request) -> Result<Request, Problem> {
    let has_body = [Method::PUT, Method::POST, Method::PATCH].contains(request.method());
    let length = one(&request, header::CONTENT_LENGTH).ok().flatten();
    let sends_one = length.is_some_and(|length| length != "0")
        || request.headers().contains_key(header::TRANSFER_ENCODING);
    if !has_body && !sends_one {
        return Ok(request);
    }
    let kind = one(&request, header::CONTENT_TYPE).ok().flatten();
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if !kind.trim().eq_ignore_ascii_case("application/json") {
        return Err(Problem::MediaType);
    }
    if length
        .and_then(|length| length.parse().ok())
        .is_some_and(|length: usize| length > MOST)
    {
        return Err(Problem::TooLarge);
    }
    let (head, body) = request.into_parts();
    match tokio::time::timeout(PATIENCE, to_bytes(body, MOST)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(head, Body::from(bytes))),
        Ok(Err(_)) => Err(Problem::TooLarge),
        Err(_) => Err(Problem::TooSlow),
    }
}

/// The answer as a problem, where it is a bare one of the router or of an extractor.
pub(super) async fn worded(answer: Response) -> Response {
    let status = answer.status();
    if !status.is_client_error() && !status.is_server_error() {
        return answer;
    }
    let is_worded = answer.headers().get(header::CONTENT_TYPE);
    if is_worded.is_some_and(|kind| kind == "application/problem+json") {
        return answer;
    }
    let allowed = answer.headers().get(header::ALLOW).cloned();
    let said = to_bytes(answer.into_body(), MOST).await.unwrap_or_default();
    let said = text::sanitise::line(&String::from_utf8_lossy(&said));
    let problem = match status {
        StatusCode::METHOD_NOT_ALLOWED => Problem::Method,
        StatusCode::NOT_FOUND => {
            Problem::not_found("there is nothing at this address", "the page begins at /")
        }
        StatusCode::PAYLOAD_TOO_LARGE => Problem::TooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Problem::MediaType,
        status if status.is_client_error() => Problem::BadRequest {
            what: said,
            hint: None,
        },
        _ => Problem::Failed {
            what: said,
            hint: None,
        },
    };
    let mut answer = problem.into_response();
    if let Some(allowed) = allowed {
        answer.headers_mut().insert(header::ALLOW, allowed);
    }
    answer
}
