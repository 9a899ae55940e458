//! What is chosen in a list: by its name, so that it stays chosen when the list moves.

/// A choice among things that come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice<K> {
    /// What is chosen; none before anything was there.
    key: Option<K>,
    /// Where it stands.
    at: usize,
    /// Whether a person chose it; else it is whatever comes first.
    meant: bool,
}

impl<K> Default for Choice<K> {
    fn default() -> Self {
        Self {
            key: None,
            at: 0,
            meant: false,
        }
    }
}

impl<K: Clone + PartialEq> Choice<K> {
    /// What is chosen.
    pub(crate) fn key(&self) -> Option<&K> {
        self.key.as_ref()
    }

    /// Where it stands in the list.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The list is another now: what was chosen is, if it is still there; else what stands in its place.
    pub(crate) fn settle<'a>(&mut self, mut list: impl ExactSizeIterator<Item = &'a K> + Clone)
    where
        K: 'a,
    {
        let count = list.len();
        let found = self
            .key
            .as_ref()
            .and_then(|key| list.clone().position(|other| other == key));
        let at = if self.meant { found.unwrap_or(self.at) } else { 0 };
        self.at = at.min(count.saturating_sub(1));
        self.key = list.nth(self.at).cloned();
    }

    /// Goes so many further, as far as there are any; at the top, whatever comes first stays chosen.
    pub(crate) fn step<'a>(&mut self, mut list: impl ExactSizeIterator<Item = &'a K> + Clone, by: isize)
    where
        K: 'a,
    {
        let last = list.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
        self.meant = self.at > 0;
        self.key = list.nth(self.at).cloned();
    }
}

/// The first row that is drawn when this one of so many is to be seen in so many lines.
pub(crate) fn first(chosen: usize, count: usize, lines: usize) -> usize {
    let most = count.saturating_sub(lines);
    chosen.saturating_sub(lines / 2).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_follows_its_thing_and_falls_to_its_neighbour() {
        let mut choice = Choice::default();
        choice.settle(["a", "b", "c"].iter());
        assert_eq!(choice.key(), Some(&"a"));
        choice.step(["a", "b", "c"].iter(), 1);
        choice.settle(["x", "a", "b"].iter());
        assert_eq!((choice.key(), choice.at()), (Some(&"b"), 2));
        choice.settle(["x", "a"].iter());
        assert_eq!(choice.key(), Some(&"a"));
        choice.settle([].iter());
        assert_eq!(choice.key(), None);
        choice.step(["a", "b"].iter(), 9);
        assert_eq!(choice.key(), Some(&"b"));
        choice.step(["a", "b"].iter(), -9);
        choice.settle(["x", "a", "b"].iter());
        assert_eq!(choice.key(), Some(&"x"), "nobody meant any");
    }

    #[test]
    fn the_chosen_row_is_always_seen() {
        for count in 0..12 {
            for lines in 1..6 {
                for chosen in 0..count {
                    let first = first(chosen, count, lines);
                    assert!(
                        (first..first + lines).contains(&chosen),
                        "{chosen} of {count} in {lines}"
                    );
                    assert!(count < lines || first + lines <= count);
                }
            }
        }
    }
}
