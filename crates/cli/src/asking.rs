//! How a command reaches the engine: through the inbox; and when no engine runs, the dispatcher is run for it here.

use std::pin::pin;
use std::time::Duration;

use model::TicketId;
use model::command::{Command, Outcome};
use model::journal::State;
use model::view;
use store::{Journal as _, Ledger, Recorded};

use crate::commands::events;
use crate::context::{self, Context};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::notices::Notices;
use crate::ui::Style;
use crate::{clock, documents, ui};
use runtime::Place;

/// How long a running engine may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often its answer is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// Events of one command that are told, at most.
const MOST: u32 = 1000;

/// Asks, waits for the answer and prints it. Where the dispatcher was run for it here, also what came of it.
pub(crate) async fn ask(context: &mut Context, place: Place, command: Command) -> Result<Exit> {
    let mut notices = Notices::listen(None)?;
    let answer = {
        let asker = Asker::new(context, place);
        let mut asked = pin!(asker.ask(&command));
        loop {
            tokio::select! {
                answer = &mut asked => break answer,
                // Where the dispatcher is run for it here, nobody else tells why it takes so long.
                () = notices.arrive() => warn_of(&mut notices),
            }
        }
    };
    warn_of(&mut notices);
    let answer = answer?;
    let exit = report(context, &answer)?;
    if exit == Exit::Done && !answer.was_up && !context.json && goes_on(&command) {
        let says = "no engine runs here: `crew run` starts one, and it goes on then";
        context.out.wrapped(says, 0, Style::Yellow)?;
    }
    match (exit, &command) {
        // An engine that runs goes on with it.
        (Exit::Done, Command::Merge { ticket }) if !answer.was_up => Ok(merged(ticket, &answer.happened)),
        _ => Ok(exit),
    }
}

/// Who asks, and how the dispatcher is run for it when no engine runs.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    place: Place,
    person: String,
    options: runtime::Options,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The command's id.
    id: String,
    /// What became of it.
    pub(crate) outcome: Outcome,
    /// Whether an engine was up to hear it.
    was_up: bool,
    /// What came of it, where the dispatcher was run for it here.
    pub(crate) happened: Vec<Recorded>,
}

impl Asker {
    /// Whoever called this program.
    pub(crate) fn new(context: &Context, place: Place) -> Self {
        Self {
            place,
            person: context.person(),
            options: context.options(),
        }
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn ask(&self, command: &Command) -> Result<Answer> {
        let place = &self.place;
        let engine = place.engine()?;
        if engine.is_none() {
            // What cannot be carried out here is not left in the inbox.
            context::settings(place)?;
        }
        let id = clock::command_id();
        let ledger = place
            .open_journal()
            .await
            .map_err(|error| context::lift(place, error))?;
        if engine.is_none() {
            // Nor is anything written to a journal that cannot be read: of a newer crew, say.
            ledger.streams().await?;
        }
        let before = ledger.0.head().await?.0;
        failpoint::hit("ask.parsed");
        let submit = || ledger.submit(&id, &self.person, clock::now(), command);
        match submit().await {
            // It may be in the inbox or not. The same id asks once: said again, it surely is.
            Err(error) if error.is_ambiguous() => submit().await?,
            submitted => submitted?,
        }
        failpoint::hit("ask.asked");
        let outcome = self.settle(&ledger, &id).await;
        if let Err(error) = &outcome
            && !matches!(error, Error::NoAnswer { .. })
        {
            // Nobody is to carry it out later, when it is no longer expected. Should someone have done so by now, this fails.
            let why = format!("it could not be carried out: {}", text::with_causes(error));
            drop(ledger.answer(&id, &Outcome::Refused { why }, clock::now()).await);
        }
        let outcome = outcome?;
        let happened = match engine {
            Some(_) => Vec::new(),
            None => ledger.tail(before, MOST).await?,
        };
        ledger.close().await;
        Ok(Answer {
            id,
            outcome,
            was_up: engine.is_some(),
            happened,
        })
    }

    /// Waits for whoever holds the repository, or carries the command out.
    async fn settle(&self, ledger: &Ledger, id: &str) -> Result<Outcome> {
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
                    Err(error) => return Err(context::lift(place, error)),
                },
            }
        }
    }
}

/// Tells of what there is by now.
fn warn_of(notices: &mut Notices) {
    while let Some(notice) = notices.take(None) {
        ui::warn(&notice);
    }
}

/// Whether a command lets something go on that only an engine carries on.
fn goes_on(command: &Command) -> bool {
    match command {
        Command::Answer { .. }
        | Command::Wake { .. }
        | Command::Retry { .. }
        | Command::Approve { .. }
        | Command::Waive { .. }
        | Command::Assign { .. } => true,
        Command::Spawn { .. }
        | Command::SpawnMany { .. }
        | Command::Kill { .. }
        | Command::Cleanup { .. }
        | Command::Merge { .. }
        | Command::Drop { .. }
        | Command::Stop { .. } => false,
    }
}

/// Whether a ticket that was to be merged here has landed.
fn merged(ticket: &TicketId, happened: &[Recorded]) -> Exit {
    let after = happened.iter().rev().find_map(|fold| match &fold.after {
        State::Ticket(after) if after.id == *ticket => Some(after),
        State::Ticket(_) | State::Project(_) => None,
    });
    match after {
        Some(after) if after.held.is_some() => Exit::Held,
        Some(after) if !after.is_done() => Exit::Failed,
        Some(_) => Exit::Done,
        // It is on its way, and could not be brought further: `crew inbox` says why.
        None => Exit::Held,
    }
}

fn report(context: &mut Context, answer: &Answer) -> Result<Exit> {
    let Answer {
        id,
        outcome,
        was_up: _,
        happened,
    } = answer;
    let (accepted, message) = match outcome {
        Outcome::Accepted { message } => (true, message),
        Outcome::Refused { why } => (false, why),
    };
    let happened = happened.iter().filter(|fold| view::matters(&fold.fact));
    if context.json {
        context.out.json(&documents::Answer {
            command: Some(id.clone()),
            accepted,
            message: message.clone(),
            events: happened.map(documents::Event::of).collect(),
        })?;
    } else if accepted {
        context.out.line(message)?;
        for fold in happened {
            context
                .out
                .styled(&format!("  {}", events::short(fold)), Style::Dim)?;
        }
    } else {
        return Err(Error::Refused {
            what: ui::clean(message),
            hint: None,
        });
    }
    Ok(if accepted { Exit::Done } else { Exit::Failed })
}
