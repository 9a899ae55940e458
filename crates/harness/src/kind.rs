//! The kinds of agent client: how a client of a kind is made, and how its output is read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::client::{Harness, Reader};
use crate::entry::Entry;
use crate::environment::{Environment, assemble};
use crate::error::Result;
use crate::lines::Line;
use crate::money::Price;
use crate::step::Session;
use crate::transcript::Memory;

/// A kind of agent client: how a client is made from the settings, and how the output of a run is read.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The name of the kind: the value of the key `kind` in `[harness.<name>]`.
    pub name: &'static str,
    /// The variables that clients of this kind inherit besides those that every client does.
    pub(crate) pass_env: &'static [&'static str],
    /// Makes a client from its table and its base environment.
    pub(crate) client: fn(&Table, Environment) -> Box<dyn Harness>,
    /// Makes a reader for one run.
    pub(crate) reader: fn(&Session, Option<Price>) -> Box<dyn Reader>,
    /// Reads one line of output into entries of a transcript; `false` when the line is not of this kind's
    /// output format.
    pub(crate) entries: fn(&mut Memory, &Line<'_>, &mut dyn FnMut(Entry)) -> bool,
}

/// One client as the settings describe it: the table `[harness.<name>]`, and where it was read.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The name of the client.
    pub name: String,
    /// The program and its first arguments, one word each.
    pub command: Vec<String>,
    /// Further arguments.
    pub args: Vec<String>,
    /// The model; `None` leaves the choice to the client.
    pub model: Option<String>,
    /// The price of tokens, where the user states one.
    pub price: Option<Price>,
    /// The variables to set for the client.
    pub env: BTreeMap<String, String>,
    /// The names of variables that the client inherits from crew.
    pub pass_env: Vec<String>,
    /// The folder of `crew.toml`, absolute: a relative path of a program begins there.
    pub root: PathBuf,
    /// Whether crew runs as root.
    pub is_root: bool,
}

impl Kind {
    /// Makes the client that a table describes. `ours` is crew's own environment.
    ///
    /// Errors: those of [`assemble`].
    pub fn client(&self, table: &Table, ours: &Environment) -> Result<Box<dyn Harness>> {
        let own = self.pass_env.iter().map(|name| (*name).to_owned());
        let pass: Vec<String> = table.pass_env.iter().cloned().chain(own).collect();
        let env = assemble(ours, &table.env, &pass)?;
        Ok((self.client)(table, env))
    }

    /// Makes a reader for the output of a run that was started by a client of this kind. No settings are
    /// needed, so a run can be read after its table was changed or removed; `price` only serves to estimate
    /// the cost of a killed step.
    pub fn reader(&self, session: &Session, price: Option<Price>) -> Box<dyn Reader> {
        (self.reader)(session, price)
    }
}
