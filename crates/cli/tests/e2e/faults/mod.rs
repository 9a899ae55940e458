//! The fault matrix with real faults: the real binary, git, processes and file systems, and what is really
//! broken.
//!
//! Which test proves which cell of the matrix, here and elsewhere, is in `table.rs`.

mod disk;
mod gate;
pub(crate) mod mounts;
mod struck;

mod checks;
mod deep;
mod few;
mod lost;
mod one_of_each;
mod rights;
mod table;
mod told;
mod traced;
mod two;
mod undeletable;
mod unwritable;
mod versions;
