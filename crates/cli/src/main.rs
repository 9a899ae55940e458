//! The `crew` program: a file per command, the live screens, and the shim.

fn main() {}
