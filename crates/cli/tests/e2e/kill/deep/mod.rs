//! Kills that take minutes: at every point, twice, at every rare fact, and over and over. A few of each kind
//! are beside this module, in the first tier.

mod facts;
mod gate;
mod old_journal;
pub(crate) mod points;
mod storm;
mod team;
mod twenty;
