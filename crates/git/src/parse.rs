//! Object ids, ids and branch names read from text, with the crate's own error.

use crate::error::Result;
use crate::types::id::{Branch, Id};
use crate::types::oid::Oid;

impl Oid {
    /// Reads the id from text; upper case is accepted, abbreviations are not.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid).
    pub fn parse(text: &str) -> Result<Self> {
        Ok(text.parse()?)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::parse(&String::from_utf8_lossy(bytes))
    }
}

impl Id {
    /// Checks the id.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid), with the rule that it breaks.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(text.parse()?)
    }
}

impl Branch {
    /// Checks the short name; a leading `refs/heads/` is taken off.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid).
    pub fn parse(name: &str) -> Result<Self> {
        Ok(name.parse()?)
    }
}
