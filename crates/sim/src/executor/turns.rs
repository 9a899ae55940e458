//! The turns of children in the workspace of their parent.

use engine::Report;
use model::TicketId;
use model::attempt::{Shared, StartPoint};

use super::Executor;
use super::children::key_of;
use crate::Plant;
use crate::folders::{NotTaken, Refuses, branch};
use crate::world::{Key, Turn};

impl Executor<'_> {
    /// Begins the turn of a child in a workspace that it shares. Whether it goes on with what is kept of an
    /// earlier one. It begins with a folder that can be saved.
    pub(super) fn begin_turn(
        &mut self,
        ticket: &TicketId,
        number: u32,
        key: &Key,
        from: &StartPoint,
    ) -> Result<bool, NotTaken> {
        let is_begun = |turn: &Turn| turn.ticket == *ticket && turn.number == number;
        if !self.turns_in(key).last().is_some_and(is_begun) {
            if let Some(delegated) = self.delegated.clone() {
                self.give_up_turns(key, &delegated.by);
            }
            let mut start = self.world.take_submitted(key)?;
            if self.plant == Some(Plant::WideTurn) {
                let parents = &self.world.git.commits[start].parents;
                start = parents.first().copied().unwrap_or(start);
            }
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
            return Ok(false);
        }
        let git = &self.world.git;
        let earlier = match from {
            StartPoint::Kept { number } => git.refs.get(&super::kept(ticket, *number)).copied(),
            StartPoint::Target | StartPoint::Revert { .. } | StartPoint::Rewound { .. } => None,
        };
        let space = self.world.spaces.get_mut(key).ok_or(NotTaken::Gone)?;
        let goes_on = earlier.filter(|earlier| *earlier != space.head && git.contains(*earlier, space.head));
        space.head = goes_on.unwrap_or(space.head);
        Ok(goes_on.is_some())
    }

    /// Counts the turn of a child whose agent is done.
    pub(super) fn count_turn(&mut self, key: &Key, (ticket, number): (&TicketId, u32)) {
        if let Some(space) = self.world.spaces.get_mut(key) {
            let is_mine = |turn: &mut Turn| turn.ticket == *ticket && turn.number == number;
            let _over = space.turns.pop_if(is_mine);
        }
    }

    fn turns_in(&self, key: &Key) -> &[Turn] {
        self.world.spaces.get(key).map_or(&[], |space| &space.turns)
    }

    /// Gives up the turns inside of that of `holder`; all of them for the ticket whose workspace it is.
    pub(super) fn give_up_turns(&mut self, key: &Key, holder: &TicketId) {
        let is_holders = |turn: &Turn| turn.ticket == *holder;
        let first = match self.turns_in(key).iter().position(is_holders) {
            Some(place) => place + 1,
            None if key.1 == *holder => 0,
            None => return,
        };
        self.give_up_from(key, first);
    }

    /// Gives up the turn of a child that ends without its work counting, after those inside of it.
    pub(super) fn give_up_turn(&mut self, ticket: &TicketId, workspace: &Shared, number: u32) -> Report {
        let key = key_of(workspace);
        let is_mine = |turn: &Turn| turn.ticket == *ticket && turn.number == number;
        let space = self.world.spaces.get(&key);
        let space = space.filter(|space| space.number == workspace.number);
        if let Some(first) = space.and_then(|space| space.turns.iter().position(is_mine)) {
            self.give_up_from(&key, first);
        }
        Report::Done
    }

    fn give_up_from(&mut self, key: &Key, first: usize) {
        while let Some(turn) = self.turns_in(key).get(first..).and_then(<[Turn]>::last) {
            let turn = turn.clone();
            if !self.put_back(key, &turn) {
                return;
            }
        }
    }

    /// Keeps what a child did in its turn, and takes it out of the workspace, also what cannot be in a
    /// branch. False if the engine dies in between, or the workspace is set aside whole.
    fn put_back(&mut self, key: &Key, turn: &Turn) -> bool {
        let refuses = self.world.spaces.get(key).and_then(|space| space.refuses);
        // All of it, be it taken over or only kept.
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
        self.world.note_taken_out((turn.start, tip), &turn.ticket);
        if self.plant != Some(Plant::LeftIn) {
            self.world.git.refs.insert(branch((&key.0, &key.1)), turn.start);
        }
        if refuses == Some(Refuses::CannotBeKept) {
            self.world.lose_workspace(key);
            return false;
        }
        if let Some(space) = self.world.spaces.get_mut(key) {
            if self.plant != Some(Plant::LeftIn) {
                space.head = turn.start;
            }
            space.refuses = None;
            space.turns.pop();
        }
        self.world.put_back += u32::from(tip != turn.start);
        true
    }
}
