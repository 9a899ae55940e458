//! Limits that each event must keep to: attempts, waits, no progress, budgets.
#![cfg_attr(
    not(test),
    expect(
        clippy::wildcard_enum_match_arm,
        reason = "an invariant is about a few events, and passes over all others"
    )
)]

use model::attempt::{self};
use model::money::Usd;
use model::policy::failure::ERRORS;
use model::ticket::{Event, ReviewEvent, State, Ticket, Why};
use model::{TicketId, Time, project};

use super::{Checked, Witness, ensure};
use crate::Plant;
use crate::options::Options;

impl Witness {
    pub(super) fn count_pauses(&mut self, event: &project::Event, at: Time) {
        match event {
            project::Event::DayBudgetSpent { .. } => self.paused += 1,
            project::Event::DayBudgetFree => {
                let until = self.audit.project().pause.map(|pause| pause.until);
                self.midnights += u32::from(until.is_some_and(|until| until <= at));
            }
            _ => {}
        }
    }

    /// While the checks of the bare target have not passed, no ticket is given to an agent, and no step
    /// begins of one that was given to an agent before and had none yet, or that a person has set going
    /// again. An old engine may not know of that yet.
    pub(super) fn target_is_good(
        &mut self,
        id: &TicketId,
        event: &Event,
        before: &Ticket,
        stored: &Ticket,
    ) -> Checked {
        let is_step = matches!(event, Event::Attempt(attempt::Event::StepStarted { .. }));
        // What its parent has begun goes on.
        let is_child = before.delegated().is_some();
        let is_given = matches!(event, Event::Claimed { .. }) && !is_child;
        let may_not = self.is_target_bad && !self.old_engine;
        ensure(!(is_given && may_not), "no agent begins on a red target", || {
            format!("{id} was given to an agent")
        })?;
        ensure(
            !(is_step && may_not && self.begins.contains(id)),
            "no step begins anew on a red target",
            || format!("{id} had a step"),
        )?;
        let is_set_going = match event {
            Event::Claimed { .. } => !is_child,
            Event::BudgetRaised { .. } | Event::Attempt(attempt::Event::Answered { .. }) => true,
            Event::Retried { .. } => before.held.is_some(),
            // An agent that has asked something goes on when its work comes back.
            Event::Submitted { .. } => before
                .attempt()
                .is_some_and(|attempt| attempt.question().is_some()),
            _ => false,
        };
        if is_step || stored.attempt().is_none() {
            self.begins.remove(id);
        } else if is_set_going {
            self.begins.insert(id.clone());
        }
        Ok(())
    }

    /// Attempts and steps are within their limits: beyond them only what the table gives for free, a lost
    /// workspace or work that came back after its agent was freed, two steps for each conflict, and one for
    /// each recovery and each retry of a person's.
    pub(super) fn limits_hold(
        &mut self,
        id: &TicketId,
        event: &Event,
        before: &Ticket,
        stored: &Ticket,
        options: &Options,
    ) -> Checked {
        let steps = stored.attempt().map_or(0, |a| a.conversation.steps);
        let free = self.free.entry(id.clone()).or_default();
        let returned = before.attempt().is_some() && matches!(stored.state, State::Open);
        if returned && stored.held.is_none() && stored.due.is_none() {
            free.0 += 1;
        }
        match event {
            // Whom a person gives another try has a step before the last chance too, as one that is recovered
            // has.
            Event::Retried { .. } => *free = (0, free.1 + 1),
            Event::Reopened { .. } | Event::RecoveryLanded { .. } => *free = (0, free.1),
            Event::Claimed { .. } => free.1 = 0,
            Event::Conflicted { .. } => free.1 += 2,
            // The machine intends this: a new session gets the task first, and the step after that is its
            // last chance.
            Event::Attempt(attempt::Event::Recovered { .. }) => free.1 += 1,
            // What its children came to is told in a step, whatever it asked for after it had delegated.
            Event::Attempt(attempt::Event::ChildrenOver { .. })
                if steps >= options.settings.run.max_steps =>
            {
                free.1 += 1;
            }
            _ => {}
        }
        // What it has delegated is no reason to go on.
        if let Event::Attempt(attempt::Event::StepFailed { failure, .. }) = event
            && failure.class.counts()
            && let Some(attempt) = stored.attempt()
            && attempt.conversation.stopping.is_none()
        {
            let errors = attempt.conversation.errors;
            let is_stuck = matches!(attempt.state, attempt::State::Stuck { .. });
            ensure(
                errors < ERRORS || is_stuck,
                "who fails too often in a row is stuck",
                || format!("{id} failed {errors} times and is {}", stored.state_name()),
            )?;
        }
        let run = &options.settings.run;
        ensure(
            stored.tries <= run.attempts + free.0,
            "attempts are within their limit",
            || format!("{id} is at its attempt {} of {}", stored.tries, run.attempts),
        )?;
        ensure(
            steps <= run.max_steps + 1 + free.1,
            "steps are within their limit",
            || format!("{id} took step {steps} of {}", run.max_steps),
        )
    }

