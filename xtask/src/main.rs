//! The developer's commands: test, generate, deps.

fn main() {}
