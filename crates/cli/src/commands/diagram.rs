//! `crew diagram`: a machine, drawn by exploring it.

use std::path::PathBuf;

use clap::Args;
use model::diagram;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use client::documents;
use client::error::Doing as _;

/// Print a machine as a Mermaid diagram, or list the machines
#[derive(Debug, Args)]
pub(crate) struct Diagram {
    /// Which machine.
    machine: Option<String>,
    /// Write a page for each machine into this folder.
    #[arg(long, value_name = "FOLDER", hide = true, conflicts_with = "machine")]
    all: Option<PathBuf>,
}

impl Diagram {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit> {
        if let Some(folder) = self.all {
            let folder = context.dir.join(folder);
            std::fs::create_dir_all(&folder).doing("make", &folder)?;
            for name in diagram::NAMES {
                let path = folder.join(format!("{name}.md"));
                let page = diagram::document(name).unwrap_or_default();
                std::fs::write(&path, page).doing("write", &path)?;
            }
            return Ok(Exit::Done);
        }
        let Some(asked) = self.machine else {
            if context.json {
                context.out.json(&documents::Machines {
                    machines: diagram::NAMES.to_vec(),
                })?;
            } else {
                for name in diagram::NAMES {
                    context.out.line(name)?;
                }
            }
            return Ok(Exit::Done);
        };
        let begins: Vec<&str> = diagram::NAMES
            .iter()
            .copied()
            .filter(|name| name.starts_with(&asked))
            .collect();
        let name = match begins.as_slice() {
            [one] => one,
            _ => diagram::NAMES
                .iter()
                .find(|name| **name == asked)
                .copied()
                .unwrap_or_default(),
        };
        let Some(text) = diagram::mermaid(name) else {
            return Err(Error::usage(
                format!("there is no machine named {asked}"),
                format!("the machines are {}", diagram::NAMES.join(", ")),
            ));
        };
        if context.json {
            context.out.json(&documents::Machine {
                machine: name,
                mermaid: text,
            })?;
        } else {
            context.out.write(&text)?;
        }
        Ok(Exit::Done)
    }
}
