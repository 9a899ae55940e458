//! Effect queues: the effects of one queue are performed one after the other, those of different queues at
//! once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::journal::{EffectId, Ordered};
use model::ticket::Effect;
use model::{RunId, TicketId, Time, attempt};

/// The key of an effect queue. A ticket has one queue for its work and another for writes into its file, so
/// that a file that cannot be written holds up nobody's work.
pub(super) type QueueKey = (TicketId, Kind);

/// The subject of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Workspace, processes, branches.
    Work,
    /// The ticket's file.
    File,
}

fn key(ordered: &Ordered) -> QueueKey {
    let kind = if ordered.effect.is_of_file() {
        Kind::File
    } else {
        Kind::Work
    };
    (ordered.ticket.clone(), kind)
}

/// Two effect queues for each ticket. A stop waits for nothing but the start of the run that it stops; an
/// effect that has failed holds up the effects behind it until it is performed again. A landing also waits
/// for the landings of other tickets that were ordered before it: nothing is landed on top of a landing that
/// the journal does not have yet.
#[derive(Clone, Debug, Default)]
pub(super) struct EffectQueues {
    /// How many cores were loaded. A report of what an earlier core ordered is not for this core.
    generation: u64,
    waiting: BTreeMap<QueueKey, VecDeque<Ordered>>,
    /// The effect of each queue that is being performed.
    performing: BTreeMap<QueueKey, EffectId>,
    /// Landings that are ordered, until the journal has what came of them.
    landings: BTreeSet<EffectId>,
    /// Where work is being kept, or is to be.
    keeps: BTreeSet<EffectId>,
    /// Stops that are being performed beside the queues.
    stops: usize,
    /// Queues whose first waiting effect has failed, and when it is performed again.
    delayed: BTreeMap<QueueKey, Time>,
    /// The effects that have failed, and are performed again.
    failed: BTreeSet<EffectId>,
    /// Effects that have failed and that were performed again before their time, once.
    hastened: BTreeSet<EffectId>,
    /// Effects that were performed since the last batch: one of them may have to be performed again.
    performed: BTreeMap<EffectId, Ordered>,
}

/// The core for which an effect is performed, and whether the next effect of its queue waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    generation: u64,
    is_queued: bool,
}

/// Whether the first effect of a queue is a landing, and another was ordered before it.
fn lands_later(effects: &VecDeque<Ordered>, landings: &BTreeSet<EffectId>) -> bool {
    let lands = |one: &&Ordered| matches!(one.effect, Effect::Land { .. });
    let landing = effects.front().filter(lands);
    landing.is_some_and(|one| landings.first() != Some(&one.id))
}

