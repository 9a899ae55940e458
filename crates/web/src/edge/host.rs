//! The hosts that this server answers for. A page whose own name was pointed at this machine does not get in.

use axum::extract::Request;
use axum::http::{Uri, header};

use super::one;
use crate::problem::Problem;

/// The names of this machine for itself.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The addresses that are this server's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    /// Host and port, as browsers write them in `Host`.
    hosts: Vec<String>,
    /// Scheme, host and port, as browsers write them in `Origin`.
    origins: Vec<String>,
}

impl Own {
    /// Those of a port on loopback, and of a proxy in front where there is one: `https://crew.lan`, maybe
    /// with a path.
    pub(crate) fn of(port: u16, origin: Option<&str>) -> Self {
        let mut hosts: Vec<String> = LOOPBACK.iter().map(|name| format!("{name}:{port}")).collect();
        if port == 80 {
            hosts.extend(LOOPBACK.map(str::to_owned));
        }
        let mut origins: Vec<String> = hosts.iter().map(|host| format!("http://{host}")).collect();
        if let Some((scheme, rest)) = origin.and_then(|origin| origin.split_once("://")) {
            let host = rest.split('/').next().unwrap_or_default().to_ascii_lowercase();
            origins.push(format!("{}://{host}", scheme.to_ascii_lowercase()));
            hosts.push(host);
        }
        Self { hosts, origins }
    }

    /// Refuses a request for another host: before anything else looks at it, whatever it asks for.
    pub(super) fn expect_host(&self, request: &Request) -> Result<(), Problem> {
        let is_own = |host: &str| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        let named = one(request, header::HOST).ok().flatten();
        let in_target = Uri::authority(request.uri()).map(axum::http::uri::Authority::as_str);
        if named.is_some_and(is_own) && in_target.is_none_or(is_own) {
            Ok(())
        } else {
            Err(Problem::Host)
        }
    }

    /// Whether a page of this origin is this server's own.
    pub(super) fn has_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|own| own.eq_ignore_ascii_case(origin))
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn only_its_own_names_with_its_own_port_are_its_hosts() {
        let is_own = |own: &Own, hosts: &[&str], target: &str| {
            let mut request = Request::builder().uri(target);
            for host in hosts {
                request = request.header("host", *host);
            }
            own.expect_host(&request.body(Body::empty()).unwrap()).is_ok()
        };
        let own = Own::of(7627, None);
        for host in ["127.0.0.1:7627", "localhost:7627", "LOCALHOST:7627", "[::1]:7627"] {
            assert!(is_own(&own, &[host], "/"), "{host}");
        }
        for host in [
            "evil.example:7627",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:76270",
            "127.0.0.1:7627.evil.example",
            "localhost.:7627",
            "user@127.0.0.1:7627",
            "127.1:7627",
            "",
        ] {
            assert!(!is_own(&own, &[host], "/"), "{host}");
        }
        assert!(!is_own(&own, &[], "/"));
        assert!(!is_own(&own, &["127.0.0.1:7627", "127.0.0.1:7627"], "/"));
        assert!(is_own(&own, &["127.0.0.1:7627"], "http://127.0.0.1:7627/"));
        assert!(!is_own(&own, &["127.0.0.1:7627"], "http://evil.example/"));
        assert!(!is_own(&own, &["evil.example"], "http://127.0.0.1:7627/"));

        let own = Own::of(80, Some("https://Crew.lan/base"));
        for host in ["127.0.0.1", "127.0.0.1:80", "crew.lan"] {
            assert!(is_own(&own, &[host], "/"), "{host}");
        }
        assert!(own.has_origin("https://crew.lan") && !own.has_origin("http://crew.lan"));
    }
}
