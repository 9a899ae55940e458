//! Submitting a command: through the inbox of a running engine, or carried out here where no engine runs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use model::command::{Command, Outcome};
use runtime::Place;
use store::{Journal as _, Ledger, Recorded};

use crate::error::{Error, Result};
use crate::{clock, repository};

/// The time that a running engine may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The distance between two looks for its answer.
const LOOK: Duration = Duration::from_millis(50);
/// The number of events of one command that are returned, at most.
const MOST: u32 = 1000;

/// A person who submits commands to the engine of one repository.
#[derive(Clone, Debug)]
pub struct Submitter {
    place: Place,
    person: String,
    options: runtime::Options,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The command's id.
    pub id: String,
    /// The engine's answer.
    pub outcome: Outcome,
    /// An engine was running, and has carried the command out.
    pub was_up: bool,
    /// The events that followed, where the dispatcher was run for it here.
    pub happened: Vec<Recorded>,
}

impl Submitter {
    /// `person` is the name that the journal keeps; `env` is the environment of an engine that runs for one
    /// command.
    #[must_use]
    pub fn new(place: Place, person: String, env: BTreeMap<OsString, OsString>) -> Self {
        Self {
            place,
            person,
            options: runtime::Options {
                env,
                ..runtime::Options::default()
            },
        }
    }

    /// The repository.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The name of the person, as the journal keeps it.
    #[must_use]
    pub fn person(&self) -> &str {
        &self.person
    }

    /// Submits a command and waits for the answer. Where no engine runs, the command is carried out here.
    ///
    /// # Errors
    /// Settings or a journal that cannot be read; [`Error::NoAnswer`]; any failure that keeps the command
    /// from being carried out.
    pub async fn submit(&self, command: &Command) -> Result<Answer> {
        self.submit_as(&clock::command_id(), command).await
    }

    /// As [`submit`](Self::submit), for a command that has its id: submitted again, it is asked once.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn submit_as(&self, id: &str, command: &Command) -> Result<Answer> {
        let place = &self.place;
        let engine = place.engine()?;
        if engine.is_none() {
            // A command that cannot be carried out here is not left in the inbox.
            repository::settings(place)?;
        }
        let ledger = place
            .open_journal()
            .await
            .map_err(|error| repository::lift(place, error))?;
        if engine.is_none() {
            // Nor is anything written to a journal that cannot be read: that of a newer crew, for example.
            ledger.streams().await?;
        }
        let before = ledger.0.head().await?.0;
        failpoint::hit("ask.parsed");
        let submit = || ledger.submit(id, &self.person, clock::now(), command);
        match submit().await {
            // It may be in the inbox or not. The same id asks once: submitted again, it surely is.
            Err(error) if error.is_ambiguous() => submit().await?,
            submitted => submitted?,
        }
        failpoint::hit("ask.asked");
        let outcome = self.answer(&ledger, id).await;
        if let Err(error) = &outcome
            && !matches!(error, Error::NoAnswer { .. })
        {
            // No engine is to carry the command out later, when nobody expects that any more. If one has done
            // so by now, this fails.
            let why = format!("it could not be carried out: {}", text::with_causes(error));
            drop(ledger.answer(id, &Outcome::Refused { why }, clock::now()).await);
        }
        let outcome = outcome?;
        let happened = match engine {
            Some(_) => Vec::new(),
            None => ledger.tail(before, MOST).await?,
        };
        ledger.close().await;
        Ok(Answer {
            id: id.to_owned(),
            outcome,
            was_up: engine.is_some(),
            happened,
        })
    }

    /// Waits for the holder of the repository, or carries the command out.
    async fn answer(&self, ledger: &Ledger, id: &str) -> Result<Outcome> {
        let place = &self.place;
        let mut writes = ledger.subscribe();
        let mut waited = Duration::ZERO;
        loop {
            if let Some(outcome) = ledger.outcome(id).await? {
                return Ok(outcome);
            }
            match place.holder()? {
                Some(holder) if waited >= PATIENCE => {
                    return Err(Error::NoAnswer {
                        seconds: PATIENCE.as_secs(),
                        holder: holder.to_string(),
                        stopped: runtime::stopped(&holder),
                    });
                }
                Some(_) => {
                    let before = clock::now();
                    writes.changed_within(LOOK).await?;
                    // By looks: an engine that stands still with the machine is given its time.
                    waited += clock::now().since(before).min(2 * LOOK);
                }
                None => match runtime::carry_out(place.clone(), self.options.clone(), id).await {
                    // Another took the repository in between: it answers.
                    Ok(()) | Err(runtime::Error::Held { .. }) => {}
                    Err(error) => return Err(repository::lift(place, error)),
                },
            }
        }
    }
}
