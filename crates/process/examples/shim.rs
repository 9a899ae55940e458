//! The smallest program that has a shim, for the tests: without arguments it is the shim, and `shim start
//! DIR` is an engine that starts the run and is gone.

use std::path::Path;
use std::process::ExitCode;

use process::{RUN_DIR, Run, Shim};

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    #[expect(clippy::disallowed_methods, reason = "a program of its own")]
    let run = std::env::var_os(RUN_DIR);
    match (args.as_slice(), run) {
        ([], Some(dir)) => process::shim_main(Path::new(&dir)),
        ([start, dir], _) if start == "start" => {
            let shim = Shim {
                program: "/proc/self/exe".into(),
                args: Vec::new(),
            };
            match Run::open(dir).and_then(|run| run.start(&shim)) {
                Ok(_) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{error}");
                    ExitCode::FAILURE
                }
            }
        }
        _ => ExitCode::from(2),
    }
}