    /// No ticket is given to an agent while a ticket that it depends on was dropped or has failed.
    pub(super) fn dependencies_hold(&self, id: &TicketId, event: &Event, before: &Ticket) -> Checked {
        let Event::Claimed { .. } = event else {
            return Ok(());
        };
        let fails = |dep: &&TicketId| {
            let state = self.tickets.get(*dep).map(|dep| &dep.state);
            matches!(state, Some(State::Done(done)) if !done.satisfies_dependents())
        };
        let mut deps = before.spec.deps.iter();
        let failed = deps.find(|dep| before.spec.recovers.as_ref() != Some(*dep) && fails(dep));
        ensure(
            failed.is_none() || !self.is_alone,
            "no ticket starts behind a failed one",
            || format!("{id} was claimed, and depends on {failed:?}"),
        )
    }

    /// No step is started before its wait is over, nor on a harness whose service refuses; a service's
    /// request to wait is no error.
    pub(super) fn waits_are_kept(&self, id: &TicketId, event: &Event, before: &Ticket, at: Time) -> Checked {
        let Event::Attempt(event) = event else {
            return Ok(());
        };
        let Some(attempt) = before.attempt() else {
            return Ok(());
        };
        match event {
            attempt::Event::StepStarted { .. } => {
                ensure(before.held.is_none(), "a held ticket starts no step", || {
                    format!("{id} is {}", before.state_name())
                })?;
                let due = match &attempt.state {
                    attempt::State::Working(working) => working.due,
                    attempt::State::Ready => attempt.resumes_at,
                    _ => None,
                };
                ensure(
                    due.is_none_or(|due| due <= at),
                    "no step before its wait is over",
                    || format!("{id} at {at}: {due:?}"),
                )?;
                let pause = self.audit.project().paused.values().find(|pause| pause.holds(at));
                ensure(
                    pause.is_none() || !self.is_alone,
                    "no step on a harness that refuses",
                    || format!("{id} at {at}: {pause:?}"),
                )
            }
            attempt::Event::StepFailed { failure, .. } if !failure.class.counts() => {
                let next = before.after(&Event::Attempt(event.clone()), at);
                let errors = next
                    .ok()
                    .and_then(|c| c.ticket.attempt().map(|a| a.conversation.errors));
                ensure(
                    errors.is_none_or(|errors| errors == attempt.conversation.errors),
                    "a wait is no error",
                    || {
                        format!(
                            "{id}: {failure:?} made {errors:?} of {}",
                            attempt.conversation.errors
                        )
                    },
                )
            }
            _ => Ok(()),
        }
    }

    /// The same failure of submitted work comes three times at most before a person is asked, and only a
    /// person goes on.
    pub(super) fn same_is_not_paid_again(
        &mut self,
        id: &TicketId,
        event: &Event,
        before: &Ticket,
        stored: &Ticket,
    ) -> Checked {
        let tip = before.candidate().map(|candidate| candidate.tip.clone());
        let what = match event {
            Event::NoCommits { .. } => Some("nothing committed".to_owned()),
            Event::ChecksFailed { which, output, .. } => Some(match tip {
                Some(tip) => format!("{which} on {tip}"),
                None => output.clone(),
            }),
            Event::CommitmentUnmet { id, .. } => Some(format!("commitment {id} on {tip:?}")),
            Event::Conflicted { repeat, .. } => {
                Some(format!("{:?}", repeat.as_ref().map(|repeat| &repeat.of)))
            }
            Event::Retried { .. }
            | Event::ChecksPassed { .. }
            | Event::Reopened { .. }
            | Event::RecoveryLanded { .. } => {
                self.same.remove(id);
                None
            }
            Event::Edited { spec, .. } if spec.digest != before.spec.digest => {
                self.same.remove(id);
                None
            }
            _ => None,
        };
        if let Some(what) = what {
            let old = self.same.remove(id).filter(|(old, _)| *old == what);
            let times = old.map_or(0, |(_, times)| times) + 1;
            ensure(
                times < 3 || stored.held.is_some(),
                "the same failure is not paid repeat",
                || format!("{id}: {what}, {times} times, and it is {}", stored.state_name()),
            )?;
            self.same.insert(id.clone(), (what, times));
        }
        let shut = |ticket: &Ticket| {
            let held = ticket.held.as_ref();
            held.is_some_and(|held| matches!(held.why, Why::Auth | Why::NoProgress))
        };
        let by_hand = matches!(
            event,
            Event::Retried { .. }
                | Event::Dropped { .. }
                | Event::ClosedByPerson { .. }
                | Event::Submitted { .. }
                | Event::Waived { .. }
                | Event::ReviewApproved { .. }
                | Event::Returned { .. }
                // A person has written a ticket for this.
                | Event::RecoveryLanded { .. }
        );
        ensure(
            !shut(before) || shut(stored) || by_hand,
            "only a person ends what a person must mend",
            || format!("{id} went on by {}", event.name()),
        )
    }

