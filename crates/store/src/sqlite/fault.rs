//! The meaning of the database's errors.

use std::path::Path;
use std::sync::Arc;

use crate::Error;

/// SQLite's primary result codes (sqlite.org/rescode.html), without the extension in the higher bits.
mod code {
    pub(super) const PERM: i32 = 3;
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const NOMEM: i32 = 7;
    pub(super) const READONLY: i32 = 8;
    pub(super) const IOERR: i32 = 10;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const PROTOCOL: i32 = 15;
    /// Our writes never break a rule of the schema, unless a row that is there already does.
    pub(super) const CONSTRAINT: i32 = 19;
    pub(super) const MISMATCH: i32 = 20;
    pub(super) const NOTADB: i32 = 26;
    /// SQLITE_ERROR: here, our own statements meet a schema that is not ours.
    pub(super) const ERROR: i32 = 1;
}

/// Sorts an error of the database by its remedy.
pub(super) fn sort(doing: &'static str, source: sqlx::Error) -> Error {
    let primary = source
        .as_database_error()
        .and_then(|error| error.code()?.parse::<i32>().ok())
        .map(|code| code & 0xff);
    match (primary, &source) {
        (Some(code::BUSY | code::LOCKED), _) | (None, sqlx::Error::PoolTimedOut) => Error::Busy,
        (Some(code::FULL), _) => Error::Full,
        (Some(code::CORRUPT | code::NOTADB | code::ERROR | code::CONSTRAINT | code::MISMATCH), _) => {
            Error::Damaged { what: told(&source) }
        }
        (Some(code::PERM | code::READONLY | code::CANTOPEN), _) => {
            let source = std::io::Error::new(std::io::ErrorKind::PermissionDenied, told(&source));
            Error::Io {
                doing: doing.to_owned(),
                source: Arc::new(source),
            }
        }
        // A disk, a quota, memory or threads: the machine is short of something, and the file is whole.
        (Some(code::NOMEM | code::IOERR | code::PROTOCOL), _) | (None, sqlx::Error::Io(_)) => Error::Io {
            doing: doing.to_owned(),
            source: Arc::new(std::io::Error::other(told(&source))),
        },
        (
            None,
            sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::Decode(_)
            | sqlx::Error::ColumnNotFound(_)
            | sqlx::Error::ColumnIndexOutOfBounds { .. }
            | sqlx::Error::RowNotFound
            | sqlx::Error::WorkerCrashed,
        ) => Error::Damaged {
            what: format!("{doing}: {source}"),
        },
        (None, sqlx::Error::PoolClosed) => Error::Closed,
        _ => Error::Database {
            doing,
            source: Arc::new(source),
        },
    }
}

/// An error of the system, about the journal's file.
pub(super) fn io(doing: &str, path: &Path, source: std::io::Error) -> Error {
    Error::Io {
        doing: format!("{doing} `{}`", path.display()),
        source: Arc::new(source),
    }
}

fn told(source: &sqlx::Error) -> String {
    source
        .as_database_error()
        .map_or_else(|| source.to_string(), |error| error.message().to_owned())
}

/// True if the transaction as a whole failed, and not only the one write.
pub(super) fn breaks_transaction(error: &Error) -> bool {
    match error {
        Error::Busy
        | Error::Full
        | Error::Damaged { .. }
        | Error::NewerSchema { .. }
        | Error::OlderSchema { .. }
        | Error::Missing { .. }
        | Error::NoFile { .. }
        | Error::Halved { .. }
        | Error::Sealed { .. }
        | Error::Replaced { .. }
        | Error::Io { .. }
        | Error::Database { .. }
        | Error::Closed => true,
        Error::VersionConflict { .. }
        | Error::StaleFence { .. }
        | Error::StaleTimer { .. }
        | Error::SlotTaken { .. }
        | Error::AlreadyDone { .. }
        | Error::AlreadyAnswered { .. }
        | Error::KeyReused { .. }
        | Error::NotFound { .. }
        | Error::Invalid { .. } => false,
    }
}
