//! Faults at every operation: they take minutes in all. One of each kind is in `one_of_each.rs`, in the first
//! tier.

pub(crate) mod busy;
pub(crate) mod damage;
pub(crate) mod doubt;
pub(crate) mod durable;
pub(crate) mod full_disk;
pub(crate) mod stops;
