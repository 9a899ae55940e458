//! `crew mcp`: crew's tools for an agent's client.

use clap::Args;
use mcp::Caller;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;

/// Serve crew's tools to an agent's client (Model Context Protocol, on standard input and output)
#[derive(Debug, Args)]
pub(crate) struct Mcp {}

impl Mcp {
    pub(crate) async fn run(self, context: &Context) -> Result<Exit> {
        let caller = caller(context)?;
        match mcp::serve(caller).await {
            Ok(()) => Ok(Exit::Done),
            Err(error) => Err(Error::refused(
                text::with_causes(&error),
                "an agent's client starts it; `crew tool` calls a tool by hand",
            )),
        }
    }
}

/// The agent whose process this is.
pub(super) fn caller(context: &Context) -> Result<Caller> {
    Caller::of(&context.env).map_err(|error| {
        Error::usage(
            error.to_string(),
            "an agent calls tools in its step: crew sets its environment (docs/agents.md, Tools)",
        )
    })
}
