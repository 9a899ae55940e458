//! Files and folders, in places that others can write too.

pub(crate) mod atomic_write;
pub(crate) mod delete;
pub(crate) mod openat;
pub(crate) mod permissions;
