//! Replays one simulation and prints what happened in it, a line an event.
//!
//! `replay SEED|FILE [NAME]`: a seed, or a file that a failed search has written; with a name, only the lines
//! that mention this ticket, agent or run.

use std::error::Error;
use std::io::{BufWriter, ErrorKind, Write, stdout};
use std::path::Path;
use std::process::ExitCode;

use sim::{Case, Who};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (which, name) = match arguments.as_slice() {
        [which] => (which, None),
        [which, name] => (which, Some(name.as_str())),
        _ => return Err("usage: replay SEED|FILE [NAME]".into()),
    };
    match replay(&case(which)?, name) {
        // The reader, a pager for example, has enough.
        Err(error) if error.downcast_ref().map(std::io::Error::kind) == Some(ErrorKind::BrokenPipe) => {
            Ok(ExitCode::SUCCESS)
        }
        printed => printed,
    }
}

fn replay(case: &Case, name: Option<&str>) -> Result<ExitCode, Box<dyn Error>> {
    let (outcome, mut trace) = case.replay();
    if let Some(name) = name {
        if !trace.iter().any(|line| mentions(&line.what, name)) {
            let known = sim::names(&trace).into_iter().collect::<Vec<_>>().join(", ");
            return Err(format!("nothing in {case} is called {name}; it has {known}").into());
        }
        trace.retain(|line| mentions(&line.what, name) || line.who == Who::Broken);
    }
    let mut out = BufWriter::new(stdout().lock());
    for line in &trace {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    let exit = match outcome {
        Ok(summary) => {
            writeln!(out, "{case}: every promise held\n{summary}")?;
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let (invariant, what, options) = (failure.invariant, &failure.what, &failure.options);
            writeln!(out, "{case} breaks \"{invariant}\": {what}\noptions:\n{options}")?;
            ExitCode::FAILURE
        }
    };
    out.flush()?;
    Ok(exit)
}

fn case(which: &str) -> Result<Case, Box<dyn Error>> {
    if let Ok(seed) = which.parse() {
        return Ok(Case::of(seed));
    }
    let text = std::fs::read_to_string(Path::new(which)).map_err(|error| format!("{which}: {error}"))?;
    Ok(Case::read(&text).map_err(|why| format!("{which} is not a simulation: {why}"))?)
}

/// Whether a text mentions this name, or a run of it, as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    let is_of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_it = |word: &str| {
        let rest = word.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    text.split(|c: char| !is_of_a_name(c)).any(is_it)
}
