//! Fuzz targets: one property for every place where crew reads untrusted bytes.
//!
//! `cargo xtask fuzz` makes up input, guided by code coverage. The tests check the properties for the
//! inputs in `corpus/<target>/`, which include each input that once broke a property.

mod front_matter;
mod names;
mod records;
mod sanitiser;
mod settings;
mod shown;
mod stream;

/// A place in the code that reads untrusted bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of the target and of its folder of inputs.
    pub name: &'static str,
    /// Reads the bytes, and panics if the property does not hold.
    pub check: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [Target; 6] = [
    Target {
        name: "front-matter",
        check: front_matter::check,
    },
    Target {
        name: "settings",
        check: settings::check,
    },
    Target {
        name: "stream",
        check: stream::check,
    },
    Target {
        name: "sanitiser",
        check: sanitiser::check,
    },
    Target {
        name: "names",
        check: names::check,
    },
    Target {
        name: "records",
        check: records::check,
    },
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}
