//! How much memory crew takes for an agent's output that is too long for memory, while its step runs.

use std::fs;
use std::path::Path;
use std::process::Child;

use super::dispatch::Engine;
use super::place::Place;
use super::repository::{self, SMALL};
use super::{rest, until};

/// The bytes that the agent prints.
pub(crate) const BYTES: u64 = 1_000_000_000;
/// The same for a short look.
pub(crate) const QUICK: u64 = 100_000_000;
/// The most that each may take, in MiB.
pub(crate) const GOAL: f64 = 64.0;

/// The most memory that each has had, in MiB.
pub(crate) struct Read {
    pub(crate) bytes: u64,
    /// The engine, until the work landed.
    pub(crate) engine: f64,
    /// The shim of the step.
    pub(crate) shim: f64,
    /// Commands of people, while the step ran.
    pub(crate) commands: Vec<(&'static str, f64)>,
}

/// Prints lines of a hundred characters, and then waits until the gate is there.
const AGENT: &str = "#!/bin/sh\nyes 'I read the next file, and what it says of the parser is what the tests of the parser expect of it.' | head -c BYTES\necho\ntouch PRINTED\nuntil [ -e GATE ]; do sleep 0.1; done\nmkdir -p tk && echo x > tk/x.txt && git add tk && git commit -q -m work && echo DONE\n";

const SETTINGS: &str = "[run]\ndebounce = \"0s\"\non_stop = \"kill\"\n[agents]\ncount = 1";

/// Has an agent print so much, and people look at it meanwhile.
pub(crate) fn run(place: &Place, bytes: u64) -> Result<Read, String> {
    repository::make(place, "transcript", SMALL)?;
    let (printed, gate) = (place.path("printed"), place.path("gate"));
    let agent = AGENT
        .replace("BYTES", &bytes.to_string())
        .replace("PRINTED", &printed.display().to_string())
        .replace("GATE", &gate.display().to_string());
    repository::set_up(place, "transcript", &agent, SETTINGS)?;
    let file = place.write(
        "transcript/.tickets/t-1.md",
        &repository::ticket("t-1", "open", ""),
    )?;
    let dir = place.path("transcript");
    let mut engine = Engine::start(place, &dir)?;
    until("the agent has printed it", || printed.exists())?;
    let shim = shim(&dir)?;
    let agent = agent_of(place, &dir)?;
    let mut commands = Vec::new();
    for (name, arguments) in [
        ("crew logs", vec!["logs", "t-1"]),
        ("crew logs --full", vec!["logs", "t-1", "--full"]),
        ("crew logs --json", vec!["logs", "t-1", "--json"]),
        ("crew logs --raw", vec!["logs", "t-1", "--raw"]),
        ("crew logs -n 20", vec!["logs", "t-1", "-n", "20"]),
        ("crew peek", vec!["peek", &agent]),
    ] {
        commands.push((name, most_of(place, &dir, &arguments)?));
    }
    let shim = most(shim);
    fs::write(&gate, "").map_err(|error| format!("the gate: {error}"))?;
    until("t-1 landed", || {
        fs::read_to_string(&file).is_ok_and(|text| text.contains("\nstatus: closed\n"))
    })?;
    let read = Read {
        bytes,
        engine: most(engine.pid()),
        shim,
        commands,
    };
    engine.end()?;
    for left in ["transcript", "state"] {
        place.remove(left)?;
    }
    for left in [printed, gate] {
        fs::remove_file(&left).map_err(|error| format!("{}: {error}", left.display()))?;
    }
    Ok(read)
}

/// The process of the shim of the only step.
fn shim(dir: &Path) -> Result<u32, String> {
    let runs = fs::read_dir(dir.join(".crew/runs")).map_err(|error| format!("runs: {error}"))?;
    for run in runs.flatten() {
        let started = fs::read(run.path().join("shim.json")).unwrap_or_default();
        let started: serde_json::Value = serde_json::from_slice(&started).unwrap_or_default();
        if let Some(pid) = started["shim"]["pid"].as_u64() {
            return u32::try_from(pid).map_err(|error| format!("the shim: {error}"));
        }
    }
    Err("no run says who its shim is".to_owned())
}

fn agent_of(place: &Place, dir: &Path) -> Result<String, String> {
    let ps = place.said_in(dir, &place.crew, &["ps", "--json"])?;
    let ps: serde_json::Value = serde_json::from_str(&ps).map_err(|error| format!("crew ps: {error}"))?;
    let name = ps["agents"][0]["name"].as_str();
    name.map(str::to_owned)
        .ok_or_else(|| "crew ps names no agent".to_owned())
}

/// Runs a command to its end: the most memory that it had.
fn most_of(place: &Place, dir: &Path, arguments: &[&str]) -> Result<f64, String> {
    let failed = |error| format!("crew {}: {error}", arguments.join(" "));
    let mut child: Child = place
        .command(&place.crew, None)
        .args(arguments)
        .current_dir(dir)
        .spawn()
        .map_err(failed)?;
    let mut memory = 0.0_f64;
    loop {
        memory = memory.max(most(child.id()));
        if let Some(status) = child.try_wait().map_err(failed)? {
            return match status.success() {
                true => Ok(memory),
                false => Err(format!("crew {}: {status}", arguments.join(" "))),
            };
        }
        rest(std::time::Duration::from_millis(1));
    }
}

/// The most memory that a process has had, in MiB; 0 when it is gone.
pub(super) fn most(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}
