//! The kind `command`: any program that reads a prompt and prints lines.
//!
//! The program reads the prompt from standard input. On standard output it may print directives, each alone
//! on a line (`DONE`, `BLOCKED: why`, `QUESTION: text`, `WAKEUP: 10m why`, `MODE: plan`, `SUMMARY: text`),
//! and records in JSON (see `record.rs`). A step ends well when the program exits with 0.

mod line;
mod reader;
mod record;

use std::collections::BTreeMap;
use std::path::Path;

use crate::client::{Harness, Installation, Reader};
use crate::environment::Environment;
use crate::error::Result;
use crate::kind::Kind;
use crate::program::Program;
use crate::step::{Launch, Session, StepRequest};
use reader::CommandReader;

/// The kind `command`.
pub(crate) const KIND: Kind = Kind {
    name: "command",
    pass_env: &[],
    client: |table, env| {
        Box::new(Command::new(
            &table.name,
            &table.command,
            &table.args,
            &table.root,
            env,
        ))
    },
    reader: |_, _| Box::new(CommandReader::default()),
    entries: line::entries,
};

/// A client that is any program of the user's own.
#[derive(Clone, Debug)]
pub struct Command {
    program: Program,
    env: Environment,
}

impl Command {
    /// Makes the client of the table `[harness.<name>]`.
    ///
    /// `command` and then `args` are the program and its arguments, one word each; no shell reads them. A
    /// relative path begins at `root`, the absolute path of the folder of `crew.toml`: in its workspace an
    /// agent could replace the program. `env` is the base environment, from
    /// [`assemble`](crate::environment::assemble).
    pub fn new(name: &str, command: &[String], args: &[String], root: &Path, env: Environment) -> Self {
        Self {
            program: Program::new(name, [command, args].concat(), root, None),
            env,
        }
    }
}

impl Harness for Command {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn check(&self) -> Result<Installation> {
        let (program, _) = self.program.find(&self.env)?;
        Ok(Installation {
            program,
            version: None,
        })
    }

    fn start(&self, step: &StepRequest) -> Result<Launch> {
        let (program, args) = self.program.split()?;
        let mut env = self.env.clone();
        env.extend(step.env.clone());
        env.extend(step.variables()?);
        Ok(Launch {
            run_id: step.run_id.clone(),
            program,
            args: args.iter().map(Into::into).collect(),
            env,
            cwd: step.workspace.clone(),
            stdin: Some(step.prompt.clone()),
            token: step.token(),
            files: BTreeMap::new(),
        })
    }

    fn reader(&self, _session: &Session) -> Box<dyn Reader> {
        Box::new(CommandReader::default())
    }
}
