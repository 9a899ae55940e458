//! Turns: the next event of the world, and the engine's reaction.

use engine::driver::Event;
use engine::{CheckEnd, Input, Report, RunEnd};
use model::attempt::{Mode, Usage};
use model::command::Asked;
use model::policy::stall::Sample;
use model::ticket::{CheckOutcome, CheckTask, Effect, Loss, Part, Ticket};
use model::{RunId, TicketId, Time};

use super::Simulation;
use crate::chance::Site;
use crate::files::{File, ticket_of};
use crate::invariant::Checked;
use crate::process;
use crate::shell::Delivery;
use crate::words::{came, name};
use crate::{Who, block_on};

/// The interval at which a step that runs is looked at.
const SAMPLE: i64 = 5_000;
/// Events that an engine handles together, at most.
const BATCH: usize = 6;

/// The events that can come next.
enum Choice {
    Report(usize),
    Late(usize),
    Perform(usize),
    End(RunId),
    Sample(RunId),
    Calls(RunId),
    ReadInbox(Vec<Asked>),
    Look(usize),
    FirstLook,
    Wake,
}

impl Simulation {
    /// One thing happens; when nothing can, time passes, to `until` at most.
    pub(super) fn turn(&mut self, until: Time) -> Checked {
        if self.shell.is_none() && self.boot_at <= self.world.now {
            return self.boot();
        }
        self.deliver_notices()?;
        if self.errand_is_over() {
            self.crash("the command is over");
            (self.errand, self.zombie) = (None, None);
            return Ok(());
        }
        if self.shell.is_some() && self.chance.strikes(Site::EarlyTick).is_some() {
            return self.choose(Choice::Wake);
        }
        if let Some(mut rng) = self.chance.strikes(Site::EarlyTimer) {
            let soon = Time(self.world.now.0 + rng.ms(1, 20_000));
            let due = block_on(self.ledger.due(soon)).unwrap_or_default();
            if let Some(timer) = rng.pick(&due).filter(|_| self.shell.is_some()) {
                return self.came(Event::Input(Input::TimerDue(timer.clone())));
            }
        }
        if self.is_target_due() && self.world.unborn_until.is_none() {
            return self.look_at_target();
        }
        if let Some(input) = self.next_of_target_check() {
            return self.came(Event::Input(input));
        }
        let mut choices = self.choices();
        if choices.is_empty() && self.shell.as_ref().is_some_and(|shell| !shell.events.is_empty()) {
            return self.handle();
        }
        if choices.is_empty() {
            let shell = self.shell.as_ref();
            let now = self.world.now;
            let next = shell
                .and_then(|shell| shell.next(now))
                .into_iter()
                .chain(self.world.next_act())
                .chain(self.world.files.looks.iter().map(|(at, _)| *at))
                .chain(shell.is_none().then_some(self.boot_at))
                .chain(self.errand.iter().map(|(_, patience)| Time(patience.0 + 1)))
                .filter(|at| *at > now)
                .chain([until])
                .min();
            let to = next.unwrap_or(now).min(Time(now.0 + 3_600_000));
            self.world.advance(to.max(Time(now.0 + 1)));
            return Ok(());
        }
        let at = usize::try_from(self.chance.order.below(choices.len() as u64)).unwrap_or(0);
        self.choose(choices.swap_remove(at))
    }

    fn choices(&self) -> Vec<Choice> {
        let (now, Some(shell)) = (self.world.now, &self.shell) else {
            return Vec::new();
        };
        let mut choices: Vec<Choice> = (0..shell.begun.len()).map(Choice::Perform).collect();
        let due = |deliveries: &[Delivery]| -> Vec<usize> {
            let due = deliveries
                .iter()
                .enumerate()
                .filter(|(_, delivery)| delivery.at <= now);
            due.map(|(at, _)| at).collect()
        };
        choices.extend(due(&shell.reports).into_iter().map(Choice::Report));
        choices.extend(due(&shell.late).into_iter().map(Choice::Late));
        for (run, look_at) in &shell.watched {
            if self.has_ended(run) {
                choices.push(Choice::End(run.clone()));
            } else if self.has_called(run) {
                choices.push(Choice::Calls(run.clone()));
            } else if *look_at <= now && self.world.has_begun(run) {
                choices.push(Choice::Sample(run.clone()));
            }
        }
        if shell.driver.can_read_inbox() && !shell.is_reading_inbox() {
            let asked = block_on(self.ledger.asked(shell.driver.inbox(), now)).unwrap_or_default();
            if shell.wants_inbox || !asked.is_empty() {
                choices.push(Choice::ReadInbox(asked));
            }
        }
        match shell.first_look {
            Some(at) if at <= now => choices.push(Choice::FirstLook),
            Some(_) => {}
            None => {
                // Looks at one file are delivered in the order in which they were taken.
                let mut seen = std::collections::BTreeSet::new();
                for (at, (deliver_at, look)) in self.world.files.looks.iter().enumerate() {
                    if seen.insert(ticket_of(look)) && *deliver_at <= now {
                        choices.push(Choice::Look(at));
                    }
                }
            }
        }
        if shell.is_to_wake(now) {
            choices.push(Choice::Wake);
        }
        choices
    }

