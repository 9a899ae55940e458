//! Files and folders, in places that others can write too.

pub(crate) mod atomic_write;
pub(crate) mod delete;
pub(crate) mod mounts;
pub(crate) mod openat;
pub(crate) mod permissions;
