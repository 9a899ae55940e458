//! The `crew` program: a file per command, the live screens, and the shim.

mod arguments;
mod asking;
mod background;
mod commands;
mod completion;
mod context;
mod demo;
mod engine_log;
mod error;
mod exit;
mod help_groups;
mod interrupts;
mod live;
mod notices;
mod short;
mod ui;
mod wait;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    // This comes before anything else: a shim is started for every step, and must be a process that has done
    // nothing yet.
    if let [_, command] = arguments.as_slice()
        && command == "shim"
        && let Some(run) = shims_run()
    {
        return process::shim_main(Path::new(&run));
    }
    if arguments.get(1).is_some_and(|word| word == background::DETACHED) {
        process::leave_terminal();
        arguments.remove(1);
    }
    if let Some(exit) = completion::answer(&arguments) {
        return exit;
    }
    let called = arguments.first().map(Path::new).and_then(Path::file_name);
    if called == Some(OsStr::new("tk")) {
        return commands::ticket::tk(&arguments[1..]);
    }
    // A plugin of tk's calls tk's own commands so, and takes this program for tk.
    if arguments.get(1).is_some_and(|word| word == "super") {
        arguments.insert(1, "ticket".into());
    }
    arguments::run(arguments)
}

/// The directory of the run that this process is to own as its shim.
fn shims_run() -> Option<OsString> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a frontend: it tells the rest what the environment says"
    )]
    std::env::var_os(process::RUN_DIR)
}
