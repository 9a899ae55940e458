//! The work of the executor from a submitted branch to the target: a candidate is built and landed.

use std::collections::BTreeSet;

use engine::Report;
use model::ticket::{Candidate, InTheWay, Obstacle};
use model::{AgentName, Oid, TicketId};

use super::{Executor, branch};
use crate::Plant;
use crate::git::{By, TARGET, tree_id};
use crate::world::World;

impl Executor<'_> {
    pub(super) fn build(
        &mut self,
        ticket: &TicketId,
        agent: &AgentName,
        number: u32,
        approved: Option<&Oid>,
    ) -> Report {
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
        Report::Built {
            candidate,
            untouched: Vec::new(),
        }
    }

    pub(super) fn land(&mut self, candidate: &Candidate) -> Report {
        let World {
            git,
            edits,
            taken_back,
            ..
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
                    what: Obstacle::Edited,
                })
                .collect();
            if !paths.is_empty() && self.plant != Some(Plant::Overwritten) {
                return Report::CheckoutEdited { paths };
            }
            if self.plant == Some(Plant::HollowLanding) {
                let commit = candidate.commit.clone();
                return Report::Landed { commit };
            }
            git.refs.insert(TARGET.to_owned(), commit);
            // A commit that was taken back and is landed again is there again.
            let there = git.chain();
            taken_back.retain(|at| !there.contains(at));
        }
        if !self.half {
            self.follow(changed);
        }
        Report::Landed {
            commit: candidate.commit.clone(),
        }
    }

    /// A landing that nobody waits for any more: where the target was moved, the checkout follows.
    pub(super) fn end_landing(&mut self, candidate: &Candidate) -> Report {
        let git = &self.world.git;
        let landed = git
            .find(&candidate.commit)
            .filter(|commit| git.chain().contains(commit));
        let Some(commit) = landed else {
            return Report::NotLanded;
        };
        let changed = git.changed(git.commits[commit].parents[0], commit);
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
