//! Opening a journal, wherever it is kept.

use std::path::PathBuf;

use crate::{Any, Ledger, Result, Sqlite};

/// The place of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// A SQLite file, at this absolute path.
    File(PathBuf),
}

impl Location {
    /// A file at this absolute path.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Kind::File(path.into()))
    }

    /// True if something is there, be it no journal.
    #[must_use]
    pub fn exists(&self) -> bool {
        match &self.0 {
            Kind::File(path) => path.exists(),
        }
    }
}

/// Opens a journal to read and write it, and brings an older one's schema up to date.
///
/// # Errors
/// [`Error::Missing`](crate::Error::Missing) where there is none; damaged, of a newer crew, busy, refused by
/// the system.
pub async fn open(at: &Location) -> Result<Ledger> {
    let journal = match &at.0 {
        Kind::File(path) => Any::from(Sqlite::open(path).await?),
    };
    Ok(Ledger::new(journal))
}

/// Opens a journal to read and write it, after making one with this id if there is none.
///
/// # Errors
/// As [`open`], except for a missing journal.
pub async fn create(at: &Location, id: &str) -> Result<Ledger> {
    let journal = match &at.0 {
        Kind::File(path) => Any::from(Sqlite::create(path, id).await?),
    };
    Ok(Ledger::new(journal))
}

/// Opens a journal to read it, also where nothing can be written.
///
/// # Errors
/// As [`open`]; [`Error::Sealed`](crate::Error::Sealed) and [`Error::OlderSchema`](crate::Error::OlderSchema)
/// where the journal cannot be read without a write.
pub async fn open_to_read(at: &Location) -> Result<Ledger> {
    let journal = match &at.0 {
        Kind::File(path) => Any::from(Sqlite::look(path).await?),
    };
    Ok(Ledger::new(journal))
}
