//! Children: their files, and their work in the workspace of their parent.

use engine::Report;
use model::attempt::{Child, Shared, StartPoint};
use model::ticket::{Delegated, FileStatus, Spec};
use model::{AgentName, TicketId, Time};

use super::Executor;
use crate::Plant;
use crate::files::File;
use crate::git::By;
use crate::world::{Key, Turn, World};

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
        let space = self.world.spaces.get(&key);
        match (space, self.world.git.refs.get(&pin).copied()) {
            (Some(space), Some(base)) if space.number == shared.number => Report::WorkspaceReady {
                base: self.world.git.id(base),
                earlier_work: self.begin_turn(ticket, number, &key, from),
            },
            (_, _) => Report::WorkspaceFailed {
                why: "the workspace of its parent is gone".to_owned(),
            },
        }
    }

    /// Begins the turn of a child in a workspace that it shares. Whether it goes on with what is kept of an
    /// earlier one.
    fn begin_turn(&mut self, ticket: &TicketId, number: u32, key: &Key, from: &StartPoint) -> bool {
        let is_begun = |turn: &Turn| turn.ticket == *ticket && turn.number == number;
        if let Some(delegated) = self.delegated.clone()
            && !self.turns_in(key).last().is_some_and(is_begun)
        {
            self.end_turns(key, &delegated.by);
        }
        if !self.turns_in(key).last().is_some_and(is_begun) {
            let Some(start) = self.world.save(key) else {
                return false;
            };
            let turn = Turn {
                ticket: ticket.clone(),
                number,
                start,
            };
            if let Some(space) = self.world.spaces.get_mut(key) {
                space.turns.push(turn);
            }
        }
        if self.half {
            return false;
        }
        let git = &self.world.git;
        let earlier = match from {
            StartPoint::Kept { number } => git.refs.get(&super::kept(ticket, *number)).copied(),
            StartPoint::Target | StartPoint::Revert { .. } | StartPoint::Rewound { .. } => None,
        };
        let Some(space) = self.world.spaces.get_mut(key) else {
            return false;
        };
        let goes_on = earlier.filter(|earlier| *earlier != space.head && git.contains(*earlier, space.head));
        space.head = goes_on.unwrap_or(space.head);
        goes_on.is_some()
    }

    fn turns_in(&self, key: &Key) -> &[Turn] {
        self.world.spaces.get(key).map_or(&[], |space| &space.turns)
    }

    /// Ends the turns inside of that of `holder`; all of them for the ticket whose workspace it is.
    pub(super) fn end_turns(&mut self, key: &Key, holder: &TicketId) {
        let is_holders = |turn: &Turn| turn.ticket == *holder;
        if key.1 != *holder && !self.turns_in(key).iter().any(is_holders) {
            return;
        }
        while let Some(turn) = self
            .turns_in(key)
            .last()
            .cloned()
            .filter(|turn| !is_holders(turn))
        {
            if !self.put_back(key, &turn) {
                return;
            }
        }
    }

    /// Keeps what a child did in its turn, and takes it out of the workspace. False if the engine dies in
    /// between.
    fn put_back(&mut self, key: &Key, turn: &Turn) -> bool {
        let Some(tip) = self.world.save(key) else {
            return false;
        };
        if tip != turn.start {
            let kept = super::kept(&turn.ticket, turn.number);
            self.world.git.refs.insert(kept, tip);
        }
        if self.half {
            return false;
        }
        if let Some(space) = self.world.spaces.get_mut(key) {
            if self.plant != Some(Plant::LeftIn) {
                space.head = turn.start;
            }
            space.turns.pop();
            self.world.put_back += u32::from(tip != turn.start);
        }
        true
    }

    /// Ends the turn of a child that ends without its work counting.
    pub(super) fn end_turn(&mut self, ticket: &TicketId, workspace: &Shared, number: u32) -> Report {
        let key = key_of(workspace);
        let is_mine = |turn: &Turn| turn.ticket == *ticket && turn.number == number;
        let is_there = self
            .world
            .spaces
            .get(&key)
            .is_some_and(|space| space.number == workspace.number);
        if is_there && self.turns_in(&key).iter().any(is_mine) {
            self.end_turns(&key, ticket);
            if let Some(turn) = self.turns_in(&key).last().cloned().filter(is_mine) {
                self.put_back(&key, &turn);
            }
        }
        Report::Done
    }

    /// Where the work of a child begins that has a workspace of its own: the commit of the target that its
    /// parent's work is compared with, and its parent's tip.
    pub(super) fn start_in_parent(&mut self, delegated: &Delegated) -> Option<(usize, usize)> {
        let shared = &delegated.workspace;
        let key = key_of(shared);
        let pin = format!("refs/crew/base/{}/{}", shared.of, shared.number);
        let base = self.world.git.refs.get(&pin).copied()?;
        self.world
            .spaces
            .get(&key)
            .filter(|space| space.number == shared.number)?;
        self.end_turns(&key, &delegated.by);
        Some((base, self.world.save(&key)?))
    }

    pub(super) fn unify(&mut self, ticket: &TicketId, agent: &AgentName, number: u32) -> Report {
        if let Some(delegated) = self.delegated.clone().filter(|it| it.is_apart) {
            let own = (agent.clone(), ticket.clone());
            return self.merge_into_parent(&own, number, &delegated);
        }
        let Some(key) = self.shared.as_ref().map(key_of) else {
            return as_unified();
        };
        self.end_turns(&key, ticket);
        let Some(tip) = self.world.save(&key).filter(|_| !self.half) else {
            return as_unified();
        };
        let is_mine = |turn: &Turn| turn.ticket == *ticket && turn.number == number;
        if let Some(space) = self.world.spaces.get_mut(&key) {
            let _ended = space.turns.pop_if(|turn| is_mine(turn));
            self.world.unified.insert(ticket.clone(), tip);
        }
        as_unified()
    }

    /// Merges the work of a child with a workspace of its own into that of its parent.
    fn merge_into_parent(&mut self, own: &Key, number: u32, delegated: &Delegated) -> Report {
        let refused = |why: &str| Report::NotUnified { why: why.to_owned() };
        let shared = &delegated.workspace;
        let key = key_of(shared);
        let is_there = |world: &World, key: &Key, number: u32| {
            world.spaces.get(key).is_some_and(|space| space.number == number)
        };
        if !is_there(self.world, &key, shared.number) || !is_there(self.world, own, number) {
            return refused("its workspace is gone");
        }
        let Some(tip) = self.world.save(own) else {
            return refused("its workspace is gone");
        };
        self.end_turns(&key, &delegated.by);
        let Some(onto) = self.world.save(&key).filter(|_| !self.half) else {
            return as_unified();
        };
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
                return refused(&format!("its work is in conflict in {}", paths.join(", ")));
            }
        };
        if let Some(space) = self.world.spaces.get_mut(&key)
            && self.plant != Some(Plant::LeftOut)
        {
            space.head = merged;
        }
        self.world.unified.insert(own.1.clone(), tip);
        as_unified()
    }
}

/// What the work did to the branch is for people and prompts, and decides nothing.
fn as_unified() -> Report {
    Report::Unified {
        work: None,
        absent: std::collections::BTreeSet::new(),
    }
}

fn key_of(shared: &Shared) -> Key {
    (shared.agent.clone(), shared.of.clone())
}