    fn choose(&mut self, choice: Choice) -> Checked {
        let now = self.world.now;
        let Some(shell) = &mut self.shell else {
            return Ok(());
        };
        match choice {
            Choice::Perform(at) => {
                let begun = shell.begun.remove(at);
                for (site, half) in [(Site::KillHalfWay, true), (Site::KillUntold, false)] {
                    if self.chance.strikes(site).is_some() {
                        self.crash_performing(&begun, half);
                        return self.check();
                    }
                }
                let mut report = self.perform(&begun.performance, false);
                if self.chance.strikes(Site::Dropped).is_some() {
                    let why = "it failed unexpectedly".to_owned();
                    report = Report::CouldNotRun { why };
                }
                let ordered = &begun.performance.ordered;
                self.note(Who::Executor, || {
                    format!("{} {} → {}", ordered.ticket, name(&ordered.effect), came(&report))
                });
                let longest = if self.world.calm { 300 } else { 5_000 };
                let mut at = Time(now.0 + self.chance.order.ms(0, longest));
                if let Some(mut rng) = self.chance.strikes(Site::SlowExecutor) {
                    at.0 += rng.ms(60_000, 600_000);
                }
                if let Some(shell) = &mut self.shell {
                    shell.reports.push(Delivery { at, begun, report });
                }
                self.check()
            }
            Choice::Report(at) => {
                let delivery = shell.reports.remove(at);
                let ordered = delivery.begun.performance.ordered.clone();
                if shell.is_of_this_core(&delivery.begun) {
                    shell.reported.push(ordered.clone());
                }
                if let (Effect::WriteFile(_), Report::Done) = (&ordered.effect, &delivery.report)
                    && self.world.files.forget_looks(&ordered.ticket)
                {
                    self.world.files.see(&ordered.ticket, now, now);
                }
                self.came(delivery.begun.performance.ended(delivery.report))
            }
            Choice::Late(at) => {
                let delivery = shell.late.remove(at);
                shell.reported.push(delivery.begun.performance.ordered.clone());
                self.came(Event::Input(delivery.input()))
            }
            Choice::Calls(run) => {
                self.take_calls(&run);
                Ok(())
            }
            Choice::End(run) => {
                // What was called before the end is in the inbox before it.
                self.take_calls(&run);
                let Some(shell) = &mut self.shell else {
                    return Ok(());
                };
                shell.watched.remove(&run);
                let asked = block_on(self.ledger.asked(0, now)).unwrap_or_default();
                let last = asked.last().map_or(0, |asked| asked.number);
                let is_waited_for = shell.driver.core().live_runs().any(|(_, live)| *live == run);
                if is_waited_for && shell.ended.iter().all(|(ended, _)| *ended != run) {
                    shell.ended.push((run.clone(), last));
                }
                match self.end_of(&run) {
                    Some(end) => self.came(end),
                    None => Ok(()),
                }
            }
            Choice::Sample(run) => {
                shell.watched.insert(run.clone(), Time(now.0 + SAMPLE));
                if let Some(check) = self.world.checks.runs.get(&run) {
                    let sample = check.sample(now);
                    return self.came(Event::Input(Input::Sampled { run, sample }));
                }
                let Some(process) = self.world.processes.get(&run) else {
                    return Ok(());
                };
                // The step of a frozen shim shows only the state in which it froze.
                let seen = process.frozen.unwrap_or(now);
                let ran = u64::try_from(seen.0 - process.began.0).unwrap_or(0);
                let since = u64::try_from(process.lived(seen)).unwrap_or(0);
                let (output_bytes, cpu_ms) = if process.talks { (since, since) } else { (1, 1) };
                let stated = process.stated.as_ref().filter(|_| process.frozen.is_none());
                let sample = Sample {
                    at: now,
                    seen,
                    output_bytes,
                    stated: stated.map(|_| 1),
                    cpu_ms,
                    children: 0,
                    child: None,
                    shim: 1,
                    pulse: ran,
                };
                let given_up = process.given_up.clone().filter(|_| process.frozen.is_none());
                let sampled = Input::Sampled {
                    run: run.clone(),
                    sample,
                };
                self.came(Event::Input(sampled))?;
                let modes = modes_of(&run);
                if !modes.is_empty() && !run.is_check() {
                    let run = run.clone();
                    self.came(Event::Input(Input::ModesAnnounced { run, modes }))?;
                }
                match given_up {
                    Some(failure) => self.came(Event::Input(Input::GivenUp { run, failure })),
                    None => Ok(()),
                }
            }
            Choice::ReadInbox(asked) => {
                shell.wants_inbox = false;
                self.came(Event::InboxRead(asked))
            }
            Choice::Look(at) => {
                let (_, look) = self.world.files.looks.remove(at);
                self.observed(vec![look], false)
            }
            Choice::FirstLook => {
                shell.first_look = None;
                self.world.files.looks.clear();
                let looks = self.world.files.see_all(now);
                self.observed(looks, true)
            }
            Choice::Wake => {
                // An event that came earlier is handled earlier: the timers are those that are due at the
                // time at which the driver is woken.
                self.handle()?;
                let due = block_on(self.ledger.due(now)).unwrap_or_default();
                let Some(shell) = &mut self.shell else {
                    return Ok(());
                };
                shell.note_woken(now);
                shell.events.push(Event::Woken { due });
                self.summary.inputs += 1;
                self.handle()
            }
        }
    }

