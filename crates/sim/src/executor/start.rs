//! Starting a step: the acts of its agent are drawn here, whatever happens to the engine meanwhile.

use std::collections::BTreeSet;

use engine::{End, Report};
use model::attempt::{self, Class, Failure, Prompt, Signal};
use model::call::{Call, ChosenMode, Task};
use model::ticket::{Effect, FileStatus};
use model::{AgentName, TicketId, Time};

use super::Executor;
use crate::Plant;
use crate::chance::Site;
use crate::folders::Refuses;
use crate::git::{BROKEN, TOUCHY};
use crate::process::{self, Act, Process};
use crate::rng::Rng;
use crate::world::Key;

/// Agents that a task may name.
const MEANT: [&str; 4] = ["ada", "ann", "barbara", "nobody"];

impl Executor<'_> {
    pub(super) fn start(&mut self, ticket: &TicketId, effect: &Effect) -> Report {
        let Effect::Attempt(attempt::Effect::StartStep {
            agent,
            run,
            number,
            session,
            new_session,
            prompt,
            ..
        }) = effect
        else {
            return Report::Done;
        };
        if self.world.processes.contains_key(run) {
            return Report::StepSpawned;
        }
        let (key, made_for) = self.space_of(agent, ticket, *number);
        self.give_up_turns(&key, ticket);
        let (key, made_for) = self.misled(key, made_for);
        if self
            .world
            .spaces
            .get(&key)
            .is_none_or(|space| space.number != made_for)
        {
            return Report::WorkspaceMissing;
        }
        if self.half && self.rng.percent(50) {
            self.world.made_runs.insert(run.clone());
            return Report::Done;
        }
        let wish = self.world.stop_wishes.contains(run);
        if wish && self.rng.percent(50) {
            let failure = Failure::new(Class::KilledByUs, "stopped before it began");
            return Report::StepNotSpawned { failure };
        }
        let mut rng = self.chance.of(run.as_str());
        let (mut acts, talks) = self.plan(&key, prompt, &mut rng);
        if let Some(rng) = self.chance.strikes(Site::Tools) {
            call_tools(&mut acts, self.world.now, rng);
        }
        if let Some(rng) = self.chance.strikes(Site::Delegates) {
            delegate(&mut acts, self.world.now, ticket, rng);
        }
        if let Some(rng) = self.chance.strikes(Site::Parts) {
            break_up(&mut acts, self.world.now, rng);
        }
        let silent = self
            .chance
            .strikes(Site::Silence)
            .map(|mut rng| be_silent(&mut acts, self.world.now, &mut rng));
        let straggles = self.chance.strikes(Site::Straggler);
        if let Some(rng) = &straggles {
            self.straggle(&mut acts, rng.clone());
        }
        if let Some(mut rng) = self.chance.strikes(Site::Frozen) {
            let from = Time(self.world.now.0 + rng.ms(0, 20_000));
            // Often for good, as far as its step is concerned.
            let until = Time(from.0 + rng.ms(0, 1_200_000));
            acts.extend([(from, Act::Freeze), (until, Act::Thaw)]);
            acts.sort_by_key(|(at, _)| *at);
        }
        let floods = self.chance.strikes(Site::Flood).is_some();
        let now = self.world.now;
        let known = !self.world.sessions.insert(session.clone());
        if known == *new_session {
            let class = if known {
                Class::SessionInUse
            } else {
                Class::SessionMissing
            };
            acts = vec![(Time(now.0 + 300), Act::End(process::failed(class)))];
        }
        let process = Process {
            run: run.clone(),
            ticket: ticket.clone(),
            number: *number,
            space: (key, made_for),
            session: session.clone(),
            began: now,
            acts,
            end: wish.then(process::killed),
            talks,
            silent,
            cost: if rng.percent(20) { 0 } else { rng.below(400) },
            frozen: None,
            stopped: wish,
            given_up: None,
            stated: None,
            floods,
            verdict: None,
        };
        if self.plant == Some(Plant::DoubleStep)
            && let Ok(again) = model::RunId::new(format!("{run}-again"))
        {
            let twin = Process {
                run: again.clone(),
                ..process.clone()
            };
            self.world.processes.insert(again, twin);
        }
        self.world.processes.insert(run.clone(), process);
        Report::StepSpawned
    }

    /// The workspace in which an agent is let loose: with the planted fault that of an agent at work.
    fn misled(&self, key: Key, made_for: u32) -> (Key, u32) {
        if self.plant != Some(Plant::TwoWriters) {
            return (key, made_for);
        }
        let mut writers = self.world.live().filter(|process| process.space.1 > 0);
        let other = writers.find(|process| process.space.0 != key);
        other.map_or((key, made_for), |process| process.space.clone())
    }

    /// The acts of a step, drawn when it begins.
    fn plan(
        &mut self,
        key: &(AgentName, TicketId),
        prompt: &Prompt,
        rng: &mut Rng,
    ) -> (Vec<(Time, Act)>, bool) {
        let mut acts = Vec::new();
        let began = self.world.now;
        let mut at = began;
        let mut then = |acts: &mut Vec<(Time, Act)>, wait: i64, act| {
            at.0 += wait;
            acts.push((at, act));
        };
        if self.world.calm {
            if !self.world.has_work(key) {
                let edit = (format!("n{}", key.1), self.world.content(0));
                then(&mut acts, 500, Act::Edit(vec![edit]));
            }
            then(&mut acts, 500, Act::MergeTarget);
            then(&mut acts, 500, Act::Heal);
            then(&mut acts, 500, Act::Commit);
            // Who has not been told may not know what crew refuses.
            let is_told = !matches!(prompt, Prompt::Init | Prompt::Step);
            let is_refused = self.options.rates.of(Site::Refused) > 0 && !is_told && rng.percent(50);
            let act = match is_refused {
                true => Act::Leave(Refuses::UnfinishedMerge),
                false => Act::Mend,
            };
            then(&mut acts, 500, act);
            then(
                &mut acts,
                rng.ms(500, 20_000),
                Act::End(process::ended_well(Signal::Done)),
            );
            return (acts, true);
        }
        if self.world.lazy.contains(&key.1) && rng.percent(80) {
            // The agent reports that it is done whatever its prompt is, and changes nothing.
            then(
                &mut acts,
                rng.ms(100, 9_000),
                Act::End(process::ended_well(Signal::Done)),
            );
            return (acts, true);
        }
        if matches!(prompt, Prompt::MergeConflict { .. }) && rng.percent(75) || rng.percent(5) {
            then(&mut acts, rng.ms(100, 9_000), Act::MergeTarget);
        }
        if matches!(prompt, Prompt::ChecksFailed { .. }) && rng.percent(70) {
            then(&mut acts, rng.ms(100, 9_000), Act::Heal);
        }
        if self.is_refused(key) && rng.percent(60) {
            then(&mut acts, rng.ms(100, 9_000), Act::Mend);
        }
        if rng.percent(85) {
            let mut edits = Vec::new();
            for _ in 0..rng.from(1, 2) {
                let marks =
                    if rng.percent(8) { BROKEN } else { 0 } | if rng.percent(20) { TOUCHY } else { 0 };
                let path = if rng.percent(4) {
                    model::settings::FILE_NAME.to_owned()
                } else {
                    format!("a{}", rng.below(self.options.paths))
                };
                edits.push((path, self.world.content(marks)));
            }
            then(&mut acts, rng.ms(100, 20_000), Act::Edit(edits));
            if rng.percent(80) {
                then(&mut acts, rng.ms(100, 9_000), Act::Commit);
            }
        }
        if let Some(mut rng) = self.chance.strikes(Site::Refused) {
            let refuses = match rng.below(8) {
                0..4 => Refuses::UnfinishedMerge,
                4..7 => Refuses::LargeFile,
                _ => Refuses::CannotBeKept,
            };
            then(&mut acts, rng.ms(0, 9_000), Act::Leave(refuses));
        }
        if let Some(what) = self.chance.strikes(Site::Meddle) {
            let act = self.meddle(key, what);
            then(&mut acts, rng.ms(0, 9_000), act);
        }
        if let Some(mut rng) = self.chance.strikes(Site::Clumsy) {
            let rng = &mut rng;
            let soon = rng.percent(60).then(|| Time(began.0 + rng.ms(0, 300_000)));
            let refused = match rng.below(20) {
                0 | 1 => Some(process::refused(Class::RateLimited, soon)),
                2 => Some(process::refused(Class::Overloaded, soon)),
                3 => Some(process::refused(Class::Auth, None)),
                _ => None,
            };
            if let Some(failure) = refused {
                // Some clients report that and end; others go on trying.
                acts.truncate(usize::try_from(rng.below(4)).unwrap_or(0));
                let last = acts.last().map_or(began, |(at, _)| *at);
                let act = if rng.percent(50) {
                    Act::GiveUp(failure)
                } else {
                    Act::End(End::Failed(failure))
                };
                acts.push((Time(last.0 + rng.ms(0, 9_000)), act));
                return (acts, true);
            }
            let class = match rng.below(12) {
                0 => Class::Transient,
                1 => Class::RateLimited,
                2 => Class::Overloaded,
                3 => Class::SessionMissing,
                4 => Class::MalformedOutput,
                5 => Class::Auth,
                6 | 7 => Class::Lost,
                8 => return (acts, false),
                9 => return (acts, true),
                _ => Class::Crash,
            };
            let at = rng.ms(0, 20_000);
            // A failure comes in the middle of the work as well as after it.
            acts.truncate(usize::try_from(rng.below(4)).unwrap_or(0));
            let last = acts.last().map_or(began, |(at, _)| *at);
            acts.push((Time(last.0 + at), Act::End(process::failed(class))));
            return (acts, true);
        }
        let signal = match rng.below(100) {
            0..56 => Signal::Done,
            56..80 => Signal::None,
            80..87 => Signal::Asked {
                question: "which of the two?".to_owned(),
            },
            87..94 => {
                let at = Time(began.0 + rng.ms(0, 90_000));
                Signal::WakeupSet {
                    at,
                    why: "a build is running".to_owned(),
                }
            }
            _ => Signal::Blocked {
                why: "there is no such file".to_owned(),
            },
        };
        let (end, stays) = (process::ended_well(signal), rng.percent(8));
        let act = if stays { Act::State(end) } else { Act::End(end) };
        then(&mut acts, rng.ms(0, 20_000), act);
        (acts, true)
    }

    /// Whether there is something in a workspace that crew refuses.
    fn is_refused(&self, key: &Key) -> bool {
        let space = self.world.spaces.get(key);
        space.is_some_and(|space| space.refuses.is_some())
    }

    /// An act of an agent in a place that is not its own.
    fn meddle(&mut self, key: &(AgentName, TicketId), mut rng: Rng) -> Act {
        let ids: Vec<TicketId> = self.world.files.files.keys().cloned().collect();
        let ticket = if rng.percent(50) {
            None
        } else {
            rng.pick(&ids).cloned()
        };
        let ticket = ticket.unwrap_or_else(|| key.1.clone());
        match rng.below(5) {
            0 => Act::Push(format!("a{}", rng.below(8)), self.world.content(0)),
            1 => Act::File(ticket, None),
            2 => Act::File(ticket, Some(FileStatus::Open)),
            3 => Act::File(ticket, Some(FileStatus::InProgress)),
            _ => Act::File(ticket, Some(FileStatus::Closed)),
        }
    }

    /// Acts of a process of the agent's after its end, until the process is swept away.
    fn straggle(&mut self, acts: &mut Vec<(Time, Act)>, mut rng: Rng) {
        let Some(mut at) = acts.last().map(|(at, _)| *at) else {
            return;
        };
        for _ in 0..rng.from(1, 3) {
            at.0 += rng.ms(0, 3_000);
            let edit = (format!("a{}", rng.below(8)), self.world.content(0));
            acts.push((at, Act::Edit(vec![edit])));
            if rng.percent(30) {
                acts.push((at, Act::Commit));
            }
        }
    }
}

