//! The holder of a repository's lock.

use std::fmt;

/// The note that the holder of a lock wrote into it. For people: only the lock itself tells whether it is
/// held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process id.
    pub pid: Option<u32>,
    /// Its host.
    pub host: String,
    /// The time at which it took the lock, in seconds since 1970.
    pub started: Option<u64>,
    /// Whether it is no engine, and releases the lock by itself.
    pub is_command: bool,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => f.write_str("an unknown process")?,
        }
        if !self.host.is_empty() {
            write!(f, " on {}", self.host)?;
        }
        Ok(())
    }
}
