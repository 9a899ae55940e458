//! What a build without any wish must not have: crew is released as `cargo build` makes it.

use crate::metadata::{Kind, Package};

/// The crate that lets a test kill crew. Only tests may ask for what it does.
const FAILPOINT: &str = "failpoint";

/// Features of ours that are on by default, and arrows that would arm the failpoints of a release.
pub(crate) fn on(packages: &[Package]) -> Vec<String> {
    packages
        .iter()
        .filter(|package| package.is_ours())
        .flat_map(of)
        .collect()
}

fn of(package: &Package) -> Vec<String> {
    let name = &package.name;
    let mut found = Vec::new();
    if !package.default_features.is_empty() {
        let on = package.default_features.join(", ");
        found.push(format!(
            "{name}: {on} is on by default; a release must have nothing that is only for tests"
        ));
    }
    for dependency in &package.dependencies {
        let arms = dependency.ours && dependency.name == FAILPOINT && !dependency.features.is_empty();
        if arms && dependency.kind != Kind::Dev {
            let features = dependency.features.join(", ");
            found.push(format!(
                "{name} → {FAILPOINT} with {features}: only a dev-dependency may ask for that, or crew is released with its failpoints"
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::metadata::Dependency;

    fn package(default: &[&str], kind: Kind, features: &[&str]) -> Package {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Package {
            name: "crew".to_owned(),
            version: "0.1.0".to_owned(),
            licence: None,
            source: None,
            manifest: PathBuf::new(),
            default_features: texts(default),
            dependencies: vec![Dependency {
                name: FAILPOINT.to_owned(),
                kind,
                ours: true,
                features: texts(features),
            }],
        }
    }

    #[test]
    fn a_release_has_no_failpoints() {
        assert!(on(&[package(&[], Kind::Normal, &[])]).is_empty());
        assert!(on(&[package(&[], Kind::Dev, &["points"])]).is_empty());
        assert_eq!(on(&[package(&[], Kind::Normal, &["points"])]).len(), 1);
        assert_eq!(on(&[package(&["failpoints"], Kind::Normal, &[])]).len(), 1);
    }
}
