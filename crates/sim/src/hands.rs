//! The hands: every effect performed on the world, each an "ensure" like the real ones.

use engine::{Report, Verdict};
use model::attempt::{self, Class, Failure, From, Workspace};
use model::ticket::{Candidate, Effect, InTheWay, Obstacle};
use model::{AgentName, Oid, TicketId, Time};

use crate::git::{By, TARGET, green, tree_id};
use crate::options::Options;
use crate::process::{self, Act, Process};
use crate::rng::Rng;
use crate::world::{Space, World};

/// The commands that the simulated checks are.
const CHECK: &str = "make check";

fn branch(agent: &AgentName, ticket: &TicketId) -> String {
    format!("refs/heads/agent/{agent}-{ticket}")
}

fn kept(ticket: &TicketId, number: u32) -> String {
    format!("refs/crew/attempts/{ticket}/{number}")
}

/// What an effect is performed with.
pub(crate) struct Hands<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) options: &'a Options,
    pub(crate) rng: &'a mut Rng,
    /// The engine dies in the middle: only the first part is done, and nothing is reported.
    pub(crate) half: bool,
}

impl Hands<'_> {
    /// Performs an effect, and gives what is reported of it.
    pub(crate) fn perform(&mut self, ticket: &TicketId, effect: &Effect) -> Report {
        self.world.touched = true;
        let sick = !self.world.calm && !self.half && self.rng.percent(self.options.sick);
        if sick {
            return self.fail(effect);
        }
        match effect {
            Effect::PrepareWorkspace {
                agent, number, from, ..
            } => self.prepare(ticket, agent, *number, from),
            Effect::Attempt(attempt::Effect::StartStep { .. }) => self.start(ticket, effect),
            Effect::Attempt(attempt::Effect::StopRun { run }) => {
                let now = self.world.now;
                let grace = Time(now.0 + self.rng.ms(0, 6_000));
                match self.world.processes.get_mut(run) {
                    None => {
                        self.world.stop_wishes.insert(run.clone());
                    }
                    Some(process) if process.end.is_none() && !process.stopped => {
                        process.stopped = true;
                        process.acts.retain(|(at, _)| *at < grace);
                        process.acts.push((grace, Act::End(process::killed())));
                    }
                    Some(_) => {}
                }
                Report::Stopped
            }
            Effect::Attempt(attempt::Effect::InspectWorkspace { agent }) => {
                let key = (agent.clone(), ticket.clone());
                let workspace = match self.world.spaces.get(&key) {
                    None => Workspace::Missing,
                    Some(_) if self.world.has_work(&key) => Workspace::Changed,
                    Some(_) => Workspace::Clean,
                };
                Report::Inspected { workspace }
            }
            Effect::BuildCandidate {
                agent,
                number,
                approved,
                ..
            } => self.build(ticket, agent, *number, approved.as_ref()),
            Effect::RunChecks { candidate } => self.check(candidate),
            Effect::Land { candidate, .. } => self.land(candidate),
            Effect::KeepWork { agent, number } => self.keep(ticket, agent, *number),
            Effect::RemoveWorkspace { agent, number } => {
                let key = (agent.clone(), ticket.clone());
                if self.world.spaces.get(&key).is_some_and(|s| s.number == *number) {
                    self.world.spaces.remove(&key);
                }
                if !self.half && !self.world.spaces.contains_key(&key) {
                    self.world.git.refs.remove(&branch(agent, ticket));
                }
                Report::Done
            }
            Effect::WriteFile(filing) => {
                let now = self.world.now;
                match self.world.files.write(ticket, filing, now) {
                    Ok(changed) => {
                        if changed {
                            let tell_at = Time(now.0 + self.rng.ms(0, 400));
                            self.world.files.see(ticket, now, tell_at);
                        }
                        Report::Done
                    }
                    Err(why) => Report::CouldNotRun { why },
                }
            }
            Effect::AddNote { text } => {
                let now = self.world.now;
                if let Some(file) = self.world.files.files.get_mut(ticket)
                    && !file.notes.contains(text)
                {
                    file.notes.push(text.clone());
                    file.changed_at = now;
                    let tell_at = Time(now.0 + self.rng.ms(0, 400));
                    self.world.files.see(ticket, now, tell_at);
                }
                Report::Done
            }
        }
    }

    fn fail(&mut self, effect: &Effect) -> Report {
        let why = "no space left on device".to_owned();
        match effect {
            Effect::PrepareWorkspace { .. } if self.rng.percent(50) => Report::WorkspaceFailed { why },
            Effect::Attempt(attempt::Effect::StartStep { run, .. })
                if self.rng.percent(60) && !self.world.processes.contains_key(run) =>
            {
                let failure = Failure::new(Class::Crash, "it could not be started");
                Report::StepNotSpawned { failure }
            }
            Effect::BuildCandidate { .. } if self.rng.percent(30) => Report::ImportRefused { why },
            Effect::RunChecks { .. } => Report::Checked(Verdict::CouldNotRun { why }),
            Effect::PrepareWorkspace { .. }
            | Effect::Attempt(_)
            | Effect::BuildCandidate { .. }
            | Effect::Land { .. }
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. }
            | Effect::WriteFile(_)
            | Effect::AddNote { .. } => Report::CouldNotRun { why },
        }
    }

    fn prepare(&mut self, ticket: &TicketId, agent: &AgentName, number: u32, from: &From) -> Report {
        let git = &mut self.world.git;
        let target = git.target();
        let earlier = match from {
            From::Target => None,
            From::Kept { number } => git.refs.get(&kept(ticket, *number)).copied(),
        };
        let tip = earlier.unwrap_or(target);
        let base = git.merge_base(tip, target);
        let pin = format!("refs/crew/base/{ticket}/{number}");
        let base = *git.refs.entry(pin).or_insert(base);
        let ready = Report::WorkspaceReady {
            base: git.id(base),
            earlier_work: tip != base,
        };
        if self.half {
            return ready;
        }
        let key = (agent.clone(), ticket.clone());
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
                };
                self.world.spaces.insert(key, space);
                ready
            }
        }
    }

    fn start(&mut self, ticket: &TicketId, effect: &Effect) -> Report {
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
        let key = (agent.clone(), ticket.clone());
        if self
            .world
            .spaces
            .get(&key)
            .is_none_or(|space| space.number != *number)
        {
            return Report::WorkspaceMissing;
        }
        let wish = self.world.stop_wishes.contains(run);
        if wish && self.rng.percent(50) {
            let failure = Failure::new(Class::KilledByUs, "stopped before it began");
            return Report::StepNotSpawned { failure };
        }
        let (mut acts, talks) = self.world.plan(&key, prompt, self.options, self.rng);
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
            agent: agent.clone(),
            number: *number,
            session: session.clone(),
            began: now,
            acts,
            end: wish.then(process::killed),
            talks,
            cost: if self.rng.percent(20) {
                0
            } else {
                self.rng.below(400)
            },
            stopped: wish,
            given_up: None,
        };
        self.world.processes.insert(run.clone(), process);
        Report::StepSpawned
    }

    fn build(&mut self, ticket: &TicketId, agent: &AgentName, number: u32, approved: Option<&Oid>) -> Report {
        let key = (agent.clone(), ticket.clone());
        let mine = self
            .world
            .spaces
            .get(&key)
            .is_some_and(|space| space.number == number);
        let saved = if mine { self.world.save(&key) } else { None };
        let git = &mut self.world.git;
        let name = branch(agent, ticket);
        let Some(tip) = saved.or_else(|| git.refs.get(&name).copied()) else {
            return Report::NoCommits;
        };
        git.refs.insert(name, tip);
        let target = git.target();
        let base = git.merge_base(tip, target);
        let changed = git.changed(base, tip);
        if changed.is_empty() {
            return Report::NoCommits;
        }
        let tree = match git.merge(target, tip) {
            Ok(tree) => tree,
            Err((paths, _)) => {
                return Report::Conflicted {
                    paths,
                    tip: git.id(tip),
                    target: git.id(target),
                };
            }
        };
        let sensitive: Vec<String> = changed
            .into_iter()
            .filter(|p| self.options.settings.holds(p))
            .collect();
        if !sensitive.is_empty() && approved != Some(&git.id(tip)) {
            return Report::SensitivePaths {
                paths: sensitive,
                tip: git.id(tip),
            };
        }
        let commit = git.commit(tree, vec![target, tip], By::Crew(ticket.clone(), number));
        git.refs.insert(format!("refs/crew/candidate/{ticket}"), commit);
        let candidate = Candidate {
            commit: git.id(commit),
            tree: tree_id(git.tree(commit)),
            target: git.id(target),
            tip: git.id(tip),
            passed: Vec::new(),
        };
        Report::Built { candidate }
    }

    fn check(&mut self, candidate: &Candidate) -> Report {
        let git = &self.world.git;
        let (Some(commit), Some(target)) = (git.find(&candidate.commit), git.find(&candidate.target)) else {
            return Report::Checked(Verdict::CouldNotRun {
                why: "the candidate is gone".to_owned(),
            });
        };
        let verdict = if green(git.tree(commit)) {
            self.world.passed.insert(commit);
            Verdict::Passed {
                commands: vec![CHECK.to_owned()],
            }
        } else if green(git.tree(target)) {
            Verdict::Failed {
                which: CHECK.to_owned(),
                output: "1 failed".to_owned(),
            }
        } else {
            Verdict::TargetRed {
                which: CHECK.to_owned(),
            }
        };
        Report::Checked(verdict)
    }

    fn land(&mut self, candidate: &Candidate) -> Report {
        let World {
            git, edits, checkout, ..
        } = &mut *self.world;
        let Some(commit) = git.find(&candidate.commit) else {
            return Report::CouldNotRun {
                why: "the candidate is gone".to_owned(),
            };
        };
        let landed = git.chain().contains(&commit);
        let old = git.commits[commit].parents[0];
        let changed = git.changed(old, commit);
        if !landed {
            if git.id(git.target()) != candidate.target {
                return Report::TargetMoved;
            }
            let edited = changed.iter().filter(|path| edits.contains_key(*path));
            let paths: Vec<InTheWay> = edited
                .map(|path| InTheWay {
                    path: path.clone(),
                    what: Some(Obstacle::Edited),
                })
                .collect();
            if !paths.is_empty() {
                return Report::CheckoutEdited { paths };
            }
            git.refs.insert(TARGET.to_owned(), commit);
        }
        if !self.half {
            for path in changed {
                if !edits.contains_key(&path)
                    && let Some(content) = git.tree(git.target()).get(&path)
                {
                    checkout.insert(path, *content);
                }
            }
        }
        Report::Landed {
            commit: candidate.commit.clone(),
        }
    }

    fn keep(&mut self, ticket: &TicketId, agent: &AgentName, number: u32) -> Report {
        let key = (agent.clone(), ticket.clone());
        let name = branch(agent, ticket);
        let mine = self
            .world
            .spaces
            .get(&key)
            .is_some_and(|space| space.number == number);
        let tip = if mine {
            self.world.save(&key)
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
