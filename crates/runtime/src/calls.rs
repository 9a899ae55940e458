//! Calls of an agent's tools: what the agent has put into the folder of its run becomes a command of the
//! inbox, once, and the outcome of that the answer.
//!
//! Nothing here decides. A call that is not the run's own, or cannot be read, is answered at once, and so is
//! one that only looks: neither of them leaves anything in the journal.

mod notices;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::call::{Call, Role};
use model::command::{Command, Outcome};
use model::ticket::Ticket;
use model::{Fence, RunId, TicketId};
use process::{Ask, Asks, Reply, Run, is_same_token};
use store::Ledger;

pub(crate) use self::notices::{Notices, Written};
use crate::check::missing_of_promise;
use crate::clock;
use crate::executor::Executor;
use crate::secrets;

/// How often the folder is looked into after a failure, while an answer is owed, and where the system gives
/// no notice of calls. All other agents cost nothing while they call nothing.
const LOOK: Duration = Duration::from_secs(2);
/// In whose name the inbox has the call; the run that it names says which agent's it is.
const BY: &str = "an agent";

/// The calls of one run.
pub(crate) struct Calls {
    asks: Asks,
    token: String,
    run: RunId,
    /// The id of the run that no other run of any journal has.
    run_id: String,
    ticket: TicketId,
    /// The ticket as it was when the step began; none of a review, whose workspace does not land.
    stepped: Option<Box<Ticket>>,
    fence: Fence,
    role: Role,
    ledger: Ledger,
    executor: Arc<Executor>,
    notices: Arc<Notices>,
    /// The calls that were seen, each with its command where that has no answer yet.
    seen: BTreeMap<String, Option<String>>,
}

/// Why calls cannot be taken now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The folder of the run.
    #[error(transparent)]
    Folder(#[from] process::Error),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] store::Error),
    /// No thread is to be had.
    #[error("no thread can be started")]
    Thread,
}

impl Calls {
    /// The calls of a step or a review; none where its program cannot call.
    pub(crate) fn of(
        run: &Run,
        (id, stepped): (&RunId, Option<Box<Ticket>>),
        role: Role,
        ledger: Ledger,
        executor: Arc<Executor>,
        notices: Arc<Notices>,
    ) -> process::Result<Option<Self>> {
        let asks = Asks::of(run.dir());
        let (Some(token), Some(ticket), Some(fence)) = (asks.token()?, id.ticket(), id.fence()) else {
            return Ok(None);
        };
        Ok(Some(Self {
            asks,
            token,
            run: id.clone(),
            run_id: run.spec()?.run_id,
            ticket,
            stepped,
            fence,
            role,
            ledger,
            executor,
            notices,
            seen: BTreeMap::new(),
        }))
    }

