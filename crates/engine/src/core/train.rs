//! The merge train: branches are merged one on another, and one run of the checks decides on several of them.
//!
//! The train is no stream of its own. It follows from the states of the tickets, so every engine finds it in
//! the journal; [`policy::train`] has the rules.

use std::collections::{BTreeMap, BTreeSet};

use model::policy::train::{self as policy, Entry, Queue, Step, Trial, Window};
use model::ticket::{
    self, Candidate, CheckPlan, Clearance, Coupling, Done, Event, Stage, State, Ticket, Verify, WhyUncoupled,
};
use model::{Oid, RunId, TicketId, Time};

use super::{Core, Duty};
use crate::Report;

/// More rounds than any train needs until nothing is left to decide.
const MOST_ROUNDS: usize = 256;

/// The things about the train that no ticket's state has.
#[derive(Clone, Debug, Default)]
pub(super) struct TrainWindow {
    /// The most entries that one run decides on; none before a verdict changed it.
    size: Option<usize>,
    /// The target's commit, as far as this engine has seen it.
    target: Option<Oid>,
}

impl TrainWindow {
    /// Whether the target is known to have moved since this was merged on it.
    pub(super) fn is_off_target(&self, candidate: &Candidate) -> bool {
        let target = self.target.as_ref();
        target.is_some_and(|target| *target != candidate.target)
    }

    fn size(&self, batch: usize) -> usize {
        self.size.map_or(batch, |size| size.min(batch))
    }

    /// Takes in an event that may be a verdict on a batch or on the entry at fault, or a move of the target.
    pub(super) fn note(&mut self, event: &Event, batch: u32) {
        if let Event::Landed { commit } = event {
            self.target = Some(commit.clone());
        }
        let is_green = matches!(event, Event::ChecksPassed { .. } | Event::TrialPassed { .. });
        let is_red = matches!(
            event,
            Event::ChecksFailed { which, .. } if which != model::attempt::Prompt::TAKING_OVER
        );
        if !is_green && !is_red {
            return;
        }
        let batch = batch as usize;
        self.size = Some(policy::resized(self.size(batch), is_green, batch));
    }
}

/// A ticket in the train, or on its way to the target by itself.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) id: TicketId,
    pub(super) commit: Oid,
    pub(super) target: Oid,
    ahead: Option<TicketId>,
    joined_at: Time,
    trial: Trial,
    is_landing: bool,
    is_alone: bool,
}

impl Core {
    /// Whether branches are merged one on another. Without checks there is nothing to decide together, and
    /// pull requests are merged by people, one by one.
    pub(super) fn has_train(&self) -> bool {
        let is_on = self.settings.land.proposes().is_none()
            && !self.settings.train.is_single()
            && !CheckPlan::of(&self.settings).commands.is_empty();
        self.duty == Duty::Drain && is_on
    }

    /// Moves the train on as far as it goes.
    pub(super) fn follow_train(&mut self) {
        // The target's own checks have the first checkout.
        if self.checking_target().is_some() {
            return;
        }
        // Who was submitted first has the next checkout, so neither keeps the other waiting for ever.
        let line = self.connected_line();
        let first = self.first_of_train(&line);
        self.begin_own_checks(0, first.as_ref());
        for _ in 0..MOST_ROUNDS {
            let line = self.connected_line();
            if !self.follow_plan(&line) {
                break;
            }
        }
        let line = self.connected_line();
        let is_tried = line.iter().any(|member| member.trial == Trial::Running);
        let is_untried = line.iter().any(|member| member.trial == Trial::Untried);
        let is_due = !is_tried && (is_untried || self.is_building_for_train());
        self.begin_own_checks(usize::from(is_due), None);
    }

    /// The place in the order of landing of the first ticket that is in the train, or about to be.
    fn first_of_train(&self, line: &[Member]) -> Option<(Time, TicketId)> {
        let waiting = line.iter().filter(|member| !member.is_landing);
        let next = self.next_in_queue(line);
        let ids = waiting.map(|member| &member.id).chain(&next);
        let first = ids.filter_map(|id| {
            let (ticket, verify) = self.ticket(id).and_then(submitted)?;
            Some((place_in_line(ticket, verify), id.clone()))
        });
        first.min()
    }

