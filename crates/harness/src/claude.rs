//! The kind `claude`: Claude Code, one process for each step.
//!
//! The client reads the prompt from standard input and prints one JSON document a line. A session is
//! resumed by its id. The agent's directives stand in its replies, and are the same as those of any program
//! (see [`Command`](crate::Command)).

mod failure;
mod line;
mod mcp;
mod reader;
mod transcript;
mod usage;
mod version;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use crate::client::{Harness, Installation, Reader};
use crate::environment::Environment;
use crate::error::Result;
use crate::kind::Kind;
use crate::money::Price;
use crate::product::Product;
use crate::program::Program;
use crate::step::{Launch, Session, StepRequest};
use reader::ClaudeReader;

/// The kind `claude`.
pub(crate) const KIND: Kind = Kind {
    name: "claude",
    // The folder of the login belongs to `HOME`, which every client inherits.
    pass_env: &[CONFIG_DIR],
    client: |table, env| {
        let options = Options {
            command: table.command.clone(),
            model: table.model.clone(),
            args: table.args.clone(),
            price: table.price,
            is_root: table.is_root,
        };
        Box::new(Claude::new(&table.name, options, &table.root, env))
    },
    reader: |session, price| Box::new(ClaudeReader::new(session, price)),
    entries: transcript::entries,
};

static PRODUCT: Product = Product {
    name: "Claude Code",
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    update: "claude update",
};

/// The client's own variables, which every step gets. The `env` of the settings overrides them.
///
/// An unattended agent contacts only the model's service. It does not replace its own program while other
/// agents run it, it leaves no memory in the user's home that the next ticket would inherit, and it leaves
/// long waits to crew.
const OWN_ENV: [(&str, &str); 4] = [
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "4"),
];

/// The tools that would take the agent out of its workspace, or keep its process waiting: agents use
/// `WAKEUP:` to wait.
const DISALLOWED_TOOLS: &str = "EnterWorktree,ExitWorktree,CronCreate,CronDelete,CronList,ScheduleWakeup";

/// The variable with the path of the folder that holds the client's settings and login: a path, and no
/// secret.
pub const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// The client Claude Code.
#[derive(Clone, Debug)]
pub struct Claude {
    program: Program,
    model: Option<String>,
    args: Vec<String>,
    price: Option<Price>,
    env: Environment,
    is_root: bool,
}

/// The keys of the table `[harness.<name>]` of a [`Claude`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The program and its first arguments; `claude` when empty.
    pub command: Vec<String>,
    /// The model; `None` leaves the choice to the client.
    pub model: Option<String>,
    /// Further arguments, appended to those that crew gives.
    pub args: Vec<String>,
    /// The price of tokens, to estimate the cost of a step that was killed: the client states none.
    pub price: Option<Price>,
    /// Whether crew runs as root. The client refuses to skip permissions as root unless `IS_SANDBOX` is set.
    pub is_root: bool,
}

impl Claude {
    /// Makes the client of the table `[harness.<name>]`.
    ///
    /// A relative path of a program begins at `root`, the absolute path of the folder of `crew.toml`: in
    /// its workspace an agent could replace the program. `env` is the base environment, from
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
            command.push(PRODUCT.program.to_owned());
        }
        Self {
            program: Program::new(name, command, root, Some(&PRODUCT)),
            model,
            args,
            price,
            env,
            is_root,
        }
    }

    fn env(&self) -> Environment {
        let mut env: Environment = OWN_ENV
            .into_iter()
            .chain(self.is_root.then_some(("IS_SANDBOX", "1")))
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        env.extend(self.env.clone());
        env
    }
}

impl Harness for Claude {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn check(&self) -> Result<Installation> {
        let (program, args) = self.program.find(&self.env)?;
        let version = version::of(self.program.harness(), &program, args, &self.env(), &PRODUCT)?;
        Ok(Installation {
            program,
            version: Some(version.to_string()),
        })
    }

    fn start(&self, step: &StepRequest) -> Result<Launch> {
        let (program, first_args) = self.program.split()?;
        let mut args: Vec<OsString> = first_args.iter().map(Into::into).collect();
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
                DISALLOWED_TOOLS,
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
        let variables = step.variables()?;
        let mut files = BTreeMap::new();
        if let Some(calls) = &step.calls
            && let Some(servers) = mcp::servers(calls, &variables)
        {
            args.extend(["--mcp-config".into(), calls.dir.join(mcp::FILE).into()]);
            files.insert(mcp::FILE.to_owned(), servers);
        }
        args.extend(self.args.iter().map(Into::into));
        let mut env = self.env();
        env.extend(step.env.clone());
        env.extend(variables);
        Ok(Launch {
            run_id: step.run_id.clone(),
            program,
            args,
            env,
            cwd: step.workspace.clone(),
            stdin: Some(step.prompt.clone()),
            token: step.token(),
            files,
        })
    }

    fn reader(&self, session: &Session) -> Box<dyn Reader> {
        Box::new(ClaudeReader::new(session, self.price))
    }
}
