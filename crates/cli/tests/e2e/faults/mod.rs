//! The fault matrix with real faults: the real binary, git, processes and file systems, and what is really broken.
//!
//! A test's name says its cell: `f10_la_…` is fault 10 at landing. Operations: `su` submit, `cl` claim, `pr` provision,
//! `sp` spawn, `st` step, `wk` submit work, `ga` gate, `la` land, `cu` clean-up, `re` recover. Which test proves which cell,
//! here and elsewhere, is in `table.rs`.

mod disk;
mod gate;
mod mounts;
mod struck;

mod busy;
mod checks;
mod damage;
mod doubt;
mod durable;
mod few;
mod full_disk;
mod lost;
mod rights;
mod stops;
mod table;
mod told;
mod traced;
mod two;
mod undeletable;
mod versions;
