//! The fuzzer: makes up input for the target that `FUZZ_TARGET` names, with libFuzzer's options on the
//! command line.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

static TARGET: OnceLock<fuzz::Target> = OnceLock::new();

#[expect(
    clippy::disallowed_methods,
    reason = "libFuzzer reads the command line itself, so the target comes in the environment"
)]
fn chosen() -> fuzz::Target {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    match fuzz::target(&name) {
        Some(target) => target,
        None => panic!("FUZZ_TARGET names no target: {name:?}"),
    }
}

fuzz_target!(|bytes: &[u8]| (TARGET.get_or_init(chosen).check)(bytes));
