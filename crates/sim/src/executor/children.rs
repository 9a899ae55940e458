//! Children: their files, and their work in the workspace of their parent.

use engine::Report;
use model::attempt::{Child, Shared, StartPoint};
use model::ticket::{Delegated, FileStatus, Spec};
use model::{AgentName, TicketId, Time};

use super::Executor;
use crate::Plant;
use crate::files::File;
use crate::folders::{NotTaken, branch};
use crate::git::By;
use crate::world::Key;

impl Executor<'_> {
    /// The workspace in which the agent of a ticket works, and the attempt that it was made for.
    pub(super) fn space_of(&self, agent: &AgentName, ticket: &TicketId, number: u32) -> (Key, u32) {
        match &self.shared {
            Some(shared) => (key_of(shared), shared.number),
            None => ((agent.clone(), ticket.clone()), number),
        }
    }

    pub(super) fn create_child(&mut self, child: &Child) -> Report {
        let now = self.world.now;
        if !self.world.files.has(&child.id) {
            let leader = child.is_leader.then(|| "leader".to_owned());
            let spec = Spec {
                title: child.title.clone(),
                tags: leader.into_iter().collect(),
                kind: "task".to_owned(),
                assignee: child.agent.as_ref().map(ToString::to_string),
                made_by: Some(child.by.to_string()),
                created: child.at,
                digest: "1".to_owned(),
                ..Spec::default()
            };
            let file = File {
                spec,
                status: FileStatus::Open,
                tags: std::collections::BTreeSet::new(),
                notes: Vec::new(),
                changed_at: now,
                unreadable: false,
                by_crew: true,
            };
            self.world.files.files.insert(child.id.clone(), file);
        }
        let deliver_at = Time(now.0 + self.rng.ms(0, 400));
        self.world.files.see(&child.id, now, deliver_at);
        Report::Done
    }

    pub(super) fn prepare_shared(&mut self, ticket: &TicketId, number: u32, from: &StartPoint) -> Report {
        let Some(shared) = self.shared.clone() else {
            return Report::Done;
        };
        let key = key_of(&shared);
        let pin = format!("refs/crew/base/{}/{}", shared.of, shared.number);
        let base = self.world.git.refs.get(&pin).copied();
        let Some(base) = base.filter(|_| self.is_there(&key, shared.number)) else {
            return self.cannot_begin(NotTaken::Gone);
        };
        match self.begin_turn(ticket, number, &key, from) {
            Ok(earlier_work) => Report::WorkspaceReady {
                base: self.world.git.id(base),
                earlier_work,
            },
            Err(why) => self.cannot_begin(why),
        }
    }

    /// Where the work of a child begins that has a workspace of its own: the commit of the target that its
    /// parent's work is compared with, and its parent's tip.
    pub(super) fn start_in_parent(&mut self, delegated: &Delegated) -> Result<(usize, usize), NotTaken> {
        let shared = &delegated.workspace;
        let key = key_of(shared);
        let pin = format!("refs/crew/base/{}/{}", shared.of, shared.number);
        let base = self.world.git.refs.get(&pin).copied();
        let Some(base) = base.filter(|_| self.is_there(&key, shared.number)) else {
            return Err(NotTaken::Gone);
        };
        self.give_up_turns(&key, &delegated.by);
        let tip = self.world.take_submitted(&key);
        tip.map(|tip| (base, tip))
    }

    /// The report of a child that cannot begin in its parent's workspace.
    pub(super) fn cannot_begin(&self, why: NotTaken) -> Report {
        match self.plant {
            Some(Plant::Stranded) => Report::CouldNotRun {
                why: why.words().to_owned(),
            },
            Some(_) | None => not_unified(why.words()),
        }
    }

    fn is_there(&self, key: &Key, number: u32) -> bool {
        let space = self.world.spaces.get(key);
        space.is_some_and(|space| space.number == number)
    }

    pub(super) fn unify(&mut self, ticket: &TicketId, agent: &AgentName, number: u32) -> Report {
        if let Some(delegated) = self.delegated.clone().filter(|it| it.is_apart) {
            let own = (agent.clone(), ticket.clone());
            return self.merge_into_parent(&own, number, &delegated);
        }
        let Some(shared) = self.shared.clone() else {
            return as_unified();
        };
        let key = key_of(&shared);
        if !self.is_there(&key, shared.number) {
            return not_unified(NotTaken::Gone.words());
        }
        self.give_up_turns(&key, ticket);
        let tip = match self.world.take_submitted(&key) {
            Ok(tip) => tip,
            Err(why) => return self.not_taken(ticket, why),
        };
        if self.half {
            return as_unified();
        }
        self.count_turn(&key, (ticket, number));
        self.world.note_unified(ticket, tip);
        as_unified()
    }

    /// The report of submitted work that is not taken over.
    fn not_taken(&mut self, ticket: &TicketId, why: NotTaken) -> Report {
        match why {
            NotTaken::Gone => not_unified(why.words()),
            NotTaken::Refused(_) => {
                self.world.note_refused(ticket);
                match self.plant {
                    Some(Plant::RefusedUnified) => as_unified(),
                    Some(_) | None => Report::ImportRefused {
                        why: why.words().to_owned(),
                    },
                }
            }
        }
    }

    /// Merges the work of a child with a workspace of its own into that of its parent, or into the branch
    /// where that workspace is gone.
    fn merge_into_parent(&mut self, own: &Key, number: u32, delegated: &Delegated) -> Report {
        let shared = &delegated.workspace;
        let key = key_of(shared);
        let taken = match self.is_there(own, number) {
            true => self.world.take_submitted(own),
            false => self.world.branch_of(own).ok_or(NotTaken::Gone),
        };
        let tip = match taken {
            Ok(tip) => tip,
            Err(why) => return self.not_taken(&own.1, why),
        };
        let is_there = self.is_there(&key, shared.number);
        if is_there {
            self.give_up_turns(&key, &delegated.by);
        }
        let onto = match is_there {
            true => self.world.take_over(&key),
            false => self.world.branch_of(&key).ok_or(NotTaken::Gone),
        };
        let onto = match onto {
            Ok(onto) => onto,
            Err(why) => return not_unified(why.words()),
        };
        if self.half {
            return as_unified();
        }
        let git = &mut self.world.git;
        let by = || By::Crew(own.1.clone(), number);
        let merged = match git.merge(onto, tip) {
            Ok(_) if git.contains(onto, tip) => onto,
            Ok(tree) => {
                self.world.merged += 1;
                let merged = git.commit(tree.clone(), vec![onto, tip], by());
                match self.plant {
                    Some(Plant::MergedAgain) => git.commit(tree, vec![merged, tip], by()),
                    Some(_) | None => merged,
                }
            }
            Err((paths, _)) => {
                self.world.conflicted += 1;
                return not_unified(&format!("its work is in conflict in {}", paths.join(", ")));
            }
        };
        if self.plant != Some(Plant::LeftOut) {
            if let Some(space) = self.world.spaces.get_mut(&key).filter(|_| is_there) {
                space.head = merged;
            }
            self.world.git.refs.insert(branch((&key.0, &key.1)), merged);
        }
        self.world.note_unified(&own.1, tip);
        as_unified()
    }
}

/// What the work did to the branch is for people and prompts, and decides nothing.
fn as_unified() -> Report {
    Report::Unified {
        work: None,
        unmerged: None,
        absent: std::collections::BTreeSet::new(),
    }
}

/// A child cannot begin, or its work cannot come into its parent's: that is its parent's to mend.
fn not_unified(why: &str) -> Report {
    Report::NotUnified { why: why.to_owned() }
}

pub(super) fn key_of(shared: &Shared) -> Key {
    (shared.agent.clone(), shared.of.clone())
}
