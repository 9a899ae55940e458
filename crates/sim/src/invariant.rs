//! Invariants that hold after every step, by the contents of the journal and of the world.

mod calls;
mod folders;
mod judged;
mod limits;
mod review;
mod team;
mod train;
mod turns;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use model::attempt::{self, AfterStop};
use model::audit::Audit;
use model::journal::{Fact, State as Stored, Stream};
use model::project;
use model::ticket::{Done, Effect, Event, FileStatus, Stage, State, Ticket};
use model::time::Day;
use model::view::{self, Row};
use model::{Actor, AgentName, Fence, Oid, TicketId, Time};
use store::{Journal as _, Ledger, Memory};

use crate::files::File;
use crate::options::Options;
use crate::world::World;
use crate::{Plant, block_on};
use limits::is_woken_in_time;
use world::{edits_are_intact, is_waived, work_is_reachable};

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

/// A ticket that landed.
#[derive(Clone, Debug)]
pub(crate) struct Landed {
    /// The merge.
    pub(crate) commit: Oid,
    /// The tip of the work, as it was judged.
    pub(crate) tip: Oid,
    /// True if a person had waived the failure that held it.
    pub(crate) is_waived: bool,
}

/// A replay of the journal, event by event, next to the engine.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    /// The fault that is planted in the journal itself.
    plant: Option<Plant>,
    pub(crate) seen: u64,
    /// The rows that are notices.
    pub(crate) notices: Vec<u64>,
    versions: BTreeMap<Stream, u64>,
    /// Every ticket as replay gives it.
    pub(crate) tickets: BTreeMap<TicketId, Ticket>,
    pub(crate) audit: Audit,
    /// The tip of each ticket's work as it was merged last.
    pub(crate) tips: BTreeMap<TicketId, Oid>,
    /// Landed events, oldest first.
    pub(crate) landed: Vec<Landed>,
    /// The commits that were recorded as made by hand.
    by_hand: BTreeSet<Oid>,
    /// Stops that a person ordered and that are still to be carried out.
    owed: BTreeMap<TicketId, (Fence, AfterStop)>,
    /// Attempts, and steps of the last one, that the table gives beyond the limits.
    free: BTreeMap<TicketId, (u32, u32)>,
    /// The last failure of submitted work and how often it came, without a person in between.
    same: BTreeMap<TicketId, (String, u32)>,
    /// Nobody else wrote since the engine was loaded: it knows of every bar.
    pub(crate) is_alone: bool,
    /// The cost of each ticket's steps since it was last granted a budget.
    paid: BTreeMap<TicketId, u64>,
    /// The cost of the steps that ended on a day.
    paid_on: BTreeMap<Day, u64>,
    /// Steps that warned of a budget, tickets that one held, days that one stopped, and midnights that ended
    /// that.
    pub(crate) warned: u32,
    pub(crate) spent: u32,
    pub(crate) paused: u32,
    pub(crate) midnights: u32,
    /// Children whose work became their parent's, tickets that were broken up or taken back, and silent steps
    /// that stirred.
    pub(crate) unified: u32,
    pub(crate) broken_up: u32,
    pub(crate) rewound: u32,
    pub(crate) stirred: u32,
    /// Children whose work has ever become their parent's.
    ever_unified: BTreeSet<TicketId>,
    /// Children that have landed with their parents since the last look at the world: the merges.
    landed_with: Vec<(TicketId, Oid)>,
    /// How many of `landed` were looked at for the work of children.
    judged_landings: usize,
    /// Tickets that were opened again since the last look at the world, though not after somebody had dropped
    /// them.
    reopened: Vec<TicketId>,
    /// The rows that are read now were written by an engine that was thought dead.
    pub(crate) old_engine: bool,
    /// No agent may be started, by the last verdict on the target.
    is_target_bad: bool,
    /// Tickets that were given to an agent, or that a person set going again, and that have had no step
    /// since.
    begins: BTreeSet<TicketId>,
    /// Tickets of which an effect was settled, with a fact or without.
    suspects: BTreeSet<TicketId>,
    /// Batches of the train.
    batches: train::Batches,
    /// Decisions about entries of the train.
    judged: judged::Judged,
    /// Conflicts that are resolved.
    turns: turns::Turns,
    /// Times that everything was checked.
    pub(crate) looks: u64,
}

