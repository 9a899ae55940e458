//! The token of a device: in the header `Authorization`, and nowhere else.

use axum::extract::Request;
use axum::http::{Uri, header};

use super::one;
use crate::problem::Problem;

/// The names of a token in a query, as other programs have them.
const NAMES: [&str; 2] = ["token", "access_token"];

/// Refuses a token in a query: addresses are written into histories and logs.
pub(super) fn expect_none_in_query(uri: &Uri) -> Result<(), Problem> {
    let pairs = uri.query().unwrap_or_default().split(['&', ';']);
    let mut names = pairs.map(|pair| pair.split('=').next().unwrap_or_default());
    if names.any(|name| NAMES.iter().any(|bad| bad.eq_ignore_ascii_case(&decoded(name)))) {
        return Err(Problem::bad_request(
            "a token is not taken from an address",
            "send it in the header `Authorization: Bearer …`",
        ));
    }
    Ok(())
}

/// A name in which some letters may be written as their codes.
fn decoded(name: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let [first, after @ ..] = rest {
        let code = match rest {
            [b'%', high, low, ..] => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).ok();
                digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &rest[3..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The token of a request; none where it has none, or no single one.
pub(super) fn of(request: &Request) -> Option<&str> {
    let value = one(request, header::AUTHORIZATION).ok()??;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_a_query_is_refused_however_it_is_written() {
        for query in [
            "token=x",
            "a=1&access_token=x",
            "Token",
            "a;token=x",
            "%74oken=x",
            "t%6Fken=x",
        ] {
            expect_none_in_query(&format!("/?{query}").parse().unwrap()).unwrap_err();
        }
        for query in ["", "q=token", "tokens=1", "a=%zz"] {
            expect_none_in_query(&format!("/?{query}").parse().unwrap()).unwrap();
        }
    }
}
