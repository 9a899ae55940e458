//! The executor: every effect performed on the world, each an "ensure" like the real ones.

mod check;
mod children;
mod landing;
mod review;
mod start;
mod turns;

use engine::Report;
use model::attempt::{self, Class, Failure, StartPoint, Workspace};
use model::ticket::{Delegated, Effect, FileStatus, Spec};
use model::{AgentName, RunId, TicketId, Time};

use crate::Plant;
use crate::chance::{Chance, Site};
use crate::folders::branch;
use crate::options::Options;
use crate::process::{self, Act};
use crate::rng::Rng;
use crate::world::{Space, World};

/// The folder of the merged results that tickets wait for.
const PINS: &str = "refs/crew/candidate/";

fn kept(ticket: &TicketId, number: u32) -> String {
    format!("refs/crew/attempts/{ticket}/{number}")
}

/// The context in which an effect is performed.
pub(crate) struct Executor<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) options: &'a Options,
    pub(crate) chance: &'a mut Chance,
    /// The fault that is planted in the executor.
    pub(crate) plant: Option<Plant>,
    /// The numbers of this effect.
    pub(crate) rng: Rng,
    /// The workspace of another ticket in which this ticket's agent works.
    pub(crate) shared: Option<attempt::Shared>,
    /// The delegation that the ticket is of.
    pub(crate) delegated: Option<Delegated>,
    /// The engine dies in the middle: only the first part is done, and nothing is reported.
    pub(crate) half: bool,
}

