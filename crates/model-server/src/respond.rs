//! The answer to one request.

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Response, StatusCode, header};
use serde_json::{Value, json};

use crate::due::{self, Due};
use crate::log::{End, Log, Request};
use crate::reply::{Reply, new_id};
use crate::route::Route;
use crate::stream::{Cut, Stream};
use crate::wire::{Frame, TurnRequest, Wire};

/// The most requests for one step. A client that sends more is in a loop, and its test must end.
const MAX_ASKS: u32 = 60;

pub(crate) type Answer = Response<BoxBody<Bytes, Cut>>;

/// Answers one request.
pub(crate) async fn respond(log: Arc<Log>, request: hyper::Request<Incoming>) -> Result<Answer, Infallible> {
    let (parts, body) = request.into_parts();
    let route = Route::of(&parts.method, parts.uri.path());
    let session = parts.headers.get("x-claude-code-session-id");
    let n = log.add(Request {
        n: 0,
        at_ms: 0,
        method: parts.method.to_string(),
        path: parts.uri.to_string(),
        route,
        session: session.and_then(|id| id.to_str().ok()).map(str::to_owned),
        step: None,
        ask: 0,
        status: 0,
        problem: None,
        end: None,
        body: Value::Null,
    });
    let Ok(body) = body.collect().await else {
        log.update(n, |request| request.end = Some(End::ClientGone));
        return Ok(answer(StatusCode::BAD_REQUEST, &json!({})));
    };
    let body = body.to_bytes();
    let parsed: Option<Value> = serde_json::from_slice(&body).ok();
    let is_json = parsed.is_some();
    let value = parsed.unwrap_or_default();
    if let Some(wire) = route.wire() {
        if !is_json {
            return Ok(refused(&log, n, wire, "the body is no JSON"));
        }
        let turn = wire.read(&value);
        log.update(n, |request| request.body = value);
        return Ok(answer_turn(log, n, wire, &turn).await);
    }
    let (status, reply) = match route {
        Route::CountTokens => (StatusCode::OK, json!({ "input_tokens": body.len() / 4 })),
        Route::Models => (StatusCode::OK, json!({ "object": "list", "data": [] })),
        Route::Alive => (StatusCode::OK, json!({})),
        Route::Messages | Route::Unknown => (
            StatusCode::NOT_FOUND,
            json!({ "type": "error", "error": { "type": "not_found_error", "message": "no such endpoint" } }),
        ),
    };
    log.update(n, |request| {
        request.body = value;
        request.status = status.as_u16();
        request.end = Some(End::Complete);
        if route == Route::Unknown {
            request.problem = Some("the service has no such endpoint".to_owned());
        }
    });
    Ok(answer(status, &reply))
}

/// Answers a request for a turn of the model.
async fn answer_turn(log: Arc<Log>, n: usize, wire: &'static dyn Wire, request: &TurnRequest) -> Answer {
    let Due { index, step, key } = match due::of(&request.turns) {
        Ok(due) => due,
        Err(error) => return refused(&log, n, wire, &error.to_string()),
    };
    let ask = log.count_ask(&key);
    log.update(n, |request| {
        request.step = index;
        request.ask = ask;
    });
    if ask > MAX_ASKS {
        let why = format!("a step was asked for {ask} times: the client is in a loop");
        return refused(&log, n, wire, &why);
    }
    let step = step.at(ask);
    tokio::time::sleep(step.delay).await;
    if let Some(failure) = &step.failure {
        let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = answer(status, &wire.failure(failure.status, &failure.message));
        if let Some(seconds) = failure.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        log.update(n, |request| {
            request.status = status.as_u16();
            request.end = Some(End::Complete);
        });
        return response;
    }
    let reply = Reply::of(&step, &request.model, &request.tools);
    log.update(n, |request| request.status = 200);
    if !request.streams {
        log.update(n, |request| request.end = Some(End::Complete));
        return answer(StatusCode::OK, &wire.whole(&reply));
    }
    let texts = |frames: Vec<Frame>| frames.iter().map(Frame::text).collect();
    let (opening, rest) = (texts(wire.opening(&reply)), texts(wire.rest(&reply)));
    let mut response = Response::new(Stream::start(&step, opening, rest, log, n).boxed());
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(
        header::CACHE_CONTROL,
        header::HeaderValue::from_static("no-cache"),
    );
    if let Ok(id) = format!("req_{}", new_id()).parse() {
        headers.insert("request-id", id);
    }
    response
}

/// Answers a request that is wrong because of a mistake in the test. Clients do not retry after this
/// status, and the log has the problem.
fn refused(log: &Log, n: usize, wire: &dyn Wire, why: &str) -> Answer {
    let status = StatusCode::BAD_REQUEST;
    log.update(n, |request| {
        request.status = status.as_u16();
        request.problem = Some(why.to_owned());
        request.end = Some(End::Complete);
    });
    answer(
        status,
        &wire.failure(status.as_u16(), &format!("model-server: {why}")),
    )
}

fn answer(status: StatusCode, body: &Value) -> Answer {
    let body = Full::new(Bytes::from(body.to_string())).map_err(Cut::from);
    let mut answer = Response::new(body.boxed());
    *answer.status_mut() = status;
    let json = header::HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}
