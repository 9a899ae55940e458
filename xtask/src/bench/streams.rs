//! How fast a client's stream is read, beside the skipping of its lines by serde_json.

use std::path::Path;

use super::place::Place;

/// The streams, and what they are made of.
pub(crate) const STREAMS: [(&str, &str); 3] = [
    ("replies", "replies in pieces, and text"),
    ("work", "replies, and tools with results of 100 lines"),
    ("results", "results of 2000 lines"),
];

/// The speeds of one stream in each round, in MB a second.
pub(crate) struct Streamed {
    /// One of [`STREAMS`].
    pub(crate) name: &'static str,
    pub(crate) skip: Vec<f64>,
    /// Of the engine's reader.
    pub(crate) reader: Vec<f64>,
    /// Of the transcript, for people.
    pub(crate) transcript: Vec<f64>,
}

/// `program`: the example of the harness that measures them in turn.
pub(crate) fn run(place: &Place, program: &Path, rounds: usize) -> Result<Vec<Streamed>, String> {
    let said = place.said(program, &[&rounds.to_string()])?;
    let mut streams: Vec<Streamed> = STREAMS
        .iter()
        .map(|(name, _)| Streamed {
            name,
            skip: Vec::new(),
            reader: Vec::new(),
            transcript: Vec::new(),
        })
        .collect();
    for line in said.lines() {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        let figures: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
        let stream = streams.iter_mut().find(|stream| stream.name == name);
        let (Some(stream), [skip, reader, transcript]) = (stream, &figures[..]) else {
            return Err(format!("`{line}` is no round"));
        };
        stream.skip.push(*skip);
        stream.reader.push(*reader);
        stream.transcript.push(*transcript);
    }
    Ok(streams)
}
