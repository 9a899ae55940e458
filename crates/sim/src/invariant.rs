//! What holds after every step (reliability.md A.6, machines.md §9), from what the journal and the world contain.

use std::collections::{BTreeMap, BTreeSet};

use model::attempt::{self, Then};
use model::audit::Audit;
use model::journal::{Fact, State as Stored, Stream};
use model::money::Usd;
use model::project;
use model::ticket::{Candidate, Effect, Event, FileStatus, Stage, State, Ticket, Why};
use model::time::Day;
use model::view::Row;
use model::{AgentName, Fence, Oid, TicketId, Time};
use store::{Journal as _, Ledger, Memory, Millis, StreamId};

use crate::block_on;
use crate::git::By;
use crate::options::Options;
use crate::world::World;

pub(crate) use model::audit::Broken;

pub(crate) type Checked = Result<(), Broken>;

/// Fails as `invariant` unless `holds`.
pub(crate) fn ensure(holds: bool, invariant: &'static str, what: impl FnOnce() -> String) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(Broken {
            invariant,
            what: what(),
        })
    }
}

/// What the journal says, replayed event by event beside it.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    seen: u64,
    versions: BTreeMap<Stream, u64>,
    /// Every ticket as replay gives it.
    pub(crate) tickets: BTreeMap<TicketId, Ticket>,
    pub(crate) audit: Audit,
    /// Landed events, oldest first: the commit, and whether a person had waived what held it.
    pub(crate) landed: Vec<(Oid, bool)>,
    /// Stops that a person ordered and that are still to be carried out.
    owed: BTreeMap<TicketId, (Fence, Then)>,
    /// Attempts, and steps of the last one, that the table gives beyond the limits.
    free: BTreeMap<TicketId, (u32, u32)>,
    /// The last failure of submitted work and how often it came, without a person in between.
    same: BTreeMap<TicketId, (String, u32)>,
    /// Nobody else wrote since the engine was loaded: it knows of every bar.
    pub(crate) is_alone: bool,
    /// What each ticket's steps have cost since it was last granted a budget.
    paid: BTreeMap<TicketId, u64>,
    /// What the steps that ended on a day have cost.
    paid_on: BTreeMap<Day, u64>,
    /// Steps that warned of a budget, tickets that one held, days that one stopped, and midnights that ended that.
    pub(crate) warned: u32,
    pub(crate) spent: u32,
    pub(crate) paused: u32,
    pub(crate) midnights: u32,
    /// What is read now was written by an engine that was thought dead.
    pub(crate) old_engine: bool,
    /// Tickets of which an effect was settled, with a fact or without.
    suspects: BTreeSet<TicketId>,
    looks: u64,
}

impl Witness {
    /// An effect of this ticket was settled: whatever it was waited for by must have moved on.
    pub(crate) fn suspect(&mut self, id: &TicketId) {
        self.suspects.insert(id.clone());
    }

    /// Reads what is new in the journal and checks everything that could have changed.
    pub(crate) fn check(&mut self, ledger: &Ledger<Memory>, world: &mut World, options: &Options) -> Checked {
        let mut changed = self.replay(ledger, options)?;
        changed.append(&mut self.suspects);
        self.looks += 1;
        if self.looks.is_multiple_of(512) {
            store_is_sound(ledger)?;
        }
        if !changed.is_empty() {
            self.slots_are_the_seats(ledger)?;
            for id in &changed {
                self.timers_are_the_deadlines(ledger, id)?;
            }
            self.final_stops_are_carried_out()?;
            self.waiting_states_have_their_effects(&changed, ledger, world)?;
        }
        if !changed.is_empty() || std::mem::take(&mut world.touched) {
            self.live_processes_belong_to_attempts(world)?;
            self.target_is_what_was_landed(world)?;
            self.closed_only_after_done(world)?;
            work_is_reachable(world)?;
            edits_are_intact(world)?;
        }
        Ok(())
    }

