//! The work of the executor from a submitted branch to the target: a candidate is built and landed.

use std::collections::BTreeSet;

use engine::Report;
use model::ticket::{Batch, BatchEntry, Candidate, Coupling, InTheWay, Obstacle};
use model::{AgentName, Oid, TicketId};

use super::{Executor, PINS};
use crate::Plant;
use crate::folders::{NotTaken, branch};
use crate::git::{By, Git, TARGET, tree_id};
use crate::world::World;

impl Executor<'_> {
    pub(super) fn build(
        &mut self,
        ticket: &TicketId,
        agent: &AgentName,
        number: u32,
        (approved, coupling, before, conflicted_with): (
            Option<&Oid>,
            Option<&Coupling>,
            Option<&Oid>,
            Option<&Oid>,
        ),
    ) -> Report {
        let key = (agent.clone(), ticket.clone());
        let mine = self
            .world
            .spaces
            .get(&key)
            .is_some_and(|space| space.number == number);
        let saved = match mine.then(|| self.world.take_submitted(&key)) {
            Some(Ok(tip)) => Some(tip),
            Some(Err(NotTaken::Refused(refuses))) => {
                let why = refuses.words().to_owned();
                return Report::ImportRefused { why };
            }
            Some(Err(NotTaken::Gone)) | None => None,
        };
        let git = &mut self.world.git;
        let name = branch((agent, ticket));
        let Some(tip) = saved.or_else(|| git.refs.get(&name).copied()) else {
            return Report::NoCommits;
        };
        git.refs.insert(name, tip);
        let on = coupling.map(|coupling| git.find(&coupling.on));
        let Some(target) = on.unwrap_or_else(|| Some(git.target())) else {
            return Report::CouldNotRun {
                why: "the entry ahead is gone".to_owned(),
            };
        };
        let base = git.merge_base(tip, target);
        let changed = git.changed(base, tip);
        if changed.is_empty() {
            return match coupling {
                Some(_) => Report::ConflictsAhead { paths: Vec::new() },
                None => Report::NoCommits,
            };
        }
        if coupling.is_some() && self.plant == Some(Plant::FalseConflict) {
            let paths = changed.into_iter().collect();
            return Report::ConflictsAhead { paths };
        }
        let tree = match git.merge(target, tip) {
            Ok(tree) => tree,
            Err((paths, _)) if coupling.is_some() => return Report::ConflictsAhead { paths },
            Err((mut paths, _)) => {
                if self.plant == Some(Plant::AllResolve) {
                    paths.iter_mut().for_each(|path| path.push_str(ticket.as_str()));
                }
                return Report::Conflicted {
                    paths,
                    tip: git.id(tip),
                    target: git.id(target),
                    resolved: conflicted_with
                        .and_then(|commit| git.find(commit))
                        .is_some_and(|commit| git.contains(tip, commit)),
                };
            }
        };
        let sensitive: Vec<String> = changed
            .into_iter()
            .filter(|p| self.options.settings.holds(p))
            .collect();
        if !sensitive.is_empty() && approved != Some(&git.id(tip)) {
            return Report::Sensitive {
                paths: sensitive,
                secrets: Vec::new(),
                tip: git.id(tip),
            };
        }
        let commit = git.commit(tree, vec![target, tip], By::Crew(ticket.clone(), number));
        if self.plant != Some(Plant::Unpinned) {
            git.refs.insert(format!("{PINS}{ticket}"), commit);
        }
        let before = before
            .filter(|_| coupling.is_none())
            .and_then(|before| git.find(before));
        let resolves = before.and_then(|before| match self.plant {
            Some(Plant::WideResolution) => git.contains(tip, before).then(BTreeSet::new),
            Some(_) | None => git.only_resolves(before, tip, target),
        });
        let tip = match self.plant {
            Some(Plant::KeptApproval) => *self.world.first_tips.entry(ticket.clone()).or_insert(tip),
            Some(_) | None => tip,
        };
        let candidate = Candidate {
            commit: git.id(commit),
            tree: tree_id(git.tree(commit)),
            target: git.id(target),
            tip: git.id(tip),
            passed: Vec::new(),
            review: None,
            brings_nothing: git.tree(commit) == git.tree(target),
        };
        Report::Built {
            candidate,
            untouched: Vec::new(),
            leftovers: model::ticket::Leftovers::default(),
            absent: Box::default(),
            resolves: resolves.map(|paths| paths.into_iter().collect()),
            ahead: Box::default(),
        }
    }

    pub(super) fn land(&mut self, ticket: &TicketId, candidate: &Candidate, batch: Option<&Batch>) -> Report {
        let World {
            git,
            edits,
            moved_to,
            taken_back,
            ..
        } = &mut *self.world;
        let Some(commit) = git.find(&candidate.commit) else {
            return Report::CouldNotRun {
                why: "the candidate is gone".to_owned(),
            };
        };
        let landed = git.chain().contains(&commit);
        let old = base(git, commit, batch);
        let changed = git.changed(old, commit);
        if !landed {
            if git.target() != old {
                return Report::TargetMoved;
            }
            let edited = changed.iter().filter(|path| edits.contains_key(*path));
            let paths: Vec<InTheWay> = edited
                .map(|path| InTheWay {
                    path: path.clone(),
                    what: Obstacle::Edited,
                })
                .collect();
            if !paths.is_empty() && self.plant != Some(Plant::Overwritten) {
                let Some(batch) = batch.filter(|batch| batch.entries.len() > 1) else {
                    return Report::CheckoutEdited { paths };
                };
                let is_edited = |entry: &&BatchEntry| {
                    let commit = git.find(&entry.commit).unwrap_or(commit);
                    let own = git.changed(git.commits[commit].parents[0], commit);
                    own.iter().any(|path| edits.contains_key(path))
                };
                let entry = batch.entries.iter().find(is_edited).unwrap_or(&batch.entries[0]);
                return Report::BatchInTheWay {
                    entry: entry.ticket.clone(),
                    paths,
                };
            }
            if self.plant == Some(Plant::HollowLanding) {
                let commit = candidate.commit.clone();
                return Report::Landed { commit };
            }
            git.refs.insert(TARGET.to_owned(), commit);
            moved_to.insert(commit);
            // A commit that was taken back and is landed again is there again.
            let there = git.chain();
            taken_back.retain(|at| !there.contains(at));
        }
        if !self.half {
            self.follow(changed);
            let entries = batch.into_iter().flat_map(|batch| &batch.entries);
            let landed = entries.map(|entry| &entry.ticket).chain([ticket]);
            for ticket in landed {
                self.world.git.refs.remove(&format!("{PINS}{ticket}"));
            }
        }
        Report::Landed {
            commit: candidate.commit.clone(),
        }
    }

    /// A landing that nobody waits for any more: where the target was moved, the checkout follows.
    pub(super) fn end_landing(&mut self, candidate: &Candidate, batch: Option<&Batch>) -> Report {
        let git = &self.world.git;
        let landed = git
            .find(&candidate.commit)
            .filter(|commit| git.chain().contains(commit));
        let Some(commit) = landed else {
            return Report::NotLanded;
        };
        let changed = git.changed(base(git, commit, batch), commit);
        self.follow(changed);
        Report::Landed {
            commit: candidate.commit.clone(),
        }
    }

    /// The files of the checkout become those of the target.
    fn follow(&mut self, changed: BTreeSet<String>) {
        let World {
            git, edits, checkout, ..
        } = &mut *self.world;
        for path in changed {
            if (!edits.contains_key(&path) || self.plant == Some(Plant::Overwritten))
                && let Some(content) = git.tree(git.target()).get(&path)
            {
                checkout.insert(path, *content);
            }
        }
    }
}

/// The commit from which a landing moves the target.
fn base(git: &Git, commit: usize, batch: Option<&Batch>) -> usize {
    let base = batch.and_then(|batch| git.find(&batch.base));
    base.unwrap_or(git.commits[commit].parents[0])
}
