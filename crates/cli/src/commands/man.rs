//! `crew man`: the manual.

mod as_text;
mod synopsis;

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man as Page;

use crate::arguments::Arguments;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui::{page_table, show_with_man};
use client::error::Doing as _;

/// Show the manual page of crew or of a command, or write all pages into a folder
///
/// In a terminal `man` shows the page. Without `man`, and in a pipe, it is plain text.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The command whose page is shown; without it, crew's own page.
    command: Option<String>,
    /// Write a page per command into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    into: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit> {
        let mut grammar = Arguments::command();
        grammar.build();
        let page = match (&self.into, &self.command) {
            (Some(folder), _) => {
                write_all(&grammar, &context.dir.join(folder))?;
                return Ok(Exit::Done);
            }
            (None, None) => grammar,
            (None, Some(name)) => page_of(&grammar, name)?,
        };
        let roff = roff(page).doing("write", "the page")?;
        if show_with_man(context, &roff)? {
            return Ok(Exit::Done);
        }
        let columns = context.out.terminal.columns.unwrap_or(80);
        page_table(context, &as_text::text(&roff, columns))?;
        Ok(Exit::Done)
    }
}

/// A page in roff.
fn roff(command: Command) -> std::io::Result<String> {
    let synopsis = synopsis::section(&command);
    let has_commands = command.get_subcommands().any(|one| !one.is_hide_set());
    // Those of the program have pages of their own, and those of a command stand on its page.
    let have_pages = command.get_name() == "crew";
    let commands = synopsis::of_commands(&command);
    let has_version = command.get_version().is_some();
    let more = command
        .get_after_long_help()
        .or(command.get_after_help())
        .is_some();
    let page = Page::new(command);
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    text.extend(synopsis.into_bytes());
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if has_commands && have_pages {
        page.render_subcommands_section(&mut text)?;
    } else if has_commands {
        text.extend(commands.into_bytes());
    }
    if more {
        page.render_extra_section(&mut text)?;
    }
    if has_version {
        page.render_version_section(&mut text)?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The commands that have a page, each under the name of the page.
fn pages(grammar: &Command) -> impl Iterator<Item = Command> {
    let shown = grammar
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help");
    shown.map(|command| {
        let name = format!("crew-{}", command.get_name());
        command.clone().display_name(name)
    })
}

/// The command that is meant, or the only one that begins so.
fn page_of(grammar: &Command, name: &str) -> Result<Command> {
    let name = name.strip_prefix("crew-").unwrap_or(name);
    let mut pages: Vec<Command> = pages(grammar).collect();
    if let Some(at) = pages.iter().position(|page| page.get_name() == name) {
        return Ok(pages.swap_remove(at));
    }
    let near = model::settings::nearest(name, pages.iter().map(Command::get_name));
    let hint = near.map_or_else(
        || "crew --help lists the commands".to_owned(),
        |near| format!("did you mean crew man {near}?"),
    );
    pages.retain(|page| page.get_name().starts_with(name));
    match (pages.len(), pages.pop()) {
        (1, Some(page)) => Ok(page),
        _ => Err(Error::usage(
            format!("crew has no command {}", text::quoted(name)),
            hint,
        )),
    }
}

fn write_all(grammar: &Command, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).doing("make", folder)?;
    for command in pages(grammar).chain([grammar.clone()]) {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        let path = folder.join(format!("{name}.1"));
        let page = roff(command).doing("write", &path)?;
        std::fs::write(&path, page).doing("write", &path)?;
    }
    Ok(())
}
