//! How long an agent waits for the answer to a call of one of its tools, while an engine runs.

use std::fs;
use std::path::Path;

use super::dispatch::Engine;
use super::place::Place;
use super::repository::{self, SMALL};
use super::until;

/// Agents that work beside, and say nothing.
pub(crate) const BESIDE: usize = 20;
/// Calls of each way in a step, of which all together are at most 100.
const CALLS: usize = 45;

/// Milliseconds from a call until its answer is there.
pub(crate) struct Called {
    /// Through the files of the run, as the server of a client's tools does it.
    pub(crate) files: Vec<f64>,
    /// By `crew tool`, from the start of its process to its end.
    pub(crate) tool: Vec<f64>,
}

const AGENT: &str = "#!/bin/sh\ncase $CREW_TICKET_ID in s-*) exec sleep 100000;; esac\nPROGRAM CREW CALLS > CALLED/$CREW_TICKET_ID || exit 1\nmkdir -p tk && echo x > tk/$CREW_TICKET_ID.txt && git add tk && git commit -q -m work && echo DONE\n";

/// Lets agents call in their steps, one after the other, while others work beside them. `program`: the
/// example of the crate `mcp` that measures it.
pub(crate) fn run(place: &Place, program: &Path, tickets: usize) -> Result<Called, String> {
    repository::make(place, "calls", SMALL)?;
    let called = place.path("called");
    fs::create_dir_all(&called).map_err(|error| format!("called: {error}"))?;
    let agent = AGENT
        .replace("PROGRAM", &program.display().to_string())
        .replace("CREW ", &format!("{} ", place.crew.display()))
        .replace("CALLS", &CALLS.to_string())
        .replace("CALLED", &called.display().to_string());
    let agents = BESIDE + 1;
    let settings = format!(
        "[run]\ndebounce = \"0s\"\non_stop = \"kill\"\nmax_workers = {agents}\n[agents]\ncount = {agents}"
    );
    repository::set_up(place, "calls", &agent, &settings)?;
    let dir = place.path("calls");
    let ticket = |id: &str| {
        let text = repository::ticket(id, "open", "");
        place.write(&format!("calls/.tickets/{id}.md"), &text)
    };
    for i in 1..=BESIDE {
        ticket(&format!("s-{i}"))?;
    }
    let mut engine = Engine::start(place, &dir)?;
    until("the agents beside are at work", || {
        fs::read_dir(dir.join(".crew/runs")).is_ok_and(|runs| runs.count() >= BESIDE)
    })?;
    let (mut files, mut tool) = (Vec::new(), Vec::new());
    for i in 1..=tickets {
        let id = format!("t-{i}");
        let file = ticket(&id)?;
        until(&format!("{id} landed"), || {
            fs::read_to_string(&file).is_ok_and(|text| text.contains("\nstatus: closed\n"))
        })?;
        let said = fs::read_to_string(called.join(&id)).map_err(|error| format!("{id}: {error}"))?;
        for line in said.lines() {
            let mut words = line.split(' ');
            let times = match words.next() {
                Some("files") => &mut files,
                Some("tool") => &mut tool,
                Some(_) | None => return Err(format!("{id}: `{line}`")),
            };
            times.extend(words.filter_map(|word| word.parse::<f64>().ok()));
        }
    }
    engine.end()?;
    for left in ["calls", "called", "state"] {
        place.remove(left)?;
    }
    if files.len() != tickets * CALLS || tool.len() != tickets * CALLS {
        return Err(format!("{} and {} calls were answered", files.len(), tool.len()));
    }
    Ok(Called { files, tool })
}
