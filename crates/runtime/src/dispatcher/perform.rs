//! Performing what was decided and is durable.

use std::sync::Arc;

use engine::Report;
use model::RunId;
use model::attempt;
use model::ticket::{Effect, Ticket};
use store::Ordered;
use tokio::sync::{Notify, mpsc};

use super::{Dispatcher, Event};
use crate::check::CheckOrder;
use crate::clock::Stopwatch;
use crate::effect_queues::Turn;
use crate::executor::perform::is_wanted;
use crate::queue::{Ask, Unwritten};
use crate::{Result, clock, observe, points, timing};

impl Dispatcher {
    /// Finds out when a note was decided on: it is dated so, and found by that when it is written again.
    async fn date(&mut self, ordered: &Ordered) -> Result<()> {
        if let Effect::AddNote { .. } = &ordered.effect {
            let at = self.ledger.decided_at(ordered.id).await?;
            self.notes.insert(ordered.id, at);
        }
        Ok(())
    }

    /// Puts effects into their lines, and begins with what can be performed: once all are there, since a
    /// later one may take an earlier one's place.
    pub(super) async fn enqueue(&mut self, all: Vec<Ordered>) -> Result<()> {
        for ordered in all {
            self.date(&ordered).await?;
            if let Some((ordered, turn)) = self.queues.add(ordered) {
                self.perform(ordered, turn);
            }
        }
        self.perform_what_can_be();
        Ok(())
    }

    pub(super) fn perform_what_can_be(&mut self) {
        for (ordered, turn) in self.queues.next(clock::now()) {
            self.perform(ordered, turn);
        }
    }

    /// Calls off the checks that no stage waits for any more. The core and the journal agree at this moment,
    /// so that no check is ended for a decision that was refused.
    pub(super) async fn end_unwanted_checks(&mut self) -> Result<()> {
        let core = &self.core;
        let is_unwanted = |ordered: &Ordered| {
            let ticket = core.ticket(&ordered.ticket);
            !ticket.is_some_and(|ticket| is_wanted(ticket, &ordered.effect))
        };
        for (ordered, check) in self.checks.values() {
            if is_unwanted(ordered) {
                check.call_off();
            }
        }
        let unwanted: Vec<Ordered> = self.left_checks.extract_if(.., |one| is_unwanted(one)).collect();
        self.enqueue(unwanted).await
    }

    fn perform(&mut self, ordered: Ordered, turn: Turn) {
        let tell = self.tell.clone();
        match &ordered.effect {
            Effect::WriteFile(filing) => {
                points::effect("begun", &ordered.effect);
                let (ticket, filing) = (ordered.ticket.clone(), filing.clone());
                let is_outdated = self.queues.is_outdated(&ordered);
                let reply = reply(ordered, turn, tell);
                if is_outdated {
                    reply(Ok(()));
                } else {
                    self.queue.ask(Ask::File(ticket, filing, reply));
                }
            }
            Effect::AddNote { text } => {
                points::effect("begun", &ordered.effect);
                let at = self.notes.get(&ordered.id).copied().unwrap_or_else(clock::now);
                let ask = Ask::Note(
                    ordered.ticket.clone(),
                    text.clone(),
                    at,
                    reply(ordered, turn, tell),
                );
                self.queue.ask(ask);
            }
            Effect::PrepareWorkspace { .. }
            | Effect::Attempt(_)
            | Effect::BuildCandidate { .. }
            | Effect::RunChecks { .. }
            | Effect::Land { .. }
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. } => {
                let executor = Arc::clone(&self.executor);
                let room = Arc::clone(&self.room);
                let id = &ordered.ticket;
                let ticket = self
                    .core
                    .ticket(id)
                    .cloned()
                    .unwrap_or_else(|| Ticket::new(id.clone()));
                let threads = Arc::clone(&executor.threads);
                let stop = matches!(ordered.effect, Effect::Attempt(attempt::Effect::StopRun { .. }));
                // Checks wait for processes, not for the disk: they take no room from others. A stop waits
                // for nobody.
                let in_room = !stop && !matches!(ordered.effect, Effect::RunChecks { .. });
                let ordered_at = Stopwatch::start();
                let check = CheckOrder::new(format!("{}-{}", ordered.id.seq, ordered.id.index));
                if let Effect::RunChecks { .. } = ordered.effect {
                    self.checks.insert(ordered.id, (ordered.clone(), check.clone()));
                }
                let is_under_way = self.is_under_way();
                tokio::spawn(async move {
                    let _room = if in_room {
                        room.acquire_owned().await.ok()
                    } else {
                        None
                    };
                    let effect = ordered.effect.clone();
                    let perform = move || {
                        let begun = Stopwatch::start();
                        points::effect("begun", &effect);
                        let report = executor.perform(&ticket, &effect, &check, is_under_way);
                        points::effect("performed", &effect);
                        timing::performed(&ticket.id, &effect, ordered_at, begun);
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
                    drop(tell.send(Event::Performed {
                        ordered,
                        report,
                        turn,
                    }));
                });
            }
        }
    }

    /// The ticket that a run is a step of, and the conversation.
    fn step_of(&self, run: &RunId) -> (Option<Ticket>, harness::Session) {
        let ticket = self.core.tickets().find(|t| t.waits_for(run));
        let attempt = ticket.and_then(Ticket::attempt);
        let session = attempt.map_or_else(harness::Session::default, |a| {
            crate::executor::perform::session(&a.conversation.session, a.conversation.session.steps <= 1)
        });
        (ticket.cloned(), session)
    }

    /// Watches a run for its end, once. A watcher that is there already is woken, to look whether the run is
    /// to stop.
    pub(super) fn watch(&mut self, run: RunId) {
        if let Some(asked) = self.watched.get(&run) {
            asked.notify_one();
            return;
        }
        let asked = Arc::new(Notify::new());
        self.watched.insert(run.clone(), Arc::clone(&asked));
        let dir = self.executor.place.runs_dir.join(run.as_str());
        let step = self.step_of(&run);
        tokio::spawn(observe::watch(
            dir,
            run,
            step,
            asked,
            Arc::clone(&self.executor),
            self.tell.clone(),
        ));
    }
}

fn reply(ordered: Ordered, turn: Turn, tell: mpsc::UnboundedSender<Event>) -> crate::queue::Reply {
    Box::new(move |outcome| {
        points::effect("performed", &ordered.effect);
        let report = match outcome {
            Ok(()) => Report::Done,
            Err(Unwritten::Missing) => Report::FileMissing,
            Err(Unwritten::Passing(why)) => Report::Hindered { why },
            Err(Unwritten::Failed(why)) => Report::CouldNotRun { why },
        };
        drop(tell.send(Event::Performed {
            ordered,
            report,
            turn,
        }));
    })
}
