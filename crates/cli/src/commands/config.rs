//! `crew config`: the settings as they count, or their schema.

use clap::{Args, ValueEnum};

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use client::documents;

/// Print the settings with every default filled in, or a JSON schema
#[derive(Debug, Args)]
pub(crate) struct Config {
    /// The JSON schema of crew.toml, or (`--schema documents`) of what --json prints.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, default_missing_value = "settings", hide_possible_values = true)]
    schema: Option<Schema>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Schema {
    /// Of crew.toml.
    Settings,
    /// Of what --json prints.
    Documents,
}

impl Config {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit> {
        if let Some(what) = self.schema {
            context.out.json(&match what {
                Schema::Settings => documents::of_settings(),
                Schema::Documents => documents::of_documents(),
            })?;
            return Ok(Exit::Done);
        }
        let (_, settings) = context.ready()?;
        if context.json {
            context.out.json(&settings)?;
        } else {
            let text = toml::to_string_pretty(&settings).unwrap_or_default();
            context.out.text(&text)?;
        }
        Ok(Exit::Done)
    }
}
