//! How soon crew hears that a step's process has ended.

use std::fs;
use std::path::Path;

use super::dispatch::Engine;
use super::place::Place;
use super::repository::{self, SMALL};
use super::until;

/// Steps of each ticket but its last, which is read and saved as well.
const STEPS: usize = 15;

/// Agents that work beside, and say nothing.
pub(crate) const BESIDE: [usize; 2] = [20, 200];

/// Milliseconds from the end of all of a step's processes to crew's hearing of it.
pub(crate) struct Noticed {
    /// How many agents worked beside.
    pub(crate) beside: usize,
    pub(crate) times: Vec<f64>,
    /// Milliseconds from the end of one step's process to the start of the next one's.
    pub(crate) gaps: Vec<f64>,
}

/// An agent that says nothing until its last step. Each step changes a file: of steps that change nothing
/// crew allows a few only.
const AGENT: &str = "#!/bin/sh\ncase $CREW_TICKET_ID in s-*) exec sleep 100000;; esac\ncount=PLACE/steps-$CREW_TICKET_ID\necho x >> $count\nmkdir -p tk && cp $count tk/$CREW_TICKET_ID.txt\n[ $(wc -l < $count) -gt STEPS ] || exit 0\ngit add tk && git commit -q -m work && echo DONE\n";

/// Lets an agent take its steps, one ticket after the other, while others work beside it.
pub(crate) fn run(place: &Place, tickets: usize, beside: usize) -> Result<Noticed, String> {
    repository::make(place, "exits", SMALL)?;
    let folder = place.path("counts");
    fs::create_dir_all(&folder).map_err(|error| format!("counts: {error}"))?;
    let agent = AGENT
        .replace("PLACE", &folder.display().to_string())
        .replace("STEPS", &STEPS.to_string());
    let agents = beside + 1;
    let settings = format!(
        "[run]\ndebounce = \"0s\"\non_stop = \"kill\"\nmax_workers = {agents}\n[agents]\ncount = {agents}"
    );
    repository::set_up(place, "exits", &agent, &settings)?;
    for i in 1..=beside {
        let id = format!("s-{i}");
        place.write(
            &format!("exits/.tickets/{id}.md"),
            &repository::ticket(&id, "open", ""),
        )?;
    }
    let dir = place.path("exits");
    let timings = place.path("timings");
    let mut engine = Engine::start_timed(place, &dir, Some(&timings))?;
    let runs = place.path("exits/.crew/runs");
    for some in (20..=beside).step_by(20) {
        until(&format!("{some} agents are at work"), || {
            fs::read_dir(&runs).is_ok_and(|runs| runs.count() >= some)
        })?;
    }
    for i in 1..=tickets {
        let id = format!("t-{i}");
        let file = format!("exits/.tickets/{id}.md");
        place.write(&file, &repository::ticket(&id, "open", ""))?;
        until(&format!("{id} landed"), || {
            fs::read_to_string(place.path(&file)).is_ok_and(|text| text.contains("\nstatus: closed\n"))
        })?;
    }
    // Before the engine ends: that kills all agents at once, which is another matter.
    let lines = fs::read_to_string(&timings).map_err(|error| format!("timings: {error}"))?;
    engine.end()?;
    let gaps = gaps(&runs, tickets)?;
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
    Ok(Noticed { beside, times, gaps })
}

/// The times between the steps of each ticket, by the records of their shims.
fn gaps(runs: &Path, tickets: usize) -> Result<Vec<f64>, String> {
    let mut gaps = Vec::new();
    for i in 1..=tickets {
        let mut steps = Vec::new();
        for run in fs::read_dir(runs)
            .map_err(|error| format!("runs: {error}"))?
            .flatten()
        {
            if !run.file_name().to_string_lossy().starts_with(&format!("t-{i}.")) {
                continue;
            }
            let record =
                fs::read(run.path().join("exit.json")).map_err(|error| format!("exit.json: {error}"))?;
            let record: serde_json::Value =
                serde_json::from_slice(&record).map_err(|error| format!("exit.json: {error}"))?;
            let at = |key: &str| {
                record[key]
                    .as_f64()
                    .ok_or_else(|| format!("exit.json has no {key}"))
            };
            steps.push((at("started_at")?, at("ended_at")?));
        }
        steps.sort_by(|one, other| one.0.total_cmp(&other.0));
        gaps.extend(steps.windows(2).map(|pair| pair[1].0 - pair[0].1));
    }
    Ok(gaps)
}
