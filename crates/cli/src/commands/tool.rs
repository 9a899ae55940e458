//! `crew tool`: call one of crew's tools, from an agent's program.

use std::io::Read as _;
use std::path::Path;

use clap::Args;
use serde_json::Value;

use super::mcp::caller;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use client::error::Doing as _;

/// Call a tool of crew's from an agent's program; list the tools
#[derive(Debug, Args)]
pub(crate) struct Tool {
    /// The tool; without it, the tools that the agent has are listed.
    name: Option<String>,
    /// Its arguments as a JSON object; `-` reads them from standard input.
    #[arg(value_name = "JSON", default_value = "{}")]
    arguments: String,
}

impl Tool {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit> {
        let caller = caller(context)?;
        let Some(name) = self.name else {
            for tool in caller.tools() {
                let describes = tool.describes.replace('\n', " ");
                context.out.line(tool.name)?;
                context.out.line(&format!("  {describes}"))?;
                context.out.line(&format!("  {}", Value::Object(tool.schema)))?;
            }
            return Ok(Exit::Done);
        };
        let written = match self.arguments.as_str() {
            "-" => {
                let mut written = String::new();
                std::io::stdin()
                    .read_to_string(&mut written)
                    .doing("read the arguments from", Path::new("standard input"))?;
                written
            }
            _ => self.arguments,
        };
        let arguments: Value = serde_json::from_str(&text::mended_json(&written)).map_err(|error| {
            Error::usage(
                format!("the arguments of {} are no JSON: {error}", text::quoted(&name)),
                "they are one object: crew tool team_comment '{\"text\": \"…\"}'",
            )
        })?;
        let reply = caller
            .call(&name, arguments)
            .map_err(|error| Error::refused(text::with_causes(&error), error.hint()))?;
        context.out.text(&reply.says)?;
        context.out.line("")?;
        Ok(match reply.accepted {
            true => Exit::Done,
            false => Exit::Failed,
        })
    }
}
