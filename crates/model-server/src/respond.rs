//! One request, from its first byte to its answer.

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Response, StatusCode, header};
use serde_json::{Value, json};

use crate::cue::{self, Cue};
use crate::log::Log;
use crate::reply::{Reply, fresh};
use crate::stream::{Cut, Stream};
use crate::wire::{Asked, Frame, Wire};
use crate::{End, Request, Route};

/// A client that asks for one step more often than this runs in a circle, and no test should run for ever.
const MOST_ASKS: u32 = 60;

pub(crate) type Answer = Response<BoxBody<Bytes, Cut>>;

/// Answers one request.
pub(crate) async fn respond(log: Arc<Log>, request: hyper::Request<Incoming>) -> Result<Answer, Infallible> {
    let (parts, body) = request.into_parts();
    let route = Route::of(&parts.method, parts.uri.path());
    let session = parts.headers.get("x-claude-code-session-id");
    let n = log.arrived(Request {
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
        log.note(n, |request| request.end = Some(End::ClientGone));
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
        let asked = wire.read(&value);
        log.note(n, |request| request.body = value);
        return Ok(turn(log, n, wire, &asked).await);
    }
    let (status, said) = match route {
        Route::CountTokens => (StatusCode::OK, json!({ "input_tokens": body.len() / 4 })),
        Route::Models => (StatusCode::OK, json!({ "object": "list", "data": [] })),
        Route::Alive => (StatusCode::OK, json!({})),
        Route::Messages | Route::Unknown => (
            StatusCode::NOT_FOUND,
            json!({ "type": "error", "error": { "type": "not_found_error", "message": "no such endpoint" } }),
        ),
    };
    log.note(n, |request| {
        request.body = value;
        request.status = status.as_u16();
        request.end = Some(End::Complete);
        if route == Route::Unknown {
            request.problem = Some("the service knows nothing of this kind".to_owned());
        }
    });
    Ok(answer(status, &said))
}

/// A turn of the model.
async fn turn(log: Arc<Log>, n: usize, wire: &'static dyn Wire, asked: &Asked) -> Answer {
    let Cue { index, step, key } = match cue::of(&asked.turns) {
        Ok(cue) => cue,
        Err(error) => return refused(&log, n, wire, &error.to_string()),
    };
    let ask = log.asked(&key);
    log.note(n, |request| {
        request.step = index;
        request.ask = ask;
    });
    if ask > MOST_ASKS {
        let why = format!("a step was asked for {ask} times: the client runs in a circle");
        return refused(&log, n, wire, &why);
    }
    let step = step.at(ask);
    tokio::time::sleep(step.delay).await;
    if let Some(failure) = &step.failure {
        let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut said = answer(status, &wire.failure(failure.status, &failure.message));
        if let Some(seconds) = failure.retry_after {
            said.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        log.note(n, |request| {
            request.status = status.as_u16();
            request.end = Some(End::Complete);
        });
        return said;
    }
    let reply = Reply::of(&step, &asked.model, &asked.tools);
    log.note(n, |request| request.status = 200);
    if !asked.streams {
        log.note(n, |request| request.end = Some(End::Complete));
        return answer(StatusCode::OK, &wire.whole(&reply));
    }
    let texts = |frames: Vec<Frame>| frames.iter().map(Frame::text).collect();
    let (opening, rest) = (texts(wire.opening(&reply)), texts(wire.rest(&reply)));
    let mut said = Response::new(Stream::of(&step, opening, rest, log, n).boxed());
    let headers = said.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(
        header::CACHE_CONTROL,
        header::HeaderValue::from_static("no-cache"),
    );
    if let Ok(id) = format!("req_{}", fresh()).parse() {
        headers.insert("request-id", id);
    }
    said
}

/// What a test got wrong: the clients do not ask again after this status, and the log has it.
fn refused(log: &Log, n: usize, wire: &dyn Wire, why: &str) -> Answer {
    let status = StatusCode::BAD_REQUEST;
    log.note(n, |request| {
        request.status = status.as_u16();
        request.problem = Some(why.to_owned());
        request.end = Some(End::Complete);
    });
    answer(
        status,
        &wire.failure(status.as_u16(), &format!("model-server: {why}")),
    )
}

fn answer(status: StatusCode, said: &Value) -> Answer {
    let body = Full::new(Bytes::from(said.to_string())).map_err(Cut::from);
    let mut answer = Response::new(body.boxed());
    *answer.status_mut() = status;
    let json = header::HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}
