//! When a client asks for a summary of the conversation, to go on from it.

use serde_json::Value;

use crate::cue::{Turn, Who};
use crate::script::{Op, Script, Step};

/// How the clients ask.
const ASKS: [&str; 2] = [
    "create a detailed summary of the conversation",
    "CONTEXT CHECKPOINT COMPACTION",
];

/// The conversation before the question, if the newest user text is one.
pub(crate) fn asked(turns: &[Turn]) -> Option<&[Turn]> {
    let place = turns.iter().rposition(|turn| turn.who == Who::User)?;
    let text = &turns.get(place)?.text;
    let asks = ASKS.iter().any(|ask| text.contains(ask));
    if asks { turns.get(..place) } else { None }
}

/// A summary with the rest of the script, so that the run goes on where it was.
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
