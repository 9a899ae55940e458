//! `crew config`: the settings as they count, or their schema.

use clap::Args;
use model::settings::Settings;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;

/// Print the settings with every default filled in, or their JSON schema
#[derive(Debug, Args)]
pub(crate) struct Config {
    /// The JSON schema of crew.toml.
    #[arg(long)]
    schema: bool,
}

impl Config {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit> {
        if self.schema {
            context.out.json(&Settings::schema())?;
            return Ok(Exit::Done);
        }
        let (_, settings) = context.ready()?;
        let value = serde_json::to_value(&settings).unwrap_or_default();
        if context.json {
            context.out.json(&value)?;
        } else {
            let text = toml::to_string_pretty(&settings).unwrap_or_default();
            context.out.text(&text)?;
        }
        Ok(Exit::Done)
    }
}
