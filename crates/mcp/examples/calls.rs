//! Measurement of calls: how long an agent waits for the answer to one.
//!
//! An engine's agent starts `calls CREW CALLS` in its step. It makes so many calls by itself, through the
//! files of its run as `crew mcp` does, and as many by `crew tool`, in turn, and prints a line for each way:
//! its name and the milliseconds of each call. All calls of a step together are at most 100.

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use mcp::Caller;

type Failed = Box<dyn std::error::Error>;

/// A call that goes through the engine and its journal, and changes no file.
const TOOL: &str = "report_progress";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match measure(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(args: &[String]) -> Result<(), Failed> {
    let [crew, calls] = args else {
        return Err("usage: calls CREW CALLS".into());
    };
    let calls: u32 = calls.parse()?;
    #[expect(clippy::disallowed_methods, reason = "a program of its own")]
    let caller = Caller::of(&std::env::vars().collect())?;
    let (mut files, mut tool) = (Vec::new(), Vec::new());
    for i in 1..=calls {
        let arguments = serde_json::json!({ "text": format!("call {i} of {calls}") });
        let begun = now();
        let reply = caller.call(TOOL, arguments.clone())?;
        files.push(ms(begun));
        // Where no engine answers, that it was noted is said after five seconds.
        if !reply.accepted || reply.says.starts_with("noted; it counts when") {
            return Err(reply.says.into());
        }
        let begun = now();
        #[expect(clippy::disallowed_methods, reason = "it is a program that is measured")]
        let status = Command::new(crew)
            .args(["tool", TOOL, &arguments.to_string()])
            .stdout(Stdio::null())
            .status()?;
        tool.push(ms(begun));
        if !status.success() {
            return Err(format!("crew tool: {status}").into());
        }
    }
    println!("files {}", files.join(" "));
    println!("tool {}", tool.join(" "));
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "measuring is what this is for")]
fn now() -> Instant {
    Instant::now()
}

fn ms(begun: Instant) -> String {
    format!("{:.3}", begun.elapsed().as_secs_f64() * 1000.0)
}
