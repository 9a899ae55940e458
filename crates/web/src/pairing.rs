//! Pairing: a code pairs a device once, and the token of the device is what every later request shows.
//!
//! Codes and devices are files in a folder of the person's, of which only hashes of what is secret are kept.
//! `crew web pair` and `crew web revoke` write them, and the server notices: neither needs a line to it.

mod codes;
mod device;
mod devices;
mod folder;
mod secret;

pub use codes::{LASTS, give};
pub use device::Paired;
pub use devices::{Devices, list, revoke};
pub use folder::state_dir;

pub(crate) use folder::{make, open};
