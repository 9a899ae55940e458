//! Compaction: the answer to a client that asks for a summary of its conversation and then continues from it.

use serde_json::Value;

use crate::script::{Op, Script, Step};
use crate::turn::{Speaker, Turn};

/// The phrases by which clients ask for a summary.
const PHRASES: [&str; 2] = [
    "create a detailed summary of the conversation",
    "CONTEXT CHECKPOINT COMPACTION",
];

/// The conversation before the request for a summary, if the newest user text is such a request.
pub(crate) fn summarised(turns: &[Turn]) -> Option<&[Turn]> {
    let place = turns.iter().rposition(|turn| turn.speaker == Speaker::User)?;
    let text = &turns.get(place)?.text;
    let asks = PHRASES.iter().any(|phrase| text.contains(phrase));
    if asks { turns.get(..place) } else { None }
}

/// A summary that contains the rest of the script, so that the run continues where it was.
pub(crate) fn step(script: &Script, index: usize) -> Step {
    let rest = script.source.get(index..).unwrap_or_default();
    let rest = Value::Array(rest.to_vec());
    let text = format!(
        "<analysis>none</analysis>\n<summary>{index} steps are done; what is left: @@{rest}@@</summary>"
    );
    Step {
        ops: vec![Op::Text(text)],
        ..Step::default()
    }
}
