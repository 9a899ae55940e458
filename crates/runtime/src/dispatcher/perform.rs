//! Performing what was decided and is durable.

use std::sync::Arc;

use engine::driver::{self, Performance, Purpose};
use engine::{Input, Report};
use model::RunId;
use model::attempt;
use model::ticket::{Effect, Ticket};
use tokio::sync::{Notify, mpsc};

use super::{Dispatcher, Event};
use crate::clock::Stopwatch;
use crate::observe::Subject;
use crate::queue::{Ask, Note, Unwritten};
use crate::set_up::Wish;
use crate::{Result, log, observe, points, set_up, target, timing};

impl Dispatcher {
    pub(super) async fn perform(&mut self, performance: Performance) -> Result<()> {
        let effect = &performance.ordered.effect;
        match effect {
            Effect::WriteFile(filing) => {
                log::effect_begun(&performance);
                points::effect("begun", effect);
                let (ticket, filing) = (performance.ordered.ticket.clone(), filing.clone());
                let is_outdated = performance.purpose == Purpose::Nothing;
                let reply = reply(performance, self.sender.clone());
                match (is_outdated, filing.note.clone()) {
                    (false, _) => self.queue.ask(Ask::File(ticket, filing, reply)),
                    // The state is overwritten at once; what is noted with it stays true.
                    (true, Some(noted)) => {
                        let (text, at) = (noted.text, noted.at);
                        self.queue
                            .ask(Ask::Note(ticket, Note { text, by: None, at }, reply));
                    }
                    (true, None) => reply(Ok(())),
                }
            }
            Effect::AddNote { text, by } => {
                log::effect_begun(&performance);
                points::effect("begun", effect);
                // A note is dated by the decision, and found by that when it is written again.
                let at = self.ledger.decided_at(performance.ordered.id).await?;
                let ticket = performance.ordered.ticket.clone();
                let note = Note {
                    text: text.clone(),
                    by: by.clone(),
                    at,
                };
                let reply = reply(performance, self.sender.clone());
                self.queue.ask(Ask::Note(ticket, note, reply));
            }
            Effect::PrepareWorkspace { .. }
            | Effect::Attempt(_)
            | Effect::Unify { .. }
            | Effect::BuildCandidate { .. }
            | Effect::StartCheck { .. }
            | Effect::StartReview { .. }
            | Effect::RemoveReview { .. }
            | Effect::Land { .. }
            | Effect::LookAtProposal { .. }
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. }
            | Effect::CreateTicket(_) => self.execute(performance),
        }
        Ok(())
    }

    /// Has the executor perform an effect, on a thread.
    fn execute(&mut self, performance: Performance) {
        let (sender, executor) = (self.sender.clone(), Arc::clone(&self.executor));
        let permits = self.permits.clone();
        let ordered = &performance.ordered;
        let stop = matches!(ordered.effect, Effect::Attempt(attempt::Effect::StopRun { .. }));
        let ordered_at = Stopwatch::start();
        let is_under_way = self.driver.is_work_under_way();
        let mut wish = self.set_ups.watch(&performance);
        let anyway = self.is_draining().then_some(self.options.anyway);
        tokio::spawn(async move {
            let permit = permits.take(&performance.ordered.effect).await;
            let (threads, one) = (Arc::clone(&executor.threads), performance.clone());
            let with = Arc::clone(&executor);
            let perform = move || {
                let begun = Stopwatch::start();
                let effect = &one.ordered.effect;
                log::effect_begun(&one);
                points::effect("begun", effect);
                let report = with.perform(&one, is_under_way);
                points::effect("performed", effect);
                timing::performed(&one.ticket.id, effect, ordered_at, begun);
                report
            };
            let performed = if stop {
                Ok(threads.end(perform).await)
            } else {
                threads.begin(perform).await
            };
            drop(permit);
            let report = match performed {
                Ok(report) => report.unwrap_or_else(|| Report::CouldNotRun {
                    why: "it failed unexpectedly".to_owned(),
                }),
                Err(error) => Report::Hindered {
                    why: format!("no thread can be started: {error}"),
                },
            };
            let report = match (&report, &mut wish) {
                (Report::WorkspaceReady { .. }, Some(wish)) => {
                    let set_up = set_up::set_up(&executor, &performance, wish).await;
                    set_up.unwrap_or(report)
                }
                (_, _) => report,
            };
            if let (Report::Landed { .. }, Some(anyway)) = (&report, anyway) {
                // The core hears of the new target first: what it gives out next is work on top of that.
                // A look after the report finds out whether somebody has moved it too.
                let with = Arc::clone(&executor);
                let seen = executor
                    .threads
                    .end(move || target::seen(&with, target::Ask::IfMoved, anyway, false, None))
                    .await;
                if let Some(seen) = seen.flatten() {
                    let seen = driver::Event::Input(Input::TargetSeen(seen));
                    drop(sender.send(Event::Driver(seen)));
                }
            }
            drop(sender.send(Event::Driver(performance.ended(report))));
        });
    }

    /// Ends the set-ups that nobody waits for any more, and all of them where the engine is to end: the next
    /// one cannot go on with them, and begins them again.
    pub(super) fn end_set_ups(&mut self) {
        let core = self.driver.core();
        let is_to_stop = core.stopping().is_some();
        self.set_ups.each(|ticket, fence| {
            let claim = core.ticket(ticket).and_then(|ticket| ticket.claim(fence));
            let is_wanted = claim.is_some_and(|claim| matches!(claim.state, attempt::State::Preparing));
            match (is_wanted, is_to_stop) {
                (false, _) => Wish::End,
                (true, true) => Wish::Stop,
                (true, false) => Wish::GoOn,
            }
        });
    }

    /// The subject of a run: a step of a ticket, with the conversation, or one of its checks.
    fn subject_of(&self, run: &RunId) -> Subject {
        let ticket = self.driver.core().tickets().find(|t| t.waits_for(run));
        if run.is_check() {
            let check = ticket.and_then(Ticket::check_run);
            return Subject::Check(check.map(|check| check.task));
        }
        if let Some(review) = ticket.and_then(|ticket| ticket.review_of_run(run)) {
            let conversation = &review.conversation;
            let is_new = conversation.session.steps <= 1;
            let session = crate::executor::perform::session(&conversation.session, is_new);
            return Subject::Review(conversation.harness.clone(), session);
        }
        let attempt = ticket.and_then(Ticket::attempt);
        let session = attempt.map_or_else(harness::Session::default, |a| {
            crate::executor::perform::session(&a.conversation.session, a.conversation.session.steps <= 1)
        });
        Subject::Step(ticket.cloned().map(Box::new), session)
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
        let dir = self.executor.place.run_dir(&run);
        let subject = self.subject_of(&run);
        tokio::spawn(observe::watch(
            dir,
            run,
            subject,
            asked,
            Arc::clone(&self.executor),
            Some((self.ledger.clone(), Arc::clone(&self.notices))),
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
