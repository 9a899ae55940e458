//! Words of an agent that did not count, as the row about them left its ticket.

use crate::attempt::{self, Attempt, Refused, Signal};
use crate::ticket::Ticket;

const DONE: &str = "DONE";

/// A word for crew that an agent has printed and that did not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncounted {
    /// The beginning of its line: `DONE`, `MODE: plan`, `QUESTION`.
    pub word: String,
    /// Why it did not count, as the end of a sentence.
    pub why: String,
}

/// The words of a step that did not count, where this event has ended the step; `after`: its ticket after it.
#[must_use]
pub fn uncounted(event: &attempt::Event, after: &Ticket) -> Vec<Uncounted> {
    let (attempt::Event::StepFinished { signal, .. }, Some(attempt)) = (event, after.attempt()) else {
        return Vec::new();
    };
    // A `DONE` that was refused is the step's signal.
    let modes = attempt.refused.iter().filter(|refused| refused.word != DONE);
    modes.map(of_refused).chain(of_signal(signal, attempt)).collect()
}

/// The word of an event's agent, where it did not count; `attempt`: after the event.
pub(super) fn of_event(event: &attempt::Event, attempt: &Attempt) -> Option<Uncounted> {
    if let attempt::Event::StepFinished { signal, .. } = event {
        return of_signal(signal, attempt);
    }
    let attempt::Event::ModeAnnounced { mode, .. } = event else {
        return None;
    };
    let refused = (attempt.mode != *mode).then(|| attempt.refused_modes.last());
    refused.flatten().map(of_refused)
}

/// The signal of a step, where it did not count.
fn of_signal(signal: &Signal, attempt: &Attempt) -> Option<Uncounted> {
    let waits_for_children = matches!(attempt.state, attempt::State::WaitingForChildren { .. });
    let (word, why) = match signal {
        Signal::Done if matches!(attempt.state, attempt::State::Working(_)) => {
            let refused = attempt.refused.iter().find(|refused| refused.word == DONE);
            let why = match refused {
                Some(refused) => refused.why.clone(),
                None if attempt.text_edited || !attempt.messages.is_empty() => {
                    "it is told first what came while it was at work".to_owned()
                }
                None => return None,
            };
            (DONE, why)
        }
        Signal::Asked { .. } if waits_for_children => {
            ("QUESTION", "it had delegated, and its tasks go first".to_owned())
        }
        Signal::WakeupSet { .. } if waits_for_children => {
            ("WAKEUP", "it had delegated, and its tasks go first".to_owned())
        }
        Signal::None
        | Signal::Done
        | Signal::Asked { .. }
        | Signal::WakeupSet { .. }
        | Signal::Blocked { .. }
        | Signal::BrokenUp { .. } => return None,
    };
    Some(Uncounted {
        word: word.to_owned(),
        why,
    })
}

fn of_refused(Refused { word, why }: &Refused) -> Uncounted {
    Uncounted {
        word: word.clone(),
        why: why.clone(),
    }
}