    fn observed(&mut self, seen: Vec<engine::Observation>, whole: bool) -> Checked {
        let look = self.shell.as_ref().map_or(0, |shell| shell.driver.look());
        self.came(Event::Observed { look, seen, whole })
    }

    /// True if a watcher of a run has seen its end. A check that is watched and that nobody has begun never
    /// begins: it was stopped before.
    fn has_ended(&self, run: &RunId) -> bool {
        if !run.is_check() {
            return self.world.end_of(run).is_some() || self.is_taken_for_ended(run);
        }
        !self.world.has_begun(run) || self.world.checks.end_of(run).is_some()
    }

    /// Whether the planted fault has a child end with its parent before its process does.
    fn is_taken_for_ended(&self, run: &RunId) -> bool {
        let Some(process) = self.world.processes.get(run) else {
            return false;
        };
        let ticket = |id| self.witness.tickets.get(id);
        let parent = ticket(&process.ticket).and_then(|child| ticket(&child.delegated()?.by));
        let attempt = parent.and_then(Ticket::attempt);
        self.case.plant == Some(crate::Plant::Hasty)
            && process.stopped
            && attempt.is_some_and(|attempt| attempt.after_children().is_some())
    }

    /// Whether the engine forgets how the checks of a merged result have ended.
    fn forgets(&self, run: &RunId) -> bool {
        let task = self.world.checks.runs.get(run).map(|check| check.task);
        self.case.plant == Some(crate::Plant::TriedAgain) && task == Some(CheckTask::Candidate)
    }

    /// A watcher's report of the end of a run.
    pub(super) fn end_of(&mut self, run: &RunId) -> Option<Event> {
        if !run.is_check() {
            return self.run_end(run).map(Event::RunEnded);
        }
        let outcome = match self.world.checks.end_of(run) {
            Some(CheckOutcome::Failed { .. }) if self.forgets(run) => {
                CheckOutcome::Lost { how: Loss::Vanished }
            }
            Some(outcome) => outcome.clone(),
            None if self.world.has_begun(run) => return None,
            None => CheckOutcome::Lost {
                how: Loss::NotStarted {
                    why: "there is no such run".to_owned(),
                },
            },
        };
        let run = run.clone();
        Some(Event::CheckEnded(CheckEnd::new(run, outcome)))
    }

