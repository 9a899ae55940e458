//! The person of a demonstration, who reads a question, thinks for a moment, and answers it through the
//! engine's inbox, as `crew answer` does.

use std::convert::Infallible;
use std::time::Duration;

use client::clock;
use client::follow::Follow;
use model::AgentName;
use model::command::{Command, Question};
use model::view::Snapshot;
use runtime::Place;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::error::{Error, Result};

/// How long the person thinks, so that whoever watches can read the question.
pub(crate) const THINKS: Duration = Duration::from_secs(4);
/// The same where somebody watches in a browser, and can answer there. The guide and the help name it.
pub(crate) const LEAVES_IT: Duration = Duration::from_secs(120);
/// The answer.
pub(crate) const ANSWER: &str = "Call it 1.0";
/// Who gives it, for the journal: nobody else is credited with it, and it with nobody else's.
pub(super) const NAME: &str = "crew demo";

/// Answers each question that nobody else answers in time.
#[derive(Debug)]
pub(crate) struct Person {
    /// Ends with an error only; none once that error was given.
    task: Option<JoinHandle<Result<Infallible>>>,
    seen: watch::Receiver<Seen>,
}

/// How far the person has read the journal, and what it found there.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    seq: u64,
    /// When it answers the question that is open; none where none is, or where it has answered already.
    answers_at: Option<Instant>,
}

impl Person {
    /// Sits down. `thinks`: how long it leaves a question to others.
    pub(crate) fn watches(place: Place, thinks: Duration) -> Self {
        let (tell, seen) = watch::channel(Seen::default());
        Self {
            task: Some(tokio::spawn(answers(place, thinks, tell))),
            seen,
        }
    }

    /// How long it still leaves the question to others that is open at a row of the journal; none where it
    /// has an answer.
    pub(crate) async fn leaves_it(&mut self, seq: u64) -> Result<Option<Duration>> {
        let seen = self.until(|seen| seen.seq >= seq).await?;
        Ok(seen
            .answers_at
            .map(|at| at.saturating_duration_since(Instant::now())))
    }

    /// Waits until the question that is open at a row of the journal has an answer, whoever gave it, or is
    /// gone.
    pub(crate) async fn answered(&mut self, seq: u64) -> Result<()> {
        self.until(|seen| seen.seq >= seq && seen.answers_at.is_none())
            .await?;
        Ok(())
    }

    async fn until(&mut self, is_so: impl FnMut(&Seen) -> bool) -> Result<Seen> {
        if let Ok(seen) = self.seen.wait_for(is_so).await {
            return Ok(*seen);
        }
        // The task is over. It is asked only once how it ended.
        if let Some(task) = self.task.take()
            && let Ok(ended) = task.await
        {
            return ended.map(|never| match never {});
        }
        Err(Error::from(client::Error::Refused {
            what: "the person of the demonstration is gone: this is a bug in crew".to_owned(),
            hint: None,
        }))
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// Answers what nobody else answers, for as long as it is let.
async fn answers(place: Place, thinks: Duration, tell: watch::Sender<Seen>) -> Result<Infallible> {
    let ledger = place.open_journal().await?;
    let mut rows = Follow::new(ledger.clone(), 0);
    let mut crew = Snapshot::default();
    // The question that is left to others, and until when; none once it was answered here.
    let mut left: Option<(Question, Option<Instant>)> = None;
    loop {
        rows.each(|fold| {
            crew.apply(fold.row());
            Ok::<(), Error>(())
        })
        .await?;
        let asked = open(&crew);
        left = asked.as_ref().map(|(question, _)| match left.take() {
            Some((same, at)) if same == *question => (same, at),
            _ => (question.clone(), Some(Instant::now() + thinks)),
        });
        if let (Some((question, agent)), Some((_, at))) = (asked, &mut left)
            && at.is_some_and(|at| at <= Instant::now())
        {
            let answer = Command::Answer {
                agent,
                text: ANSWER.to_owned(),
                question: Some(question),
            };
            ledger
                .submit(&clock::command_id(), NAME, clock::now(), &answer)
                .await?;
            *at = None;
        }
        let answers_at = left.as_ref().and_then(|(_, at)| *at);
        tell.send_replace(Seen {
            seq: crew.seq,
            answers_at,
        });
        tokio::select! {
            () = rows.changed() => {}
            () = at(answers_at) => {}
        }
    }
}

/// Waits until then; for ever where there is no such moment.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// The question that waits for a person, and the agent that asks it.
pub(crate) fn open(crew: &Snapshot) -> Option<(Question, AgentName)> {
    crew.tickets.values().find_map(|ticket| {
        let agent = ticket.open_question()?.agent.clone();
        Some((Question::of(ticket)?, agent))
    })
}
