//! The headers of every answer: what the page may do, and what others may do with it.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;

/// What the page may load and run. Trusted Types keep text from becoming a script: the one policy lets the
/// page's own service worker and workers through.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types crew";

/// Header and value of each.
const ALWAYS: [(&str, &str); 6] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("crew-api", "1"),
];

/// Gives an answer its headers. It is not kept by a browser, unless the answer says so itself.
pub(super) fn add(answer: &mut Response) {
    let headers = answer.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}
