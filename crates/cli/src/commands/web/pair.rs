//! `crew web pair`: a link that pairs one more device.

use clap::Args;
use web::{Serving, pairing};

use super::serve::{PORT, link, told_link};
use super::{qr, scope};
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui::Style;
use client::clock;
use client::documents::WebPairing;
use model::{Moment, Time};

/// Print a link, and its QR code, that pairs one more browser with the page
#[derive(Debug, Args)]
pub(super) struct Pair {
    /// Let the device look, and not act.
    #[arg(long)]
    look: bool,
    /// The name of the device, for the list and for the history; otherwise the browser gives its own.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

impl Pair {
    pub(super) fn run(self, context: &mut Context) -> Result<Exit> {
        let state_dir = pairing::state_dir(&context.env)?;
        let serving = Serving::all(&state_dir);
        let root = context.place().ok().map(|place| place.root);
        let mine = serving
            .iter()
            .find(|serving| Some(&serving.root) == root.as_ref());
        let port = mine.or(serving.first()).map(|serving| serving.port);
        let code = pairing::give(&state_dir, scope(self.look), self.name.as_deref())?;
        let link = link(port.unwrap_or(PORT), &code);
        if context.json {
            let lasts = i64::try_from(pairing::LASTS.as_millis()).unwrap_or_default();
            context.out.json(&WebPairing {
                pair: link,
                scope: scope(self.look).name(),
                ends_at: Moment(Time(clock::now().0.saturating_add(lasts))),
            })?;
            return Ok(Exit::Done);
        }
        told_link(context, port.unwrap_or(PORT), &code, self.look)?;
        let out = &mut context.out;
        if out.terminal.is
            && out.terminal.colour
            && let Some(picture) = qr::picture(&link)
        {
            out.write("\n")?;
            out.write(&picture)?;
            out.write("\n")?;
        }
        if port.is_none() {
            let says = "no page is served now: start `crew web` in another terminal first";
            out.wrapped(says, 0, Style::Yellow)?;
        }
        Ok(Exit::Done)
    }
}