impl EffectQueues {
    /// Another core has taken over: it orders anew. What is being performed still is, and is waited for.
    pub(super) fn renew(&mut self) {
        self.generation += 1;
        self.waiting.clear();
        self.landings.clear();
        self.keeps.clear();
        self.failed.clear();
        self.hastened.clear();
        self.delayed.clear();
        self.performed.clear();
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Puts an effect into its queue. Gives back one that is to be performed at once.
    pub(super) fn add(&mut self, ordered: Ordered) -> Option<(Ordered, Turn)> {
        if let Effect::Attempt(attempt::Effect::StopRun { run }) = &ordered.effect
            && !self.is_starting(&ordered.ticket, run)
        {
            self.stops += 1;
            return Some((ordered, self.turn(false)));
        }
        if let Effect::Land { .. } = ordered.effect {
            self.landings.insert(ordered.id);
        }
        if let Effect::KeepWork { .. } = ordered.effect {
            self.keeps.insert(ordered.id);
        }
        self.waiting.entry(key(&ordered)).or_default().push_back(ordered);
        None
    }

    /// Whether work of an attempt that is over is still to be kept.
    pub(super) fn is_keeping(&self) -> bool {
        !self.keeps.is_empty()
    }

    /// The effects that can be performed now, taken out of their queues.
    pub(super) fn next(&mut self, now: Time) -> Vec<(Ordered, Turn)> {
        let turn = self.turn(true);
        let (performing, delayed) = (&mut self.performing, &self.delayed);
        let landings = &self.landings;
        let mut next = Vec::new();
        self.waiting.retain(|key, effects| {
            let held_up = lands_later(effects, landings)
                || performing.contains_key(key)
                || delayed.get(key).is_some_and(|at| *at > now);
            if !held_up && let Some(ordered) = effects.pop_front() {
                performing.insert(key.clone(), ordered.id);
                next.push((ordered, turn));
            }
            !effects.is_empty()
        });
        next
    }

    /// Whether a later effect is to write into the same file: an outdated text need not be written any more,
    /// and nobody is to see it there. An effect that has failed is not outdated: performing it shows whether
    /// the file can be written.
    pub(super) fn is_outdated(&self, ordered: &Ordered) -> bool {
        let writes = |one: &Ordered| matches!(one.effect, Effect::WriteFile(_));
        let later = self.waiting.get(&key(ordered));
        let is_followed = writes(ordered) && later.is_some_and(|later| later.iter().any(writes));
        is_followed && !self.failed.contains(&ordered.id)
    }

    /// Notes that an effect was performed. Returns whether its report is for the present core: a report of an
    /// older core's executor does not reach a newer core, which orders the same again.
    pub(super) fn performed(&mut self, ordered: &Ordered, turn: Turn) -> bool {
        if turn.is_queued {
            self.performing.remove(&key(ordered));
        } else {
            self.stops = self.stops.saturating_sub(1);
        }
        let is_current = turn.generation == self.generation;
        if is_current {
            self.performed.insert(ordered.id, ordered.clone());
        }
        is_current
    }

    /// An effect that was just performed is to be performed again at `at`; what follows it waits.
    pub(super) fn again(&mut self, id: EffectId, at: Time) {
        if let Some(ordered) = self.performed.remove(&id) {
            let key = key(&ordered);
            self.failed.insert(id);
            self.delayed.insert(key.clone(), at);
            self.waiting.entry(key).or_default().push_front(ordered);
        }
    }

    /// The journal has what came of everything that was performed, and what is to be performed again was
    /// given back: the rest is done.
    pub(super) fn finish_performed(&mut self) {
        for id in std::mem::take(&mut self.performed).into_keys() {
            self.landings.remove(&id);
            self.keeps.remove(&id);
            self.failed.remove(&id);
            self.hastened.remove(&id);
        }
    }

    /// Lets what was delayed go on whose time has come.
    pub(super) fn wake(&mut self, now: Time) {
        self.delayed.retain(|_, at| *at > now);
    }

    /// Lets the work of these tickets that has failed go on before its time: what it needs is back.
    pub(super) fn go_on(&mut self, tickets: &BTreeSet<TicketId>) {
        self.delayed
            .retain(|(ticket, kind), _| *kind != Kind::Work || !tickets.contains(ticket));
    }

    /// Lets an effect that has failed go on before its time where nobody waits for it any more, and it has
    /// only to be ended. This happens once: an effect that cannot be ended is tried again in its own time.
    pub(super) fn hasten(&mut self, is_unwanted: impl Fn(&Ordered) -> bool) {
        let (waiting, hastened) = (&self.waiting, &mut self.hastened);
        self.delayed.retain(|key, _| {
            let first = waiting.get(key).and_then(VecDeque::front);
            let is_let_go = first.is_some_and(|one| is_unwanted(one) && hastened.insert(one.id));
            !is_let_go
        });
    }

    /// When the next delayed effect may be performed again.
    pub(super) fn next_wake(&self) -> Option<Time> {
        self.delayed.values().min().copied()
    }

    /// Nothing is being performed, and nothing waits but in queues that do not count.
    pub(super) fn are_at_rest(&self, does_not_count: impl Fn(&QueueKey) -> bool) -> bool {
        self.performing.is_empty() && self.stops == 0 && self.waiting.keys().all(does_not_count)
    }

    /// Whether a stop is being performed.
    pub(super) fn is_stopping(&self) -> bool {
        self.stops > 0
    }

    /// Queues of which something is being performed, or could be at any moment.
    pub(super) fn at_work(&self) -> impl Iterator<Item = &QueueKey> {
        let is_delayed = |key: &QueueKey| self.delayed.contains_key(key);
        let first = |effects: &VecDeque<Ordered>| effects.front().map(|one| one.id);
        let lands_first = |effects: &VecDeque<Ordered>| first(effects).as_ref() == self.landings.first();
        let mut all = self.waiting.iter();
        let nobody_lands = all.any(|(key, effects)| is_delayed(key) && lands_first(effects));
        let waiting = self.waiting.iter().filter(move |(key, effects)| {
            !(is_delayed(key) || nobody_lands && lands_later(effects, &self.landings))
        });
        self.performing.keys().chain(waiting.map(|(key, _)| key))
    }

    fn turn(&self, is_queued: bool) -> Turn {
        Turn {
            generation: self.generation,
            is_queued,
        }
    }

    /// Whether the run's start is still to be performed, or may be being performed.
    fn is_starting(&self, ticket: &TicketId, stopped: &RunId) -> bool {
        let starts = |ordered: &Ordered| {
            let stops = matches!(ordered.effect, Effect::Attempt(attempt::Effect::StopRun { .. }));
            !stops && ordered.effect.run() == Some(stopped)
        };
        let key = (ticket.clone(), Kind::Work);
        let waits = self
            .waiting
            .get(&key)
            .is_some_and(|effects| effects.iter().any(starts));
        waits || self.performing.contains_key(&key)
    }
}

#[cfg(test)]
mod tests {
    use model::ticket::{FileStatus, Filing};