    /// A step is started only while there is money for it, and an agent that comes near the end of it gets a
    /// warning. Then spend exceeds a budget by at most one step per running agent.
    pub(super) fn budgets_hold(
        &mut self,
        id: &TicketId,
        event: &Event,
        before: &Ticket,
        at: Time,
        options: &Options,
    ) -> Checked {
        let for_money = before
            .held
            .as_ref()
            .is_some_and(|held| matches!(held.why, Why::Budget { .. }));
        let paid = self.paid.entry(id.clone()).or_default();
        let on_the_day = self.paid_on.entry(at.day()).or_default();
        if let Event::Review { event, .. } = event
            && let Some(usage) = event.usage()
        {
            *paid += usage.cost_micro_usd;
            *on_the_day += usage.cost_micro_usd;
            return Ok(());
        }
        let budget = match event {
            Event::Attempt(
                attempt::Event::StepFinished { usage, .. } | attempt::Event::StepFailed { usage, .. },
            ) => {
                *paid += usage.cost_micro_usd;
                *on_the_day += usage.cost_micro_usd;
                return Ok(());
            }
            Event::Retried { .. } if for_money => {
                *paid = 0;
                return Ok(());
            }
            Event::Reopened { .. } => {
                *paid = 0;
                return Ok(());
            }
            Event::BudgetSpent { .. } => {
                self.spent += 1;
                return Ok(());
            }
            Event::Attempt(attempt::Event::StepStarted { budget, .. }) => budget,
            _ => return Ok(()),
        };
        self.warned += u32::from(budget.is_some());
        let on_the_day = *on_the_day;
        let (paid, is_tree) = self.paid_by_the_tree_of(before);
        if !is_tree && self.plant == Some(Plant::OwnBudget) {
            return Ok(());
        }
        let limits = &options.settings.budget;
        let beyond = |paid: u64, limit: Option<Usd>| limit.is_some_and(|Usd(limit)| paid >= limit);
        let of_ticket = if is_tree {
            "no step of a tree is started past its budget"
        } else {
            "no step is started past a budget"
        };
        ensure(!beyond(paid, limits.ticket_usd), of_ticket, || {
            format!("{id} has cost {paid} of {:?}", limits.ticket_usd)
        })?;
        let name = "no step is started past a budget";
        ensure(
            self.old_engine || !beyond(on_the_day, limits.day_usd),
            name,
            || format!("{} has cost {on_the_day} of {:?}", at.day(), limits.day_usd),
        )?;
        if self.plant == Some(Plant::OwnBudget) {
            return Ok(());
        }
        let warned = before
            .attempt()
            .and_then(|attempt| attempt.conversation.session.warned);
        let untold = limits
            .ticket_usd
            .filter(|Usd(limit)| paid * 5 >= limit * 4 && warned != Some(*limit));
        ensure(
            self.old_engine || untold.is_some() == budget.is_some(),
            "the warning of a low budget comes once",
            || {
                format!(
                    "{id} has cost {paid} of {:?}, warned of {warned:?}: {budget:?}",
                    limits.ticket_usd
                )
            },
        )
    }
}

/// Nobody but a person wakes a sleeper before its time, or lets a question's time be over before it is. That
/// it happens at most once is the machine's: who is awake cannot be woken.
pub(super) fn is_woken_in_time(id: &TicketId, event: &Event, before: &Ticket, at: Time) -> Checked {
    let state = before.attempt().map(|attempt| &attempt.state);
    let due = match (event, state) {
        (Event::Attempt(attempt::Event::Woken), Some(attempt::State::WaitingForWakeup { at, .. })) => {
            Some(*at)
        }
        (
            Event::Attempt(attempt::Event::WaitTimedOut),
            Some(attempt::State::WaitingForInput { until, .. }),
        ) => Some(until.unwrap_or(Time(i64::MAX))),
        (
            Event::Review {
                event: ReviewEvent::WaitTimedOut,
                ..
            },
            _,
        ) => {
            let open = before.open_question();
            open.map(|open| open.until.unwrap_or(Time(i64::MAX)))
        }
        _ => return Ok(()),
    };
    ensure(
        due.is_some_and(|due| due <= at),
        "nobody is woken before its time",
        || format!("{id} got {} at {at}, due at {due:?}", event.name()),
    )
}
