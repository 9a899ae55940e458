//! The search: every state once, the shortest way first; then whether each can still come to rest, and does.

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
use crate::rest::Ordinary;
use crate::state::{State, TICKETS};

/// The extent of an exploration in which every invariant held.
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
    /// The longest of the shortest histories to a state.
    pub longest: u32,
}

/// A history that breaks an invariant, the shortest there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The invariant, by its name in the design's list.
    pub invariant: &'static str,
    /// The fault, in words.
    pub what: String,
    /// The moves, one line each.
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
/// [`Found`]: the shortest history that breaks an invariant, or from which nothing can come to rest any more,
/// or need not ever.
pub fn explore(guards: Guards, bounds: Bounds) -> Result<Summary, Found> {
    let (mut book, open) = Book::new(
        (bounds.tickets, bounds.children),
        bounds.gatekeepers > 0 && guards.review,
    );
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
    let ordinary = Ordinary::new(&search.rest, &search.ordinary);
    let farthest = match ordinary.farthest() {
        Ok(farthest) => farthest,
        Err(stuck) => {
            let broken = Broken::new("G9", "nothing can come to rest any more".to_owned());
            return Err(search.found((stuck, None, broken), &first, &mut book));
        }
    };
    // Only where everything can come to rest is there always a way on.
    let longest = match ordinary.longest() {
        Ok(longest) => longest,
        Err(round) => {
            let broken = Broken::new("G9", "it can come to rest, and need not ever".to_owned());
            return Err(search.goes_round(&round, broken, &first, &mut book));
        }
    };
    Ok(Summary {
        states: search.came.len(),
        moves: search.moves,
        values: book.values(),
        at_rest: search.rest.iter().filter(|at_rest| **at_rest).count(),
        farthest,
        longest,
    })
}

struct Search {
    guards: Guards,
    /// States by fingerprint, as places in `came`.
    seen: HashMap<u64, u32>,
    /// The state and the move by which each state was first reached.
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
        for what in moves(state, self.guards, book) {
            let fall = |broken| (from, Some(what), broken);
            let Some(after) = act(state, what, self.guards, book).map_err(fall)? else {
                continue;
            };
            self.moves += 1;
            let new = u32::try_from(self.came.len()).expect("fewer states than that");
            let to = *self.seen.entry(fingerprint(&after)).or_insert(new);
            if what.is_ordinary(self.guards) {
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

    /// Goes the way to a state again, and describes it.
    fn found(&self, fall: Fall, first: &State, book: &mut Book) -> Found {
        let (place, last, broken) = fall;
        let (state, mut history) = self.way(place, first, book);
        if let Some(what) = last {
            self.go(&state, what, &mut history, book);
        }
        Found {
            invariant: broken.invariant,
            what: broken.what,
            history,
        }
    }

    /// As [`Search::found`], to a state from which others lead round to it again, and round.
    fn goes_round(&self, round: &[u32], broken: Broken, first: &State, book: &mut Book) -> Found {
        let (mut state, mut history) = self.way(round[0], first, book);
        history.push("and then, again and again:".to_owned());
        for to in round.iter().cycle().skip(1).take(round.len()) {
            let next = moves(&state, self.guards, book).into_iter().find_map(|what| {
                let after = act(&state, what, self.guards, book).ok()??;
                let is_it = what.is_ordinary(self.guards) && self.seen.get(&fingerprint(&after)) == Some(to);
                is_it.then_some(what)
            });
            if let Some(what) = next {
                state = self.go(&state, what, &mut history, book);
            }
        }
        Found {
            invariant: broken.invariant,
            what: broken.what,
            history,
        }
    }

    /// The history that led to the state.
    fn way(&self, place: u32, first: &State, book: &mut Book) -> (State, Vec<String>) {
        let mut way = Vec::new();
        let mut place = place;
        while let (before, Some(what)) = self.came[place as usize] {
            way.push(what);
            place = before;
        }
        let (mut state, mut history) = (first.clone(), Vec::new());
        for what in way.into_iter().rev() {
            state = self.go(&state, what, &mut history, book);
        }
        (state, history)
    }

    /// Makes a move, and describes it.
    fn go(&self, state: &State, what: Move, history: &mut Vec<String>, book: &mut Book) -> State {
        history.push(format!("{what:?}"));
        let Ok(Some(next)) = act(state, what, self.guards, book) else {
            return state.clone();
        };
        for (ticket, (old, new)) in state.journal.rows.iter().zip(&next.journal.rows).enumerate() {
            if old != new {
                history.push(format!("    t-{ticket} is {}", book.name(new.value)));
            }
        }
        next
    }
}

fn fingerprint(state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}
