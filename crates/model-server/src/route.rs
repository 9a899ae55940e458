//! The endpoints of the service.

use hyper::Method;

use crate::wire::{Anthropic, Wire};

/// An endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// A turn of the model, in Anthropic's Messages format.
    Messages,
    /// The number of tokens of a request.
    CountTokens,
    /// The list of models.
    Models,
    /// The check whether the service is alive.
    Alive,
    /// An unknown endpoint, which is answered with 404.
    Unknown,
}

impl Route {
    pub(crate) fn of(method: &Method, path: &str) -> Self {
        let posted = method == Method::POST;
        if posted && path.ends_with("/v1/messages") {
            Self::Messages
        } else if posted && path.ends_with("/messages/count_tokens") {
            Self::CountTokens
        } else if method == Method::GET && path.ends_with("/models") {
            Self::Models
        } else if method == Method::HEAD || (method == Method::GET && path == "/") {
            Self::Alive
        } else {
            Self::Unknown
        }
    }

    /// The wire format, for an endpoint that answers with a turn of the model.
    pub(crate) fn wire(self) -> Option<&'static dyn Wire> {
        match self {
            Self::Messages => Some(&Anthropic),
            Self::CountTokens | Self::Models | Self::Alive | Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_of_the_clients_has_its_endpoint() {
        for (method, path, route) in [
            (Method::POST, "/v1/messages", Route::Messages),
            (Method::POST, "/a/v1/messages/count_tokens", Route::CountTokens),
            (Method::GET, "/v1/models", Route::Models),
            (Method::HEAD, "/api/hello", Route::Alive),
            (Method::GET, "/v1/messages", Route::Unknown),
            (Method::POST, "/v1/responses", Route::Unknown),
        ] {
            assert_eq!(Route::of(&method, path), route, "{method} {path}");
        }
    }
}
