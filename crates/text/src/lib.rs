//! What every room must answer alike about text: which characters hide, and what an error says to a person.

mod error;
mod hidden;

pub use error::{causes, lacks, system, whole, without_number};
pub use hidden::hides;