/// Calls of tools among the acts of an agent, before its end.
fn call_tools(acts: &mut Vec<(Time, Act)>, began: Time, mut rng: Rng) {
    let mut calls = Vec::new();
    for n in 0..rng.from(1, 3) {
        let text = format!("call {n}");
        let call = match rng.below(8) {
            0 | 1 => Call::TeamComment { text },
            2 => Call::ReportProgress { text },
            3 => Call::ReportBlocked { why: text },
            4 => Call::Ask { question: text },
            5 => Call::SleepUntil {
                until: format!("{}s", rng.from(1, 90)),
                why: text,
            },
            _ => Call::SubmitWork {
                summary: text,
                output: None,
                acceptance_test_result: None,
            },
        };
        let at = among(acts, began, &mut rng);
        let stale = rng.percent(15);
        calls.push((at, Act::Call { call, stale }));
    }
    put_in(acts, calls);
}

/// Calls of a leader among the acts of an agent: it delegates, and at times asks about that or takes a task
/// back.
fn delegate(acts: &mut Vec<(Time, Act)>, began: Time, ticket: &TicketId, mut rng: Rng) {
    let rng = &mut rng;
    let tasks = (0..rng.from(1, 3)).map(|n| Task {
        title: format!("part {n}"),
        agent: rng
            .percent(15)
            .then(|| rng.pick(&MEANT).copied().unwrap_or("ada").to_owned()),
        leader: rng.percent(40),
        share: rng.percent(60),
        ..Task::default()
    });
    let call = Call::Delegate {
        tasks: tasks.collect(),
    };
    let mut calls = vec![call];
    if rng.percent(20) {
        calls.push(Call::TeamList {});
    }
    if rng.percent(25) {
        calls.push(Call::TeamKill {
            ticket: format!("{ticket}-c{}", rng.from(1, 4)),
            why: String::new(),
        });
    }
    let stale = rng.percent(10);
    let calls = calls.into_iter().map(|call| {
        let at = among(acts, began, rng);
        (at, Act::Call { call, stale })
    });
    let calls = calls.collect();
    put_in(acts, calls);
}

