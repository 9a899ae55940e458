//! `crew web devices`: the devices that are paired.

use clap::Args;
use web::pairing;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::{self, Style, Table};
use client::clock;
use client::documents::{WebDevice, WebDevices};

/// List the devices that are paired with the page
#[derive(Debug, Args)]
pub(super) struct Devices {}

impl Devices {
    pub(super) fn run(self, context: &mut Context) -> Result<Exit> {
        let paired = pairing::list(&pairing::state_dir(&context.env)?)?;
        let devices: Vec<WebDevice> = paired.iter().map(pairing::Paired::document).collect();
        if context.json {
            context.out.json(&WebDevices { devices })?;
            return Ok(Exit::Done);
        }
        if devices.is_empty() {
            let says = "no device is paired: `crew web` prints a link that pairs one";
            context.out.wrapped(says, 0, Style::Dim)?;
            return Ok(Exit::Done);
        }
        let now = clock::now();
        let mut table = Table::new(&["ID", "NAME", "MAY", "PAIRED", "LAST USED"], &[]);
        for device in &devices {
            table.row([
                device.id.as_str().into(),
                device.name.as_str().into(),
                device.scope.into(),
                format!("{} ago", ui::span(now.since(device.paired_at.0))).into(),
                format!("{} ago", ui::span(now.since(device.last_used.0))).into(),
            ]);
        }
        context.out.table(&table)?;
        Ok(Exit::Done)
    }
}