    /// Whether a branch is being merged for the train at this moment.
    fn is_building_for_train(&self) -> bool {
        let is_building = |ticket: &Ticket| {
            let is_building = matches!(ticket.stage(), Some(Stage::Building));
            ticket.held.is_none() && is_building && !self.is_beside(ticket)
        };
        self.at_work().any(is_building)
    }

    /// Takes every entry out of the train, for an engine that has none. One that is at its checks goes on
    /// with them only if nobody is ahead of it: without a train their verdict would be on itself alone.
    pub(super) fn dissolve_train(&mut self) {
        let waits = |ticket: &Ticket| match ticket.stage() {
            Some(Stage::InTrain(_)) => true,
            Some(Stage::Checking(_)) => self.has_entry_ahead(ticket),
            Some(
                Stage::Queued
                | Stage::Building
                | Stage::Reviewing(_)
                | Stage::Proposed(_)
                | Stage::Unified { .. }
                | Stage::Landing { .. },
            )
            | None => false,
        };
        let meant = |id: &TicketId| match &self.duty {
            Duty::Drain => true,
            Duty::Command { lands } => lands.as_ref() == Some(id),
        };
        let entries: Vec<TicketId> = self
            .active_tickets()
            .filter(|(id, ticket)| ticket.held.is_none() && waits(ticket) && meant(id))
            .map(|(id, _)| id.clone())
            .collect();
        for id in entries {
            self.uncouple(&id, WhyUncoupled::Alone);
        }
    }

    /// Whether a candidate that was just built waits in the train. One that nobody is ahead of or behind is
    /// checked at once, and lands by itself.
    pub(super) fn joins_train(&self, id: &TicketId) -> bool {
        let Some((ticket, verify)) = self.ticket(id).and_then(submitted) else {
            return false;
        };
        if !self.has_train() || self.is_alone(ticket, verify) {
            return false;
        }
        if self.free_slots() == 0 {
            return true;
        }
        let line = self.line(&self.members());
        let is_followed = || self.next_in_queue(&line).is_some() || self.is_coming(Some(id));
        verify.train.ahead.is_some() || !line.is_empty() || is_followed()
    }

    /// Whether the entry ahead of a ticket has not landed: then a failure of its checks may be that one's.
    pub(super) fn has_entry_ahead(&self, ticket: &Ticket) -> bool {
        let Some((_, verify)) = submitted(ticket) else {
            return false;
        };
        let (Some(ahead), Some(candidate)) = (&verify.train.ahead, ticket.candidate()) else {
            return false;
        };
        !self.has_landed_as(ahead, &candidate.target)
    }

    fn has_landed_as(&self, id: &TicketId, wanted: &Oid) -> bool {
        let state = self.ticket(id).map(|ticket| &ticket.state);
        matches!(state, Some(State::Done(Done::Landed { commit, .. })) if commit == wanted)
    }

    /// Every ticket that is in the train, or has a candidate of its own under way.
    fn members(&self) -> BTreeMap<TicketId, Member> {
        let free = self.active_tickets().filter(|(_, ticket)| ticket.held.is_none());
        let member = |ticket: &Ticket| {
            let (_, verify) = submitted(ticket)?;
            if self.is_beside(ticket) {
                return None;
            }
            let (trial, is_landing) = match &verify.stage {
                Stage::Checking(_) => (Trial::Running, false),
                Stage::InTrain(entry) => match entry.trial {
                    ticket::Trial::Untried => (Trial::Untried, false),
                    ticket::Trial::Passed { .. } => (Trial::Passed, false),
                    ticket::Trial::Failed { .. } => (Trial::Failed, false),
                },
                Stage::Landing { waiting: None, .. } => (Trial::Passed, true),
                Stage::Landing { waiting: Some(_), .. }
                | Stage::Queued
                | Stage::Building
                | Stage::Proposed(_)
                | Stage::Unified { .. }
                | Stage::Reviewing(_) => return None,
            };
            let candidate = ticket.candidate()?;
            Some(Member {
                id: ticket.id.clone(),
                commit: candidate.commit.clone(),
                target: candidate.target.clone(),
                ahead: verify.train.ahead.clone(),
                joined_at: verify.train.joined_at.unwrap_or(verify.submitted_at),
                trial,
                is_landing,
                is_alone: self.is_alone(ticket, verify),
            })
        };
        let members = free.filter_map(|(id, ticket)| Some((id.clone(), member(ticket)?)));
        members.collect()
    }

