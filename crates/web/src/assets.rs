//! The files of the page: inside the program, or read from the sources at each request in a debug build.

mod files;

use std::sync::LazyLock;

use axum::Router;
use axum::extract::{Path, Request};
use axum::http::{HeaderValue, Method, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::edge;
use crate::problem::Problem;

/// The files at the root of the address space: a service worker sees only what is below it.
const AT_ROOT: [&str; 7] = [
    "sw.js",
    "manifest.webmanifest",
    "icon.svg",
    "icon-180.png",
    "icon-192.png",
    "icon-512.png",
    "icon-maskable-512.png",
];
/// The page itself, which is in no folder of assets.
const PAGE: &str = "index.html";

/// What stands for all assets in their addresses: another program has others.
static HASH: LazyLock<String> = LazyLock::new(|| {
    if cfg!(debug_assertions) {
        return "dev".to_owned();
    }
    let mut hash = Sha256::new();
    for (name, bytes) in files::all() {
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update(Sha256::digest(&bytes));
    }
    hash.finalize()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
});

pub(crate) fn routes() -> Router<App> {
    let mut routes = Router::new().route("/a/{hash}/{*path}", get(asset));
    for name in AT_ROOT {
        routes = routes.route(&format!("/{name}"), get(move || async move { whole(name) }));
    }
    routes
}

async fn asset(Path((hash, path)): Path<(String, String)>) -> Response {
    if hash != *HASH || AT_ROOT.contains(&path.as_str()) || path == PAGE {
        return missing();
    }
    let mut answer = whole(&path);
    if answer.status().is_success() && !cfg!(debug_assertions) {
        let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
        answer.headers_mut().insert(header::CACHE_CONTROL, forever);
    }
    answer
}

/// The page, at every address that is no other's: the page reads the address itself.
pub(crate) async fn page(request: Request) -> Response {
    let path = request.uri().path();
    if edge::is_of_interface(path) {
        let what = "the interface has nothing at this address";
        return Problem::not_found(what, "docs/web.md says how programs use it").into_response();
    }
    if path == "/a" || path.starts_with("/a/") {
        return missing();
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return Problem::Method.into_response();
    }
    let Some(page) = files::read(PAGE) else {
        return missing();
    };
    let page = String::from_utf8_lossy(&page)
        .replace("{{root}}", &root(path))
        .replace("{{hash}}", &HASH);
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], page).into_response()
}

/// The way from an address to the root, so that the page works below any path of a proxy.
fn root(path: &str) -> String {
    match path.matches('/').count() {
        0 | 1 => "./".to_owned(),
        depth => "../".repeat(depth - 1),
    }
}

fn whole(name: &str) -> Response {
    let Some(bytes) = files::read(name) else {
        return missing();
    };
    let kind = HeaderValue::from_static(kind(name));
    ([(header::CONTENT_TYPE, kind)], bytes.into_owned()).into_response()
}

fn missing() -> Response {
    Problem::not_found(
        "the page has no such file",
        "load the page again: crew may be a newer one now",
    )
    .into_response()
}

/// The type of a file, from its name.
fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "css" => "text/css; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_the_root_follows_the_depth_of_the_address() {
        for (path, way) in [
            ("/", "./"),
            ("/pair", "./"),
            ("/r/textkit", "../"),
            ("/r/textkit/", "../../"),
            ("/r/textkit/t/t-1", "../../../"),
        ] {
            assert_eq!(root(path), way, "{path}");
        }
    }
}