impl Executor<'_> {
    /// Asks a step's process to stop, or keeps it from beginning where its run is made.
    pub(crate) fn stop_step(&mut self, run: &RunId) {
        let now = self.world.now;
        let grace = Time(now.0 + self.rng.ms(0, 6_000));
        match self.world.processes.get_mut(run) {
            None if self.world.made_runs.contains(run) => {
                self.world.stop_wishes.insert(run.clone());
            }
            None => {}
            Some(process) if (process.end.is_none() || process.frozen.is_some()) && !process.stopped => {
                process.stopped = true;
                process.acts.retain(|(at, _)| *at < grace);
                let end = match self.plant {
                    Some(Plant::OnlyAsked) => Act::End(process::killed()),
                    Some(_) | None => Act::Kill,
                };
                process.acts.push((grace, end));
            }
            Some(_) => {}
        }
    }

    /// Performs an effect, and gives its report.
    pub(crate) fn perform(&mut self, ticket: &TicketId, effect: &Effect) -> Report {
        self.world.touched = true;
        if !self.half {
            let full = self.world.full_until.is_some().then(|| self.rng.clone());
            if let Some(mut rng) = full.or_else(|| self.chance.strikes(Site::Sick)) {
                return fail(effect, self.world, &mut rng);
            }
        }
        if self.world.unborn_until.is_some() && needs_target(effect) {
            let why = "the target branch is not there".to_owned();
            return Report::CouldNotRun { why };
        }
        match effect {
            Effect::PrepareWorkspace { number, from, .. } if self.shared.is_some() => {
                self.prepare_shared(ticket, *number, from)
            }
            Effect::PrepareWorkspace {
                agent, number, from, ..
            } => self.prepare(ticket, agent, *number, from),
            Effect::Attempt(attempt::Effect::StartStep { .. }) => self.start(ticket, effect),
            Effect::Attempt(attempt::Effect::StopRun { run }) if run.is_check() => self.stop_check(run),
            Effect::Attempt(attempt::Effect::StopRun { run }) => {
                self.stop_step(run);
                Report::Stopped
            }
            Effect::Attempt(attempt::Effect::InspectWorkspace { agent }) => {
                let (key, _) = self.space_of(agent, ticket, 0);
                let workspace = match self.world.spaces.get(&key) {
                    None => Workspace::Missing,
                    Some(_) if self.world.has_work(&key) => Workspace::Changed,
                    Some(_) => Workspace::Clean,
                };
                Report::Inspected { workspace }
            }
            Effect::Attempt(attempt::Effect::CreateChild { child }) => self.create_child(child),
            Effect::Unify { agent, number, .. } => self.unify(ticket, agent, *number),
            Effect::BuildCandidate {
                agent,
                number,
                approved,
                before_conflict,
                conflicted_with,
                coupling,
                ..
            } => {
                let (before, with) = (before_conflict.as_ref(), conflicted_with.as_ref());
                self.build(
                    ticket,
                    agent,
                    *number,
                    (approved.as_ref(), coupling.as_ref(), before, with),
                )
            }
            Effect::StartCheck { .. } => self.start_check(ticket, effect),
            Effect::StartReview { .. } => self.start_review(ticket, effect),
            // No simulated settings land by pull requests.
            Effect::LookAtProposal { .. } => Report::Done,
            Effect::RemoveReview { run, .. } => {
                let made = run.as_ref().and_then(|run| self.world.reviewed.get(run).copied());
                if let (Some(made), Some(Plant::ImportedReview)) = (made, self.plant) {
                    self.world.git.refs.insert(kept(ticket, 0), made);
                }
                Report::Done
            }
            Effect::Land { candidate, batch, .. } => self.land(ticket, candidate, batch.as_ref()),
            Effect::KeepWork { agent, number } => match self.delegated.clone() {
                Some(delegated) if !delegated.is_apart => {
                    self.give_up_turn(ticket, &delegated.workspace, *number)
                }
                Some(_) | None => self.keep(ticket, agent, *number),
            },
            Effect::RemoveWorkspace { agent, number } => {
                let key = (agent.clone(), ticket.clone());
                if self.world.spaces.get(&key).is_some_and(|s| s.number == *number) {
                    self.world.rescue(&key);
                    self.world.spaces.remove(&key);
                }
                if !self.half && !self.world.spaces.contains_key(&key) {
                    self.world.git.refs.remove(&branch((agent, ticket)));
                }
                Report::Done
            }
            Effect::WriteFile(filing) => {
                let now = self.world.now;
                match self.world.files.write(ticket, filing, now) {
                    Ok(changed) => {
                        if changed {
                            let deliver_at = Time(now.0 + self.rng.ms(0, 400));
                            self.world.files.see(ticket, now, deliver_at);
                        }
                        Report::Done
                    }
                    Err(report) => *report,
                }
            }
            Effect::AddNote { text, .. } => {
                let now = self.world.now;
                let Some(file) = self.world.files.files.get_mut(ticket) else {
                    return Report::FileMissing;
                };
                if !file.notes.contains(text) {
                    file.notes.push(text.clone());
                    file.changed_at = now;
                    let deliver_at = Time(now.0 + self.rng.ms(0, 400));
                    self.world.files.see(ticket, now, deliver_at);
                }
                Report::Done
            }
            Effect::CreateTicket(new) => {
                if !self.world.files.files.contains_key(&new.id) {
                    let spec = Spec {
                        title: new.title.clone(),
                        priority: new.priority,
                        deps: new.deps.clone(),
                        tags: new.tags.clone(),
                        made_by: Some(new.made_by.to_string()),
                        created: self.world.now,
                        ..Spec::default()
                    };
                    crate::people::put(self.world, &new.id, spec, FileStatus::Open, &mut self.rng);
                }
                Report::Done
            }
        }
    }

    /// Ends the work that an earlier engine began for an effect that nobody waits for any more.
    pub(crate) fn end(&mut self, effect: &Effect) -> Report {
        self.world.touched = true;
        match effect {
            Effect::Land { candidate, batch, .. } => self.end_landing(candidate, batch.as_ref()),
            Effect::PrepareWorkspace { .. }
            | Effect::Attempt(_)
            | Effect::Unify { .. }
            | Effect::BuildCandidate { .. }
            | Effect::StartCheck { .. }
            | Effect::StartReview { .. }
            | Effect::RemoveReview { .. }
            | Effect::LookAtProposal { .. }
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. }
            | Effect::WriteFile(_)
            | Effect::AddNote { .. }
            | Effect::CreateTicket(_) => Report::Done,
        }
    }

    fn prepare(&mut self, ticket: &TicketId, agent: &AgentName, number: u32, from: &StartPoint) -> Report {
        let key = (agent.clone(), ticket.clone());
        let pin = format!("refs/crew/base/{ticket}/{number}");
        let is_begun = self.world.git.refs.contains_key(&pin) && self.world.spaces.contains_key(&key);
        let parents = match self.delegated.clone().filter(|it| it.is_apart && !is_begun) {
            None => None,
            Some(delegated) => match self.start_in_parent(&delegated) {
                Ok(start) => Some(start),
                Err(why) => return self.cannot_begin(why),
            },
        };
        let git = &mut self.world.git;
        let target = git.target();
        let earlier = match from {
            StartPoint::Target | StartPoint::Revert { .. } => None,
            StartPoint::Kept { number } => git.refs.get(&kept(ticket, *number)).copied(),
            // What was taken off the target does not come back with this work.
            StartPoint::Rewound { commit } => {
                git.find(commit).filter(|at| !self.world.taken_back.contains(at))
            }
        };
        let tip = earlier.unwrap_or(parents.map_or(target, |(_, tip)| tip));
        let base = parents.map_or_else(|| git.merge_base(tip, target), |(base, _)| base);
        let base = *git.refs.entry(pin).or_insert(base);
        let ready = Report::WorkspaceReady {
            base: git.id(base),
            earlier_work: tip != base,
        };
        if self.half {
            return ready;
        }
        match self.world.spaces.get(&key) {
            Some(space) if space.number == number => ready,
            Some(space) => {
                let why = format!("the workspace of attempt {} is still there", space.number);
                Report::WorkspaceFailed { why }
            }
            None => {
                let space = Space {
                    number,
                    head: tip,
                    dirty: crate::git::Tree::new(),
                    turns: Vec::new(),
                    refuses: None,
                };
                self.world.spaces.insert(key, space);
                ready
            }
        }
    }

    fn keep(&mut self, ticket: &TicketId, agent: &AgentName, number: u32) -> Report {
        let key = (agent.clone(), ticket.clone());
        let name = branch((agent, ticket));
        let mine = self
            .world
            .spaces
            .get(&key)
            .is_some_and(|space| space.number == number);
        let tip = if mine {
            self.tip_to_keep(&key)
        } else {
            self.world.git.refs.get(&name).copied()
        };
        let git = &mut self.world.git;
        if let Some(tip) = tip
            && git.merge_base(tip, git.target()) != tip
        {
            git.refs.insert(kept(ticket, number), tip);
        }
        if !self.half {
            if mine {
                self.world.spaces.remove(&key);
            }
            if !self.world.spaces.contains_key(&key) {
                self.world.git.refs.remove(&name);
            }
        }
        Report::Done
    }
}