    /// Whether there is a train of which a ticket is no part.
    pub(super) fn is_beside_a_train(&self, id: &TicketId) -> bool {
        let line = self.line(&self.members());
        !line.is_empty() && line.iter().all(|member| member.id != *id)
    }

    /// Whether a ticket is a part of the train.
    pub(super) fn is_in_line(&self, id: &TicketId) -> bool {
        let line = self.line(&self.members());
        line.iter().any(|member| member.id == *id)
    }

    /// Whether a member begins a line: it was merged on the target, or on an entry that has landed since.
    fn is_head(&self, member: &Member) -> bool {
        let ahead = member.ahead.as_ref();
        ahead.is_none_or(|ahead| self.has_landed_as(ahead, &member.target))
    }

    /// The train, the first entry on the target first. A ticket that lands by itself beside it, since a
    /// person's edits were in its way before, is no part of it.
    fn line(&self, members: &BTreeMap<TicketId, Member>) -> Vec<Member> {
        let behind: BTreeMap<&TicketId, &Member> = members
            .values()
            .filter_map(|member| Some((member.ahead.as_ref()?, member)))
            .filter(|(ahead, member)| members.get(*ahead).is_some_and(|it| it.commit == member.target))
            .collect();
        let lines = members
            .values()
            .filter(|member| self.is_head(member))
            .map(|head| {
                std::iter::successors(Some(head), |last| behind.get(&last.id).copied())
                    .take(members.len())
                    .cloned()
                    .collect::<Vec<Member>>()
            });
        let key = |line: &Vec<Member>| (line.iter().any(|member| !member.is_landing), line.len());
        lines.max_by_key(key).unwrap_or_default()
    }

    /// The train, once every entry is taken out of it whose entry ahead has left it without landing, or that
    /// may not land with others any more: since it joined, its file has got a commitment, or it is to be
    /// reviewed.
    fn connected_line(&mut self) -> Vec<Member> {
        loop {
            let members = self.members();
            let line = self.line(&members);
            let in_line: BTreeSet<&TicketId> = line.iter().map(|member| &member.id).collect();
            let waits_alone = |member: &Member| member.is_alone && member.trial != Trial::Running;
            let stray = members
                .values()
                .find(|member| !member.is_landing && (!in_line.contains(&member.id) || waits_alone(member)));
            let Some(stray) = stray else { return line };
            let why = match &stray.ahead {
                _ if waits_alone(stray) => self.why_alone(&stray.id),
                Some(ahead) => WhyUncoupled::AheadLeft { ahead: ahead.clone() },
                None => WhyUncoupled::TargetMoved,
            };
            if !self.uncouple(&stray.id.clone(), why) {
                return line;
            }
        }
    }

    /// The reason for which an entry may not land with others any more.
    fn why_alone(&self, id: &TicketId) -> WhyUncoupled {
        let found = self.ticket(id).and_then(submitted);
        let owed = found.filter(|(ticket, verify)| self.is_checked_first(ticket, verify));
        match owed.and_then(|(ticket, _)| ticket.candidate()) {
            Some(candidate) => self.not_cleared(candidate),
            None => WhyUncoupled::Alone,
        }
    }

    fn uncouple(&mut self, id: &TicketId, why: WhyUncoupled) -> bool {
        let cause = "it cannot land with the train as it is";
        let before = self.tickets.version(id);
        self.apply_or_note(id, Event::Uncoupled { why, at: self.now }, cause);
        self.tickets.version(id) > before
    }

