//! The wire formats: one file each, values in and values out.

mod anthropic;

use serde_json::Value;

use crate::cue::Turn;
use crate::reply::Reply;
use crate::tool::Offered;

pub(crate) use anthropic::Anthropic;

/// How a kind of client asks, and how it is answered.
pub(crate) trait Wire: Send + Sync {
    /// What a request's body says.
    fn read(&self, body: &Value) -> Asked;
    /// The answer as one body, for a client that asks for no stream.
    fn whole(&self, reply: &Reply) -> Value;
    /// What opens the stream, before anything is said.
    fn opening(&self, reply: &Reply) -> Vec<Frame>;
    /// The rest of the stream.
    fn rest(&self, reply: &Reply) -> Vec<Frame>;
    /// The body of a failure.
    fn failure(&self, status: u16, message: &str) -> Value;
}

/// A request, as far as the script needs it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) model: String,
    pub(crate) streams: bool,
    /// The conversation, oldest first. A row of messages by the model is one turn.
    pub(crate) turns: Vec<Turn>,
    pub(crate) tools: Vec<Offered>,
}

/// One server-sent event.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// Its name, in formats that have them.
    pub(crate) event: Option<&'static str>,
    pub(crate) data: Value,
}

impl Frame {
    /// As it is sent.
    pub(crate) fn text(&self) -> String {
        let event = self
            .event
            .map(|event| format!("event: {event}\n"))
            .unwrap_or_default();
        format!("{event}data: {}\n\n", self.data)
    }
}

/// The parts of at most so many characters; one empty part of nothing.
pub(crate) fn pieces(text: &str, characters: usize) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    if all.is_empty() {
        return vec![String::new()];
    }
    all.chunks(characters)
        .map(|piece| piece.iter().collect())
        .collect()
}
