//! What a heartbeat costs that looks at a thousand processes.

use std::path::Path;

use super::place::Place;

/// Processes below a shim.
pub(crate) const PROCESSES: [usize; 2] = [10, 1000];

/// The processor time of heartbeats, in milliseconds.
pub(crate) struct Beats {
    pub(crate) processes: usize,
    pub(crate) times: Vec<f64>,
}

/// `program`: the example of the process crate that measures them.
pub(crate) fn run(place: &Place, program: &Path, processes: usize, beats: usize) -> Result<Beats, String> {
    let folder = place.path("beats");
    std::fs::create_dir_all(&folder).map_err(|error| format!("beats: {error}"))?;
    let folder = folder.display().to_string();
    let said = place.said(program, &[&folder, &processes.to_string(), &beats.to_string()])?;
    place.remove("beats")?;
    let words = said.split_whitespace().skip(1);
    let times: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    if times.len() < beats {
        return Err(format!("`{said}` has too few heartbeats"));
    }
    Ok(Beats { processes, times })
}
