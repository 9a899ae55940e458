//! The shim of the tests, which run clients as the engine does.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "a program of its own")]
    let run = std::env::var_os(process::RUN_DIR);
    run.map_or(ExitCode::from(2), |dir| process::shim_main(Path::new(&dir)))
}
