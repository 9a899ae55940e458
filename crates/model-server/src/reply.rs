//! A reply of the model, independent of the wire format.

use serde_json::Value;

use crate::script::{Op, Step, Usage};
use crate::tool::{self, OfferedTool};

/// A reply of the model.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// Unique, also among several services.
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) blocks: Vec<Block>,
    /// The reason to stop, as the wire format names it; `None` for the one that follows from the blocks.
    pub(crate) stop: Option<String>,
    pub(crate) usage: Usage,
}

#[derive(Clone, Debug)]
pub(crate) enum Block {
    Thinking(String),
    Text(String),
    Call { id: String, name: String, input: Value },
}

impl Reply {
    /// The reply of a step, with calls of the tools that the client offers.
    pub(crate) fn of(step: &Step, model: &str, offered: &[OfferedTool]) -> Self {
        let thinking = step.thinking.clone().map(Block::Thinking);
        let ops = step.ops.iter().map(|op| match op {
            Op::Text(text) => Block::Text(text.clone()),
            Op::Bash(command) => call(tool::bash(command, offered)),
            Op::Write { path, content } => call(tool::write(path, content, offered)),
            Op::Tool { name, input } => call((name.clone(), input.clone())),
        });
        Self {
            id: new_id(),
            model: model.to_owned(),
            blocks: thinking.into_iter().chain(ops).collect(),
            stop: step.stop.clone(),
            usage: step.usage,
        }
    }

    /// Whether the reply calls a tool.
    pub(crate) fn has_calls(&self) -> bool {
        self.blocks
            .iter()
            .any(|block| matches!(block, Block::Call { .. }))
    }
}

fn call((name, input): (String, Value)) -> Block {
    Block::Call {
        id: new_id(),
        name,
        input,
    }
}

/// A new unique id.
#[expect(
    clippy::disallowed_methods,
    reason = "a session outlives the service, so an id must never be used twice"
)]
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
