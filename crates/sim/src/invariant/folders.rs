//! Folders that crew cannot use as they are: what becomes of the work in them.

use model::ticket::{Done, State, Ticket};

use super::{Checked, Witness, ensure};
use crate::world::World;

const REFUSED: &str = "a child whose work is refused is not done";
const ASIDE: &str = "a person's commit is set aside only with the child in whose turn it was made";

impl Witness {
    /// A child whose work crew has refused, and not taken over since, does not count as done.
    pub(super) fn refused_children_are_not_done(&self, world: &World) -> Checked {
        for id in &world.refused {
            let Some(ticket) = self.tickets.get(id).filter(|it| it.delegated().is_some()) else {
                continue;
            };
            let has_landed = matches!(ticket.state, State::Done(Done::Landed { .. }));
            ensure(!has_landed && !ticket.is_unified(), REFUSED, || {
                format!("{id} was refused and is {}", Ticket::state_name(ticket))
            })?;
        }
        Ok(())
    }

    /// Nothing that a person has committed in a workspace is taken out of it, but with the work of a child
    /// that is not done, in whose turn the person has committed it.
    pub(super) fn commits_of_persons_stay(&self, world: &mut World) -> Checked {
        for (at, child) in std::mem::take(&mut world.taken_out) {
            let turn = world.of_persons.get(&at);
            let is_of_turn = turn.is_some_and(|turn| turn.as_ref() == Some(&child));
            ensure(is_of_turn && !self.ever_unified.contains(&child), ASIDE, || {
                let commit = world.git.id(at);
                format!("{commit}, made in the turn of {turn:?}, was taken out with {child}")
            })?;
        }
        Ok(())
    }
}
