//! `crew web revoke`: a device may do nothing any more.

use clap::Args;
use web::pairing;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::Style;
use client::documents::WebRevoked;

/// Let a paired device look and act no more, from now on
#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// Its name or id, as `crew web devices` lists them.
    #[arg(value_name = "NAME|ID")]
    device: String,
}

impl Revoke {
    pub(super) fn run(self, context: &mut Context) -> Result<Exit> {
        let revoked = pairing::revoke(&pairing::state_dir(&context.env)?, &self.device)?;
        if context.json {
            context.out.json(&WebRevoked {
                revoked: revoked.document(),
            })?;
        } else {
            let says = format!(
                "{} is revoked: its pages show nothing more from now on",
                revoked.name
            );
            context.out.wrapped(&says, 0, Style::Plain)?;
        }
        Ok(Exit::Done)
    }
}
