//! The smallest program that has a shim, for the tests: `shim DIR` is the shim, and `shim start DIR` is an
//! engine that starts the run and is gone.

use std::path::Path;
use std::process::ExitCode;

use process::{Run, Shim};

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    match args.as_slice() {
        [dir] => process::shim_main(Path::new(dir)),
        [start, dir] if start == "start" => {
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
