//! Text rules that all crates share: which characters are invisible or harmful, how untrusted text is
//! quoted in a message, how an error is worded for a person, and how things are counted in words.

mod counted;
mod error;
mod escape;
mod excerpt;
mod hidden;
mod json;
mod quiet;
pub mod sanitise;
mod secret;

pub use counted::counted;
pub use error::{causes, is_exhausted, os_message, with_causes};
pub use escape::{escaped, quoted};
pub use excerpt::{excerpt, names_failure};
pub use hidden::hides;
pub use json::mended_json;
pub use quiet::{checked, quiet};
pub use secret::is_secret_file;
