//! The developer's commands: test, generate, deps, clients, bench, sim.
//!
//! They need cargo and what this file's crate depends on, and nothing else: a fresh machine must be able to
//! run them.

mod arrows;
mod bench;
mod clients;
mod deps;
mod doctests;
mod features;
mod fuzz;
mod generate;
mod guards;
mod licence;
mod metadata;
mod npm;
mod picture;
mod program;
mod reference;
mod scratch;
mod setup;
mod sim;
mod sources;
mod suite;
mod tiers;
mod web;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
the developer's commands

usage: cargo xtask <command>

  test [--deep] [--keep-going]
                        what every change must pass: set-up, clients, fmt, deps, clippy, generated files, tests;
                        with --deep also the tests that take long, and minutes of made-up input
                        stops at the first step that fails, unless told to keep going
  deps                  the arrows between our crates, what the pure ones may use, licences, the lock file, unsafe
  words                 the words that code and documents do not use any more, and comment lines that are too long
  generate [--check]    writes the generated files; with --check fails where they differ from what is committed
  clients               installs the agent clients that the tests run, as clients/ pins them, in target/clients
  bench [PART] [--quick] [--crew=PATH]
                        PART: drain, dispatch, exits, idle, recover, append, streams, beats, calls, train or web;
                        what crew costs beside the plain shell; all of it writes docs/benchmarks.md, and train,
                        streams, beats, calls and web by themselves their sections; of the release binary, which it builds, or of the one at PATH
  sim [OPTION]          the simulation: the seeds of every test run, or others; a seed that fails is shrunk and written down
      --seed N          this one
      --seeds A..B      these, both among them
      --hours H         as many as fit, each time others
      replay SEED|FILE [NAME]  prints what happens in one; with a name, only what mentions this ticket, agent or run
  fuzz [--seconds N] [target]
                        makes up input for whatever reads what others wrote, 60 seconds for each target
  picture               runs the demo in a terminal and draws docs/picture.svg
  web [--deep] [NAME]   crew's web page in a browser: its scenarios, or those whose names NAME is part of
      --check           what needs no browser: the vendored files against npm's, types, the tests of modules
      --vendor          writes the vendored files anew, from the packages that the lock file pins
      --pictures        every page at three widths in both themes, into target/web-pictures, and docs/web.png
  help                  this text

exit codes: 0 all good, 1 something failed, 2 usage
";

/// What went wrong, as text for a person: what, where, and what to do.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = root();
    let outcome = match arguments[..] {
        ["test", ref rest @ ..] if suite::Options::read(rest).is_some() => {
            suite::Options::read(rest).map_or(Ok(()), |options| suite::run(&root, options))
        }
        ["deps"] => deps::check(&root).map(|seen| println!("{seen}")),
        ["generate"] => generate::write(&root),
        ["generate", "--check"] => generate::check(&root),
        ["clients"] => clients::install(&root),
        ["words"] => words::check(&root),
        ["bench", ref rest @ ..] if bench::Options::read(rest).is_some() => {
            bench::Options::read(rest).map_or(Ok(()), |options| bench::run(&root, &options))
        }
        ["sim", ref rest @ ..] if sim::Options::read(rest).is_some() => {
            sim::Options::read(rest).map_or(Ok(()), |options| sim::run(&root, &options))
        }
        ["fuzz", ref rest @ ..] if fuzz::Options::read(rest).is_some() => {
            fuzz::Options::read(rest).map_or(Ok(()), |options| fuzz::run(&root, &options))
        }
        ["web", ref rest @ ..] if web::Options::read(rest).is_some() => {
            web::Options::read(rest).map_or(Ok(()), |options| web::run(&root, &options))
        }
        ["picture"] => picture::write(&root),
        ["help" | "-h" | "--help"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        [] => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
        _ => {
            eprint!("cargo xtask does not know `{}`\n\n{USAGE}", arguments.join(" "));
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's root: the folder that this crate's is in.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
