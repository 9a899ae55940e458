//! An engine that is up: the real core, and what its driver has to remember between two inputs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use engine::{Core, Report};
use model::attempt;
use model::journal::{EffectId, TimerRef};
use model::ticket::{Effect, Ticket};
use model::{RunId, TicketId, Time};
use store::Ordered;

/// A report on its way.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) at: Time,
    pub(crate) ordered: Ordered,
    pub(crate) report: Report,
}

/// One engine's life.
#[derive(Clone, Debug)]
pub(crate) struct Driver {
    pub(crate) core: Core,
    /// Effects of each ticket, in order: only the first is performed, and of all landings the first.
    queues: BTreeMap<TicketId, VecDeque<Ordered>>,
    /// Ordered before, and not to be performed unless something of the same ticket is.
    shelved: Vec<Ordered>,
    /// Stops are performed at once.
    stops: Vec<Ordered>,
    /// Performed, and not reported yet.
    performing: BTreeSet<EffectId>,
    /// To be performed again, not before.
    again: BTreeMap<EffectId, Time>,
    pub(crate) reports: Vec<Told>,
    /// Runs whose end is waited for, with the time of the next look.
    pub(crate) watched: BTreeMap<RunId, Time>,
    /// Timers this core was told of.
    pub(crate) fired: BTreeSet<TimerRef>,
    /// Place in the inbox.
    pub(crate) asked: u64,
    pub(crate) wake_at: Option<Time>,
    pub(crate) tick_at: Time,
    /// When the first, full look at the tickets is told; none when it was.
    pub(crate) first_look: Option<Time>,
}

impl Driver {
    pub(crate) fn new(core: Core, pending: Vec<Ordered>, now: Time, first_look: Time) -> Self {
        let watched = core.live_runs().map(|(_, run)| (run.clone(), now)).collect();
        let mut driver = Self {
            core,
            queues: BTreeMap::new(),
            shelved: Vec::new(),
            stops: Vec::new(),
            performing: BTreeSet::new(),
            again: BTreeMap::new(),
            reports: Vec::new(),
            watched,
            fired: BTreeSet::new(),
            asked: 0,
            wake_at: None,
            tick_at: Time(now.0 + 30_000),
            first_look: Some(first_look),
        };
        driver.take(pending);
        driver
    }

    /// For one command only: watches nothing that runs already, unless it is a check and the command `lands`
    /// a ticket, and leaves what was ordered before to the
    /// next engine, but for tickets of which it orders something itself. Effects of one ticket are performed
    /// in order, whoever ordered them: else an old preparation is made good after the work it was for was
    /// kept and removed.
    pub(crate) fn alone(mut self, pending: Vec<Ordered>, lands: bool) -> Self {
        self.watched.retain(|run, _| lands && run.is_check());
        self.shelved = pending;
        self
    }

    /// Takes effects that are durable now.
    pub(crate) fn take(&mut self, ordered: Vec<Ordered>) {
        let tickets: BTreeSet<TicketId> = ordered.iter().map(|one| one.ticket.clone()).collect();
        let (older, shelved): (Vec<_>, Vec<_>) = std::mem::take(&mut self.shelved)
            .into_iter()
            .partition(|one| tickets.contains(&one.ticket));
        self.shelved = shelved;
        for one in older.into_iter().chain(ordered) {
            if let Effect::Attempt(attempt::Effect::StopRun { .. }) = one.effect {
                self.stops.push(one);
            } else {
                self.queues.entry(one.ticket.clone()).or_default().push_back(one);
            }
        }
    }

    /// Effects that may be performed now.
    pub(crate) fn ready(&self, now: Time) -> Vec<Ordered> {
        let heads = self
            .queues
            .values()
            .filter_map(VecDeque::front)
            .chain(&self.stops);
        let all = self.queues.values().flatten();
        let landings = all.filter(|one| matches!(one.effect, Effect::Land { .. }));
        let lands_first = landings.map(|one| one.id).min();
        let ready = heads.filter(|one| {
            let lands_later = matches!(one.effect, Effect::Land { .. }) && Some(one.id) != lands_first;
            !lands_later
                && !self.performing.contains(&one.id)
                && self.again.get(&one.id).is_none_or(|at| *at <= now)
        });
        ready.cloned().collect()
    }

    /// Whether something later is to be written into the same ticket's file.
    pub(crate) fn is_outdated(&self, one: &Ordered) -> bool {
        let writes = |one: &&Ordered| matches!(one.effect, Effect::WriteFile(_));
        let mut of_ticket = self.queues.get(&one.ticket).into_iter().flatten();
        let last = of_ticket.rfind(writes);
        let has_failed = self.again.contains_key(&one.id);
        writes(&one) && !has_failed && last.is_some_and(|last| last.id != one.id)
    }

    /// Notes that an effect was performed: its report comes at `told.at`.
    pub(crate) fn performed(&mut self, told: Told, now: Time) {
        self.performing.insert(told.ordered.id);
        if let (
            Effect::Attempt(attempt::Effect::StartStep { run, .. } | attempt::Effect::StopRun { run })
            | Effect::StartCheck { run, .. },
            Report::StepSpawned | Report::CheckSpawned | Report::Stopped,
        ) = (&told.ordered.effect, &told.report)
        {
            self.watched.insert(run.clone(), now);
        }
        self.reports.push(told);
    }

    /// The core has heard the report of an effect; `again` is when it is performed once more.
    pub(crate) fn settled(&mut self, id: EffectId, again: Option<Time>) {
        self.performing.remove(&id);
        self.reports.retain(|told| told.ordered.id != id);
        if let Some(at) = again {
            self.again.insert(id, at);
            return;
        }
        self.again.remove(&id);
        self.stops.retain(|one| one.id != id);
        for queue in self.queues.values_mut() {
            queue.retain(|one| one.id != id);
        }
        self.queues.retain(|_, queue| !queue.is_empty());
    }

    /// The machine's clock is set: what is measured by one that only runs on stays as far away as it was.
    pub(crate) fn set_clock(&mut self, by: i64) {
        let told = self.reports.iter_mut().map(|told| &mut told.at);
        let measured = told.chain(self.watched.values_mut()).chain([&mut self.tick_at]);
        for at in measured.chain(&mut self.first_look) {
            at.0 += by;
        }
    }

    /// Whether nothing is under way.
    pub(crate) fn is_quiet(&self) -> bool {
        self.queues.is_empty() && self.stops.is_empty() && self.reports.is_empty()
    }

    /// The next moment at which the driver has something to do by itself.
    pub(crate) fn next(&self, now: Time) -> Option<Time> {
        let deadlines = self.core.tickets().filter_map(Ticket::deadline).map(|d| d.at);
        self.reports
            .iter()
            .map(|told| told.at)
            .chain(self.again.values().copied())
            .chain(self.watched.values().copied())
            .chain(self.wake_at)
            .chain([self.tick_at])
            .chain(self.first_look)
            .chain(deadlines)
            .filter(|at| *at > now)
            .min()
    }
}