    /// The next ticket that may be merged on the last entry, the one that was submitted first before all
    /// others. One that has to land alone lets nobody pass it.
    fn next_in_queue(&self, line: &[Member]) -> Option<TicketId> {
        if line.last().is_some_and(|last| last.is_alone) {
            return None;
        }
        let mut queue: Vec<(Time, &TicketId, &Ticket, &Verify)> = self
            .active_tickets()
            .filter(|(_, ticket)| ticket.held.is_none())
            .filter_map(|(id, ticket)| {
                let (_, verify) = submitted(ticket)?;
                let is_queued =
                    matches!(verify.stage, Stage::Queued) && !self.waits_for_resolution(ticket, verify);
                is_queued.then_some((place_in_line(ticket, verify), id, ticket, verify))
            })
            .collect();
        queue.sort_by_key(|(since, id, _, _)| (*since, *id));
        for (_, id, ticket, verify) in queue {
            if self.is_checked_first(ticket, verify) {
                continue;
            }
            if self.is_alone(ticket, verify) {
                return line.is_empty().then(|| id.clone());
            }
            let why = verify.train.uncoupled.as_ref().map(|uncoupled| &uncoupled.why);
            let is_behind = |ahead: &TicketId| line.iter().any(|member| member.id == *ahead);
            match why {
                Some(WhyUncoupled::Conflict { ahead, .. }) if is_behind(ahead) => {}
                Some(_) | None => return Some(id.clone()),
            }
        }
        None
    }

    /// Does what the plan says next; gives whether it said anything.
    fn follow_plan(&mut self, line: &[Member]) -> bool {
        let batch = self.settings.train.batch as usize;
        let landing = line.iter().take_while(|member| member.is_landing).count();
        let entries: Vec<Entry<'_>> = line[landing..]
            .iter()
            .map(|member| Entry {
                ticket: &member.id,
                trial: member.trial,
                joined_at: member.joined_at,
            })
            .collect();
        let next = self.next_in_queue(line);
        let queue = Queue {
            next: next.as_ref(),
            is_building: self.is_building_for_train(),
            is_coming: self.is_coming(None),
            is_landing: landing > 0,
        };
        let window = Window {
            size: self.train.size(batch),
            now: self.now,
        };
        let is_tried = |member: &&Member| member.trial == Trial::Running;
        let slots = self.free_slots() + line.iter().filter(is_tried).count();
        let plan = policy::plan(&entries, queue, slots, window);
        if let Some(at) = plan.wake_at {
            self.wake_at(at);
        }
        let before = self.out.writes.len();
        for step in plan.steps {
            self.take_step(line, landing, &step);
        }
        self.out.writes.len() > before
    }

    fn take_step(&mut self, line: &[Member], landing: usize, step: &Step) {
        match step {
            Step::Couple { ticket } => {
                let event = match line.last() {
                    None => Event::CheckStarted,
                    Some(last) => Event::Coupled {
                        coupling: Coupling {
                            ahead: last.id.clone(),
                            on: last.commit.clone(),
                            place: u32::try_from(line.len() + 1).unwrap_or(u32::MAX),
                            batch: self.settings.train.batch,
                        },
                    },
                };
                self.apply_or_note(ticket, event, "it was the next in the queue for checks");
            }
            Step::Try { ticket } => self.begin_trial(ticket, "the train up to it is tried"),
            Step::Cancel { ticket } => {
                let cause = "another verdict of the train has made it needless";
                self.apply_or_note(ticket, Event::TrialCancelled, cause);
            }
            Step::Land { tip } => self.land_batch(&line[landing..], tip),
            Step::TryAlone { ticket } => {
                let stage = self.ticket(ticket).and_then(Ticket::stage);
                let hindered = match stage {
                    Some(Stage::InTrain(entry)) => entry.trial.hindered_by(),
                    Some(_) | None => None,
                };
                match hindered.map(str::to_owned) {
                    // The machine may have been at fault for a while: it is merged anew before it is tried.
                    Some(which) => drop(self.uncouple(ticket, WhyUncoupled::Hindered { which })),
                    None => {
                        self.begin_trial(ticket, "everything ahead of it has landed: it is tried by itself");
                    }
                }
            }
        }
    }