    fn replay(&mut self, ledger: &Ledger<Memory>, options: &Options) -> Result<BTreeSet<TicketId>, Broken> {
        let damaged = |error: store::Error| Broken {
            invariant: "the journal can be read",
            what: error.to_string(),
        };
        let mut changed = BTreeSet::new();
        for fold in block_on(ledger.tail(self.seen, u32::MAX >> 1)).map_err(damaged)? {
            self.seen = fold.seq;
            let version = self.versions.entry(fold.stream.clone()).or_default();
            *version += 1;
            ensure(fold.version == *version, "versions are contiguous", || {
                format!(
                    "{} has version {} after {}",
                    fold.stream,
                    fold.version,
                    *version - 1
                )
            })?;
            if let Fact::Project(event) = &fold.fact {
                self.count_pauses(event, fold.at);
            }
            let row = Row {
                seq: fold.seq,
                stream: &fold.stream,
                at: fold.at,
                fact: &fold.fact,
                after: &fold.after,
            };
            if let Some(broken) = self.audit.row(&row) {
                return Err(broken);
            }
            if let (Stream::Ticket(id), Fact::Ticket(event), Stored::Ticket(stored)) =
                (&fold.stream, fold.fact, fold.after)
            {
                self.replay_ticket(id, &event, &stored, fold.at, options)?;
                changed.insert(id.clone());
            }
        }
        Ok(changed)
    }

    fn count_pauses(&mut self, event: &project::Event, at: Time) {
        match event {
            project::Event::DayBudgetSpent { .. } => self.paused += 1,
            project::Event::DayBudgetFree => {
                let until = self.audit.project().pause.map(|pause| pause.until);
                self.midnights += u32::from(until.is_some_and(|until| until <= at));
            }
            _ => {}
        }
    }

    fn replay_ticket(
        &mut self,
        id: &TicketId,
        event: &Event,
        stored: &Ticket,
        at: Time,
        options: &Options,
    ) -> Checked {
        let before = self
            .tickets
            .get(id)
            .cloned()
            .unwrap_or_else(|| Ticket::new(id.clone()));
        if let (Event::Landed { commit }, Some(candidate)) = (event, before.candidate()) {
            self.landed.push((commit.clone(), is_waived(candidate)));
        }
        is_woken_in_time(id, event, &before, at)?;
        self.limits_hold(id, event, &before, stored, options)?;
        self.waits_are_kept(id, event, &before, at)?;
        self.same_is_not_paid_again(id, event, &before, stored)?;
        self.budgets_hold(id, event, &before, at, options)?;
        if let Some(attempt) = stored.attempt()
            && let Some(then) = attempt.stopping.clone().filter(Then::is_final)
        {
            self.owed.insert(id.clone(), (attempt.fence, then));
        }
        self.tickets.insert(id.clone(), stored.clone());
        Ok(())
    }

    /// Attempts and steps are within their limits: beyond them only what the table gives for free, a lost workspace or
    /// work that came back after its agent was freed, and two steps for each conflict.
    fn limits_hold(
        &mut self,
        id: &TicketId,
        event: &Event,
        before: &Ticket,
        stored: &Ticket,
        options: &Options,
    ) -> Checked {
        let free = self.free.entry(id.clone()).or_default();
        let returned = before.attempt().is_some() && matches!(stored.state, State::Open);
        if returned && stored.held.is_none() && stored.due.is_none() {
            free.0 += 1;
        }
        match event {
            Event::Retried { .. } | Event::Reopened { .. } => *free = (0, free.1),
            Event::Claimed { .. } => free.1 = 0,
            Event::Conflicted { .. } => free.1 += 2,
            _ => {}
        }
        let run = &options.settings.run;
        ensure(
            stored.tries <= run.attempts + free.0,
            "attempts are within their limit",
            || format!("{id} is at its attempt {} of {}", stored.tries, run.attempts),
        )?;
        let steps = stored.attempt().map_or(0, |a| a.steps);
        ensure(
            steps <= run.max_steps + 1 + free.1,
            "steps are within their limit",
            || format!("{id} took step {steps} of {}", run.max_steps),
        )
    }

