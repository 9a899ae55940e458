//! Rest: a proof that everything comes to rest, on the graph of ordinary moves, looked at backwards from the
//! states at rest.

/// The ordinary moves between states, by where they lead. From rest nothing need go on.
pub(crate) struct Ordinary<'a> {
    rest: &'a [bool],
    moves: &'a [(u32, u32)],
    /// The index in `back` at which the moves to each state begin.
    begin: Vec<usize>,
    /// The states that the moves come from.
    back: Vec<u32>,
}

impl<'a> Ordinary<'a> {
    /// `rest`: which states are at rest. `moves`: from, to.
    pub(crate) fn new(rest: &'a [bool], moves: &'a [(u32, u32)]) -> Self {
        let states = rest.len();
        let mut begin = vec![0_usize; states + 1];
        for (_, to) in moves {
            begin[*to as usize + 1] += 1;
        }
        for place in 0..states {
            begin[place + 1] += begin[place];
        }
        let mut back = vec![0_u32; moves.len()];
        let mut filled = begin.clone();
        for (from, to) in moves {
            back[filled[*to as usize]] = *from;
            filled[*to as usize] += 1;
        }
        Self {
            rest,
            moves,
            begin,
            back,
        }
    }

    fn before(&self, to: u32) -> &[u32] {
        &self.back[self.begin[to as usize]..self.begin[to as usize + 1]]
    }

    fn at_rest(&self) -> Vec<u32> {
        let places = (0..).zip(self.rest);
        places
            .filter(|(_, rest)| **rest)
            .map(|(place, _)| place)
            .collect()
    }

    /// It *can* come to rest: how far the farthest state is from it, or a state that cannot reach it.
    pub(crate) fn farthest(&self) -> Result<u32, u32> {
        let mut far = vec![u32::MAX; self.rest.len()];
        let mut frontier = self.at_rest();
        for place in &frontier {
            far[*place as usize] = 0;
        }
        let mut distance = 0;
        while !frontier.is_empty() {
            distance += 1;
            let mut next = Vec::new();
            for to in frontier {
                for from in self.before(to) {
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

    /// It *does* come to rest, whichever of the ordinary moves comes first: after how many of them at most,
    /// or states with work left that lead one to the next and round again. Every strongly connected component
    /// must be one state without a move to itself, and that is so if, and only if, all states can be taken
    /// away of which all moves lead to states taken away before.
    ///
    /// That every state can reach rest is asked before: a state without any move is at rest then.
    pub(crate) fn longest(&self) -> Result<u32, Vec<u32>> {
        let is_at_rest = |place: u32| self.rest[place as usize];
        let mut left = vec![0_u32; self.rest.len()];
        for (from, _) in self.moves.iter().filter(|(from, _)| !is_at_rest(*from)) {
            left[*from as usize] += 1;
        }
        let mut long = vec![0_u32; self.rest.len()];
        let mut away = self.at_rest();
        let mut longest = 0;
        while let Some(to) = away.pop() {
            longest = longest.max(long[to as usize]);
            for from in self.before(to).iter().filter(|from| !is_at_rest(**from)) {
                let place = *from as usize;
                long[place] = long[place].max(long[to as usize] + 1);
                left[place] -= 1;
                if left[place] == 0 {
                    away.push(*from);
                }
            }
        }
        match (0..).zip(&left).find(|(_, left)| **left > 0) {
            Some((first, _)) => Err(self.round(first, &left)),
            None => Ok(longest),
        }
    }

    /// From a state that is left, on through states that are left, until one comes again: those that lead
    /// round.
    fn round(&self, first: u32, left: &[u32]) -> Vec<u32> {
        let is_left = |place: u32| left[place as usize] > 0;
        let mut on = vec![u32::MAX; left.len()];
        for (from, to) in self
            .moves
            .iter()
            .filter(|(from, to)| is_left(*from) && is_left(*to))
        {
            on[*from as usize] = *to;
        }
        let (mut place, mut way, mut seen) = (first, Vec::new(), vec![usize::MAX; left.len()]);
        while seen[place as usize] == usize::MAX {
            seen[place as usize] = way.len();
            way.push(place);
            place = on[place as usize];
        }
        way.split_off(seen[place as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: [bool; 4] = [false, false, false, true];

    #[test]
    fn a_state_from_which_nothing_leads_on_is_told_before_any_round_is_looked_for() {
        let ordinary = Ordinary::new(&[false, false, true], &[(0, 1)]);
        assert_eq!(ordinary.farthest(), Err(0));
    }

    #[test]
    fn a_way_that_ends_is_as_long_as_its_longest() {
        let moves = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3), (3, 0)];
        let ordinary = Ordinary::new(&REST, &moves);
        assert_eq!(ordinary.farthest(), Ok(2));
        assert_eq!(ordinary.longest(), Ok(3));
    }

    #[test]
    fn what_leads_round_is_told_even_where_it_can_rest() {
        let moves = [(0, 1), (1, 2), (2, 1), (2, 3)];
        let ordinary = Ordinary::new(&REST, &moves);
        assert_eq!(ordinary.farthest(), Ok(3));
        assert_eq!(ordinary.longest(), Err(vec![1, 2]));
        let itself = [(0, 1), (1, 1), (1, 2), (2, 3)];
        assert_eq!(Ordinary::new(&REST, &itself).longest(), Err(vec![1]));
    }
}
