//! Effects that fail outside anyone's reach: performed again, told of once, and a person's to mend when only
//! a person can.

use std::time::Duration;

use model::journal::EffectId;
use model::policy::backoff;
use model::ticket::Effect;
use model::{TicketId, Time, attempt};

use crate::Postponed;
use crate::core::Core;

/// Which of a ticket's effects: those of one kind are performed in order, so one of each fails at most. A
/// stop overtakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Of {
    Work,
    Stop,
    File,
}

impl Of {
    fn effect(effect: &Effect) -> Self {
        match effect {
            Effect::Attempt(attempt::Effect::StopRun { .. }) => Self::Stop,
            Effect::WriteFile(_) | Effect::AddNote { .. } => Self::File,
            Effect::Attempt(attempt::Effect::StartStep { .. } | attempt::Effect::InspectWorkspace { .. })
            | Effect::PrepareWorkspace { .. }
            | Effect::BuildCandidate { .. }
            | Effect::StartCheck { .. }
            | Effect::Land { .. }
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. } => Self::Work,
        }
    }
}

/// An effect that has failed since it was ordered.
#[derive(Clone, Debug)]
pub(crate) struct Failing {
    since: Time,
    /// How often it was tried in vain for another reason than the machine's moment.
    tries: u32,
    /// Why the last try failed.
    why: String,
    /// What was not done and why, once it is a person's to mend.
    told: Option<String>,
}

impl Core {
    /// An effect could not be performed: it is again, and a person is told why, once, however often it is
    /// tried. What only hinders it passes by itself, so it is tried steadily; anything else ever more rarely.
    pub(crate) fn fails(
        &mut self,
        id: EffectId,
        ticket: &TicketId,
        effect: &Effect,
        why: String,
        passing: bool,
    ) {
        let failing = self
            .failing
            .entry((ticket.clone(), Of::effect(effect)))
            .or_insert(Failing {
                since: self.now,
                tries: 0,
                why: String::new(),
                told: None,
            });
        failing.tries += u32::from(!passing);
        let undone = (!passing).then(|| format!("{}: {why}", effect.undone()));
        failing.told = undone.clone().filter(|_| failing.tries >= backoff::FAILED_TRIES);
        let wait = if passing {
            backoff::EFFECT_RETRY
        } else {
            backoff::effect(self.now.since(failing.since))
        };
        if failing.why != why {
            let often = if passing {
                format!("every {} s", backoff::EFFECT_RETRY.as_secs())
            } else {
                "ever more rarely".to_owned()
            };
            self.out
                .warnings
                .push(format!("{ticket}: {why}\ntried again {often} until it works"));
            failing.why = why;
        }
        self.out.postponed.push(Postponed {
            effect: id,
            at: self.now + wait,
            why: undone,
        });
    }

    /// An effect came to something.
    pub(crate) fn succeeded(&mut self, ticket: &TicketId, effect: &Effect) {
        self.failing.remove(&(ticket.clone(), Of::effect(effect)));
    }

    /// The ticket is not known here any more.
    pub(crate) fn forget_failing(&mut self, id: &TicketId) {
        for of in [Of::Work, Of::Stop, Of::File] {
            self.failing.remove(&(id.clone(), of));
        }
    }

    /// Whether building or checking was hindered for so long that the others have waited enough: it may be
    /// something about the branch itself that is taken for the machine's moment.
    pub(crate) fn is_hindered_for_long(&self, id: &TicketId, effect: &Effect) -> bool {
        let in_line = matches!(effect, Effect::BuildCandidate { .. } | Effect::StartCheck { .. });
        let waited = |failing: &Failing| self.now.since(failing.since);
        let waited: Option<Duration> = self.failing.get(&(id.clone(), Of::Work)).map(waited);
        in_line && waited.is_some_and(|waited| waited > backoff::HINDERED)
    }

    /// Whether what the journal says cannot be written into the ticket's file, and that is a person's to
    /// mend.
    #[must_use]
    pub fn is_unwritten(&self, id: &TicketId) -> bool {
        self.undone(id, &[Of::File]).is_some()
    }

    /// Whether the ticket's work cannot go on before a person has mended something.
    #[must_use]
    pub fn is_stuck(&self, id: &TicketId) -> bool {
        self.stuck(id).is_some()
    }

    /// What of the ticket's work cannot be done and why, when that is a person's to mend.
    pub(crate) fn stuck(&self, id: &TicketId) -> Option<&str> {
        self.undone(id, &[Of::Work, Of::Stop])
    }

    /// What cannot be done and why, of every ticket of which something is a person's to mend; the work before
    /// the file.
    pub(crate) fn undone_of_all(&self) -> impl Iterator<Item = (&TicketId, &str)> {
        self.failing
            .iter()
            .filter_map(|((id, _), failing)| Some((id, failing.told.as_deref()?)))
    }