    /// No step is started before its wait is over, nor on a harness whose service refuses; what the service asks for is no
    /// error.
    fn waits_are_kept(&self, id: &TicketId, event: &Event, before: &Ticket, at: Time) -> Checked {
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
                    _ => None,
                };
                ensure(
                    due.is_none_or(|due| due <= at),
                    "no step before its wait is over",
                    || format!("{id} at {at}: {due:?}"),
                )?;
                let bar = self.audit.project().barred.values().find(|bar| bar.holds(at));
                ensure(
                    bar.is_none() || !self.is_alone,
                    "no step on a harness that refuses",
                    || format!("{id} at {at}: {bar:?}"),
                )
            }
            attempt::Event::StepFailed { failure, .. } if !failure.class.counts() => {
                let next = before.after(&Event::Attempt(event.clone()), at);
                let errors = next.ok().and_then(|c| c.ticket.attempt().map(|a| a.errors));
                ensure(
                    errors.is_none_or(|errors| errors == attempt.errors),
                    "a wait is no error",
                    || format!("{id}: {failure:?} made {errors:?} of {}", attempt.errors),
                )
            }
            _ => Ok(()),
        }
    }

    /// The same failure of submitted work comes three times at most before a person is asked, and only a person goes on.
    fn same_is_not_paid_again(
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
            Event::Conflicted { again, .. } => Some(format!("{:?}", again.as_ref().map(|again| &again.of))),
            Event::Retried { .. } | Event::ChecksPassed { .. } | Event::Reopened { .. } => {
                self.same.remove(id);
                None
            }
            Event::Edited { spec } if spec.digest != before.spec.digest => {
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
                "the same failure is not paid again",
                || format!("{id}: {what}, {times} times, and it is {}", stored.state_name()),
            )?;
            self.same.insert(id.clone(), (what, times));
        }
        let shut = |ticket: &Ticket| {
            let held = ticket.held.as_ref();
            held.is_some_and(|held| matches!(held.why, Why::Auth | Why::Breaker))
        };
        let by_hand = matches!(
            event,
            Event::Retried { .. }
                | Event::Dropped { .. }
                | Event::ClosedByPerson
                | Event::Submitted { .. }
                | Event::Waived { .. }
        );
        ensure(
            !shut(before) || shut(stored) || by_hand,
            "only a person ends what a person must mend",
            || format!("{id} went on by {}", event.name()),
        )
    }

    /// A step is started only while there is money for it, and whoever comes near the end of it is told. Then spend exceeds a
    /// budget by at most one step per running agent.
    fn budgets_hold(
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
        let limits = &options.settings.budget;
        let beyond = |paid: u64, limit: Option<Usd>| limit.is_some_and(|Usd(limit)| paid >= limit);
        let name = "no step is started past a budget";
        ensure(!beyond(*paid, limits.ticket_usd), name, || {
            format!("{id} has cost {paid} of {:?}", limits.ticket_usd)
        })?;
        ensure(
            self.old_engine || !beyond(*on_the_day, limits.day_usd),
            name,
            || format!("{} has cost {on_the_day} of {:?}", at.day(), limits.day_usd),
        )?;
        let warned = before.attempt().and_then(|attempt| attempt.session.warned);
        let untold = limits
            .ticket_usd
            .filter(|Usd(limit)| *paid * 5 >= limit * 4 && warned != Some(*limit));
        ensure(
            self.old_engine || untold.is_some() == budget.is_some(),
            "a low budget is told once",
            || {
                format!(
                    "{id} has cost {paid} of {:?}, warned of {warned:?}: {budget:?}",
                    limits.ticket_usd
                )
            },
        )
    }

    /// One ticket per agent, and the slot table is what the states say.
    fn slots_are_the_seats(&self, ledger: &Ledger<Memory>) -> Checked {
        let mut seats: BTreeMap<String, (String, u64)> = BTreeMap::new();
        for ticket in self.tickets.values() {
            let Some((agent, attempt)) = ticket.seat().zip(ticket.attempt()) else {
                continue;
            };
            let seat = (ticket.id.to_string(), attempt.fence.0);
            let other = seats.insert(agent.to_string(), seat);
            ensure(other.is_none(), "one ticket per agent", || {
                format!("{agent} is at {other:?} and {}", ticket.id)
            })?;
        }
        let rows = block_on(ledger.0.slots()).unwrap_or_default();
        let slots: BTreeMap<_, _> = rows
            .into_iter()
            .map(|s| (s.agent, (s.ticket, s.fence.0)))
            .collect();
        ensure(slots == seats, "slots are the seats", || {
            format!("slots {slots:?}, seats {seats:?}")
        })
    }

    /// A waiting ticket has its timer, and no other has one.
    fn timers_are_the_deadlines(&self, ledger: &Ledger<Memory>, id: &TicketId) -> Checked {
        let stream = StreamId(Stream::Ticket(id.clone()).to_string());
        let rows = block_on(ledger.0.timers_of(&stream)).unwrap_or_default();
        let timers: Vec<(String, i64)> = rows.into_iter().map(|t| (t.timer.key, t.due.0)).collect();
        let deadline = self.tickets.get(id).and_then(Ticket::deadline);
        let wanted: Vec<(String, i64)> = deadline
            .iter()
            .map(|d| (d.key.as_str().to_owned(), d.at.0))
            .collect();
        ensure(timers == wanted, "timers are the deadlines", || {
            format!("{id}: timers {timers:?}, deadlines {wanted:?}")
        })
    }

    /// What a person asked a stop for is done when the process has ended.
    fn final_stops_are_carried_out(&mut self) -> Checked {
        let Self { owed, tickets, .. } = self;
        let mut forgotten = None;
        owed.retain(|id, (fence, then)| {
            let Some(ticket) = tickets.get(id) else {
                return false;
            };
            let Some(attempt) = ticket.attempt().filter(|a| a.fence == *fence) else {
                let done = ticket.is_done() || ticket.held.is_some() && !matches!(then, Then::Drop { .. });
                if !done && ticket.fence == *fence {
                    forgotten = Some(format!(
                        "{id} was to be stopped for {then:?}, and is {}",
                        ticket.state_name()
                    ));
                }
                return false;
            };
            if attempt.stopping.is_none() {
                forgotten = Some(format!(
                    "{id} was to be stopped for {then:?}, and is {}",
                    attempt.state.name()
                ));
            }
            true
        });
        ensure(forgotten.is_none(), "a final stop is carried out", || {
            forgotten.unwrap_or_default()
        })
    }

    /// What is waited for has been ordered: a state that only an effect's report can end has that effect under way.
    fn waiting_states_have_their_effects(
        &self,
        changed: &BTreeSet<TicketId>,
        ledger: &Ledger<Memory>,
        world: &World,
    ) -> Checked {
        let rows = block_on(ledger.0.pending(Millis(i64::MAX), u32::MAX)).unwrap_or_default();
        for ticket in changed
            .iter()
            .filter_map(|id| self.tickets.get(id))
            .filter(|t| t.held.is_none())
        {
            let stream = StreamId(Stream::Ticket(ticket.id.clone()).to_string());
            let mine = rows.iter().filter(|row| row.stream == stream);
            let pending: Vec<Effect> = mine
                .filter_map(|row| serde_json::from_str(&row.body).ok())
                .collect();
            let waits = |wanted: fn(&Effect) -> bool| !pending.iter().any(wanted);
            let forgotten = match &ticket.state {
                State::New | State::Open | State::Done(_) => false,
                State::InProgress(attempt) => match &attempt.state {
                    attempt::State::Preparing => waits(|e| matches!(e, Effect::PrepareWorkspace { .. })),
                    attempt::State::Stuck { .. } => {
                        waits(|e| matches!(e, Effect::Attempt(attempt::Effect::InspectWorkspace { .. })))
                    }
                    _ => ticket.live_run().is_some_and(|run| {
                        !world.processes.contains_key(run)
                            && waits(|e| matches!(e, Effect::Attempt(attempt::Effect::StartStep { .. })))
                    }),
                },
                State::Verify(verify) => match &verify.stage {
                    Stage::Queued | Stage::Reviewing { .. } | Stage::Landing { waiting: Some(_), .. } => {
                        false
                    }
                    Stage::Building => waits(|e| matches!(e, Effect::BuildCandidate { .. })),
                    Stage::Checking(_) => waits(|e| matches!(e, Effect::RunChecks { .. })),
                    Stage::Landing { waiting: None, .. } => waits(|e| matches!(e, Effect::Land { .. })),
                },
            };
            ensure(!forgotten, "what is waited for is under way", || {
                format!(
                    "{} is {}, and nothing is ordered that could end that",
                    ticket.id,
                    ticket.state_name()
                )
            })?;
        }
        Ok(())
    }

    /// At most one live process per attempt, and none that no attempt waits for.
    fn live_processes_belong_to_attempts(&self, world: &World) -> Checked {
        let mut busy = BTreeSet::new();
        let mut talking = BTreeSet::new();
        for process in world.live() {
            let attempt = (&process.ticket, process.number);
            ensure(busy.insert(attempt), "one live process per attempt", || {
                format!(
                    "attempt {} of {} has two, {} is one",
                    process.number, process.ticket, process.run
                )
            })?;
            ensure(
                talking.insert(&process.session),
                "one live process per session",
                || format!("{} shares its session", process.run),
            )?;
            let waited = self.tickets.get(&process.ticket).and_then(Ticket::live_run);
            ensure(
                waited == Some(&process.run),
                "a live process belongs to an attempt",
                || format!("{} lives; {} waits for {waited:?}", process.run, process.ticket),
            )?;
        }
        Ok(())
    }

    /// The target's first-parent chain is what landed, in its order, and what others pushed; each landed once, and tested.
    fn target_is_what_was_landed(&self, world: &World) -> Checked {
        let mut landed = self.landed.iter();
        let mut merged = BTreeSet::new();
        for at in world.git.chain() {
            let commit = &world.git.commits[at];
            let (ticket, number) = match &commit.by {
                By::Root | By::Foreign => continue,
                By::Crew(ticket, number) => (ticket, *number),
                By::Agent(ticket, _) => {
                    let what = format!("a commit of the agent of {ticket} is on the target");
                    return Err(Broken {
                        invariant: "the target is what was landed",
                        what,
                    });
                }
            };
            ensure(merged.insert((ticket, number)), "each attempt lands once", || {
                format!("attempt {number} of {ticket} is merged twice")
            })?;
            let known = self.tickets.get(ticket);
            let landing = known.filter(|t| {
                let State::Verify(verify) = &t.state else {
                    return false;
                };
                matches!(verify.stage, Stage::Landing { .. })
                    && t.candidate().is_some_and(|c| c.commit == commit.id)
            });
            let told = match landing.and_then(Ticket::candidate) {
                Some(candidate) => Some(is_waived(candidate)),
                None => landed
                    .next()
                    .filter(|(id, _)| *id == commit.id)
                    .map(|(_, waived)| *waived),
            };
            ensure(told.is_some(), "the target is what was landed", || {
                format!(
                    "{} of {ticket} is on the target and was not landed, or out of order",
                    commit.id
                )
            })?;
            let waived = told == Some(true);
            ensure(
                waived || world.passed.contains(&at),
                "what landed was tested",
                || {
                    format!(
                        "{} of {ticket} is on the target, and its checks have not passed",
                        commit.id
                    )
                },
            )?;
        }
        let missing = landed.next();
        ensure(missing.is_none(), "landed work is in the target", || {
            format!("{missing:?} is not")
        })
    }

    /// A file that crew closed belongs to a ticket that is done.
    fn closed_only_after_done(&self, world: &World) -> Checked {
        for (id, file) in &world.files.files {
            if file.status == FileStatus::Closed && file.by_crew {
                let state = self
                    .tickets
                    .get(id)
                    .map_or_else(|| "unknown".to_owned(), Ticket::state_name);
                let done = self.tickets.get(id).is_some_and(Ticket::is_done);
                ensure(done, "closed only after landed", || {
                    format!("crew closed the file of {id}, which is {state}")
                })?;
            }
        }
        Ok(())
    }

    /// When everything has come to rest: nothing is left over, and nothing was forgotten.
    pub(crate) fn check_end(&self, ledger: &Ledger<Memory>, world: &World, commands: &[String]) -> Checked {
        store_is_sound(ledger)?;
        for id in commands {
            let outcome = block_on(ledger.outcome(id));
            ensure(
                matches!(outcome, Ok(Some(_))),
                "every command is answered",
                || format!("{id}: {outcome:?}"),
            )?;
        }
        let space: Option<&(AgentName, TicketId)> = world.spaces.keys().next();
        ensure(space.is_none(), "no workspace is left over", || {
            format!("{space:?} is")
        })?;
        for (id, ticket) in &self.tickets {
            let counted = ticket.is_done() || ticket.spec.kind == "epic";
            ensure(counted, "every ticket comes to its end", || {
                format!("{id} is {}", ticket.state_name())
            })?;
            if let Some(engine::Sighting::Read { spec, .. }) =
                world.files.files.get(id).map(|_| world.files.look(id, world.now))
            {
                ensure(spec == ticket.spec, "no edit of a ticket is missed", || {
                    format!("the file of {id} says {spec:?}, the journal {:?}", ticket.spec)
                })?;
            }
            let file = world.files.files.get(id).filter(|_| ticket.is_done());
            ensure(
                file.is_none_or(|f| f.status == FileStatus::Closed),
                "a done ticket's file is closed",
                || format!("{id} is {}, its file {file:?}", ticket.state_name()),
            )?;
        }
        Ok(())
    }
}

