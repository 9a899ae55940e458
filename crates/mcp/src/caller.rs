//! Sending a call, and waiting for its answer.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use model::Time;
use model::call::{Call, Role, Tool, tools};
use process::{Ask, Asks, CALLS_DIR, CALLS_TOKEN, MOST_BYTES, Reply};
use serde_json::Value;
use watch::Watcher;

/// How long the answer of an engine is waited for. Where none runs, the call counts later.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often an answer is looked for, should the system give no notice.
const LOOK: Duration = Duration::from_millis(500);

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why nothing could be called.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The environment is not that of an agent's step.
    #[error("this is no step of an agent: {variable} is not set")]
    NoRun {
        /// The variable that is lacking.
        variable: &'static str,
    },
    /// The folder of the run cannot be used.
    #[error("the call could not be sent")]
    Folder(#[from] process::Error),
    /// The server could not begin, or broke off.
    #[error("the server of the tools broke off: {0}")]
    Server(String),
}

impl Error {
    /// What can be done about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Error::Folder(process::Error::File { path, source, .. })
                if matches!(
                    source.kind(),
                    ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied
                ) =>
            {
                // The folder of all runs stays from step to step, that of one run does not.
                let mut above = path.ancestors();
                let runs = above.find(|folder| folder.file_name() == Some(OsStr::new("runs")));
                format!(
                    "the client's sandbox keeps its programs from writing there, which crew's tools need: end your \
                     reply with a signal such as DONE instead. A person can open {} in the settings of the client",
                    runs.unwrap_or(path).display()
                )
            }
            Error::NoRun { .. } | Error::Folder(_) | Error::Server(_) => "the step may be over".to_owned(),
        }
    }
}

/// An agent that calls, in one step.
#[derive(Clone, Debug)]
pub struct Caller {
    asks: Asks,
    token: String,
    ticket: String,
    role: Role,
}

impl Caller {
    /// The agent whose step has this environment.
    ///
    /// # Errors
    /// [`Error::NoRun`].
    pub fn of(env: &BTreeMap<String, String>) -> Result<Self> {
        let get = |variable: &'static str| {
            let value = env.get(variable).filter(|value| !value.is_empty());
            value.cloned().ok_or(Error::NoRun { variable })
        };
        Ok(Self {
            asks: Asks::of(get(CALLS_DIR)?),
            token: get(CALLS_TOKEN)?,
            ticket: get("CREW_TICKET_ID")?,
            role: Role::of_step(&get("CREW_ROLE")?, env.get("CREW_HAS_TOOLS").map(String::as_str)),
        })
    }

    /// The id of the ticket that it works on.
    #[must_use]
    pub fn ticket(&self) -> &str {
        &self.ticket
    }

    /// The tools of its role.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        tools(self.role)
    }

    /// Calls a tool and waits for the answer; blocks for a few seconds at most. What is wrong with a call is
    /// the answer too.
    ///
    /// # Errors
    /// [`Error::Folder`].
    pub fn call(&self, tool: &str, arguments: Value) -> Result<Reply> {
        if self.asks.is_over() {
            return Ok(Reply::refused(
                "your step is over, and what it calls does not count",
            ));
        }
        let call = match Call::read(self.role, tool, arguments.clone()) {
            Ok(call) => call,
            Err(why) => return Ok(Reply::refused(why)),
        };
        let now = Timestamp::now().as_millisecond();
        if let Some(why) = call.fault_at(Time(now)) {
            return Ok(Reply::refused(format!("{tool} was not called: {why}")));
        }
        let ask = Ask {
            token: self.token.clone(),
            ticket: self.ticket.clone(),
            tool: tool.to_owned(),
            arguments,
        };
        if Asks::size(&ask) > MOST_BYTES {
            return Ok(Reply::refused(format!(
                "a call of more than {MOST_BYTES} bytes is too large: say it shorter"
            )));
        }
        if let Err(why) = call.expect_room(self.asks.list()?.len()) {
            return Ok(Reply::refused(why));
        }
        let answers = Answers::watch(&self.asks.answers_dir());
        let id = self.asks.send(&ask, u64::try_from(now).unwrap_or_default())?;
        match self.wait(&answers, &id)? {
            Some(reply) => Ok(reply),
            None if call == (Call::TicketShow {}) => Ok(Reply::refused(
                "crew does not run now: read the ticket's file in the folder $TICKETS_DIR",
            )),
            None => Ok(Reply {
                accepted: true,
                says: match call.is_result() {
                    true => "noted; it counts when crew runs. End your turn now".to_owned(),
                    false => "noted; it counts when crew runs".to_owned(),
                },
            }),
        }
    }

    fn wait(&self, answers: &Answers, id: &str) -> Result<Option<Reply>> {
        #[expect(
            clippy::disallowed_methods,
            reason = "a wait for somebody else's file has a deadline"
        )]
        let began = Instant::now();
        loop {
            if let Some(reply) = self.asks.reply_to(id)? {
                return Ok(Some(reply));
            }
            match PATIENCE.checked_sub(began.elapsed()) {
                Some(left) if !left.is_zero() => answers.change_within(left.min(LOOK)),
                Some(_) | None => return Ok(None),
            }
        }
    }
}

/// The notices of answers; without a watcher of the system they are looked for.
struct Answers {
    _watcher: Option<Watcher>,
    changed: mpsc::Receiver<()>,
    // Without a watcher nobody else holds it.
    _open: mpsc::Sender<()>,
}

impl Answers {
    fn watch(folder: &Path) -> Self {
        let (tell, changed) = mpsc::channel();
        let told = tell.clone();
        let watcher = Watcher::new(move |_| {
            let _ = told.send(());
        });
        Self {
            _watcher: watcher.ok().filter(|watcher| watcher.watch(folder).is_ok()),
            changed,
            _open: tell,
        }
    }

    fn change_within(&self, limit: Duration) {
        // A notice or none: the folder is looked into.
        let _ = self.changed.recv_timeout(limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_that_keeps_the_call_from_being_written_is_named_with_the_folder_to_open() {
        let of = |kind: ErrorKind| {
            let error = process::Error::File {
                doing: "write a call into",
                path: "/repo/.crew/runs/t-1-1-1/asks".into(),
                source: kind.into(),
            };
            Error::from(error).hint()
        };
        for kind in [ErrorKind::ReadOnlyFilesystem, ErrorKind::PermissionDenied] {
            let hint = of(kind);
            assert!(hint.contains("sandbox"), "{hint}");
            assert!(hint.contains("open /repo/.crew/runs in"), "{hint}");
        }
        assert_eq!(of(ErrorKind::NotFound), "the step may be over");
    }
}
