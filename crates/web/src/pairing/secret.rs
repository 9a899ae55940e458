//! Secrets that are given to a person or a browser, and the hashes that are kept of them.

use client::error::Doing as _;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The bytes of a pairing code: 128 bits.
pub(crate) const CODE: usize = 16;
/// The bytes of a device's token: 256 bits.
pub(crate) const TOKEN: usize = 32;

/// So many random bytes, in hexadecimal.
///
/// # Errors
/// The system gives no random bytes.
pub(crate) fn random<const N: usize>() -> client::Result<String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| std::io::Error::other(error.to_string()))
        .doing("read random bytes from", "the system")?;
    Ok(hex(&bytes))
}

/// The hash that is kept of a secret, in hexadecimal.
pub(crate) fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

/// Whether two hashes are the same, in a time that does not tell how far they agree.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