    use super::*;

    fn ordered(ticket: &str, seq: u64, effect: Effect) -> Ordered {
        Ordered {
            id: EffectId { seq, index: 0 },
            ticket: TicketId::new(ticket).unwrap(),
            effect,
        }
    }

    fn file(ticket: &str, seq: u64) -> Ordered {
        let filing = Filing {
            status: FileStatus::Open,
            tags: Default::default(),
            deps: Default::default(),
            note: None,
        };
        ordered(ticket, seq, Effect::WriteFile(filing))
    }

    fn keep(ticket: &str, seq: u64) -> Ordered {
        let agent = model::AgentName::new("ada").unwrap();
        ordered(ticket, seq, Effect::KeepWork { agent, number: 1 })
    }

    fn stop(ticket: &str, seq: u64) -> Ordered {
        let run = RunId::new("t-1.1.1").unwrap();
        ordered(ticket, seq, Effect::Attempt(attempt::Effect::StopRun { run }))
    }

    /// The orders that start a run: of a step, of a review, of a check.
    fn starts(run: &RunId) -> [Effect; 3] {
        let (ticket, agent) = (
            TicketId::new("t-1").unwrap(),
            model::AgentName::new("ada").unwrap(),
        );
        let (run, fence) = (run.clone(), model::Fence(1));
        let session = model::SessionId::of_attempt(uuid::Uuid::nil(), &ticket, fence, 1);
        let candidate = candidate();
        let step = attempt::Effect::StartStep {
            agent: agent.clone(),
            run: run.clone(),
            fence,
            number: 1,
            step: 1,
            harness: model::samples::harness(),
            session: session.clone(),
            new_session: true,
            prompt: attempt::Prompt::Init,
            edited: false,
            budget: None,
        };
        let check = Effect::StartCheck {
            run: run.clone(),
            task: model::ticket::CheckTask::Candidate,
            slot: model::ticket::CheckSlot::FIRST,
            commit: candidate.commit.clone(),
            command: model::samples::ticket::check("make check"),
            plan: model::ticket::CheckPlan::default(),
            anew: false,
            set_up: 0,
            passed: 0,
        };
        let review = Effect::StartReview {
            agent,
            run,
            fence,
            step: 1,
            harness: model::samples::harness(),
            session,
            new_session: true,
            candidate,
        };
        [Effect::Attempt(step), review, check]
    }

    fn candidate() -> model::ticket::Candidate {
        let oid = model::Oid::new("a".repeat(40)).unwrap();
        model::ticket::Candidate {
            commit: oid.clone(),
            tree: oid.clone(),
            target: oid.clone(),
            tip: oid,
            passed: Vec::new(),
            review: None,
            brings_nothing: false,
        }
    }

    fn land(ticket: &str, seq: u64) -> Ordered {
        let agent = model::AgentName::new("ada").unwrap();
        ordered(
            ticket,
            seq,
            Effect::Land {
                agent,
                candidate: candidate(),
                batch: None,
            },
        )
    }

    fn seqs(turns: &[(Ordered, Turn)]) -> Vec<u64> {
        turns.iter().map(|(ordered, _)| ordered.id.seq).collect()
    }

    #[test]
    fn a_tickets_effects_are_performed_in_order_and_tickets_do_not_wait_for_each_other() {
        let mut queues = EffectQueues::default();
        for one in [file("t-1", 1), file("t-1", 2), file("t-2", 3)] {
            assert!(queues.add(one).is_none());
        }
        let first = queues.next(Time(0));
        assert_eq!(seqs(&first), [1, 3]);
        assert!(queues.next(Time(0)).is_empty(), "the second waits for the first");
        assert!(queues.performed(&first[0].0, first[0].1));
        assert_eq!(seqs(&queues.next(Time(0))), [2]);
    }

