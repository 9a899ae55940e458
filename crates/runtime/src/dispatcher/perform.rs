//! Performing what was decided and is durable.

use std::sync::Arc;

use engine::Report;
use engine::driver::{Performance, Purpose};
use model::RunId;
use model::attempt;
use model::ticket::{Effect, Ticket};
use tokio::sync::{Notify, mpsc};

use super::{Dispatcher, Event};
use crate::check::CheckOrder;
use crate::clock::Stopwatch;
use crate::queue::{Ask, Unwritten};
use crate::{Result, log, observe, points, timing};

impl Dispatcher {
    /// Calls off the checks that no stage waits for any more. The core and the journal agree at this moment,
    /// so that no check is ended for a decision that was refused.
    pub(super) fn end_unwanted_checks(&mut self) {
        for (ordered, check) in self.checks.values() {
            if !self.driver.is_wanted(ordered) {
                check.call_off();
            }
        }
    }

    pub(super) async fn perform(&mut self, performance: Performance) -> Result<()> {
        let effect = &performance.ordered.effect;
        match effect {
            Effect::WriteFile(filing) => {
                log::effect_begun(&performance);
                points::effect("begun", effect);
                let (ticket, filing) = (performance.ordered.ticket.clone(), filing.clone());
                let is_outdated = performance.purpose == Purpose::Nothing;
                let reply = reply(performance, self.sender.clone());
                if is_outdated {
                    reply(Ok(()));
                } else {
                    self.queue.ask(Ask::File(ticket, filing, reply));
                }
            }
            Effect::AddNote { text } => {
                log::effect_begun(&performance);
                points::effect("begun", effect);
                // A note is dated by the decision, and found by that when it is written again.
                let at = self.ledger.decided_at(performance.ordered.id).await?;
                let (ticket, text) = (performance.ordered.ticket.clone(), text.clone());
                let reply = reply(performance, self.sender.clone());
                self.queue.ask(Ask::Note(ticket, text, at, reply));
            }
            Effect::PrepareWorkspace { .. }
            | Effect::Attempt(_)
            | Effect::BuildCandidate { .. }
            | Effect::RunChecks { .. }
            | Effect::Land { .. }
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. } => self.execute(performance),
        }
        Ok(())
    }

    /// Has the executor perform an effect, on a thread.
    fn execute(&mut self, performance: Performance) {
        let (sender, executor) = (self.sender.clone(), Arc::clone(&self.executor));
        let room = Arc::clone(&self.room);
        let ordered = &performance.ordered;
        let stop = matches!(ordered.effect, Effect::Attempt(attempt::Effect::StopRun { .. }));
        let is_check = matches!(ordered.effect, Effect::RunChecks { .. });
        let check = CheckOrder::new(format!("{}-{}", ordered.id.seq, ordered.id.index));
        if is_check {
            self.checks.insert(ordered.id, (ordered.clone(), check.clone()));
        }
        let ordered_at = Stopwatch::start();
        let is_under_way = self.driver.is_work_under_way();
        tokio::spawn(async move {
            // Checks wait for processes, not for the disk: they take no room from others. A stop waits for
            // nobody.
            let _room = if stop || is_check {
                None
            } else {
                room.acquire_owned().await.ok()
            };
            let (threads, one) = (Arc::clone(&executor.threads), performance.clone());
            let perform = move || {
                let begun = Stopwatch::start();
                let effect = &one.ordered.effect;
                log::effect_begun(&one);
                points::effect("begun", effect);
                let report = executor.perform(&one, &check, is_under_way);
                points::effect("performed", effect);
                timing::performed(&one.ticket.id, effect, ordered_at, begun);
                report
            };
            let performed = if stop {
                Ok(threads.end(perform).await)
            } else {
                threads.begin(perform).await
            };
            let report = match performed {
                Ok(report) => report.unwrap_or_else(|| Report::CouldNotRun {
                    why: "it failed unexpectedly".to_owned(),
                }),
                Err(error) => Report::Hindered {
                    why: format!("no thread can be started: {error}"),
                },
            };
            drop(sender.send(Event::Driver(performance.ended(report))));
        });
    }

    /// The ticket that a run is a step of, and the conversation.
    fn step_of(&self, run: &RunId) -> (Option<Ticket>, harness::Session) {
        let ticket = self.driver.core().tickets().find(|t| t.waits_for(run));
        let attempt = ticket.and_then(Ticket::attempt);
        let session = attempt.map_or_else(harness::Session::default, |a| {
            crate::executor::perform::session(&a.conversation.session, a.conversation.session.steps <= 1)
        });
        (ticket.cloned(), session)
    }

    /// Watches a run for its end, once. A watcher that is there already is woken, to look whether the run is
    /// to stop.
    pub(super) fn watch(&mut self, run: RunId) {
        if let Some(asked) = self.watchers.get(&run) {
            asked.notify_one();
            return;
        }
        log::run_watched(&run);
        let asked = Arc::new(Notify::new());
        self.watchers.insert(run.clone(), Arc::clone(&asked));
        let dir = self.executor.place.runs_dir.join(run.as_str());
        let step = self.step_of(&run);
        tokio::spawn(observe::watch(
            dir,
            run,
            step,
            asked,
            Arc::clone(&self.executor),
            self.sender.clone(),
        ));
    }
}

fn reply(performance: Performance, sender: mpsc::UnboundedSender<Event>) -> crate::queue::Reply {
    Box::new(move |outcome| {
        points::effect("performed", &performance.ordered.effect);
        let report = match outcome {
            Ok(()) => Report::Done,
            Err(Unwritten::Missing) => Report::FileMissing,
            Err(Unwritten::Passing(why)) => Report::Hindered { why },
            Err(Unwritten::Failed(why)) => Report::CouldNotRun { why },
        };
        drop(sender.send(Event::Driver(performance.ended(report))));
    })
}
