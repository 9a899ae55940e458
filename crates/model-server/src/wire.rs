//! The wire formats, one file each.

mod anthropic;

use serde_json::Value;

use crate::reply::Reply;
use crate::tool::OfferedTool;
use crate::turn::Turn;

pub(crate) use anthropic::Anthropic;

/// A wire format: how the requests of a kind of client are read, and how replies are written.
pub(crate) trait Wire: Send + Sync {
    /// Reads the body of a request.
    fn read(&self, body: &Value) -> TurnRequest;
    /// The reply as one body, for a client that wants no stream.
    fn whole(&self, reply: &Reply) -> Value;
    /// The events that open the stream, before any content.
    fn opening(&self, reply: &Reply) -> Vec<Frame>;
    /// The other events of the stream.
    fn rest(&self, reply: &Reply) -> Vec<Frame>;
    /// The body of a failure.
    fn failure(&self, status: u16, message: &str) -> Value;
}

/// A request for a turn of the model.
#[derive(Clone, Debug)]
pub(crate) struct TurnRequest {
    pub(crate) model: String,
    pub(crate) streams: bool,
    /// The conversation, oldest first. Successive messages of the model are one turn.
    pub(crate) turns: Vec<Turn>,
    pub(crate) tools: Vec<OfferedTool>,
}

/// One server-sent event.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The name of the event, in formats that have one.
    pub(crate) event: Option<&'static str>,
    pub(crate) data: Value,
}

impl Frame {
    /// The event as it is sent.
    pub(crate) fn text(&self) -> String {
        let event = self
            .event
            .map(|event| format!("event: {event}\n"))
            .unwrap_or_default();
        format!("{event}data: {}\n\n", self.data)
    }
}

/// Cuts a text into pieces of at most this many characters; an empty text is one empty piece.
pub(crate) fn pieces(text: &str, characters: usize) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    if all.is_empty() {
        return vec![String::new()];
    }
    all.chunks(characters)
        .map(|piece| piece.iter().collect())
        .collect()
}
