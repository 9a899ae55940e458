//! What a run comes to of which nothing is alive any more.

use std::path::PathBuf;
use std::sync::Arc;

use engine::{End, RunEnd, driver};
use model::attempt::{Class, Signal};
use model::ticket::{Fingerprint, Listed, Loss, Ticket};
use model::{RunId, Time};
use process::{Exit, Reason, Run};

use super::outcome::{failed, of_outcome};
use super::said::Said;
use super::{Subject, UNREADABLE};
use crate::check::missing_of_promise;
use crate::clock;
use crate::executor::{Executor, Work};
use crate::timing;

/// A run of which nothing is alive any more.
pub(super) struct Over {
    pub(super) run: Run,
    pub(super) exit: Exit,
    /// What it has said, as far as that was read while it went on; none of a check, and once it is read.
    pub(super) said: Option<Said>,
    /// The other place that its process belongs to, of which this is a copy.
    pub(super) elsewhere: Option<PathBuf>,
    /// When its end was noticed.
    pub(super) noticed: Time,
    pub(super) since: clock::Stopwatch,
}

impl Over {
    /// Reads what the run comes to.
    pub(super) async fn read(
        &mut self,
        id: &RunId,
        subject: &Subject,
        executor: &Arc<Executor>,
    ) -> Result<driver::Event, process::Error> {
        if let Some(held) = &self.elsewhere {
            let why = format!(
                "its process belongs to {}, of which this is a copy",
                held.display()
            );
            return Ok(subject.lost(id, Loss::Vanished, &why));
        }
        timing::read(id, self.since);
        timing::noticed(id, ended_at(&self.exit), self.noticed);
        let (with, of, run_id) = (Arc::clone(executor), subject.clone(), id.clone());
        let (run, exit, said) = (self.run.clone(), self.exit.clone(), self.said.take());
        let read = executor.threads.end(move || {
            let ticket = match of {
                Subject::Check(task) => {
                    let end = with.check_end(&run, &run_id, task, &exit)?;
                    return Ok(driver::Event::CheckEnded(end));
                }
                Subject::Step(ticket, _) => ticket,
                // Nothing of the gatekeeper's checkout counts but its verdict.
                Subject::Review(..) => None,
            };
            Ok(driver::Event::RunEnded(match said {
                Some(said) => step_end(&with, (&run, &run_id), ticket.as_deref(), said, &exit),
                None if with.work == Work::All => {
                    failed(&run_id, Class::Lost, "its output could not be read")
                }
                // This engine is up for one command only, which starts no step and wanted this one stopped.
                None => failed(&run_id, Class::KilledByUs, "it was stopped"),
            }))
        });
        let lost = || Ok(subject.lost(id, Loss::Vanished, UNREADABLE));
        read.await.unwrap_or_else(lost)
    }
}

/// What a step comes to, and what it leaves in the workspace of its `ticket`; none of a review.
fn step_end(
    with: &Executor,
    (run, id): (&Run, &RunId),
    ticket: Option<&Ticket>,
    said: Said,
    exit: &Exit,
) -> RunEnd {
    let (outcome, last_line) = match said.end(exit) {
        Ok(end) => end,
        Err(error) => return failed(id, Class::Lost, &error.to_string()),
    };
    let mut end = of_outcome(id, outcome, ended_at(exit), |one| {
        missing_of_promise(one, &with.check_env.variables)
    });
    let digest = || ticket.and_then(|ticket| with.workspace_digest(ticket));
    let changed = match (ticket, run.spec()) {
        (Some(ticket), Ok(spec)) if !ended_by_itself(exit) => {
            with.changed_since_submitted(ticket, &spec.run_id)
        }
        (Some(_) | None, _) => Listed::default(),
    };
    match (&mut end.end, &end.stated) {
        (End::Finished(_) | End::Failed(_), _) if !changed.is_empty() => {
            end.left = Some(Fingerprint::ChangedAfter { paths: changed });
        }
        (End::Finished(Signal::Done), _) => {
            if let Some(ticket) = ticket {
                with.save_ahead(ticket);
                end.made = with.parts_made(ticket, run, &end.modes);
            }
        }
        (End::Finished(Signal::None), _) | (_, Some(End::Finished(Signal::None))) => {
            end.left = digest().map(|workspace| match end.unusable.as_slice() {
                [] => Fingerprint::Step {
                    workspace,
                    words: end.summary.clone().unwrap_or(last_line),
                },
                lines => Fingerprint::Unusable {
                    workspace,
                    lines: lines.to_vec(),
                },
            });
        }
        (End::Failed(failure), _) if failure.class == Class::Lost => {
            failure.left = digest();
        }
        (End::Finished(_) | End::Failed(_), _) => {}
    }
    end
}

/// Whether nobody and nothing has ended the program of a run.
fn ended_by_itself(exit: &Exit) -> bool {
    exit.reason == Reason::Exited && exit.signal.is_none()
}

/// When a run ended, by its own record: the same for every reader, however late. Without a time in the
/// record, now.
fn ended_at(exit: &Exit) -> Time {
    match i64::try_from(exit.ended_at) {
        Ok(at) if at > 0 => Time(at).min(clock::now()),
        Ok(_) | Err(_) => clock::now(),
    }
}
