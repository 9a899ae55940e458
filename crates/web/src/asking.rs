//! Commands of devices: what is asked once, however often it is sent, and how it came out.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use client::clock;
use client::submit::Answer;
use model::Moment;
use model::command::Outcome;
use model::view;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;

/// The commands that are remembered for each repository.
const REMEMBERED: usize = 200;

/// A command that was asked for on the page.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Asked {
    /// Its id, as the page chose it.
    pub id: String,
    /// The command in words.
    pub request: String,
    /// Who asked: the person and the device.
    pub by: String,
    /// The state of the command.
    pub state: State,
    /// The result, or the reason of a refusal, in words; `null` while it is pending.
    pub message: Option<String>,
    /// What to do about a refusal, where it is known.
    pub hint: Option<String>,
    /// The time at which it was asked.
    pub at: Moment,
}

/// The state of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was asked, and has no answer yet.
    Pending,
    /// It is done, or begun.
    Accepted,
    /// It is not possible now.
    Refused,
}

/// The commands that were asked for lately, by their ids.
#[derive(Clone, Debug, Default)]
pub struct Asking(Arc<Mutex<BTreeMap<String, watch::Receiver<Asked>>>>);

impl Asking {
    /// The command of an id, if it was asked since the server began.
    #[must_use]
    pub fn known(&self, id: &str) -> Option<watch::Receiver<Asked>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(id).cloned()
    }

    /// Asks once: a command of an id that is known is not asked again. `task` carries it out; `changed` is
    /// called with the document at its beginning and at its end.
    pub fn ask<T>(
        &self,
        asked: Asked,
        task: T,
        changed: impl Fn(Asked) + Send + 'static,
    ) -> watch::Receiver<Asked>
    where
        T: Future<Output = client::Result<Answer>> + Send + 'static,
    {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&asked.id) {
            return known.clone();
        }
        while known.len() >= REMEMBERED {
            let oldest = known.iter().min_by_key(|(_, asked)| asked.borrow().at);
            let Some(oldest) = oldest.map(|(id, _)| id.clone()) else {
                break;
            };
            known.remove(&oldest);
        }
        let (tell, told) = watch::channel(asked.clone());
        known.insert(asked.id.clone(), told.clone());
        drop(known);
        tokio::spawn(async move {
            changed(asked.clone());
            let answered = asked.answered(task.await);
            changed(answered.clone());
            // Nobody waits for it any more.
            drop(tell.send(answered));
        });
        told
    }
}

impl Asked {
    /// A command that is asked now.
    #[must_use]
    pub fn now(id: String, request: String, by: String) -> Self {
        Self {
            id,
            request,
            by,
            state: State::Pending,
            message: None,
            hint: None,
            at: Moment(clock::now()),
        }
    }

    /// The command with the answer that the journal has.
    #[must_use]
    pub fn with(mut self, outcome: Outcome) -> Self {
        let (state, message) = match outcome {
            Outcome::Accepted { message } => (State::Accepted, message),
            Outcome::Refused { why } => (State::Refused, why),
        };
        (self.state, self.message) = (state, Some(message));
        self
    }

    fn answered(mut self, answer: client::Result<Answer>) -> Self {
        let (state, message) = match answer {
            Ok(answer) => outcome(&answer),
            Err(error) => {
                self.hint = error.hint();
                (State::Refused, text::with_causes(&error))
            }
        };
        (self.state, self.message) = (state, Some(message));
        self
    }
}

/// The answer in words, with what followed where it was carried out here.
fn outcome(answer: &Answer) -> (State, String) {
    match &answer.outcome {
        Outcome::Refused { why } => (State::Refused, why.clone()),
        Outcome::Accepted { message } => {
            let mut rows = answer.happened.iter().rev();
            let last = rows.find(|row| view::matters(&row.fact));
            let follows = last.map(|last| format!("; {}", view::describe(&last.fact)));
            let here = match answer.was_up {
                true => "",
                false => " (no engine runs: it was carried out by the web page's server)",
            };
            (
                State::Accepted,
                format!("{message}{}{here}", follows.unwrap_or_default()),
            )
        }
    }
}

/// The document of a command once it is decided, or as it is after a while.
pub(crate) async fn decided(mut asked: watch::Receiver<Asked>, within: Duration) -> Asked {
    // Late, or with nobody left who could say it: the page is told how it stands.
    let is_decided = asked.wait_for(|asked| asked.state != State::Pending);
    drop(tokio::time::timeout(within, is_decided).await);
    asked.borrow().clone()
}