impl Executor<'_> {
    /// What the next attempt begins with of a workspace that is about to go: what can be taken over, without
    /// what belongs to children that are not done. The rest is kept apart.
    fn tip_to_keep(&mut self, key: &crate::world::Key) -> Option<usize> {
        self.give_up_turns(key, &key.1);
        let tip = self.world.take_over(key);
        let tip = tip.ok().or_else(|| self.world.branch_of(key));
        self.world.rescue(key);
        tip
    }
}

/// The report of an effect on a disk that is full, or in a process that could not be made.
fn fail(effect: &Effect, world: &World, rng: &mut Rng) -> Report {
    let why = "no space left on device".to_owned();
    match effect {
        Effect::PrepareWorkspace { .. } if rng.percent(50) => {
            if rng.percent(30) {
                let output = why.clone();
                Report::SetUpFailed {
                    why,
                    output,
                    may_pass: true,
                    for_all: rng.percent(50),
                }
            } else {
                Report::WorkspaceFailed { why }
            }
        }
        Effect::Attempt(attempt::Effect::StartStep { run, .. })
            if rng.percent(60) && !world.processes.contains_key(run) =>
        {
            let failure = Failure::new(Class::Crash, "it could not be started");
            Report::StepNotSpawned { failure }
        }
        Effect::StartReview { run, .. } if rng.percent(60) && !world.processes.contains_key(run) => {
            let failure = Failure::new(Class::Crash, "it could not be started");
            Report::StepNotSpawned { failure }
        }
        Effect::BuildCandidate { .. } | Effect::Unify { .. } if rng.percent(30) => {
            Report::ImportRefused { why }
        }
        Effect::StartCheck { run, .. } if rng.percent(40) && !world.checks.runs.contains_key(run) => {
            Report::CheckNotSpawned { why }
        }
        Effect::PrepareWorkspace { .. }
        | Effect::Attempt(_)
        | Effect::Unify { .. }
        | Effect::BuildCandidate { .. }
        | Effect::StartCheck { .. }
        | Effect::StartReview { .. }
        | Effect::RemoveReview { .. }
        | Effect::LookAtProposal { .. }
        | Effect::Land { .. }
        | Effect::KeepWork { .. }
        | Effect::RemoveWorkspace { .. }
        | Effect::WriteFile(_)
        | Effect::AddNote { .. }
        | Effect::CreateTicket(_) => Report::CouldNotRun { why },
    }
}

/// True if an effect needs the target's branch to be there.
fn needs_target(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::PrepareWorkspace { .. }
            | Effect::BuildCandidate { .. }
            | Effect::StartCheck { .. }
            | Effect::Land { .. }
    )
}
