//! How soon crew hears that a step's process has ended.

use std::fs;

use super::dispatch::Engine;
use super::place::Place;
use super::repository::{self, SMALL};
use super::until;

/// Steps of each ticket but its last, which is read and saved as well.
const STEPS: usize = 15;

/// Milliseconds from the end of all of a step's processes to crew's hearing of it.
pub(crate) struct Noticed {
    pub(crate) times: Vec<f64>,
}

/// An agent that says nothing until its last step.
const AGENT: &str = "#!/bin/sh\ncount=PLACE/steps-$CREW_TICKET_ID\necho x >> $count\n[ $(wc -l < $count) -gt STEPS ] || exit 0\nmkdir -p tk && echo x > tk/$CREW_TICKET_ID.txt && git add tk && git commit -q -m work && echo DONE\n";

const SETTINGS: &str = "[run]\nsettle = \"0s\"\n[agents]\ncount = 2";

/// Lets agents take their steps, one ticket after the other.
pub(crate) fn run(place: &Place, tickets: usize) -> Result<Noticed, String> {
    repository::make(place, "exits", SMALL)?;
    let folder = place.path("counts");
    fs::create_dir_all(&folder).map_err(|error| format!("counts: {error}"))?;
    let agent = AGENT
        .replace("PLACE", &folder.display().to_string())
        .replace("STEPS", &STEPS.to_string());
    repository::set_up(place, "exits", &agent, SETTINGS)?;
    let dir = place.path("exits");
    let timings = place.path("timings");
    let mut engine = Engine::start_timed(place, &dir, Some(&timings))?;
    for i in 1..=tickets {
        let id = format!("t-{i}");
        let file = format!("exits/.tickets/{id}.md");
        place.write(&file, &repository::ticket(&id, "open", ""))?;
        until(&format!("{id} landed"), || {
            fs::read_to_string(place.path(&file)).is_ok_and(|text| text.contains("\nstatus: closed\n"))
        })?;
    }
    engine.end()?;
    let lines = fs::read_to_string(&timings).map_err(|error| format!("timings: {error}"))?;
    let notices = lines.lines().filter(|line| line.contains("what=\"exit notice\""));
    let times: Vec<f64> = notices
        .filter_map(|line| super::drain::number(line, "took="))
        .map(|micros| micros / 1000.0)
        .collect();
    for left in ["exits", "counts", "state"] {
        place.remove(left)?;
    }
    fs::remove_file(&timings).map_err(|error| format!("timings: {error}"))?;
    if times.len() < tickets * STEPS {
        return Err(format!(
            "{} ends were noticed, of {}",
            times.len(),
            tickets * STEPS
        ));
    }
    Ok(Noticed { times })
}
