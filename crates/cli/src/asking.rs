//! How a command reaches the engine: through the inbox; and when no engine runs, the ring is run for it here.

use std::time::Duration;

use model::command::{Command, Outcome};
use serde_json::json;
use store::{Ledger, Sqlite};

use crate::context::{self, Context};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::follow::Changes;
use crate::ui::Style;
use crate::{clock, ui};
use runtime::Place;

/// How long a running engine may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks, waits for the answer and prints it.
pub(crate) async fn ask(context: &mut Context, place: Place, command: Command) -> Result<Exit> {
    if place.holder()?.is_none() {
        // What cannot be carried out here is not left in the inbox.
        context::settings(&place)?;
    }
    let id = clock::command_id();
    let ledger = place.open_journal(true).await?;
    ledger
        .submit(&id, &context.person(), clock::now(), &command)
        .await?;
    let outcome = settle(context, &place, &ledger, &id).await;
    if let Err(error) = &outcome
        && !matches!(error, Error::NoAnswer { .. })
    {
        // Nobody is to carry it out later, when it is no longer expected. Should someone have done so by now, this fails.
        let why = format!("it could not be carried out: {error}");
        drop(ledger.answer(&id, &Outcome::Refused { why }, clock::now()).await);
    }
    let outcome = outcome?;
    ledger.0.close().await;
    report(context, &id, &outcome)
}

/// Waits for whoever holds the repository, or carries the command out.
async fn settle(context: &Context, place: &Place, ledger: &Ledger<Sqlite>, id: &str) -> Result<Outcome> {
    let mut changes = Changes::of(&place.crew_dir);
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
                });
            }
            Some(_) => {
                let before = clock::now();
                changes.wait().await;
                waited += clock::now().since(before);
            }
            None => match runtime::carry_out(place.clone(), context.options(), id).await {
                // Another took the repository in between: it answers.
                Ok(()) | Err(runtime::Error::Held { .. }) => {}
                Err(error) => return Err(context::lift(place, error)),
            },
        }
    }
}

fn report(context: &mut Context, id: &str, outcome: &Outcome) -> Result<Exit> {
    let (accepted, message) = match outcome {
        Outcome::Accepted { message } => (true, message),
        Outcome::Refused { why } => (false, why),
    };
    if context.json {
        context
            .out
            .json(&json!({ "command": id, "accepted": accepted, "message": message }))?;
    } else if accepted {
        context.out.styled(message, Style::Plain)?;
    } else {
        return Err(Error::Refused {
            what: ui::clean(message),
            hint: None,
        });
    }
    Ok(if accepted { Exit::Done } else { Exit::Failed })
}
