//! How soon an engine gives out work on a long journal, and how soon commands answer on it.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use super::place::Place;
use super::repository::{self, SMALL};
use super::{now, rest};

/// Events of the journals.
pub(crate) const LENGTHS: [usize; 2] = [100_000, 1_000_000];
/// Tickets in each that are not over.
pub(crate) const OPEN: usize = 200;
/// The commands that are asked.
pub(crate) const COMMANDS: [&str; 5] = ["ps", "queue", "inbox", "cost", "doctor"];

/// What a journal of a length costs.
pub(crate) struct Recovered {
    pub(crate) events: usize,
    /// MiB of the journal's file.
    pub(crate) file: f64,
    /// Milliseconds from the engine's start to the first act of an agent, each round's.
    pub(crate) times: Vec<f64>,
    /// The most memory that an engine had, in MiB.
    pub(crate) memory: f64,
    /// Milliseconds of each command, and the most memory that it had, in MiB.
    pub(crate) commands: Vec<(&'static str, f64, f64)>,
}

/// An agent that tells at once that it runs.
const AGENT: &str = "#!/bin/sh\nprintf x > FIFO\nmkdir -p tk && echo $CREW_TICKET_ID > tk/$CREW_TICKET_ID.txt && git add tk/$CREW_TICKET_ID.txt && git commit -q -m work && echo DONE\n";

const SETTINGS: &str = "[run]\ndebounce = \"0s\"\n[agents]\ncount = 2";

/// Makes a journal of so many events and starts engines on it, one after the other. `writer`: the example of
/// the simulation's crate that writes journals.
pub(crate) fn run(place: &Place, writer: &Path, events: usize, rounds: usize) -> Result<Recovered, String> {
    repository::make(place, "recover", SMALL)?;
    let fifo = place.path("recovered");
    place.said("mkfifo", &[&fifo.display().to_string()])?;
    let agent = AGENT.replace("FIFO", &fifo.display().to_string());
    repository::set_up(place, "recover", &agent, SETTINGS)?;
    let dir = place.path("recover");
    let journal = dir.join(".crew/journal.db");
    let said = place.said(
        writer,
        &[
            &journal.display().to_string(),
            &events.to_string(),
            &OPEN.to_string(),
        ],
    )?;
    println!("  {}", said.trim_end());
    for n in 1..=OPEN {
        let id = format!("o-{n:04}");
        place.write(
            &format!("recover/.tickets/{id}.md"),
            &repository::ticket(&id, "open", "gate"),
        )?;
    }
    let file = fs::metadata(&journal).map_or(0, |file| file.len());
    // Opened for both, so that it neither waits for a writer nor ends with one.
    let mut told = fs::File::options()
        .read(true)
        .write(true)
        .open(&fifo)
        .map_err(|e| format!("the fifo: {e}"))?;
    let (mut times, mut memory) = (Vec::new(), 0.0_f64);
    for round in 1..=rounds {
        let id = format!("w-{round}");
        place.write(
            &format!("recover/.tickets/{id}.md"),
            &repository::ticket(&id, "open", ""),
        )?;
        let begun = now();
        let mut engine = started(place, &dir, "run")?;
        told.read_exact(&mut [0])
            .map_err(|error| format!("the fifo: {error}"))?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
        let closed = dir.join(format!(".tickets/{id}.md"));
        super::until(&format!("{id} landed"), || {
            fs::read_to_string(&closed).is_ok_and(|text| text.contains("\nstatus: closed\n"))
        })?;
        memory = memory.max(most(&engine));
        let pid = engine.id().to_string();
        crate::program::run(Path::new("/"), "kill", &["-INT", &pid])?;
        engine.wait().map_err(|error| format!("crew: {error}"))?;
    }
    let mut commands = Vec::new();
    for command in COMMANDS {
        let (mut took, mut memory) = (Vec::new(), 0.0_f64);
        for _ in 0..rounds {
            let begun = now();
            let mut child = started(place, &dir, command)?;
            while child
                .try_wait()
                .map_err(|error| format!("crew {command}: {error}"))?
                .is_none()
            {
                memory = memory.max(most(&child));
                rest(Duration::from_millis(1));
            }
            took.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
        commands.push((command, super::median(took), memory));
    }
    for left in ["recover", "state"] {
        place.remove(left)?;
    }
    fs::remove_file(&fifo).map_err(|error| format!("the fifo: {error}"))?;
    #[expect(clippy::cast_precision_loss, reason = "files are far below 2^53 bytes")]
    let file = file as f64 / 1024.0 / 1024.0;
    Ok(Recovered {
        events,
        file,
        times,
        memory,
        commands,
    })
}

fn started(place: &Place, dir: &Path, verb: &str) -> Result<Child, String> {
    let mut command = place.command(&place.crew, None);
    command
        .arg(verb)
        .current_dir(dir)
        .spawn()
        .map_err(|error| format!("crew {verb}: {error}"))
}

/// The most memory that a process has had, in MiB; 0 when it is gone.
fn most(child: &Child) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}
