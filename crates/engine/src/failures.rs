//! Effects that fail and are performed again, until they work or a person has mended something.

use std::collections::BTreeMap;

use model::journal::EffectId;
use model::policy::backoff;
use model::ticket::Effect;
use model::{TicketId, Time, attempt};

use crate::output::Postponed;

/// The kind of a ticket's effect. Effects of one kind are performed in order, so one of each fails at most; a
/// stop overtakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Work,
    Stop,
    File,
}

impl Kind {
    fn of(effect: &Effect) -> Self {
        match effect {
            Effect::Attempt(attempt::Effect::StopRun { .. }) => Self::Stop,
            Effect::WriteFile(_) | Effect::AddNote { .. } | Effect::CreateTicket(_) => Self::File,
            Effect::Attempt(
                attempt::Effect::StartStep { .. }
                | attempt::Effect::InspectWorkspace { .. }
                | attempt::Effect::CreateChild { .. },
            )
            | Effect::Unify { .. }
            | Effect::PrepareWorkspace { .. }
            | Effect::BuildCandidate { .. }
            | Effect::StartCheck { .. }
            | Effect::StartReview { .. }
            | Effect::RemoveReview { .. }
            | Effect::Land { .. }
            | Effect::LookAtProposal { .. }
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. } => Self::Work,
        }
    }
}

/// Why an effect could not be performed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The machine is short of something for now. It passes by itself, so the effect is tried steadily.
    Machine(String),
    /// Anything else, which a person may have to mend: the effect is tried ever more rarely.
    Lasting(String),
}

/// The consequence of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Retry {
    /// When the effect is performed again.
    pub(crate) postponed: Postponed,
    /// For a person, once for each reason however often the effect fails.
    pub(crate) warning: Option<String>,
}

/// An effect that has failed since it was ordered.
#[derive(Clone, Debug)]
struct Failing {
    since: Time,
    /// How often it failed for a lasting reason.
    tries: u32,
    /// Why the last try failed.
    why: String,
    /// The thing that was not done and why, once a person has to mend it.
    for_person: Option<String>,
}

/// The effects that fail.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failures {
    effects: BTreeMap<(TicketId, Kind), Failing>,
}

impl Failures {
    /// An effect could not be performed.
    pub(crate) fn failed(
        &mut self,
        id: EffectId,
        ticket: &TicketId,
        effect: &Effect,
        obstacle: Obstacle,
        now: Time,
    ) -> Retry {
        let key = (ticket.clone(), Kind::of(effect));
        let failing = self.effects.entry(key).or_insert(Failing {
            since: now,
            tries: 0,
            why: String::new(),
            for_person: None,
        });
        let (why, undone, wait, often) = match obstacle {
            Obstacle::Machine(why) => {
                let wait = backoff::EFFECT_RETRY;
                (
                    why,
                    None,
                    wait,
                    format!("every {} s until it works", wait.as_secs()),
                )
            }
            Obstacle::Lasting(why) => {
                failing.tries += 1;
                let undone = format!("{}: {why}", effect.undone());
                let wait = backoff::effect(now.since(failing.since));
                let often = match effect {
                    Effect::Land { .. } => "once more, then the ticket is held",
                    Effect::PrepareWorkspace { .. }
                    | Effect::Attempt(_)
                    | Effect::Unify { .. }
                    | Effect::BuildCandidate { .. }
                    | Effect::StartCheck { .. }
                    | Effect::StartReview { .. }
                    | Effect::RemoveReview { .. }
                    | Effect::LookAtProposal { .. }
                    | Effect::KeepWork { .. }
                    | Effect::RemoveWorkspace { .. }
                    | Effect::WriteFile(_)
                    | Effect::AddNote { .. }
                    | Effect::CreateTicket(_) => "ever more rarely until it works",
                };
                (why, Some(undone), wait, often.to_owned())
            }
        };
        failing.for_person = undone.clone().filter(|_| failing.tries >= backoff::FAILED_TRIES);
        let is_new = failing.why != why;
        let warning = is_new.then(|| format!("{ticket}: {why}\n{ticket}: tried again {often}"));
        failing.why = why;
        Retry {
            postponed: Postponed {
                effect: id,
                at: now + wait,
                why: undone,
            },
            warning,
        }
    }

    /// An effect was performed, or is not wanted any more.
    pub(crate) fn ended(&mut self, ticket: &TicketId, effect: &Effect) {
        self.effects.remove(&(ticket.clone(), Kind::of(effect)));
    }

    /// The ticket was archived.
    pub(crate) fn forget(&mut self, id: &TicketId) {
        self.effects.retain(|(ticket, _), _| ticket != id);
    }

    /// Whether one more lasting failure makes the effect a person's to mend.
    pub(crate) fn is_to_fail_for_people(&self, id: &TicketId, effect: &Effect) -> bool {
        let failing = self.effects.get(&(id.clone(), Kind::of(effect)));
        failing.map_or(0, |failing| failing.tries) + 1 >= backoff::FAILED_TRIES
    }

