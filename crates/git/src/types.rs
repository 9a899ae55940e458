//! Values: what the other modules speak of, without git and without files.

pub(crate) mod blocked;
pub(crate) mod change;
pub(crate) mod holder;
pub(crate) mod id;
pub(crate) mod identity;
pub(crate) mod invalid;
pub(crate) mod not_copied;
pub(crate) mod oid;
pub(crate) mod operation;
pub(crate) mod paths;
pub(crate) mod quote;
pub(crate) mod refusal;
pub(crate) mod shortened;
pub(crate) mod status;
pub(crate) mod trouble;
pub(crate) mod unsaved;
pub(crate) mod version;
