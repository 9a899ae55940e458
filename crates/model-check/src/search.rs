//! The search: every state once, the shortest way first; then, backwards, whether each can still come to rest.

#![expect(
    clippy::disallowed_types,
    reason = "a set of fingerprints that is only asked for members: its order never shows"
)]

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::act::act;
use crate::book::Book;
use crate::bounds::{Bounds, Guards};
use crate::deed::Deed;
use crate::invariant::{Broken, check, is_at_rest};
use crate::moves::{Move, moves};
use crate::state::{State, TICKETS};

/// What was explored, and held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Distinct states.
    pub states: usize,
    /// Moves between them.
    pub moves: usize,
    /// Distinct values of a ticket.
    pub values: usize,
    /// States in which everything has come to rest.
    pub at_rest: usize,
    /// From the state that is farthest from rest, how many ordinary moves it takes at least.
    pub farthest: u32,
}

/// A history that breaks an invariant, the shortest there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which, by its name in the design's list.
    pub invariant: &'static str,
    /// What is wrong, in words.
    pub what: String,
    /// What happened, one line each.
    pub history: Vec<String>,
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}: {}", self.invariant, self.what)?;
        self.history.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// Explores every history within `bounds`, under `guards`.
///
/// # Errors
/// [`Found`]: the shortest history that breaks an invariant, or from which nothing can come to rest any more.
pub fn explore(guards: Guards, bounds: Bounds) -> Result<Summary, Found> {
    let (mut book, open) = Book::new(bounds.tickets);
    let mut values = [open[0]; TICKETS];
    for (place, value) in values.iter_mut().enumerate() {
        *value = match open.get(place) {
            Some(open) => *open,
            None => {
                book.after(open[0], Deed::Drop)
                    .expect("an open ticket is dropped")
                    .value
            }
        };
    }
    let first = State::first(&values, bounds);
    let mut search = Search {
        guards,
        seen: HashMap::from([(fingerprint(&first), 0)]),
        came: vec![(0, None)],
        rest: vec![false],
        ordinary: Vec::new(),
        moves: 0,
    };
    let mut frontier = vec![(0, first.clone())];
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for (place, state) in frontier {
            if let Err(broken) = search.expand(place, &state, &mut book, &mut next) {
                return Err(search.found(broken, &first, &mut book));
            }
        }
        frontier = next;
    }
    let farthest = match search.farthest() {
        Ok(farthest) => farthest,
        Err(stuck) => {
            let broken = Broken::new("G9", "nothing can come to rest any more".to_owned());
            return Err(search.found((stuck, None, broken), &first, &mut book));
        }
    };
    Ok(Summary {
        states: search.came.len(),
        moves: search.moves,
        values: book.values(),
        at_rest: search.rest.iter().filter(|at_rest| **at_rest).count(),
        farthest,
    })
}

struct Search {
    guards: Guards,
    /// States by fingerprint, as places in `came`.
    seen: HashMap<u64, u32>,
    /// From where, and by what move, each state was first reached.
    came: Vec<(u32, Option<Move>)>,
    rest: Vec<bool>,
    /// Ordinary moves: from, to.
    ordinary: Vec<(u32, u32)>,
    moves: usize,
}

/// A broken invariant, after a move (where it is the move that breaks it) from a state.
type Fall = (u32, Option<Move>, Broken);

impl Search {
    fn expand(
        &mut self,
        from: u32,
        state: &State,
        book: &mut Book,
        next: &mut Vec<(u32, State)>,
    ) -> Result<(), Fall> {
        for what in moves(state, book) {
            let fall = |broken| (from, Some(what), broken);
            let Some(after) = act(state, what, self.guards, book).map_err(fall)? else {
                continue;
            };
            self.moves += 1;
            let new = u32::try_from(self.came.len()).expect("fewer states than that");
            let to = *self.seen.entry(fingerprint(&after)).or_insert(new);
            if what.is_ordinary() {
                self.ordinary.push((from, to));
            }
            if to == new {
                self.came.push((from, Some(what)));
                self.rest.push(is_at_rest(&after, book));
                check(&after, book).map_err(|broken| (new, None, broken))?;
                next.push((new, after));
            }
        }
        Ok(())
    }

    /// How far the farthest state is from rest, or a state that cannot reach it.
    fn farthest(&self) -> Result<u32, u32> {
        let states = self.came.len();
        let mut begin = vec![0_usize; states + 1];
        for (_, to) in &self.ordinary {
            begin[*to as usize + 1] += 1;
        }
        for place in 0..states {
            begin[place + 1] += begin[place];
        }
        let mut back = vec![0_u32; self.ordinary.len()];
        let mut filled = begin.clone();
        for (from, to) in &self.ordinary {
            back[filled[*to as usize]] = *from;
            filled[*to as usize] += 1;
        }
        let mut far = vec![u32::MAX; states];
        let mut frontier: Vec<u32> = (0..)
            .zip(&self.rest)
            .filter(|(_, rest)| **rest)
            .map(|(n, _)| n)
            .collect();
        for place in &frontier {
            far[*place as usize] = 0;
        }
        let mut distance = 0;
        while !frontier.is_empty() {
            distance += 1;
            let mut next = Vec::new();
            for to in frontier {
                for from in &back[begin[to as usize]..begin[to as usize + 1]] {
                    if far[*from as usize] == u32::MAX {
                        far[*from as usize] = distance;
                        next.push(*from);
                    }
                }
            }
            frontier = next;
        }
        match (0..).zip(&far).find(|(_, far)| **far == u32::MAX) {
            Some((stuck, _)) => Err(stuck),
            None => Ok(far.iter().copied().max().unwrap_or(0)),
        }
    }

    /// Goes the way to a state again, and tells it.
    fn found(&self, (place, last, broken): Fall, first: &State, book: &mut Book) -> Found {
        let mut way: Vec<Move> = last.into_iter().collect();
        let mut place = place;
        while let (before, Some(what)) = self.came[place as usize] {
            way.push(what);
            place = before;
        }
        way.reverse();
        let mut state = first.clone();
        let mut history = Vec::new();
        for what in way {
            history.push(format!("{what:?}"));
            if let Ok(Some(next)) = act(&state, what, self.guards, book) {
                for (ticket, (old, new)) in state.journal.rows.iter().zip(&next.journal.rows).enumerate() {
                    if old != new {
                        history.push(format!("    t-{ticket} is {}", book.name(new.value)));
                    }
                }
                state = next;
            }
        }
        Found {
            invariant: broken.invariant,
            what: broken.what,
            history,
        }
    }
}

fn fingerprint(state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}