/// Nobody but a person wakes a sleeper before its time, or lets a question's time be over before it is. That it happens at
/// most once is the machine's: who is awake cannot be woken.
fn is_woken_in_time(id: &TicketId, event: &Event, before: &Ticket, at: Time) -> Checked {
    let state = before.attempt().map(|attempt| &attempt.state);
    let due = match (event, state) {
        (Event::Attempt(attempt::Event::Woken), Some(attempt::State::WaitingForWakeup { at, .. })) => {
            Some(*at)
        }
        (
            Event::Attempt(attempt::Event::WaitTimedOut),
            Some(attempt::State::WaitingForInput { until, .. }),
        ) => Some(until.unwrap_or(Time(i64::MAX))),
        _ => return Ok(()),
    };
    ensure(
        due.is_some_and(|due| due <= at),
        "nobody is woken before its time",
        || format!("{id} got {} at {at}, due at {due:?}", event.name()),
    )
}

/// Whether a person let it pass in spite of its checks.
fn is_waived(candidate: &Candidate) -> bool {
    candidate
        .passed
        .iter()
        .any(|passed| passed.starts_with("waived by"))
}

fn store_is_sound(ledger: &Ledger<Memory>) -> Checked {
    let problems = block_on(ledger.0.verify()).unwrap_or_else(|error| vec![error.to_string()]);
    ensure(problems.is_empty(), "the store agrees with itself", || {
        problems.join("; ")
    })
}

/// No commit of an agent, and no change it did not commit, is out of reach.
fn work_is_reachable(world: &World) -> Checked {
    let git = &world.git;
    let mut seen = vec![false; git.commits.len()];
    for at in git
        .refs
        .values()
        .chain(world.spaces.values().map(|space| &space.head))
    {
        git.mark(*at, &mut seen);
    }
    for at in &world.made {
        ensure(seen[*at], "no commit of an agent is lost", || {
            format!(
                "{} by {:?} is out of reach",
                git.commits[*at].id, git.commits[*at].by
            )
        })?;
    }
    for ((ticket, number, path), content) in &world.unsaved {
        let there = world.spaces.iter().any(|((_, of), space)| {
            of == ticket && space.number == *number && space.dirty.get(path) == Some(content)
        });
        ensure(there, "no uncommitted work is lost", || {
            format!("the change of attempt {number} of {ticket} to {path} is nowhere")
        })?;
    }
    Ok(())
}

/// What a person edited in the checkout is as it was left.
fn edits_are_intact(world: &World) -> Checked {
    for (path, content) in &world.edits {
        ensure(
            world.checkout.get(path) == Some(content),
            "a person's edits are intact",
            || format!("the edit of {path} is gone"),
        )?;
    }
    Ok(())
}
