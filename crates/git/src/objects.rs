//! Objects: commits, trees and what differs between them.

pub(crate) mod commit;
mod conflict_markers;
pub(crate) mod contents;
pub(crate) mod diff;
mod fsck;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod patch;
pub(crate) mod read;