    #[test]
    fn what_is_to_be_overwritten_at_once_is_outdated() {
        let mut queues = EffectQueues::default();
        for one in [file("t-1", 1), file("t-1", 2), keep("t-2", 3), keep("t-2", 4)] {
            queues.add(one);
        }
        let first = queues.next(Time(0));
        let outdated = |turns: &[(Ordered, Turn)], queues: &EffectQueues| -> Vec<bool> {
            turns.iter().map(|(one, _)| queues.is_outdated(one)).collect()
        };
        assert_eq!(outdated(&first, &queues), [true, false], "only of files");
        queues.performed(&first[0].0, first[0].1);
        let second = queues.next(Time(0));
        assert_eq!(outdated(&second, &queues), [false]);
        queues.performed(&second[0].0, second[0].1);
        queues.again(second[0].0.id, Time(0));
        queues.add(file("t-1", 5));
        queues.wake(Time(0));
        let again = queues.next(Time(0));
        assert_eq!((seqs(&again), outdated(&again, &queues)), (vec![2], vec![false]));
    }

    #[test]
    fn a_file_that_cannot_be_written_holds_up_no_work() {
        let mut queues = EffectQueues::default();
        queues.add(file("t-1", 1));
        queues.add(keep("t-1", 2));
        assert_eq!(seqs(&queues.next(Time(0))), [2, 1]);
    }

    #[test]
    fn what_has_failed_is_performed_again_before_what_follows_it() {
        let mut queues = EffectQueues::default();
        for one in [file("t-1", 1), file("t-1", 2)] {
            queues.add(one);
        }
        let first = queues.next(Time(0));
        queues.performed(&first[0].0, first[0].1);
        queues.again(first[0].0.id, Time(5));
        assert!(queues.next(Time(4)).is_empty(), "nothing overtakes it");
        assert_eq!(queues.next_wake(), Some(Time(5)));
        assert_eq!(queues.at_work().count(), 0, "nobody waits for it");
        queues.wake(Time(5));
        assert_eq!(seqs(&queues.next(Time(5))), [1]);
    }

    #[test]
    fn nothing_lands_before_what_was_ordered_to_land_before_it_is_in_the_journal() {
        let mut queues = EffectQueues::default();
        for one in [land("t-2", 1), land("t-1", 2), keep("t-3", 3)] {
            queues.add(one);
        }
        let first = queues.next(Time(0));
        assert_eq!(seqs(&first), [1, 3]);
        let (landed, turn) = &first[0];
        queues.performed(landed, *turn);
        assert!(
            queues.next(Time(0)).is_empty(),
            "what came of the first is not in the journal"
        );
        queues.again(landed.id, Time(5));
        assert!(queues.next(Time(0)).is_empty(), "it was not done, or was it?");
        queues.performed(&first[1].0, first[1].1);
        assert_eq!(queues.at_work().count(), 0, "nobody waits for either");
        queues.wake(Time(5));
        let again = queues.next(Time(5));
        assert_eq!(seqs(&again), [1]);
        assert_eq!(queues.at_work().count(), 2);
        queues.performed(&again[0].0, again[0].1);
        queues.finish_performed();
        assert_eq!(seqs(&queues.next(Time(5))), [2]);
    }

    #[test]
    fn a_stop_waits_for_what_is_under_way_and_for_nothing_else() {
        let mut queues = EffectQueues::default();
        queues.add(keep("t-1", 1));
        let first = queues.next(Time(0));
        assert!(
            queues.add(stop("t-1", 2)).is_none(),
            "it could be the start that is being performed"
        );
        queues.performed(&first[0].0, first[0].1);
        queues.again(first[0].0.id, Time(5));
        let (stopping, turn) = queues.add(stop("t-1", 3)).unwrap();
        assert!(queues.is_stopping());
        queues.performed(&stopping, turn);
        assert!(!queues.is_stopping());
    }

    #[test]
    fn a_stop_overtakes_no_start_of_its_run() {
        let [step, review, check] = starts(&RunId::new("t-1.1.1").unwrap());
        for (start, kind) in [(step, "a step"), (review, "a review"), (check, "a check")] {
            let mut queues = EffectQueues::default();
            queues.add(ordered("t-1", 1, start));
            assert!(queues.add(stop("t-1", 2)).is_none(), "{kind} is not begun");
            let first = queues.next(Time(0));
            assert_eq!(seqs(&first), [1], "{kind}");
            queues.performed(&first[0].0, first[0].1);
            assert_eq!(seqs(&queues.next(Time(0))), [2], "{kind}");
        }
    }

    #[test]
    fn an_older_cores_report_is_waited_for_and_not_passed_on() {
        let mut queues = EffectQueues::default();
        queues.add(file("t-1", 1));
        let first = queues.next(Time(0));
        queues.renew();
        queues.add(file("t-1", 1));
        assert!(queues.next(Time(0)).is_empty(), "the older executor still has it");
        assert!(!queues.performed(&first[0].0, first[0].1));
        assert_eq!(seqs(&queues.next(Time(0))), [1]);
    }
}
