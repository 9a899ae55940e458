//! What an engine costs that has nothing to do: but a long queue, or but to watch its agents.

use std::fs;
use std::time::Duration;

use super::dispatch::Engine;
use super::place::Place;
use super::repository::{self, SMALL};
use super::{now, rest};

/// Tickets in the queues: one that a person works on, and all others behind it.
pub(crate) const QUEUES: [usize; 2] = [1000, 10_000];
/// Agents that wait for work.
pub(crate) const AGENTS: usize = 20;

const SETTINGS: &str = "[agents]\ncount = 20";

/// Agents that work, where it is watched what that costs.
pub(crate) const LIVE: [usize; 2] = [20, 200];

/// What it costs.
pub(crate) struct Idled {
    /// Tickets in the queue, or agents at work.
    pub(crate) many: usize,
    pub(crate) time: Duration,
    /// Percent of one core.
    pub(crate) cpu: f64,
    /// MiB in memory at the end.
    pub(crate) memory: f64,
    /// MiB of them that are the program's own, not a file's.
    pub(crate) anonymous: f64,
}

/// Watches an engine whose agents all work, for a time: each is one silent process.
pub(crate) fn watching(place: &Place, time: Duration, agents: usize) -> Result<Idled, String> {
    repository::make(place, "idle", SMALL)?;
    let settings = format!(
        "[run]\ndebounce = \"0s\"\non_stop = \"kill\"\nmax_workers = {agents}\n[agents]\ncount = {agents}"
    );
    repository::set_up(place, "idle", "#!/bin/sh\nexec sleep 100000\n", &settings)?;
    for i in 1..=agents {
        let id = format!("t-{i}");
        place.write(
            &format!("idle/.tickets/{id}.md"),
            &repository::ticket(&id, "open", ""),
        )?;
    }
    let mut engine = Engine::start(place, &place.path("idle"))?;
    let runs = place.path("idle/.crew/runs");
    for some in (AGENTS..=agents).step_by(AGENTS) {
        super::until(&format!("{some} agents are at work"), || {
            fs::read_dir(&runs).is_ok_and(|runs| runs.count() >= some)
        })?;
    }
    let idled = watched(&engine, time, agents)?;
    engine.end()?;
    place.remove("idle")?;
    place.remove("state")?;
    Ok(idled)
}

/// Watches an idle engine for a time.
pub(crate) fn run(place: &Place, time: Duration, tickets: usize) -> Result<Idled, String> {
    repository::make(place, "idle", SMALL)?;
    repository::set_up(place, "idle", "#!/bin/sh\necho DONE\n", SETTINGS)?;
    place.write(
        "idle/.tickets/t-1.md",
        &repository::ticket("t-1", "in_progress", ""),
    )?;
    for i in 2..=tickets {
        let id = format!("t-{i}");
        place.write(
            &format!("idle/.tickets/{id}.md"),
            &repository::ticket(&id, "open", "t-1"),
        )?;
    }
    let mut engine = Engine::start(place, &place.path("idle"))?;
    let idled = watched(&engine, time, tickets)?;
    engine.end()?;
    place.remove("idle")?;
    place.remove("state")?;
    Ok(idled)
}

fn watched(engine: &Engine, time: Duration, many: usize) -> Result<Idled, String> {
    come_to_rest(engine)?;
    let (begun, used) = (now(), ticks(engine)?);
    rest(time);
    let (took, used) = (begun.elapsed(), ticks(engine)? - used);
    let (memory, anonymous) = memory(engine)?;
    Ok(Idled {
        many,
        time: took,
        // A tick is a hundredth of a second wherever Linux runs.
        cpu: used / took.as_secs_f64(),
        memory,
        anonymous,
    })
}

/// Waits until it has read its queue: until a second passes in which it did next to nothing.
fn come_to_rest(engine: &Engine) -> Result<(), String> {
    for _ in 0..60 {
        let before = ticks(engine)?;
        rest(Duration::from_secs(1));
        if ticks(engine)? - before < 3.0 {
            return Ok(());
        }
    }
    Err("the engine does not come to rest".to_owned())
}

/// Processor time that it has used, in hundredths of a second.
fn ticks(engine: &Engine) -> Result<f64, String> {
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", engine.pid())).map_err(|e| format!("/proc: {e}"))?;
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let field = |n: usize| fields.get(n).and_then(|text| text.parse::<f64>().ok());
    match (field(11), field(12)) {
        (Some(user), Some(system)) => Ok(user + system),
        _ => Err("/proc says nothing of the engine".to_owned()),
    }
}

fn memory(engine: &Engine) -> Result<(f64, f64), String> {
    let status =
        fs::read_to_string(format!("/proc/{}/status", engine.pid())).map_err(|e| format!("/proc: {e}"))?;
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    match (kib("VmRSS:"), kib("RssAnon:")) {
        (Some(all), Some(anonymous)) => Ok((all / 1024.0, anonymous / 1024.0)),
        _ => Err("/proc says nothing of the engine's memory".to_owned()),
    }
}
