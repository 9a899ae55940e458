//! The person of a demonstration, who reads a question, thinks for a moment, and answers it through the
//! engine's inbox, as `crew answer` does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::AgentName;
use model::attempt::State;
use model::command::Command;
use model::view::Snapshot;
use runtime::Place;
use tokio::task::JoinHandle;

use super::watch;
use crate::error::{Error, Result};
use client::clock;

/// How long the person thinks, so that whoever watches can read the question.
pub(crate) const THINKS: Duration = Duration::from_secs(4);
/// The same where somebody watches in a browser, and can answer there.
pub(crate) const LEAVES_IT: Duration = Duration::from_secs(120);
/// The answer.
pub(crate) const ANSWER: &str = "Call it 1.0";

/// Waits for one question, and answers it.
#[derive(Debug)]
pub(crate) struct Person(JoinHandle<Result<()>>);

impl Person {
    /// Sits down. `name`: who is said to have answered; `thinks`: how long nobody else has answered by then.
    pub(crate) fn watches(place: Place, name: String, thinks: Duration) -> Self {
        Self(tokio::spawn(async move {
            let ledger = place.open_journal().await?;
            let agent = watch::until(&place, asks).await?;
            // The journal is followed from its beginning: before the question there is none either.
            let was_asked = AtomicBool::new(false);
            let answered = watch::until(&place, |crew| {
                let is_asked = asks(crew).is_some();
                let was_asked = was_asked.fetch_or(is_asked, Ordering::Relaxed);
                (was_asked && !is_asked).then_some(())
            });
            if let Ok(answered) = tokio::time::timeout(thinks, answered).await {
                return answered;
            }
            let answer = Command::Answer {
                agent,
                text: ANSWER.to_owned(),
                question: None,
            };
            ledger
                .submit(&clock::command_id(), &name, clock::now(), &answer)
                .await?;
            Ok(())
        }))
    }

    /// Waits until the question is answered.
    pub(crate) async fn answered(&mut self) -> Result<()> {
        match (&mut self.0).await {
            Ok(answered) => answered,
            Err(_) => Err(Error::from(client::Error::Refused {
                what: "the person of the demonstration is gone: this is a bug in crew".to_owned(),
                hint: None,
            })),
        }
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn asks(crew: &Snapshot) -> Option<AgentName> {
    crew.tickets.values().find_map(|ticket| {
        let attempt = ticket.attempt()?;
        match attempt.state {
            State::WaitingForInput { .. } => Some(attempt.claim.agent.clone()),
            _ => None,
        }
    })
}