    /// Takes calls and answers them for as long as it is polled. What fails is tried again at the next look.
    pub(crate) async fn serve(&mut self) {
        let watched = self.notices.watch(self.asks.asks_dir());
        let mut writes = self.ledger.subscribe();
        let mut told = String::new();
        loop {
            let done = match self.take().await {
                Ok(()) => self.answer().await,
                Err(error) => Err(error),
            };
            match done {
                Ok(()) => told.clear(),
                Err(error) => {
                    let error = text::with_causes(&error);
                    if told != error {
                        tracing::warn!("calls of run {} wait: {error}", self.run);
                        told = error;
                    }
                }
            }
            let owes = self.seen.values().any(Option::is_some);
            let looks = owes || !watched.is_told() || !told.is_empty();
            let is_closed = tokio::select! {
                () = watched.changed() => false,
                noticed = writes.noticed(), if owes => noticed.is_err(),
                () = tokio::time::sleep(LOOK), if looks => false,
            };
            if is_closed {
                // The engine ends.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Takes the calls that were written before the run ended, so that they count before its end.
    pub(crate) async fn take_last(&mut self) -> Result<(), Error> {
        self.take().await
    }

    /// Takes the calls that are new.
    async fn take(&mut self) -> Result<(), Error> {
        let asks = self.asks.clone();
        let list = self.executor.threads.end(move || asks.list()).await;
        for id in list.ok_or(Error::Thread)?? {
            if self.seen.contains_key(&id) {
                continue;
            }
            let (asks, name) = (self.asks.clone(), id.clone());
            let read = move || -> process::Result<_> {
                match asks.reply_to(&name) {
                    Ok(Some(_)) => Ok(None),
                    Ok(None) | Err(_) => asks.read(&name).map(Some),
                }
            };
            let Some(ask) = self.executor.threads.end(read).await.ok_or(Error::Thread)?? else {
                self.seen.insert(id, None);
                continue;
            };
            failpoint::hit("call.seen");
            let command = match ask.and_then(|ask| self.judge(ask)) {
                Err(why) => self.reply(&id, Reply::refused(why)).await.map(|()| None)?,
                Ok(Call::TicketShow {}) => self.show(&id).await.map(|()| None)?,
                Ok(call) => {
                    if let Call::SubmitWork { .. } = call {
                        self.note_submitted(&id).await?;
                    }
                    Some(self.submit(&id, call).await?)
                }
            };
            self.seen.insert(id, command);
        }
        Ok(())
    }

    /// The call that is asked for, where it is this run's own.
    fn judge(&self, ask: Ask) -> Result<Call, String> {
        if !is_same_token(&self.token, &ask.token) {
            return Err("the token is not that of this run".to_owned());
        }
        if ask.ticket != self.ticket.as_str() {
            return Err(format!(
                "you work on {}, and can call for no other ticket",
                self.ticket
            ));
        }
        let call = masked(Call::read(self.role, &ask.tool, ask.arguments)?);
        call.expect_room(self.seen.len())?;
        let missing = call
            .promise()
            .and_then(|promise| missing_of_promise(&promise, &self.executor.check_env.variables));
        match missing {
            Some(program) => Err(format!("checks do not find the program {program} on their PATH")),
            None => Ok(call),
        }
    }

    /// Notes the files that are submitted, while the agent waits for the answer.
    async fn note_submitted(&self, id: &str) -> Result<(), Error> {
        let Some(ticket) = self.stepped.clone() else {
            return Ok(());
        };
        let (asks, id) = (self.asks.clone(), id.to_owned());
        let (executor, run) = (Arc::clone(&self.executor), self.run_id.clone());
        let note = move || {
            let made = git::Submission {
                run: &run,
                at: asks.sent_at(&id)?,
                is_called: true,
            };
            executor.note_submitted(&ticket, made);
            Ok(())
        };
        self.executor.threads.end(note).await.ok_or(Error::Thread)?
    }

    /// Puts a call into the inbox; again, it is the same command.
    async fn submit(&self, id: &str, call: Call) -> Result<String, Error> {
        let name = format!("{} {id}", self.run_id);
        let command_id = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, name.as_bytes()).to_string();
        let command = Command::Tool {
            run: self.run.clone(),
            fence: self.fence,
            call,
        };
        let submit = || self.ledger.submit(&command_id, BY, clock::now(), &command);
        match submit().await {
            // It may be in the inbox or not: submitted again, it surely is, and once.
            Err(error) if error.is_ambiguous() => submit().await?,
            submitted => submitted?,
        }
        failpoint::hit("call.asked");
        Ok(command_id)
    }

    /// Shows the ticket as its file says it.
    async fn show(&self, id: &str) -> Result<(), Error> {
        let (executor, ticket) = (Arc::clone(&self.executor), self.ticket.clone());
        let text = move || executor.file_of(&ticket);
        let reply = match self.executor.threads.end(text).await.ok_or(Error::Thread)? {
            Some(text) => Reply {
                accepted: true,
                says: text::sanitise::text(&text),
            },
            None => Reply::refused(format!("the file of {} is not there now", self.ticket)),
        };
        self.reply(id, reply).await
    }

    /// Answers the calls whose commands were carried out or refused.
    async fn answer(&mut self) -> Result<(), Error> {
        let owed: Vec<(String, String)> = self
            .seen
            .iter()
            .filter_map(|(id, command)| Some((id.clone(), command.clone()?)))
            .collect();
        for (id, command) in owed {
            let Some(outcome) = self.ledger.outcome(&command).await? else {
                continue;
            };
            let reply = match outcome {
                Outcome::Accepted { message } => Reply {
                    accepted: true,
                    says: message,
                },
                Outcome::Refused { why } => Reply::refused(why),
            };
            self.reply(&id, reply).await?;
            self.seen.insert(id, None);
        }
        Ok(())
    }

    async fn reply(&self, id: &str, reply: Reply) -> Result<(), Error> {
        let (asks, id) = (self.asks.clone(), id.to_owned());
        let write = move || asks.answer(&id, &reply);
        let written = self.executor.threads.end(write).await;
        written.ok_or(Error::Thread)??;
        failpoint::hit("call.answered");
        Ok(())
    }
}
/// A call without what looks like secrets: what is submitted is written into the merge.
fn masked(mut call: Call) -> Call {
    if let Call::SubmitWork {
        summary,
        output,
        acceptance_test_result,
    } = &mut call
    {
        let texts = [Some(summary), output.as_mut(), acceptance_test_result.as_mut()];
        for text in texts.into_iter().flatten() {
            *text = secrets::said(std::mem::take(text));
        }
    }
    call
}
