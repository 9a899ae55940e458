//! The demonstration in a browser: the page of its repository, with devices of its own.

use web::{App, Listener, Options, Scope, pairing};

use super::Ground;
use crate::commands::web::link;
use crate::context::Context;
use crate::error::Result;
use crate::ui::Style;
use client::documents::WebServed;
use runtime::Place;
use tokio::task::JoinHandle;

/// The page, served until this is dropped.
pub(crate) struct Page(JoinHandle<std::convert::Infallible>);

impl Drop for Page {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Page {
    /// Serves the page, and says how a browser is paired.
    ///
    /// # Errors
    ///
    /// The folder of the pairing, or the repository, cannot be used.
    pub(crate) fn serve(
        context: &mut Context,
        ground: &Ground,
        place: &Place,
        listener: Listener,
    ) -> Result<Self> {
        let state_dir = pairing::state_dir(&ground.env)?;
        let port = listener.port();
        let code = pairing::give(&state_dir, Scope::Act, None)?;
        let app = App::start(Options {
            place: place.clone(),
            person: context.person(),
            env: ground.whole_env(),
            port,
            state_dir,
            origin: None,
        })?;
        let page = Self(tokio::spawn(listener.serve(app)));
        let link = link(port, &code);
        if context.json {
            context.out.json_line(&WebServed {
                url: format!("http://127.0.0.1:{port}/"),
                pair: link,
            })?;
        } else {
            let out = &mut context.out;
            out.wrapped("See it in a browser, by this link:", 0, Style::Plain)?;
            out.styled(&format!("  {link}"), Style::Cyan)?;
            out.line("")?;
        }
        context.out.flush()?;
        Ok(page)
    }
}