    /// Orders the first run of an entry's checks, in the first checkout that is free.
    fn begin_trial(&mut self, id: &TicketId, cause: &'static str) {
        if self.free_slots() == 0 {
            return;
        }
        let Some(slot) = self.free_slot() else { return };
        let Some((_, verify)) = self.ticket(id).and_then(submitted) else {
            return;
        };
        let n = verify.train.runs + 1;
        let event = Event::CheckOrdered {
            run: RunId::of_check(id, verify.attempt.claim.fence, verify.round, n),
            task: ticket::CheckTask::Candidate,
            slot,
            anew: false,
            at: self.now,
        };
        self.apply_or_note(id, event, cause);
    }

    /// The target fails a check by itself: every entry of the train is held for that, and none is blamed.
    pub(super) fn hold_train(&mut self, red: &Event) {
        let members = self.members();
        let waiting = members.into_values().filter(|member| !member.is_landing);
        for member in waiting.collect::<Vec<_>>() {
            self.apply_or_note(&member.id, red.clone(), "the target itself does not pass");
        }
    }

    /// Somebody may have moved the target. Nothing of the train could land on another commit than the one
    /// that it was merged on, so it is merged anew.
    pub(super) fn train_sees_target(&mut self, commit: &Oid) {
        self.train.target = Some(commit.clone());
        if !self.has_train() {
            return;
        }
        let line = self.line(&self.members());
        let Some(first) = line.first().filter(|_| line.len() > 1) else {
            return;
        };
        if first.target == *commit || line.iter().any(|member| member.commit == *commit) {
            return;
        }
        for member in line.iter().filter(|member| !member.is_landing) {
            self.uncouple(&member.id, WhyUncoupled::TargetMoved);
        }
    }

    /// Whether a ticket is merged on the target alone, with nothing merged on it. A branch that a person let
    /// pass is not checked, so nobody may rely on it; one that may run fewer tests is compared by itself; one
    /// that is to be reviewed, or has commitments to meet, has its own merged result looked at first.
    fn is_alone(&self, ticket: &Ticket, verify: &Verify) -> bool {
        let cleared = verify.cleared.as_ref();
        let is_waived = cleared.is_some_and(|cleared| matches!(cleared.by, Clearance::Waived { .. }));
        is_waived
            || verify.fewer_tests.is_some()
            || verify.train.is_alone()
            || self.is_checked_first(ticket, verify)
    }

    /// The events of a report that a ticket conflicts with the train, and perhaps not with the target.
    pub(super) fn conflicts_ahead(&self, id: &TicketId, report: &Report) -> Option<Event> {
        let Report::ConflictsAhead { paths } = report else {
            return None;
        };
        let (_, verify) = self.ticket(id).and_then(submitted)?;
        Some(Event::Uncoupled {
            why: WhyUncoupled::Conflict {
                ahead: verify.train.ahead.clone()?,
                paths: paths.clone(),
            },
            at: self.now,
        })
    }

    /// The event for an entry whose candidate was built: it waits in the train.
    pub(super) fn joined_train(&self, candidate: Candidate) -> Event {
        Event::JoinedTrain {
            candidate,
            plan: CheckPlan::of(&self.settings),
            at: self.now,
        }
    }
}

/// The time of a ticket's first submission, which is its place in the order of landing.
pub(super) fn place_in_line(ticket: &Ticket, verify: &Verify) -> Time {
    ticket.in_line_since.unwrap_or(verify.submitted_at)
}

pub(super) fn submitted(ticket: &Ticket) -> Option<(&Ticket, &Verify)> {
    match &ticket.state {
        State::Verify(verify) => Some((ticket, verify)),
        State::New | State::Open | State::InProgress(_) | State::Done(_) => None,
    }
}
