//! The demonstration in a browser: the page of its repository, with devices of its own.

use web::{App, Listener, Options, Scope, Taken, pairing};

use super::Ground;
use crate::commands::web::link;
use crate::context::Context;
use crate::error::{Error, Result};
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
    /// Serves the page on a free port, and says how a browser is paired. The port is not that of `crew web`,
    /// so that a browser that is paired there stays so.
    pub(crate) async fn serve(context: &mut Context, ground: &Ground, place: &Place) -> Result<Self> {
        let state_dir = pairing::state_dir(&ground.env)?;
        let listener = match Listener::bind(&state_dir, 0, &place.root).await {
            Ok(listener) => listener,
            Err(Taken::Failed(error)) => return Err(error.into()),
            Err(taken) => return Err(Error::refused(taken.to_string(), "try it again")),
        };
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
