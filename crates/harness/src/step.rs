//! The request for a step, and the launch of its process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use process::Spec;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::usage::Usage;

/// A request for one step of one agent on one ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRequest {
    /// The id of the run that the step will be.
    pub run_id: String,
    /// The ticket's id.
    pub ticket: String,
    /// The agent's name.
    pub agent: String,
    /// The agent's role.
    pub role: Role,
    /// The number of the step, from 1.
    pub step: u32,
    /// The session to resume or to open.
    pub session: Session,
    /// The working directory, absolute.
    pub workspace: PathBuf,
    /// The prompt.
    pub prompt: String,
    /// The name of the leader that the agent reports to.
    pub leader: String,
    /// Whether the agent can use crew's own tools.
    pub has_tools: bool,
    /// The file with the standing instructions, absolute.
    pub instructions: PathBuf,
    /// The folder of the tickets, absolute.
    pub tickets_dir: PathBuf,
    /// Further variables for this step, on top of the client's.
    pub env: Environment,
    /// The way in which the agent calls crew's tools; none where it cannot.
    pub calls: Option<Calls>,
}

/// The way in which an agent calls crew's tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    /// The folder of the run, absolute.
    pub dir: PathBuf,
    /// The token of the run.
    pub token: String,
    /// The program crew, absolute.
    pub program: PathBuf,
}

/// The conversation that a step belongs to, as it stood before the step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Its id: one that crew made, or the client's own ([`Event::Started`](crate::Event::Started)).
    pub id: String,
    /// Whether the step is the first of the session.
    pub is_new: bool,
    /// The usage of the earlier steps, including estimates.
    pub used: Usage,
    /// The session's running total as the client last stated it, in millionths of a US dollar
    /// ([`Outcome::total_micro_usd`](crate::Outcome::total_micro_usd)). Some clients only state totals of a
    /// session.
    pub total_micro_usd: Option<u64>,
}

/// The role of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It works on a ticket.
    Worker,
    /// It reviews the work of others.
    Gatekeeper,
    /// It resolves a conflict.
    Resolver,
}

impl Role {
    /// The name of the role, as agents see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Gatekeeper => "gatekeeper",
            Self::Resolver => "resolver",
        }
    }
}

impl StepRequest {
    /// The token with which the agent calls.
    pub(crate) fn token(&self) -> Option<String> {
        self.calls.as_ref().map(|calls| calls.token.clone())
    }

    /// The variables that every client's process gets. The shim recognises the processes of a run by
    /// `CREW_RUN_ID`.
    ///
    /// Errors: [`Error::Relative`].
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
        let variables: [(&str, OsString); 13] = [
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
            (process::QUEUE_MARK, self.tickets_dir.clone().into()),
        ];
        let calls = self.calls.iter().flat_map(|calls| {
            [
                (process::CALLS_DIR, calls.dir.clone().into()),
                (process::CALLS_TOKEN, calls.token.clone().into()),
                ("CREW_TOOL", calls.program.clone().into()),
            ]
        });
        Ok(variables
            .into_iter()
            .chain(calls)
            .map(|(name, value): (&str, OsString)| (name.into(), value))
            .collect())
    }
}

/// A program to start under a shim.
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
    /// Its standard input; `None` for an empty one.
    pub stdin: Option<String>,
    /// The token with which it calls crew's tools; `None` where it cannot.
    pub token: Option<String>,
    /// Files for it, in the folder of its run: names and contents.
    pub files: BTreeMap<String, String>,
}

impl Launch {
    /// The run as the shim takes it, with the default limits.
    pub fn spec(&self) -> Spec {
        let mut spec = Spec::new(&self.run_id, &self.program, &self.cwd);
        spec.args.clone_from(&self.args);
        spec.env.clone_from(&self.env);
        spec.token.clone_from(&self.token);
        spec.files.clone_from(&self.files);
        spec
    }
}
