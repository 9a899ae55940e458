//! Files and folders, in places that others can write too.

pub(crate) mod beneath;
pub(crate) mod delete;
pub(crate) mod plain;
pub(crate) mod shut;
