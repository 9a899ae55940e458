//! The effect queues: effects of one queue are performed one after the other, those of different queues at
//! once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::journal::EffectId;
use model::ticket::Effect;
use model::{RunId, TicketId, Time, attempt};
use store::Ordered;

/// The key of an effect queue. A ticket has one queue for its work and another for writes into its file, so
/// that a file that cannot be written holds up nobody's work.
pub(crate) type Line = (TicketId, Kind);

/// The subject of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Workspace, processes, branches.
    Work,
    /// The ticket's file.
    File,
}

fn line(ordered: &Ordered) -> Line {
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
#[derive(Debug, Default)]
pub(crate) struct EffectQueues {
    /// Which core's they are, counted from the engine's start.
    core: u64,
    waiting: BTreeMap<Line, VecDeque<Ordered>>,
    /// The effect of each line that is being performed.
    performing: BTreeMap<Line, EffectId>,
    /// Landings that are ordered, until the journal has what came of them.
    landings: BTreeSet<EffectId>,
    /// Where work is being kept, or is to be.
    keeps: BTreeSet<EffectId>,
    /// Stops that are being performed beside the lines.
    stops: usize,
    /// EffectQueues whose first waiting effect has failed, and when it is performed again.
    delayed: BTreeMap<Line, Time>,
    /// The effects that have failed, and are performed again.
    failed: BTreeSet<EffectId>,
    /// What was performed since the core was last asked, should it be performed again.
    performed: BTreeMap<EffectId, Ordered>,
}

/// For whom an effect is performed, and whether its line's next one waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    core: u64,
    in_line: bool,
}

/// Whether what is first in a line is a landing, and another was ordered before it.
fn lands_later(effects: &VecDeque<Ordered>, landings: &BTreeSet<EffectId>) -> bool {
    let lands = |one: &&Ordered| matches!(one.effect, Effect::Land { .. });
    let landing = effects.front().filter(lands);
    landing.is_some_and(|one| landings.first() != Some(&one.id))
}

impl EffectQueues {
    /// Another core has taken over: it orders anew. What is being performed still is, and is waited for.
    pub(crate) fn renew(&mut self) {
        self.core += 1;
        self.waiting.clear();
        self.landings.clear();
        self.keeps.clear();
        self.failed.clear();
        self.delayed.clear();
        self.performed.clear();
    }

    /// Puts an effect into its line. Gives back one that is to be performed at once.
    pub(crate) fn add(&mut self, ordered: Ordered) -> Option<(Ordered, Turn)> {
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
        self.waiting.entry(line(&ordered)).or_default().push_back(ordered);
        None
    }

    /// Whether work of an attempt that is over is still to be kept.
    pub(crate) fn is_keeping(&self) -> bool {
        !self.keeps.is_empty()
    }

    /// The effects that can be performed now, taken out of their queues.
    pub(crate) fn next(&mut self, now: Time) -> Vec<(Ordered, Turn)> {
        let turn = self.turn(true);
        let (performing, delayed) = (&mut self.performing, &self.delayed);
        let landings = &self.landings;
        let mut next = Vec::new();
        self.waiting.retain(|line, effects| {
            let held_up = lands_later(effects, landings)
                || performing.contains_key(line)
                || delayed.get(line).is_some_and(|at| *at > now);
            if !held_up && let Some(ordered) = effects.pop_front() {
                performing.insert(line.clone(), ordered.id);
                next.push((ordered, turn));
            }
            !effects.is_empty()
        });
        next
    }

    /// Whether a later effect is to write into the same file: an outdated text need not be written any more,
    /// and nobody is to see it there. An effect that has failed is not outdated: performing it shows whether
    /// the file can be written.
    pub(crate) fn is_outdated(&self, ordered: &Ordered) -> bool {
        let writes = |one: &Ordered| matches!(one.effect, Effect::WriteFile(_));
        let later = self.waiting.get(&line(ordered));
        let is_followed = writes(ordered) && later.is_some_and(|later| later.iter().any(writes));
        is_followed && !self.failed.contains(&ordered.id)
    }

    /// Notes that an effect was performed. Returns whether its report is for the present core: a report of an
    /// older core's executor does not reach a newer core, which orders the same again.
    pub(crate) fn performed(&mut self, ordered: &Ordered, turn: Turn) -> bool {
        if turn.in_line {
            self.performing.remove(&line(ordered));
        } else {
            self.stops = self.stops.saturating_sub(1);
        }
        let of_today = turn.core == self.core;
        if of_today {
            self.performed.insert(ordered.id, ordered.clone());
        }
        of_today
    }

