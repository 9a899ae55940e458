//! What every room must answer alike about text: which characters hide, how others' text stands in a message, and what an error
//! says to a person.

mod error;
mod escape;
mod hidden;

pub use error::{causes, is_exhausted, os_message, with_causes, without_os_code};
pub use escape::{escaped, quoted};
pub use hidden::hides;