impl Witness {
    pub(crate) fn new(plant: Option<Plant>) -> Self {
        Self {
            plant,
            ..Self::default()
        }
    }

    /// Every ticket's state, in words.
    pub(crate) fn states(&self) -> BTreeMap<TicketId, String> {
        let states = self.tickets.iter();
        states
            .map(|(id, ticket)| (id.clone(), ticket.state_name()))
            .collect()
    }

    /// An effect of this ticket was settled: whatever it was waited for by must have moved on.
    pub(crate) fn suspect(&mut self, id: &TicketId) {
        self.suspects.insert(id.clone());
    }

    /// Reads what is new in the journal and checks everything that could have changed.
    pub(crate) fn check(&mut self, ledger: &Ledger<Memory>, world: &mut World, options: &Options) -> Checked {
        let mut changed = self.replay(ledger, options)?;
        changed.append(&mut self.suspects);
        self.only_people_open_again(world)?;
        self.looks += 1;
        if self.looks.is_multiple_of(512) {
            store_is_sound(ledger)?;
        }
        if !changed.is_empty() {
            self.slots_are_as_stored(ledger)?;
            self.a_checkout_has_one_check()?;
            for id in &changed {
                self.timers_are_the_deadlines(ledger, id)?;
            }
            self.final_stops_are_carried_out()?;
            self.children_end_with_their_parent()?;
            self.waiting_states_have_their_effects(&changed, ledger, world)?;
        }
        if !changed.is_empty() || std::mem::take(&mut world.touched) {
            self.parents_wait_for_processes(world)?;
            self.live_processes_belong_to_attempts(world)?;
            self.a_workspace_has_one_writer(world)?;
            self.what_is_to_end_is_stopped(ledger, world)?;
            self.live_checks_belong_to_stages(ledger, world)?;
            self.workspaces_belong_to_attempts(ledger, world)?;
            self.references_belong_to_tickets(world)?;
            self.target_is_what_was_landed(world, options)?;
            self.closed_only_after_done(ledger, world)?;
            self.only_done_children_land(world)?;
            self.done_children_land_once(world)?;
            self.refused_children_are_not_done(world)?;
            self.commits_of_persons_stay(world)?;
            self.judged.is_just(world)?;
            self.turns.are_taken_one_by_one(&world.git)?;
            judged::no_failure_is_paid_twice(world, &options.settings)?;
            judged::refs_hold_what_they_should(self.tickets.values(), world)?;
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
            if self.plant == Some(Plant::LostEvent) && fold.seq == 20 {
                continue;
            }
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
                if let project::Event::Target(target) = event {
                    self.is_target_bad = !target.lets_agents_start();
                }
                if let project::Event::Moved(moved) = event {
                    for commit in &moved.by_hand.newest {
                        let is_new = self.by_hand.insert(commit.commit.clone());
                        ensure(is_new, "a commit by hand is recorded once", || {
                            format!("{} is in event {} again", commit.commit, fold.seq)
                        })?;
                    }
                }
            }
            let row = Row {
                seq: fold.seq,
                stream: &fold.stream,
                at: fold.at,
                fact: &fold.fact,
                after: &fold.after,
            };
            self.notices.extend(view::notice(row).map(|notice| notice.id));
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
        let landed = self.landed.iter().map(|landed| &landed.commit).collect();
        self.batches.are_whole(&landed)?;
        let taken = self.by_hand.iter().find(|commit| landed.contains(commit));
        ensure(taken.is_none(), "no landing counts as a commit by hand", || {
            format!("{taken:?} has landed")
        })?;
        Ok(changed)
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
            self.landed.push(Landed {
                commit: commit.clone(),
                tip: candidate.tip.clone(),
                is_waived: is_waived(candidate),
            });
        }
        if let Event::CandidateBuilt { candidate, .. } = event {
            self.tips.insert(id.clone(), candidate.tip.clone());
        }
        self.batches.note(id, event);
        self.judged.note(id, event, &before);
        self.turns.note(id, event, stored, &self.tickets);
        if let (Event::Reopened { .. }, State::Done(done)) = (event, &before.state)
            && !matches!(done, Done::Dropped { .. })
        {
            self.reopened.push(id.clone());
        }
        is_woken_in_time(id, event, &before, at)?;
        calls::result_stands(id, event, &before)?;
        review::is_reviewed(id, event, &before, options)?;
        self.target_is_good(id, event, &before, stored)?;
        self.limits_hold(id, event, &before, stored, options)?;
        self.dependencies_hold(id, event, &before)?;
        self.waits_are_kept(id, event, &before, at)?;
        self.same_is_not_paid_again(id, event, &before, stored)?;
        self.budgets_hold(id, event, &before, at, options)?;
        self.children_land_with_their_parent(id, event)?;
        // Carried out, and perhaps undone by a person in the same transaction.
        self.owed.retain(|of, (fence, then)| {
            let over = stored
                .attempt()
                .is_none_or(|attempt| attempt.claim.fence != *fence);
            let held = stored.held.is_some() && !matches!(then, AfterStop::Drop { .. });
            of != id || !over || !(held || stored.is_done())
        });
        if let Some(attempt) = stored.attempt()
            && let Some(then) = attempt.conversation.stopping.clone().filter(AfterStop::is_final)
            // A file that is back in time has its ticket go on.
            && !matches!(then, AfterStop::Drop { by: Actor::File, .. })
        {
            self.owed.insert(id.clone(), (attempt.claim.fence, then));
        }
        self.tickets.insert(id.clone(), stored.clone());
        Ok(())
    }

    /// One ticket per agent, and the slot table agrees with the states.
    fn slots_are_as_stored(&self, ledger: &Ledger<Memory>) -> Checked {
        let mut slots: BTreeMap<AgentName, (TicketId, u64)> = BTreeMap::new();
        for ticket in self.tickets.values() {
            for (agent, fence) in ticket.slots() {
                let slot = (ticket.id.clone(), fence.0);
                let other = slots.insert(agent.clone(), slot);
                ensure(other.is_none(), "one ticket per agent", || {
                    format!("{agent} is at {other:?} and {}", ticket.id)
                })?;
            }
        }
        let rows = block_on(ledger.0.slots()).unwrap_or_default();
        let stored: BTreeMap<_, _> = rows
            .into_iter()
            .map(|s| (s.agent, (s.ticket, s.fence.0)))
            .collect();
        ensure(stored == slots, "the slot table agrees with the tickets", || {
            format!("stored {stored:?}, of the tickets {slots:?}")
        })
    }

    /// No two tickets run their checks in the same checkout.
    fn a_checkout_has_one_check(&self) -> Checked {
        let mut slots: BTreeMap<u32, &TicketId> = BTreeMap::new();
        for ticket in self.tickets.values() {
            let Some(check) = ticket.check_run() else { continue };
            let other = slots.insert(check.slot.0, &ticket.id);
            ensure(other.is_none(), "a checkout has one check", || {
                format!("{other:?} and {} are checked in {}", ticket.id, check.slot.0)
            })?;
        }
        Ok(())
    }

    /// A waiting ticket has its timer, and no other has one.
    fn timers_are_the_deadlines(&self, ledger: &Ledger<Memory>, id: &TicketId) -> Checked {
        let stream = Stream::Ticket(id.clone());
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

    /// The action for which a person asked for a stop is done when the process has ended.
    fn final_stops_are_carried_out(&mut self) -> Checked {
        let Self { owed, tickets, .. } = self;
        let mut forgotten = None;
        owed.retain(|id, (fence, then)| {
            let Some(ticket) = tickets.get(id) else {
                return false;
            };
            let Some(attempt) = ticket.attempt().filter(|a| a.claim.fence == *fence) else {
                let done =
                    ticket.is_done() || ticket.held.is_some() && !matches!(then, AfterStop::Drop { .. });
                if !done && ticket.fence == *fence {
                    forgotten = Some(format!(
                        "{id} was to be stopped for {then:?}, and is {}",
                        ticket.state_name()
                    ));
                }
                return false;
            };
            if attempt.conversation.stopping.is_none() {
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

    /// Every wait has its order: a state that only an effect's report can end has that effect under way.
    fn waiting_states_have_their_effects(
        &self,
        changed: &BTreeSet<TicketId>,
        ledger: &Ledger<Memory>,
        world: &World,
    ) -> Checked {
        let rows = block_on(ledger.0.pending(Time(i64::MAX), u32::MAX)).unwrap_or_default();
        for ticket in changed
            .iter()
            .filter_map(|id| self.tickets.get(id))
            .filter(|t| t.held.is_none())
        {
            let stream = Stream::Ticket(ticket.id.clone());
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
                    attempt::State::Ready
                    | attempt::State::Working(_)
                    | attempt::State::WaitingForInput { .. }
                    | attempt::State::WaitingForWakeup { .. }
                    | attempt::State::WaitingForChildren { .. }
                    | attempt::State::Verifying
                    | attempt::State::Done => {
                        let is_not_begun = ticket.live_runs().any(|run| {
                            !world.processes.contains_key(run)
                                && waits(|e| matches!(e, Effect::Attempt(attempt::Effect::StartStep { .. })))
                        });
                        is_not_begun || self.waits_for_nobody(attempt, &pending, &world.files)
                    }
                },
                State::Verify(verify) => match &verify.stage {
                    Stage::Queued | Stage::InTrain(_) | Stage::Landing { waiting: Some(_), .. } => false,
                    Stage::Proposed(proposal) => {
                        proposal.is_looked_at() && waits(|e| matches!(e, Effect::LookAtProposal { .. }))
                    }
                    Stage::Reviewing(_) => ticket.live_runs().any(|run| {
                        !world.processes.contains_key(run)
                            && waits(|e| matches!(e, Effect::StartReview { .. }))
                    }),
                    Stage::Unified { is_saved } => !is_saved && waits(|e| matches!(e, Effect::Unify { .. })),
                    Stage::Building => waits(|e| matches!(e, Effect::BuildCandidate { .. })),
                    Stage::Checking(checks) => checks.run.as_ref().is_some_and(|check| {
                        // A check that was stopped before it began never begins, and its watcher reports
                        // that.
                        check.stopping.is_none()
                            && !world.checks.runs.contains_key(&check.run)
                            && waits(|e| matches!(e, Effect::StartCheck { .. }))
                    }),
                    // The tip of a batch has the order that lands all of it.
                    Stage::Landing { waiting: None, .. } => {
                        let tip = verify.train.lands_with.as_ref().unwrap_or(&ticket.id);
                        *tip == ticket.id && waits(|e| matches!(e, Effect::Land { .. }))
                    }
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
            if let Some(engine::Observation::Read { spec, .. }) =
                world.files.files.get(id).map(|_| world.files.look(id, world.now))
            {
                ensure(spec == ticket.spec, "no edit of a ticket is missed", || {
                    format!("the file of {id} has {spec:?}, the journal {:?}", ticket.spec)
                })?;
            }
            self.costs_add_up(ticket, world)?;
            let file = world.files.files.get(id).filter(|_| ticket.is_done());
            // A person may reopen a ticket that is done, and crew leaves it alone.
            let taken = |f: &File| f.status == FileStatus::InProgress && !f.by_crew;
            ensure(
                file.is_none_or(|f| f.status == FileStatus::Closed || taken(f)),
                "a done ticket's file is closed",
                || format!("{id} is {}, its file {file:?}", ticket.state_name()),
            )?;
        }
        Ok(())
    }
}

fn store_is_sound(ledger: &Ledger<Memory>) -> Checked {
    let problems = block_on(ledger.0.verify()).unwrap_or_else(|error| vec![error.to_string()]);
    ensure(problems.is_empty(), "the store agrees with itself", || {
        problems.join("; ")
    })
}