    /// An effect that was just performed is to be performed again at `at`; what follows it waits.
    pub(crate) fn again(&mut self, id: EffectId, at: Time) {
        if let Some(ordered) = self.performed.remove(&id) {
            let line = line(&ordered);
            self.failed.insert(id);
            self.delayed.insert(line.clone(), at);
            self.waiting.entry(line).or_default().push_front(ordered);
        }
    }

    /// The core was asked about everything that was performed. Gives what is not performed again.
    pub(crate) fn settled(&mut self) -> Vec<EffectId> {
        let settled: Vec<EffectId> = std::mem::take(&mut self.performed).into_keys().collect();
        for id in &settled {
            self.landings.remove(id);
            self.keeps.remove(id);
            self.failed.remove(id);
        }
        settled
    }

    /// Lets what was delayed go on whose time has come.
    pub(crate) fn wake(&mut self, now: Time) {
        self.delayed.retain(|_, at| *at > now);
    }

    /// When the next delayed effect may be performed again.
    pub(crate) fn next_wake(&self) -> Option<Time> {
        self.delayed.values().min().copied()
    }

    /// Nothing is being performed, and nothing waits but in lines that do not count.
    pub(crate) fn are_at_rest(&self, does_not_count: impl Fn(&Line) -> bool) -> bool {
        self.performing.is_empty() && self.stops == 0 && self.waiting.keys().all(does_not_count)
    }

