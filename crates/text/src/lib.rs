//! Text that crew reads from others or shows to people: hidden characters, quoting, error messages. Every
//! crate that needs an answer about these takes it from here, so that all give the same one.

mod error;
mod escape;
mod hidden;

pub use error::{causes, lacks, system, whole, without_number};
pub use escape::{escaped, quoted};
pub use hidden::hides;
