//! What an append costs when 200 agents report at once, beside SQLite's own commit on the same disk.

use std::path::Path;

use super::place::Place;

/// The 99th percentiles of each round, in milliseconds.
pub(crate) struct Appended {
    pub(crate) plain: Vec<f64>,
    pub(crate) append: Vec<f64>,
    /// Events of the journal at the end.
    pub(crate) events: usize,
}

/// `program`: the example of the store that measures both in turn. On the disk that temp folders are on: in
/// memory nothing is made durable.
pub(crate) fn run(place: &Place, program: &Path, rounds: usize) -> Result<Appended, String> {
    let folder = std::env::temp_dir();
    let said = place.said(program, &[&folder.display().to_string(), &rounds.to_string()])?;
    let mut appended = Appended {
        plain: Vec::new(),
        append: Vec::new(),
        events: 0,
    };
    for line in said.lines() {
        let figures: Vec<f64> = line
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [_, plain, _, append, _] = figures[..] else {
            return Err(format!("`{line}` is no round"));
        };
        appended.plain.push(plain);
        appended.append.push(append);
        let events = line.split_whitespace().last().and_then(|word| word.parse().ok());
        appended.events = events.unwrap_or(0);
    }
    Ok(appended)
}
