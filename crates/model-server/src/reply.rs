//! One turn of the model, before it is put in a wire format.

use serde_json::Value;

use crate::script::{Op, Step, Usage};
use crate::tool::{self, Offered};

/// A turn of the model.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// Unlike any other's, also of another service.
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) blocks: Vec<Block>,
    /// In the wire format's words; `None` for what the blocks mean.
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
    /// What a step says, by the tools that the client offers.
    pub(crate) fn of(step: &Step, model: &str, offered: &[Offered]) -> Self {
        let thinking = step.thinking.clone().map(Block::Thinking);
        let ops = step.ops.iter().map(|op| match op {
            Op::Text(text) => Block::Text(text.clone()),
            Op::Bash(command) => call(tool::bash(command, offered)),
            Op::Write { path, content } => call(tool::write(path, content, offered)),
            Op::Tool { name, input } => call((name.clone(), input.clone())),
        });
        Self {
            id: fresh(),
            model: model.to_owned(),
            blocks: thinking.into_iter().chain(ops).collect(),
            stop: step.stop.clone(),
            usage: step.usage,
        }
    }

    /// Whether it calls a tool.
    pub(crate) fn calls(&self) -> bool {
        self.blocks
            .iter()
            .any(|block| matches!(block, Block::Call { .. }))
    }
}

fn call((name, input): (String, Value)) -> Block {
    Block::Call {
        id: fresh(),
        name,
        input,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a session outlives the service, so its ids must not come again"
)]
pub(crate) fn fresh() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
