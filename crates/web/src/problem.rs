//! Problems: why a request was not answered, as `application/problem+json` of RFC 9457.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;

/// Why a request was not answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The request makes no sense.
    #[error("{what}")]
    BadRequest {
        /// The fault.
        what: String,
        /// What to ask instead.
        hint: Option<String>,
    },
    /// The request names no device that is paired.
    #[error("this device is not paired with crew")]
    NotPaired,
    /// The device, or the page that sent the request, may not do that.
    #[error("{what}")]
    Forbidden {
        /// The reason.
        what: String,
        /// What a person can do.
        hint: Option<String>,
    },
    /// There is no such thing.
    #[error("{what}")]
    NotFound {
        /// The thing.
        what: String,
        /// Where to look instead.
        hint: Option<String>,
    },
    /// The address does not take that method.
    #[error("this address does not take the method of the request")]
    Method,
    /// The request did not come whole in time.
    #[error("the body of the request did not come within 10 s")]
    TooSlow,
    /// The thing that the request acts on has changed, or is gone.
    #[error("{what}")]
    Settled {
        /// What has happened.
        what: String,
        /// The document as it is now, where there is one.
        now: Option<Value>,
    },
    /// The body is too large.
    #[error("the body of the request is too large: 1 MiB is the most")]
    TooLarge,
    /// The body is no JSON.
    #[error("the body of the request must be `application/json`")]
    MediaType,
    /// The request is for another host.
    #[error("crew does not answer for this host name")]
    Host,
    /// crew refuses to do that, in the words of the engine.
    #[error("{what}")]
    Refused {
        /// The reason.
        what: String,
        /// The step that must come first.
        hint: Option<String>,
    },
    /// Too many requests of that kind.
    #[error("{what}")]
    TooMany {
        /// What there is too much of.
        what: String,
    },
    /// crew has failed.
    #[error("{what}")]
    Failed {
        /// The cause.
        what: String,
        /// What a person can do.
        hint: Option<String>,
    },
    /// The journal cannot be read or written now.
    #[error("{what}")]
    Unavailable {
        /// The cause.
        what: String,
        /// What a person can do.
        hint: Option<String>,
    },
    /// The engine does not answer.
    #[error("{what}")]
    NoAnswer {
        /// Who does not answer, and for how long.
        what: String,
        /// What a person can do.
        hint: Option<String>,
    },
}

/// A problem as it is sent.
#[derive(Debug, Serialize)]
struct Sent {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    status: u16,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<Value>,
}

impl Problem {
    /// The request makes no sense; `hint` says what to ask instead.
    pub fn bad_request(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::BadRequest {
            what: what.into(),
            hint: Some(hint.into()),
        }
    }

    /// There is no such thing; `hint` says where to look instead.
    pub fn not_found(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::NotFound {
            what: what.into(),
            hint: Some(hint.into()),
        }
    }

    /// The device or the page may not do that; `hint` says what a person can do.
    pub fn forbidden(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Forbidden {
            what: what.into(),
            hint: Some(hint.into()),
        }
    }

    /// The thing that the request acts on has changed, or is gone; `now` is its document as it is.
    pub fn settled(what: impl Into<String>, now: Option<Value>) -> Self {
        Self::Settled {
            what: what.into(),
            now,
        }
    }

    /// The status, the name for programs, and the title.
    fn named(&self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::BadRequest { .. } => (
                StatusCode::BAD_REQUEST,
                "bad_request",
                "The request makes no sense",
            ),
            Self::NotPaired => (StatusCode::UNAUTHORIZED, "not_paired", "Not paired"),
            Self::Forbidden { .. } => (StatusCode::FORBIDDEN, "forbidden", "Not allowed"),
            Self::NotFound { .. } => (StatusCode::NOT_FOUND, "not_found", "Not found"),
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, "method", "Wrong method"),
            Self::TooSlow => (StatusCode::REQUEST_TIMEOUT, "too_slow", "Too slow"),
            Self::Settled { .. } => (StatusCode::CONFLICT, "settled", "It has changed"),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large", "Too large"),
            Self::MediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "media_type", "Not JSON"),
            Self::Host => (StatusCode::MISDIRECTED_REQUEST, "host", "Another host"),
            Self::Refused { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "refused", "Refused"),
            Self::TooMany { .. } => (StatusCode::TOO_MANY_REQUESTS, "too_many", "Too many"),
            Self::Failed { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "failed", "crew has failed"),
            Self::Unavailable { .. } => (
                StatusCode::SERVICE_UNAVAILABLE,
                "unavailable",
                "Not available now",
            ),
            Self::NoAnswer { .. } => (
                StatusCode::GATEWAY_TIMEOUT,
                "no_answer",
                "The engine does not answer",
            ),
        }
    }

    /// What a person can do about it, where there is something.
    fn hint(&self) -> Option<String> {
        match self {
            Self::BadRequest { hint, .. }
            | Self::Forbidden { hint, .. }
            | Self::NotFound { hint, .. }
            | Self::Refused { hint, .. }
            | Self::Failed { hint, .. }
            | Self::Unavailable { hint, .. }
            | Self::NoAnswer { hint, .. } => hint.clone(),
            Self::NotPaired => Some("`crew web pair` prints a link that pairs it".to_owned()),
            Self::Host => Some("open the address that `crew web` prints".to_owned()),
            Self::Method
            | Self::TooSlow
            | Self::Settled { .. }
            | Self::TooLarge
            | Self::MediaType
            | Self::TooMany { .. } => None,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, kind, title) = self.named();
        let sent = Sent {
            kind,
            title,
            status: status.as_u16(),
            detail: self.to_string(),
            hint: self.hint(),
            now: match self {
                Self::Settled { now, .. } => now,
                _ => None,
            },
        };
        let body = serde_json::to_vec(&sent).unwrap_or_default();
        let kind = HeaderValue::from_static("application/problem+json");
        let mut answer = (status, [(header::CONTENT_TYPE, kind)], body).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        answer
    }
}

impl From<client::Error> for Problem {
    fn from(error: client::Error) -> Self {
        use client::Error;
        let what = text::with_causes(&error);
        let hint = error.hint();
        match error {
            Error::Usage { .. } => Self::BadRequest { what, hint },
            Error::Refused { .. } => Self::Refused { what, hint },
            Error::NoAnswer { .. } | Error::Stopped { .. } => Self::NoAnswer { what, hint },
            Error::Store(_) | Error::Runtime(_) | Error::Settings { .. } => Self::Unavailable { what, hint },
            Error::Tickets(_) | Error::Git(_) | Error::Process(_) | Error::Io { .. } => {
                Self::Failed { what, hint }
            }
        }
    }
}

impl From<store::Error> for Problem {
    fn from(error: store::Error) -> Self {
        client::Error::from(error).into()
    }
}