    /// Whether the machine has been in the way of building, checking or landing for so long that the others
    /// have
    /// waited enough: the cause may be the branch itself.
    pub(crate) fn is_hindered_for_long(&self, id: &TicketId, effect: &Effect, now: Time) -> bool {
        let is_in_line = matches!(
            effect,
            Effect::BuildCandidate { .. } | Effect::StartCheck { .. } | Effect::Land { .. }
        );
        let failing = self.effects.get(&(id.clone(), Kind::Work));
        is_in_line && failing.is_some_and(|failing| now.since(failing.since) > backoff::HINDERED)
    }

    /// Whether a part of the ticket's work fails, and is tried again.
    pub(crate) fn has_work(&self, id: &TicketId) -> bool {
        self.effects.contains_key(&(id.clone(), Kind::Work))
    }

    /// The write into the ticket's file that fails and why, when a person has to mend that.
    pub(crate) fn of_file(&self, id: &TicketId) -> Option<&str> {
        self.for_person(id, Kind::File)
    }

    /// The part of the ticket's work that fails and why, when a person has to mend that.
    pub(crate) fn of_work(&self, id: &TicketId) -> Option<&str> {
        let work = self.for_person(id, Kind::Work);
        work.or_else(|| self.for_person(id, Kind::Stop))
    }

    /// The failure of every ticket of which a person has to mend something, in words; of the work before
    /// the file.
    pub(crate) fn for_people(&self) -> impl Iterator<Item = (&TicketId, &str)> {
        let failing = self.effects.iter();
        failing.filter_map(|((id, _), failing)| Some((id, failing.for_person.as_deref()?)))
    }

    fn for_person(&self, id: &TicketId, kind: Kind) -> Option<&str> {
        let failing = self.effects.get(&(id.clone(), kind))?;
        failing.for_person.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use model::{AgentName, RunId};

    use super::*;

    const ID: EffectId = EffectId { seq: 1, index: 0 };

    fn id() -> TicketId {
        TicketId::new("t-1").unwrap()
    }

    fn keep() -> Effect {
        Effect::KeepWork {
            agent: AgentName::new("ann").unwrap(),
            number: 1,
        }
    }

    fn stop() -> Effect {
        let run = RunId::new("t-1.2.1").unwrap();
        Effect::Attempt(attempt::Effect::StopRun { run })
    }

    fn fail(failures: &mut Failures, effect: &Effect, obstacle: Obstacle) -> Retry {
        failures.failed(ID, &id(), effect, obstacle, Time(0))
    }

    fn machine() -> Obstacle {
        Obstacle::Machine("no room".to_owned())
    }

    fn lasting() -> Obstacle {
        Obstacle::Lasting("no commit".to_owned())
    }

    #[test]
    fn an_effect_that_has_ended_fails_no_more_and_a_stop_is_apart_from_what_it_overtakes() {
        let mut failures = Failures::default();
        fail(&mut failures, &keep(), machine());
        fail(&mut failures, &stop(), machine());
        assert_eq!(failures.effects.len(), 2);
        failures.ended(&id(), &stop());
        assert_eq!(failures.effects.len(), 1);
        failures.ended(&id(), &keep());
        assert!(failures.effects.is_empty());
    }

    #[test]
    fn the_second_lasting_failure_is_a_persons_and_what_the_machine_hinders_never_is() {
        let mut failures = Failures::default();
        for _ in 0..5 {
            assert_eq!(fail(&mut failures, &keep(), machine()).postponed.why, None);
        }
        fail(&mut failures, &keep(), lasting());
        assert_eq!(failures.of_work(&id()), None);
        fail(&mut failures, &keep(), lasting());
        let told = "the work of ann could not be kept: no commit";
        assert_eq!(failures.of_work(&id()), Some(told));
        assert_eq!(failures.of_file(&id()), None);
        assert_eq!(failures.for_people().collect::<Vec<_>>(), [(&id(), told)]);
        fail(&mut failures, &keep(), machine());
        assert_eq!(failures.of_work(&id()), None, "nobody can mend that");
        fail(&mut failures, &keep(), lasting());
        assert_eq!(failures.of_work(&id()), Some(told));
    }

    #[test]
    fn a_person_is_warned_once_for_each_reason() {
        let mut failures = Failures::default();
        let is_warned = |retry: Retry| retry.warning.is_some();
        assert!(is_warned(fail(&mut failures, &keep(), machine())));
        assert!(!is_warned(fail(&mut failures, &keep(), machine())));
        assert!(is_warned(fail(&mut failures, &keep(), lasting())));
        assert!(!is_warned(fail(&mut failures, &keep(), lasting())));
    }

    #[test]
    fn an_archived_ticket_fails_no_more() {
        let mut failures = Failures::default();
        let text = "why".to_owned();
        for effect in [keep(), stop(), Effect::AddNote { text, by: None }] {
            fail(&mut failures, &effect, lasting());
        }
        failures.forget(&id());
        assert!(failures.effects.is_empty());
    }
}
