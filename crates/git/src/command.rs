//! Running git: one builder through which every call goes.

pub(crate) mod call;
pub(crate) mod cat_file;
pub(crate) mod git;
pub(crate) mod run;
pub(crate) mod settings;
pub(crate) mod trial;
mod watch;
