//! The page that a request comes from, as far as a browser says so.

use axum::extract::Request;
use axum::http::{HeaderName, Method, header};

use super::host::Own;
use super::one;
use crate::problem::Problem;

/// Refuses a request that another page has made. A person who follows a link to a page of this server is no
/// such request.
pub(super) fn expect(own: &Own, request: &Request) -> Result<(), Problem> {
    let foreign = || {
        Problem::forbidden(
            "the request comes from another page",
            "use the page at the address that `crew web` prints",
        )
    };
    let value = |name: &'static str| one(request, HeaderName::from_static(name)).map_err(|_| foreign());
    let origin = one(request, header::ORIGIN).map_err(|_| foreign())?;
    let site = value("sec-fetch-site")?;
    if origin.is_some_and(|origin| !own.has_origin(origin)) {
        return Err(foreign());
    }
    let looks = [Method::GET, Method::HEAD].contains(request.method());
    match site {
        // A program, or the page itself.
        None => Ok(()),
        Some("same-origin") if looks || origin.is_some() => Ok(()),
        // The address bar, a bookmark, another program's link.
        Some("none") if looks => Ok(()),
        Some(_) if looks && !is_of_interface(request) => {
            let follows_link =
                value("sec-fetch-mode")? == Some("navigate") && value("sec-fetch-dest")? == Some("document");
            if follows_link { Ok(()) } else { Err(foreign()) }
        }
        Some(_) => Err(foreign()),
    }
}

fn is_of_interface(request: &Request) -> bool {
    super::access::is_of_interface(request.uri().path())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn another_page_is_refused_and_a_link_to_this_one_is_followed() {
        let own = Own::of(7627, None);
        let passes = |method: &str, path: &str, headers: &[(&str, &str)]| {
            let mut request = Request::builder().method(method).uri(path);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            expect(&own, &request.body(Body::empty()).unwrap()).is_ok()
        };
        let (mine, site) = (("origin", "http://127.0.0.1:7627"), "sec-fetch-site");
        // Programs, and the page.
        assert!(passes("PUT", "/api/v1/x", &[]));
        assert!(passes("PUT", "/api/v1/x", &[mine]));
        assert!(passes("PUT", "/api/v1/x", &[mine, (site, "same-origin")]));
        assert!(passes("GET", "/api/v1/x", &[(site, "same-origin")]));
        assert!(passes(
            "GET",
            "/",
            &[(site, "none"), ("sec-fetch-mode", "navigate")]
        ));
        // Others.
        for origin in [
            "null",
            "http://127.0.0.1:3000",
            "https://127.0.0.1:7627",
            "http://evil.example",
        ] {
            assert!(!passes("GET", "/api/v1/x", &[("origin", origin)]), "{origin}");
            assert!(!passes("PUT", "/api/v1/x", &[("origin", origin)]), "{origin}");
        }
        assert!(!passes("PUT", "/api/v1/x", &[mine, mine]));
        assert!(!passes("PUT", "/api/v1/x", &[(site, "same-origin")]));
        assert!(!passes("PUT", "/api/v1/x", &[(site, "none")]));
        for other in ["same-site", "cross-site", "something-new"] {
            assert!(!passes("PUT", "/api/v1/x", &[mine, (site, other)]), "{other}");
            let link = [
                (site, other),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "document"),
            ];
            assert!(passes("GET", "/r/textkit/t/t-1", &link), "{other}");
            assert!(!passes("GET", "/api/v1/r/textkit/view", &link), "{other}");
            assert!(!passes("POST", "/r/textkit/t/t-1", &link), "{other}");
            let frame = [
                (site, other),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "iframe"),
            ];
            assert!(!passes("GET", "/", &frame), "{other}");
            assert!(!passes(
                "GET",
                "/a/dev/src/main.js",
                &[(site, other), ("sec-fetch-mode", "no-cors")]
            ));
        }
    }
}
