//! Whose licence allows what: SPDX expressions held against the ones that we accept.

use crate::metadata::Package;

/// Licences that ask for no more than their own text to be kept.
const ACCEPTED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "NCSA",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// The crates that have none of them, or do not come from a registry, where what the lock file's checksum
/// names cannot change.
pub(crate) fn refused(packages: &[Package]) -> Vec<String> {
    let mut refused = Vec::new();
    for package in packages {
        let Package {
            name,
            version,
            licence,
            source,
            ..
        } = package;
        match licence.as_deref() {
            Some(licence) if accepted(licence) => {}
            Some(licence) => refused.push(format!(
                "{name} {version} is under `{licence}`, which is not among the accepted licences of xtask/src/licence.rs"
            )),
            None => refused.push(format!("{name} {version} names no licence")),
        }
        if source
            .as_deref()
            .is_some_and(|source| !source.starts_with("registry+"))
        {
            refused.push(format!(
                "{name} {version} does not come from a registry: use a published version"
            ));
        }
    }
    refused
}

/// Whether an expression lets us choose accepted licences only. An older form has `/` for OR.
fn accepted(expression: &str) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = tokens.as_slice();
    either(&mut rest) == Some(true) && rest.is_empty()
}

/// `both (OR both)*`; `None` where it cannot be read.
fn either(tokens: &mut &[&str]) -> Option<bool> {
    let mut accepted = both(tokens)?;
    while let ["OR", rest @ ..] = tokens {
        *tokens = rest;
        accepted |= both(tokens)?;
    }
    Some(accepted)
}

/// `one (AND one)*`
fn both(tokens: &mut &[&str]) -> Option<bool> {
    let mut accepted = one(tokens)?;
    while let ["AND", rest @ ..] = tokens {
        *tokens = rest;
        accepted &= one(tokens)?;
    }
    Some(accepted)
}

/// A licence, one with an exception, or an expression in parentheses.
fn one(tokens: &mut &[&str]) -> Option<bool> {
    match *tokens {
        ["(", rest @ ..] => {
            *tokens = rest;
            let accepted = either(tokens)?;
            let [")", rest @ ..] = tokens else { return None };
            *tokens = rest;
            Some(accepted)
        }
        [licence, "WITH", exception, rest @ ..] => {
            *tokens = rest;
            Some(ACCEPTED.contains(&format!("{licence} WITH {exception}").as_str()))
        }
        ["OR" | "AND" | "WITH" | ")", ..] | [] => None,
        [licence, rest @ ..] => {
            *tokens = rest;
            Some(ACCEPTED.contains(licence))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn expressions_are_read_by_their_rules() {
        for expression in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "GPL-3.0-only OR MIT",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "(GPL-3.0-only OR (MIT AND ISC)) AND BSD-3-Clause",
        ] {
            assert!(accepted(expression), "{expression}");
        }
        for expression in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT OR ISC) AND GPL-3.0-only",
            "GPL-2.0-only WITH Classpath-exception-2.0",
            "MIT OR",
            "OR MIT",
            "(MIT",
            "MIT)",
            "MIT Apache-2.0",
            "mit",
        ] {
            assert!(!accepted(expression), "{expression}");
        }
    }

    #[test]
    fn a_crate_is_refused_for_its_licence_or_its_source() {
        let package = |licence: Option<&str>, source: &str| Package {
            name: "x".to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.map(str::to_owned),
            source: Some(source.to_owned()),
            manifest: PathBuf::new(),
            default_features: Vec::new(),
            dependencies: Vec::new(),
        };
        assert_eq!(
            refused(&[package(Some("MIT"), "registry+x")]),
            Vec::<String>::new()
        );
        assert!(refused(&[package(Some("AGPL-3.0-only"), "registry+x")])[0].contains("AGPL-3.0-only"));
        assert_eq!(
            refused(&[package(None, "registry+x")]),
            ["x 1.0.0 names no licence"]
        );
        assert!(refused(&[package(Some("MIT"), "git+x")])[0].contains("registry"));
    }
}