/// An agent plans, splits its work, makes tickets for the parts, and mostly says that it is done.
fn break_up(acts: &mut Vec<(Time, Act)>, began: Time, mut rng: Rng) {
    let modes = [ChosenMode::Plan, ChosenMode::BreakUp].map(|mode| Call::SetMode { mode });
    let tickets = (0..rng.from(1, 2)).map(|n| Call::CreateTicket {
        title: format!("piece {n}"),
        description: None,
        design: None,
        acceptance: None,
        kind: None,
        parent: None,
        tags: BTreeSet::new(),
        deps: BTreeSet::new(),
        priority: None,
    });
    let at = among(acts, began, &mut rng);
    let calls = modes.into_iter().chain(tickets);
    let calls = calls.map(|call| (at, Act::Call { call, stale: false }));
    let calls = calls.collect();
    if let Some((_, Act::End(end) | Act::State(end))) = acts.last_mut()
        && rng.percent(80)
    {
        *end = process::ended_well(Signal::Done);
    }
    put_in(acts, calls);
}

/// From when to when a step shows no sign of life, in milliseconds from its beginning. What it does then, it
/// does later.
fn be_silent(acts: &mut [(Time, Act)], began: Time, rng: &mut Rng) -> (i64, i64) {
    let (from, lasts) = (rng.ms(0, 20_000), rng.ms(15_000, 80_000));
    let later = acts.iter_mut().filter(|(at, _)| at.0 - began.0 > from);
    later.for_each(|(at, _)| at.0 += lasts);
    (from, from + lasts)
}

/// A time before an agent's end.
fn among(acts: &[(Time, Act)], began: Time, rng: &mut Rng) -> Time {
    let last = acts.last().map_or(began, |(at, _)| *at);
    Time(began.0 + rng.ms(0, u64::try_from(last.0 - began.0).unwrap_or(0)))
}

/// Of those at one time the calls come first: a process that has ended calls nothing.
fn put_in(acts: &mut Vec<(Time, Act)>, calls: Vec<(Time, Act)>) {
    acts.extend(calls);
    acts.sort_by_key(|(at, act)| (*at, !matches!(act, Act::Call { .. })));
}
