//! The products that people install to have a client.

/// A client that people install, for messages about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Its name, as people know it.
    pub name: &'static str,
    /// The name of its program.
    pub program: &'static str,
    /// The command line that installs it.
    pub install: &'static str,
    /// The command line that updates it.
    pub update: &'static str,
}
