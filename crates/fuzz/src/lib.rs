//! What must hold of whatever bytes come: a property for every place where crew reads what others wrote.
//!
//! `cargo xtask fuzz` makes up bytes, guided by what they reach; the tests hold the properties against the inputs that are
//! kept in `corpus/<target>/`, among them each that once broke one.

mod front_matter;
mod names;
mod records;
mod sanitiser;
mod settings;
mod shown;
mod stream;

/// A place that reads what others wrote.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of its folder of inputs.
    pub name: &'static str,
    /// Reads the bytes, and panics if what must hold does not.
    pub check: fn(&[u8]),
}

/// All of them.
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
