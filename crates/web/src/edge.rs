//! The edge: what every request passes before a handler sees it, and every answer on its way out.
//!
//! There is no credential that a browser sends by itself: no cookie. The page is the same for everybody, and
//! what it shows needs the token of a paired device in a header.

mod access;
mod body;
mod connection;
mod headers;
mod host;
mod origin;
mod peers;
mod stream;
mod token;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::problem::Problem;

pub(crate) use access::is_of_interface;
pub(crate) use connection::{Timed, Turns};
pub(crate) use host::Own;
pub(crate) use peers::{Peer, Peers};

/// Lets a request pass that may, and gives every answer its headers.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let answer = match pass(&app, request, next).await {
        Ok(answer) => answer,
        Err(refused) => refused.into_response(),
    };
    let mut answer = body::worded(answer).await;
    headers::add(&mut answer);
    answer
}

async fn pass(app: &App, request: Request, next: Next) -> Result<Response, Problem> {
    known(request.method())?;
    app.own.expect_host(&request)?;
    origin::expect(&app.own, &request)?;
    token::expect_none_in_query(request.uri())?;
    let (mut request, device) = access::expect(app, request)?;
    if let Some(device) = device.clone() {
        request.extensions_mut().insert(device);
    }
    let request = body::whole(request).await?;
    let answer = next.run(request).await;
    match device {
        Some(device) => stream::tied(app, &device, answer),
        None => Ok(answer),
    }
}

/// Refuses a method that no address takes. There is no answer to a preflight: no other page may ask.
fn known(method: &Method) -> Result<(), Problem> {
    let known = [
        Method::GET,
        Method::HEAD,
        Method::PUT,
        Method::POST,
        Method::PATCH,
        Method::DELETE,
    ];
    if known.contains(method) {
        Ok(())
    } else {
        Err(Problem::Method)
    }
}

/// The one value of a header; none where it is missing, and an error where there are several, or one that is
/// no text.
fn one(request: &Request, name: header::HeaderName) -> Result<Option<&str>, Several> {
    let mut values = request.headers().get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => HeaderValue::to_str(value).map(Some).map_err(|_| Several),
        (Some(_), Some(_)) => Err(Several),
    }
}

/// A header that is there more than once, or is no text.
struct Several;