    /// Whether a stop is being performed.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stops > 0
    }

    /// EffectQueues of which something is being performed, or could be at any moment.
    pub(crate) fn at_work(&self) -> impl Iterator<Item = &Line> {
        let is_delayed = |line: &Line| self.delayed.contains_key(line);
        let first = |effects: &VecDeque<Ordered>| effects.front().map(|one| one.id);
        let lands_first = |effects: &VecDeque<Ordered>| first(effects).as_ref() == self.landings.first();
        let mut all = self.waiting.iter();
        let nobody_lands = all.any(|(line, effects)| is_delayed(line) && lands_first(effects));
        let waiting = self.waiting.iter().filter(move |(line, effects)| {
            !(is_delayed(line) || nobody_lands && lands_later(effects, &self.landings))
        });
        self.performing.keys().chain(waiting.map(|(line, _)| line))
    }

    fn turn(&self, in_line: bool) -> Turn {
        Turn {
            core: self.core,
            in_line,
        }
    }

    /// Whether the run's start is still to be performed, or may be being performed.
    fn is_starting(&self, ticket: &TicketId, stopped: &RunId) -> bool {
        let starts = |ordered: &Ordered| {
            let Effect::Attempt(attempt::Effect::StartStep { run, .. }) = &ordered.effect else {
                return false;
            };
            run == stopped
        };
        let line = (ticket.clone(), Kind::Work);
        let waits = self
            .waiting
            .get(&line)
            .is_some_and(|effects| effects.iter().any(starts));
        waits || self.performing.contains_key(&line)
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

    fn land(ticket: &str, seq: u64) -> Ordered {
        let oid = model::Oid::new("a".repeat(40)).unwrap();
        let candidate = model::ticket::Candidate {
            commit: oid.clone(),
            tree: oid.clone(),
            target: oid.clone(),
            tip: oid,
            passed: Vec::new(),
        };
        let agent = model::AgentName::new("ada").unwrap();
        ordered(ticket, seq, Effect::Land { agent, candidate })
    }

    fn seqs(turns: &[(Ordered, Turn)]) -> Vec<u64> {
        turns.iter().map(|(ordered, _)| ordered.id.seq).collect()
    }

    #[test]
    fn a_tickets_effects_are_performed_in_order_and_tickets_do_not_wait_for_each_other() {
        let mut lines = EffectQueues::default();
        for one in [file("t-1", 1), file("t-1", 2), file("t-2", 3)] {
            assert!(lines.add(one).is_none());
        }
        let first = lines.next(Time(0));
        assert_eq!(seqs(&first), [1, 3]);
        assert!(lines.next(Time(0)).is_empty(), "the second waits for the first");
        assert!(lines.performed(&first[0].0, first[0].1));
        assert_eq!(seqs(&lines.next(Time(0))), [2]);
    }

    #[test]
    fn what_is_to_be_overwritten_at_once_is_outdated() {
        let mut lines = EffectQueues::default();
        for one in [file("t-1", 1), file("t-1", 2), keep("t-2", 3), keep("t-2", 4)] {
            lines.add(one);
        }
        let first = lines.next(Time(0));
        let outdated = |turns: &[(Ordered, Turn)], lines: &EffectQueues| -> Vec<bool> {
            turns.iter().map(|(one, _)| lines.is_outdated(one)).collect()
        };
        assert_eq!(outdated(&first, &lines), [true, false], "only of files");
        lines.performed(&first[0].0, first[0].1);
        let second = lines.next(Time(0));
        assert_eq!(outdated(&second, &lines), [false]);
        lines.performed(&second[0].0, second[0].1);
        lines.again(second[0].0.id, Time(0));
        lines.add(file("t-1", 5));
        lines.wake(Time(0));
        let again = lines.next(Time(0));
        assert_eq!((seqs(&again), outdated(&again, &lines)), (vec![2], vec![false]));
    }

    #[test]
    fn a_file_that_cannot_be_written_holds_up_no_work() {
        let mut lines = EffectQueues::default();
        lines.add(file("t-1", 1));
        lines.add(keep("t-1", 2));
        assert_eq!(seqs(&lines.next(Time(0))), [2, 1]);
    }

    #[test]
    fn what_has_failed_is_performed_again_before_what_follows_it() {
        let mut lines = EffectQueues::default();
        for one in [file("t-1", 1), file("t-1", 2)] {
            lines.add(one);
        }
        let first = lines.next(Time(0));
        lines.performed(&first[0].0, first[0].1);
        lines.again(first[0].0.id, Time(5));
        assert!(lines.next(Time(4)).is_empty(), "nothing overtakes it");
        assert_eq!(lines.next_wake(), Some(Time(5)));
        assert_eq!(lines.at_work().count(), 0, "nobody waits for it");
        lines.wake(Time(5));
        assert_eq!(seqs(&lines.next(Time(5))), [1]);
    }

    #[test]
    fn nothing_lands_before_what_was_ordered_to_land_before_it_is_in_the_journal() {
        let mut lines = EffectQueues::default();
        for one in [land("t-2", 1), land("t-1", 2), keep("t-3", 3)] {
            lines.add(one);
        }
        let first = lines.next(Time(0));
        assert_eq!(seqs(&first), [1, 3]);
        let (landed, turn) = &first[0];
        lines.performed(landed, *turn);
        assert!(
            lines.next(Time(0)).is_empty(),
            "what came of the first is not in the journal"
        );
        lines.again(landed.id, Time(5));
        assert!(lines.next(Time(0)).is_empty(), "it was not done, or was it?");
        lines.performed(&first[1].0, first[1].1);
        assert_eq!(lines.at_work().count(), 0, "nobody waits for either");
        lines.wake(Time(5));
        let again = lines.next(Time(5));
        assert_eq!(seqs(&again), [1]);
        assert_eq!(lines.at_work().count(), 2);
        lines.performed(&again[0].0, again[0].1);
        lines.settled();
        assert_eq!(seqs(&lines.next(Time(5))), [2]);
    }

    #[test]
    fn a_stop_waits_for_what_is_under_way_and_for_nothing_else() {
        let mut lines = EffectQueues::default();
        lines.add(keep("t-1", 1));
        let first = lines.next(Time(0));
        assert!(
            lines.add(stop("t-1", 2)).is_none(),
            "it could be the start that is being performed"
        );
        lines.performed(&first[0].0, first[0].1);
        lines.again(first[0].0.id, Time(5));
        let (stopping, turn) = lines.add(stop("t-1", 3)).unwrap();
        assert!(lines.is_stopping());
        lines.performed(&stopping, turn);
        assert!(!lines.is_stopping());
    }

    #[test]
    fn an_older_cores_report_is_waited_for_and_not_passed_on() {
        let mut lines = EffectQueues::default();
        lines.add(file("t-1", 1));
        let first = lines.next(Time(0));
        lines.renew();
        lines.add(file("t-1", 1));
        assert!(lines.next(Time(0)).is_empty(), "the older hand still has it");
        assert!(!lines.performed(&first[0].0, first[0].1));
        assert_eq!(seqs(&lines.next(Time(0))), [1]);
    }
}