    fn undone(&self, id: &TicketId, of: &[Of]) -> Option<&str> {
        let failing = of.iter().filter_map(|of| self.failing.get(&(id.clone(), *of)));
        failing.filter_map(|failing| failing.told.as_deref()).next()
    }
}

#[cfg(test)]
mod tests {
    use model::attempt::HarnessId;
    use model::settings::HarnessKind;
    use model::ticket::{Event, Spec, Ticket};
    use model::{AgentName, Fence, RunId, SessionId};

    use super::*;
    use crate::{Input, Loaded, Report};

    fn prepare(fence: u64) -> Effect {
        Effect::PrepareWorkspace {
            agent: AgentName::new("ann").unwrap(),
            fence: Fence(fence),
            number: 1,
            from: attempt::StartPoint::Target,
        }
    }

    fn report(core: &mut Core, seq: u64, effect: &Effect, report: Report) {
        let input = Input::Reported {
            id: EffectId { seq, index: 0 },
            ticket: TicketId::new("t-1").unwrap(),
            effect: effect.clone(),
            report,
        };
        drop(core.step(input, Time(0)));
    }

    fn hindered() -> Report {
        Report::Hindered {
            why: "no room".to_owned(),
        }
    }

    /// A claim, or another one after it.
    fn claimed(core: &mut Core, fence: u64) {
        let id = TicketId::new("t-1").unwrap();
        let created = Event::Created {
            spec: Spec::default(),
        };
        let claimed = Event::Claimed {
            agent: AgentName::new("ann").unwrap(),
            fence: Fence(fence),
            harness: HarnessId {
                name: "scripted".to_owned(),
                kind: HarnessKind::Command,
            },
            session: SessionId::of_attempt(uuid::Uuid::nil(), &id, Fence(fence), 1),
            at: Time(0),
            eligible: true,
        };
        let mut ticket = Ticket::new(id.clone());
        for event in [created, claimed] {
            ticket = ticket.after(&event, Time(0)).unwrap().ticket;
        }
        core.tickets.clear();
        core.versions.clear();
        core.restore(id, fence, ticket.into());
    }

    #[test]
    fn what_has_ended_however_fails_no_more() {
        let settings = model::settings::Settings::default();
        let mut core = Core::load(settings, uuid::Uuid::nil(), Loaded::default()).unwrap();
        claimed(&mut core, 1);
        report(&mut core, 1, &prepare(1), hindered());
        assert_eq!(core.failing.len(), 1);
        // It is claimed anew meanwhile, and nobody waits for the old workspace.
        claimed(&mut core, 2);
        report(&mut core, 1, &prepare(1), hindered());
        assert!(core.failing.is_empty());

        let run = RunId::new("t-1.2.1").unwrap();
        let stop = Effect::Attempt(attempt::Effect::StopRun { run });
        report(&mut core, 2, &stop, hindered());
        report(&mut core, 3, &prepare(2), hindered());
        assert_eq!(core.failing.len(), 2, "a stop and what it overtakes are two");
        report(&mut core, 2, &stop, Report::Stopped);
        assert_eq!(core.failing.len(), 1);
    }

    #[test]
    fn what_fails_for_the_second_time_is_a_persons_and_what_only_hinders_never_is() {
        let settings = model::settings::Settings::default();
        let mut core = Core::load(settings, uuid::Uuid::nil(), Loaded::default()).unwrap();
        let id = TicketId::new("t-1").unwrap();
        core.restore(id.clone(), 1, Ticket::new(id.clone()).into());
        let keep = Effect::KeepWork {
            agent: AgentName::new("ann").unwrap(),
            number: 1,
        };
        let could_not = || Report::CouldNotRun {
            why: "no commit".to_owned(),
        };
        let waits =
            |core: &Core| -> Vec<String> { core.rest().waits.into_iter().map(|waits| waits.why).collect() };
        for _ in 0..5 {
            report(&mut core, 1, &keep, hindered());
        }
        report(&mut core, 1, &keep, could_not());
        assert!(!core.is_stuck(&id) && waits(&core).is_empty());
        report(&mut core, 1, &keep, could_not());
        assert!(core.is_stuck(&id) && !core.is_unwritten(&id));
        assert_eq!(waits(&core), ["the work of ann could not be kept: no commit"]);
        // The machine's moment is nobody's to mend.
        report(&mut core, 1, &keep, hindered());
        assert!(!core.is_stuck(&id) && waits(&core).is_empty());
        report(&mut core, 1, &keep, could_not());
        assert!(core.is_stuck(&id));
        report(&mut core, 1, &keep, Report::Done);
        assert!(!core.is_stuck(&id) && waits(&core).is_empty());
    }
}