    fn run_end(&mut self, run: &RunId) -> Option<RunEnd> {
        let end = match self.world.end_of(run) {
            None if self.is_taken_for_ended(run) => process::killed(),
            end => end?.clone(),
        };
        self.world.sweep(run);
        let stated = self
            .world
            .processes
            .get(run)
            .and_then(|process| process.stated.clone());
        let process = self.world.processes.get(run);
        let made = process
            .map(|process| self.parts_made(&process.ticket))
            .unwrap_or_default();
        let verdict = process.and_then(|process| process.verdict.clone());
        let floods = self
            .world
            .processes
            .get(run)
            .is_some_and(|process| process.floods);
        let usage = Usage {
            input_tokens: 10,
            output_tokens: 1,
            cost_micro_usd: self.world.processes.get(run).map_or(0, |process| process.cost),
            estimated_micro_usd: 0,
        };
        Some(RunEnd {
            run: run.clone(),
            usage,
            total_micro_usd: None,
            summary: floods.then(|| "\u{1b}[2J\"\\ \u{0}…\n".repeat(400)),
            modes: modes_of(run),
            made,
            stated: stated.filter(|_| end == process::killed()),
            left: None,
            unusable: Vec::new(),
            verdict,
            commitments: Vec::new(),
            end,
        })
    }

    /// The tickets in the folder that the agent of a ticket has made since it got that.
    fn parts_made(&self, id: &TicketId) -> Vec<Part> {
        let Some(attempt) = self.witness.tickets.get(id).and_then(Ticket::attempt) else {
            return Vec::new();
        };
        let (agent, since) = (attempt.claim.agent.as_str(), attempt.claimed_at);
        let files = self.world.files.files.iter().filter(|(of, file)| {
            file.spec.made_by.as_deref() == Some(agent) && file.spec.created >= since && *of != id
        });
        let part = |(of, file): (&TicketId, &File)| Part {
            ticket: of.clone(),
            title: file.spec.title.clone(),
            result: None,
        };
        files.map(part).collect()
    }

    /// Something has come: it is handled now, or together with the next event.
    pub(super) fn came(&mut self, event: Event) -> Checked {
        let Some(shell) = &mut self.shell else {
            return Ok(());
        };
        let is_sample = matches!(event, Event::Input(Input::Sampled { .. }));
        self.summary.inputs += u32::from(!is_sample);
        let twin = self.chance.strikes(Site::Twice).and_then(|_| twin(&event));
        shell.events.push(event);
        if let Some(input) = twin {
            self.muddied = true;
            shell.events.push(Event::Input(input));
        }
        if shell.events.len() < BATCH && self.chance.strikes(Site::Batch).is_some() {
            return Ok(());
        }
        self.handle()
    }
}

/// An event as an input of the core, to be handled once more.
pub(super) fn twin(event: &Event) -> Option<Input> {
    match event {
        Event::Input(input) => Some(input.clone()),
        Event::Observed { seen, whole, .. } => Some(Input::Observed {
            seen: seen.clone(),
            whole: *whole,
        }),
        Event::Performed(performed) => {
            let ordered = performed.ordered.clone();
            Some(Input::Reported {
                id: ordered.id,
                ticket: ordered.ticket,
                effect: ordered.effect,
                report: performed.report.clone(),
            })
        }
        Event::RunEnded(end) => Some(Input::RunEnded(end.clone())),
        Event::CheckEnded(end) => Some(Input::CheckEnded(end.clone())),
        Event::InboxRead(asked) => asked.first().map(|asked| Input::Commanded {
            id: asked.id.clone(),
            by: asked.actor(),
            command: asked.command.clone(),
        }),
        Event::Woken { due } => due.first().cloned().map(Input::TimerDue),
        Event::StopAsked(_) | Event::SettingsTouched | Event::SettingsRead(_) => None,
    }
}

/// The modes that the agent of a step announces: whoever reads its output again reads the same.
fn modes_of(run: &RunId) -> Vec<Mode> {
    let seed = run.as_str().bytes().fold(0_u8, u8::wrapping_add);
    match seed % 8 {
        0 => vec![Mode::Plan],
        1 => vec![Mode::Plan, Mode::Execute],
        2 => vec![Mode::Plan, Mode::BreakUp, Mode::Plan],
        3 => vec![Mode::Unify, Mode::Execute],
        _ => Vec::new(),
    }
}
