//! Who may use which route. A route that is not in the table is refused to everybody, so that none is
//! forgotten.

use axum::extract::{MatchedPath, Request};
use axum::http::Method;

use super::peers::Peer;
use super::token;
use crate::app::{App, Device, Scope};
use crate::problem::Problem;

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// Everybody who reaches this server.
    Open,
    /// Every device that is paired.
    Look,
    /// A device that may act.
    Act,
}

use Access::{Act, Look, Open};

/// Every route: its method, its path with `{}` for each parameter, and who may use it.
const ROUTES: &[(&str, &str, Access)] = &[
    ("GET", "/api/v1/hello", Open),
    ("POST", "/api/v1/pair", Open),
    ("GET", "/api/v1/repos", Look),
    ("GET", "/api/v1/devices", Look),
    ("DELETE", "/api/v1/devices/{}", Act),
    ("GET", "/api/v1/stream", Look),
    ("GET", "/api/v1/r/{}/view", Look),
    ("GET", "/api/v1/r/{}/tickets", Look),
    ("GET", "/api/v1/r/{}/tickets/{}", Look),
    ("GET", "/api/v1/r/{}/tickets/{}/history", Look),
    ("GET", "/api/v1/r/{}/tickets/{}/diff", Look),
    ("PUT", "/api/v1/r/{}/tickets/{}/status/{}", Act),
    ("GET", "/api/v1/r/{}/runs/{}/output", Look),
    ("GET", "/api/v1/r/{}/runs/{}/follow", Look),
    ("GET", "/api/v1/r/{}/runs/{}/find", Look),
    ("GET", "/api/v1/r/{}/runs/{}/raw", Look),
    ("GET", "/api/v1/r/{}/events", Look),
    ("GET", "/api/v1/r/{}/events/{}", Look),
    ("GET", "/api/v1/r/{}/cost", Look),
    ("GET", "/api/v1/r/{}/spans", Look),
    ("GET", "/api/v1/r/{}/health", Look),
    ("GET", "/api/v1/r/{}/settings", Look),
    ("GET", "/api/v1/r/{}/search", Look),
    ("PUT", "/api/v1/r/{}/commands/{}", Act),
    ("GET", "/api/v1/r/{}/commands/{}", Look),
    ("GET", "/api/v1/r/{}/inbox/{}", Look),
    ("PUT", "/api/v1/r/{}/inbox/{}/acts/{}", Act),
    ("GET", "/metrics", Look),
    ("GET", "/a/{}/{}", Open),
    ("GET", "/sw.js", Open),
    ("GET", "/manifest.webmanifest", Open),
    ("GET", "/icon.svg", Open),
    ("GET", "/icon-180.png", Open),
    ("GET", "/icon-192.png", Open),
    ("GET", "/icon-512.png", Open),
    ("GET", "/icon-maskable-512.png", Open),
];

/// Whether a path is one of the interface, and none of a page.
pub(crate) fn is_of_interface(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/") || path == "/metrics"
}

/// Refuses a request whose sender may not make it; returns it with its device, where the route needs one.
pub(super) fn expect(app: &App, request: Request) -> Result<(Request, Option<Device>), Problem> {
    let access = of(&request)?;
    if access == Open {
        return Ok((request, None));
    }
    let peer = request.extensions().get::<Peer>().copied();
    let Some(token) = token::of(&request) else {
        return Err(Problem::NotPaired);
    };
    let Some(device) = app.devices.of_token(token)? else {
        return Err(app.peers.wrong(peer));
    };
    match (access, device.scope) {
        (Act, Scope::Look) => Err(Problem::forbidden(
            "this device may look, and not act",
            "`crew web pair` pairs one that may act",
        )),
        (Open | Look, Scope::Look | Scope::Act) | (Act, Scope::Act) => Ok((request, Some(device))),
    }
}

fn of(request: &Request) -> Result<Access, Problem> {
    let Some(matched) = request.extensions().get::<MatchedPath>() else {
        // The page stands at every other address. What looks like the interface is not told from it without a
        // token.
        let is_page = !is_of_interface(request.uri().path());
        return Ok(if is_page { Open } else { Look });
    };
    let path = without_names(matched.as_str());
    let method = match request.method() {
        &Method::HEAD => &Method::GET,
        method => method,
    };
    let rows = || ROUTES.iter().filter(|(_, of, _)| *of == path);
    if rows().next().is_none() {
        return Err(Problem::forbidden(
            "crew does not say who may use this address",
            "this is a bug in crew: please report it",
        ));
    }
    let row = rows().find(|(of, _, _)| *of == method.as_str());
    row.map(|(_, _, access)| *access).ok_or(Problem::Method)
}

/// A path with `{}` for each parameter.
fn without_names(path: &str) -> String {
    let segments = path.split('/').map(|segment| match segment.starts_with('{') {
        true => "{}",
        false => segment,
    });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The routes of the router, from how it prints itself: nothing else of axum lists them.
    fn routed() -> Vec<(String, String)> {
        let printed = format!("{:?}", crate::serve::routes());
        let (routes, paths) = printed.split_once("node: Node { paths: {").unwrap();
        let (paths, _) = paths.split_once("\"}").unwrap();
        let mut found = Vec::new();
        for part in paths.split("RouteId(").skip(1) {
            let (id, rest) = part.split_once("): \"").unwrap();
            let path = rest.split('"').next().unwrap();
            let Some((_, route)) = routes.split_once(&format!("RouteId({id}): MethodRouter(")) else {
                continue;
            };
            let route = route.split("RouteId(").next().unwrap();
            for method in [
                "get", "put", "post", "patch", "delete", "options", "trace", "connect",
            ] {
                let (_, handler) = route.split_once(&format!(" {method}: ")).unwrap();
                if !handler.starts_with("None") {
                    found.push((method.to_uppercase(), without_names(path)));
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn every_route_says_who_may_use_it() {
        let routed = routed();
        assert!(
            routed.contains(&("GET".to_owned(), "/api/v1/hello".to_owned())),
            "{routed:?}"
        );
        let is_told = |method: &str, path: &str| ROUTES.iter().any(|row| (row.0, row.1) == (method, path));
        let missing: Vec<_> = routed
            .iter()
            .filter(|(method, path)| !is_told(method, path))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
        // Nothing that changes anything is left to those who look.
        for (method, path, access) in ROUTES {
            let changes = *method != "GET" && *path != "/api/v1/pair";
            assert_eq!(*access == Act, changes, "{method} {path}");
        }
    }
}
