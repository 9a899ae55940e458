//! A step to be started, and how.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use process::Spec;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::event::Usage;

/// One step of one agent at one ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRequest {
    /// The run that the step will be: its marker.
    pub run_id: String,
    /// The ticket's id.
    pub ticket: String,
    /// The agent's name.
    pub agent: String,
    /// What it works as.
    pub role: Role,
    /// Counted from 1.
    pub step: u32,
    /// The session it goes on with, or opens.
    pub session: Session,
    /// Its working directory, absolute.
    pub workspace: PathBuf,
    /// What it is told.
    pub prompt: String,
    /// What it reports to.
    pub leader: String,
    /// Whether crew's tools are within its reach.
    pub has_tools: bool,
    /// The file with its standing instructions, absolute.
    pub instructions: PathBuf,
    /// The folder of the tickets, absolute.
    pub tickets_dir: PathBuf,
    /// Further variables for this step, on top of the client's.
    pub env: Environment,
}

/// The conversation that a step belongs to, as it stood before the step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Its id: of crew's making, or the client's own ([`Event::Started`](crate::Event::Started)).
    pub id: String,
    /// Whether the step is its first.
    pub is_new: bool,
    /// What its earlier steps have used, estimates included.
    pub used: Usage,
    /// What the client itself last called the session's running total, in millionths of a US dollar
    /// ([`Outcome::total_micro_usd`](crate::Outcome::total_micro_usd)): some clients report totals over the session.
    pub total_micro_usd: Option<u64>,
}

/// What an agent works as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Works at a ticket.
    Worker,
    /// Reviews what others did.
    Gatekeeper,
    /// Resolves a conflict.
    Resolver,
}

impl Role {
    /// Its name, as agents see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Gatekeeper => "gatekeeper",
            Self::Resolver => "resolver",
        }
    }
}

impl StepRequest {
    /// The variables that every client's process gets (cli.md, "What a worker's process gets"). `CREW_RUN_ID` is also
    /// what the shim marks its processes with. Errors: a path is not absolute.
    pub fn variables(&self) -> Result<Environment> {
        for (what, path) in [
            ("the workspace", &self.workspace),
            ("the file of instructions", &self.instructions),
            ("the folder of the tickets", &self.tickets_dir),
        ] {
            if !path.is_absolute() {
                return Err(Error::Relative {
                    what,
                    path: path.clone(),
                });
            }
        }
        let flag = |flag| OsString::from(if flag { "1" } else { "0" });
        let variables: [(&str, OsString); 12] = [
            ("CREW_WORKER", "1".into()),
            ("CREW_RUN_ID", self.run_id.clone().into()),
            ("CREW_TICKET_ID", self.ticket.clone().into()),
            ("CREW_AGENT", self.agent.clone().into()),
            ("CREW_ROLE", self.role.name().into()),
            ("CREW_STEP", self.step.to_string().into()),
            ("CREW_SESSION_ID", self.session.id.clone().into()),
            ("CREW_SESSION_NEW", flag(self.session.is_new)),
            ("CREW_LEADER", self.leader.clone().into()),
            ("CREW_HAS_TOOLS", flag(self.has_tools)),
            ("CREW_INSTRUCTIONS", self.instructions.clone().into()),
            ("TICKETS_DIR", self.tickets_dir.clone().into()),
        ];
        Ok(variables
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect())
    }
}

/// A program to be run under a shim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The run's id.
    pub run_id: String,
    /// The program: absolute, or a name for the `PATH` of `env`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: BTreeMap<OsString, OsString>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// What it can read from its standard input; `None`: nothing.
    pub stdin: Option<String>,
}

impl Launch {
    /// The run to be made of it, with the default limits: set others on it.
    pub fn spec(&self) -> Spec {
        let mut spec = Spec::new(&self.run_id, &self.program, &self.cwd);
        spec.args.clone_from(&self.args);
        spec.env.clone_from(&self.env);
        spec
    }
}
