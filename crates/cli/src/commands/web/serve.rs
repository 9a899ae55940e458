//! `crew web [DIR]`: serves the page until it is interrupted.

use std::path::{Path, PathBuf};

use clap::Args;
use web::{App, Listener, Options, Taken, pairing};

use super::{browser, scope};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupts::interrupts;
use crate::ui::Style;
use client::documents::WebServed;
use client::error::Doing as _;
use client::follow;
use client::repository::journal;
use runtime::Place;

/// The port unless another is asked for. A browser is paired with the port, too.
pub(super) const PORT: u16 = 7627;

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// The repository that is shown, if it is not that of the current folder.
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    folder: Option<PathBuf>,
    /// The port of 127.0.0.1 that is listened on; 0 takes any that is free.
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    port: u16,
    /// Open the page in a browser, and pair it.
    #[arg(long)]
    open: bool,
    /// Let the device that is paired by the link look, and not act.
    #[arg(long)]
    look: bool,
}

impl Serve {
    pub(super) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = self.place(context)?;
        // What cannot be read is told here, where somebody looks, before any browser is paired.
        follow::present(journal(&place).await?.as_ref()).await?;
        let state_dir = pairing::state_dir(&context.env)?;
        let mut interrupt = interrupts()?;
        let listener = match Listener::bind(&state_dir, self.port, &place.root).await {
            Ok(listener) => listener,
            Err(Taken::ByCrew { port, root }) if root.as_ref() == Some(&place.root) => {
                return self.again(context, &state_dir, port);
            }
            Err(taken) => return Err(refused(taken, "crew web")),
        };
        let port = listener.port();
        let code = pairing::give(&state_dir, scope(self.look), None)?;
        let app = App::start(Options {
            place: place.clone(),
            person: context.person(),
            env: context.whole_env.clone(),
            port,
            state_dir: state_dir.clone(),
            origin: None,
        })?;
        let serving = tokio::spawn(listener.serve(app));
        // What goes wrong with it is one warning, and no matter of the page's.
        let warn = |warning: &str| crate::ui::warn(warning);
        let page = url(port).trim_end_matches('/').to_owned();
        let notifier = notify::Inside::start(place.clone(), context.whole_env.clone(), Some(page), warn);
        self.tell(context, &place, port, &code)?;
        let opened = if self.open {
            browser::open(context, &state_dir, &link(port, &code))?
        } else {
            None
        };
        context.out.flush()?;
        interrupt.recv().await;
        serving.abort();
        drop(notifier);
        drop(opened);
        Ok(Exit::Interrupted)
    }

    /// The repository that is shown.
    fn place(&self, context: &Context) -> Result<Place> {
        let Some(dir) = &self.folder else {
            return Ok(context.place()?);
        };
        let dir = context.dir.join(dir);
        if !dir.is_dir() {
            return Err(Error::usage(
                format!("{} is not a folder", dir.display()),
                "`crew web` takes the folder of a repository, or one of its own commands: `crew web --help`",
            ));
        }
        let dir = dir.canonicalize().doing("find", dir)?;
        Ok(Place::find(&dir, &context.env)?)
    }

    /// Says where the page is and how a browser is paired.
    fn tell(&self, context: &mut Context, place: &Place, port: u16, code: &str) -> Result<()> {
        if context.json {
            return context.out.json_line(&WebServed {
                url: url(port),
                pair: link(port, code),
            });
        }
        let out = &mut context.out;
        let name = place.root.file_name().unwrap_or_default().to_string_lossy();
        out.wrapped(&format!("the page of {name} is at {}", url(port)), 0, Style::Bold)?;
        told_link(context, port, code, self.look)?;
        let out = &mut context.out;
        if !place.journal.exists() {
            let has_settings = place.settings_path.exists();
            let first = if has_settings {
                "`crew run` begins"
            } else {
                "`crew init` sets crew up"
            };
            out.wrapped(&format!("crew has not run here yet: {first}"), 2, Style::Yellow)?;
        }
        out.wrapped(
            "Ctrl-C ends the page. Whatever runs here runs on without it.",
            0,
            Style::Dim,
        )
    }

    /// The page of this repository is served already: a fresh link is all there is to give.
    fn again(&self, context: &mut Context, state_dir: &Path, port: u16) -> Result<Exit> {
        let code = pairing::give(state_dir, scope(self.look), None)?;
        if context.json {
            context.out.json_line(&WebServed {
                url: url(port),
                pair: link(port, &code),
            })?;
            return Ok(Exit::Done);
        }
        let what = format!(
            "another `crew web` serves this repository already, at {}",
            url(port)
        );
        context.out.wrapped(&what, 0, Style::Bold)?;
        told_link(context, port, &code, self.look)?;
        if self.open {
            browser::open(context, state_dir, &link(port, &code))?;
        }
        Ok(Exit::Done)
    }
}

/// The address of the page.
fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/")
}

/// The link that pairs a browser by a code, which stands where no server and no log sees it.
pub(crate) fn link(port: u16, code: &str) -> String {
    format!("http://127.0.0.1:{port}/pair#{code}")
}

/// The link, and what it is for.
pub(super) fn told_link(context: &mut Context, port: u16, code: &str, look: bool) -> Result<()> {
    let out = &mut context.out;
    let may = if look { "look" } else { "look and act" };
    out.wrapped(
        &format!("Open this link in the browser that is to {may}. It works once, within ten minutes:"),
        0,
        Style::Plain,
    )?;
    // A line to be copied is never cut.
    out.styled(&format!("  {}", link(port, code)), Style::Cyan)
}

/// Why a command does not listen on its port, and what to do.
pub(crate) fn refused(taken: Taken, command: &str) -> Error {
    let (what, port) = match taken {
        Taken::ByCrew {
            port,
            root: Some(root),
        } => {
            let root = text::sanitise::line(&root.to_string_lossy());
            (
                format!("the port {port} is taken by the `crew web` of {root}"),
                port,
            )
        }
        Taken::ByCrew { port, root: None } => {
            (format!("the port {port} is taken by another `crew web`"), port)
        }
        Taken::ByAnother { port } => (format!("the port {port} is taken by another program"), port),
        Taken::Failed(error) => return error.into(),
    };
    let other = port.checked_add(1).unwrap_or(PORT);
    Error::refused(what, format!("`{command} --port {other}` takes another port"))
}
