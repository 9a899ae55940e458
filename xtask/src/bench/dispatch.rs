//! How soon a ticket that becomes eligible has an agent's process, while the engine has nothing else to do.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use super::place::Place;
use super::repository::{self, SMALL};
use super::{now, until};

/// Milliseconds from the rename of the ticket's file to the first act of the agent's process.
pub(crate) struct Dispatched {
    pub(crate) times: Vec<f64>,
}

/// An agent that tells at once that it runs, and then does the drain's work.
const AGENT: &str = "#!/bin/sh\nprintf x > FIFO\nmkdir -p tk && echo $CREW_TICKET_ID > tk/$CREW_TICKET_ID.txt && git add tk/$CREW_TICKET_ID.txt && git commit -q -m work && echo DONE\n";

/// `debounce` is 0: what it adds is a setting, and exactly that.
const SETTINGS: &str = "[run]\ndebounce = \"0s\"\n[agents]\ncount = 2";

/// Gives an idle engine one ticket after the other.
pub(crate) fn run(place: &Place, tickets: usize) -> Result<Dispatched, String> {
    repository::make(place, "dispatch", SMALL)?;
    let fifo = place.path("started");
    place.said("mkfifo", &[&fifo.display().to_string()])?;
    let agent = AGENT.replace("FIFO", &fifo.display().to_string());
    repository::set_up(place, "dispatch", &agent, SETTINGS)?;
    // Opened for both, so that it neither waits for a writer nor ends with one.
    let mut told = fs::File::options()
        .read(true)
        .write(true)
        .open(&fifo)
        .map_err(|e| format!("the fifo: {e}"))?;
    let dir = place.path("dispatch");
    let mut engine = Engine::start(place, &dir)?;
    let mut times = Vec::new();
    for i in 1..=tickets {
        let id = format!("t-{i}");
        let (new, file) = (
            dir.join(format!("{id}.new")),
            dir.join(format!(".tickets/{id}.md")),
        );
        fs::write(&new, repository::ticket(&id, "open", "")).map_err(|error| format!("{id}: {error}"))?;
        let begun = now();
        fs::rename(&new, &file).map_err(|error| format!("{id}: {error}"))?;
        told.read_exact(&mut [0])
            .map_err(|error| format!("the fifo: {error}"))?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
        until(&format!("{id} landed and nothing of it left"), || {
            let closed = fs::read_to_string(&file).is_ok_and(|text| text.contains("\nstatus: closed\n"));
            closed && is_empty(&place.path("state/crew"))
        })?;
    }
    engine.end()?;
    place.remove("dispatch")?;
    place.remove("state")?;
    fs::remove_file(&fifo).map_err(|error| format!("the fifo: {error}"))?;
    Ok(Dispatched { times })
}

/// No workspace stands, and none is being removed. What is kept of one for the next is hidden beside them.
fn is_empty(state: &Path) -> bool {
    let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
    let is_hidden = |entry: fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".");
    entries(state).all(|repository| entries(&repository.path()).all(is_hidden))
}

/// An engine in the background; it does not outlive this.
pub(crate) struct Engine(std::process::Child);

impl Engine {
    /// Starts it, and waits until it has taken the repository up.
    pub(crate) fn start(place: &Place, dir: &Path) -> Result<Self, String> {
        Self::start_timed(place, dir, None)
    }

    /// The same; what things take is written into this file.
    pub(crate) fn start_timed(place: &Place, dir: &Path, timings: Option<&Path>) -> Result<Self, String> {
        let mut command = place.command(&place.crew, None);
        command.envs(timings.map(|path| ("CREW_TIMINGS", path)));
        let child = command
            .arg("run")
            .current_dir(dir)
            .spawn()
            .map_err(|error| format!("crew: {error}"))?;
        let engine = Self(child);
        until("the engine is up", || dir.join(".crew/state.json").exists())?;
        Ok(engine)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Stops it as a person would.
    pub(crate) fn end(&mut self) -> Result<(), String> {
        let pid = self.0.id().to_string();
        crate::program::run(Path::new("/"), "kill", &["-INT", &pid])?;
        self.0.wait().map(drop).map_err(|error| format!("crew: {error}"))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
