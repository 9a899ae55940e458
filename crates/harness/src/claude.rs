//! `claude`: Claude Code, a process for each step.
//!
//! The prompt is on its standard input, its standard output is a document in JSON on each line, and a session goes on
//! by its id. What it says to crew, it says in its replies, in the same words as any program
//! (see [`Command`](crate::Command)).

mod ended;
mod line;
mod spent;
mod stream;
mod told;
mod version;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use process::find_program;

use crate::client::{Harness, Installation, Reader};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::money::Price;
use crate::step::{Launch, Session, StepRequest};
use stream::Stream;

/// The client's own variables that every step gets; the settings' `env` wins over them.
///
/// An agent that nobody watches speaks to the model's service and to nobody else, does not replace its own program while
/// others run it, leaves nothing in the user's home for the next ticket to remember, and leaves long waits to crew.
const OWN: [(&str, &str); 4] = [
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "4"),
];

/// Tools that would take it out of its workspace, or keep its process waiting for a time: for that there is `WAKEUP:`.
const NOT_OFFERED: &str = "EnterWorktree,ExitWorktree,CronCreate,CronDelete,CronList,ScheduleWakeup";

/// The variable that tells where the client's settings and its login are: it belongs to `HOME`, and passes with it.
pub const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// The client Claude Code.
#[derive(Clone, Debug)]
pub struct Claude {
    name: String,
    command: Vec<String>,
    model: Option<String>,
    args: Vec<String>,
    price: Option<Price>,
    root: PathBuf,
    env: Environment,
    is_root: bool,
}

/// The table `[harness.<name>]` of a [`Claude`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The program and its first arguments; empty: `claude`.
    pub command: Vec<String>,
    /// The model; `None`: the client's own choice.
    pub model: Option<String>,
    /// Appended to the arguments.
    pub args: Vec<String>,
    /// For what the client cannot tell: what a step cost that was killed.
    pub price: Option<Price>,
    /// Whether crew runs as root: the client then wants to hear that this is meant.
    pub is_root: bool,
}

impl Claude {
    /// From the table `[harness.<name>]`. `root`, absolute, is where a relative program begins (the folder of
    /// `crew.toml`: in the workspace an agent could replace it). `env` is its base environment, from
    /// [`assemble`](crate::environment::assemble).
    pub fn new(name: &str, options: Options, root: &Path, env: Environment) -> Self {
        let Options {
            mut command,
            model,
            args,
            price,
            is_root,
        } = options;
        if command.is_empty() {
            command.push("claude".to_owned());
        }
        Self {
            name: name.to_owned(),
            command,
            model,
            args,
            price,
            root: root.to_owned(),
            env,
            is_root,
        }
    }

    fn program(&self) -> Result<(PathBuf, &[String])> {
        match self.command.split_first() {
            // A bare name is left to `PATH`.
            Some((program, args)) if program.contains('/') => Ok((self.root.join(program), args)),
            Some((program, args)) if !program.is_empty() => Ok((program.into(), args)),
            _ => Err(Error::NoCommand {
                name: self.name.clone(),
            }),
        }
    }

    fn env(&self) -> Environment {
        let mut env: Environment = OWN
            .into_iter()
            .chain(self.is_root.then_some(("IS_SANDBOX", "1")))
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        env.extend(self.env.clone());
        env
    }
}

/// What a line of its stream tells people, in as many lines; `None`: it is no such line.
pub(crate) fn told(bytes: &[u8]) -> Option<Vec<String>> {
    line::is_one(bytes).then(|| line::read(bytes).map_or_else(Vec::new, told::lines))
}

impl Harness for Claude {
    fn kind(&self) -> &'static str {
        "claude"
    }

    fn check(&self) -> Result<Installation> {
        let (program, args) = self.program()?;
        let path = self.env.get(OsStr::new("PATH")).map(OsString::as_os_str);
        let program = find_program(&program, path, &self.root).map_err(|source| Error::Client {
            name: self.name.clone(),
            source,
        })?;
        let version = version::of(&self.name, &program, args, &self.env())?;
        Ok(Installation {
            program,
            version: Some(version.to_string()),
        })
    }

    fn start(&self, step: &StepRequest) -> Result<Launch> {
        let (program, first) = self.program()?;
        let mut args: Vec<OsString> = first.iter().map(Into::into).collect();
        args.extend(
            [
                "-p",
                "--output-format",
                "stream-json",
                "--verbose",
                "--include-partial-messages",
                "--permission-mode",
                "bypassPermissions",
                "--disallowedTools",
                NOT_OFFERED,
                if step.session.is_new {
                    "--session-id"
                } else {
                    "--resume"
                },
                &step.session.id,
                "--append-system-prompt-file",
            ]
            .map(OsString::from),
        );
        args.push(step.instructions.clone().into());
        if let Some(model) = &self.model {
            args.extend(["--model".into(), model.into()]);
        }
        args.extend(self.args.iter().map(Into::into));
        let mut env = self.env();
        env.extend(step.env.clone());
        env.extend(step.variables()?);
        Ok(Launch {
            run_id: step.run_id.clone(),
            program,
            args,
            env,
            cwd: step.workspace.clone(),
            stdin: Some(step.prompt.clone()),
        })
    }

    fn reader(&self, session: &Session) -> Box<dyn Reader> {
        Box::new(Stream::new(session, self.price))
    }
}
