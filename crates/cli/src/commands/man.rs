//! `crew man`: the manual.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_mangen::Man as Page;

use crate::arguments::Arguments;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use client::error::Doing as _;

/// Print the manual page, or write a page per command into a folder
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder.
    folder: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit> {
        let mut command = Arguments::command();
        command.build();
        let Some(folder) = self.folder else {
            let mut page = Vec::new();
            Page::new(command).render(&mut page).doing("write", "crew.1")?;
            context.out.bytes(&page)?;
            return Ok(Exit::Done);
        };
        let folder = context.dir.join(folder);
        std::fs::create_dir_all(&folder).doing("make", &folder)?;
        let subcommands = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set() && command.get_name() != "help")
            .cloned();
        let pages: Vec<(String, clap::Command)> = subcommands
            .map(|command| {
                let name = format!("crew-{}", command.get_name());
                (name.clone(), command.display_name(name))
            })
            .chain([("crew".to_owned(), command.clone())])
            .collect();
        for (name, command) in pages {
            let path = folder.join(format!("{name}.1"));
            let mut page = Vec::new();
            Page::new(command).render(&mut page).doing("write", &path)?;
            std::fs::write(&path, page).doing("write", &path)?;
        }
        Ok(Exit::Done)
    }
}
