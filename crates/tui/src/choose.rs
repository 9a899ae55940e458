//! The choice in a list, which follows its item when the list changes.

/// A choice among items that come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice<K> {
    /// The key of the chosen item; `None` while the list is empty.
    key: Option<K>,
    /// Its position in the list.
    at: usize,
    /// Whether a person chose it; otherwise the first item is chosen, whichever it is.
    is_manual: bool,
    /// Whether the chosen item has left the list, and is chosen all the same.
    has_left: bool,
}

impl<K> Default for Choice<K> {
    fn default() -> Self {
        Self {
            key: None,
            at: 0,
            is_manual: false,
            has_left: false,
        }
    }
}

impl<K: Clone + PartialEq> Choice<K> {
    /// The key of the chosen item.
    pub(crate) fn key(&self) -> Option<&K> {
        self.key.as_ref()
    }

    /// The position of the chosen item.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The row of the chosen item; none where it has left the list.
    pub(crate) fn row(&self) -> Option<usize> {
        (!self.has_left).then_some(self.at)
    }

    /// Follows a change of the list, which an item that a person chose may have left: it stays chosen until
    /// they move, so that no key is meant for its neighbour.
    pub(crate) fn stay<'a>(&mut self, list: impl ExactSizeIterator<Item = &'a K> + Clone)
    where
        K: 'a,
    {
        let is_there = list.clone().any(|other| Some(other) == self.key.as_ref());
        if is_there || !self.is_manual {
            return self.refresh(list);
        }
        self.has_left = true;
        self.at = self.at.min(list.len().saturating_sub(1));
    }

    /// Follows a change of the list: the same item stays chosen, or the one in its place if it is gone.
    pub(crate) fn refresh<'a>(&mut self, mut list: impl ExactSizeIterator<Item = &'a K> + Clone)
    where
        K: 'a,
    {
        let count = list.len();
        self.has_left = false;
        let found = self
            .key
            .as_ref()
            .and_then(|key| list.clone().position(|other| other == key));
        let at = if self.is_manual {
            found.unwrap_or(self.at)
        } else {
            0
        };
        self.at = at.min(count.saturating_sub(1));
        self.key = list.nth(self.at).cloned();
    }

    /// Moves the choice by a number of rows, within the list. At the top, the first item stays chosen from
    /// then on.
    pub(crate) fn step<'a>(&mut self, mut list: impl ExactSizeIterator<Item = &'a K> + Clone, by: isize)
    where
        K: 'a,
    {
        let last = list.len().saturating_sub(1);
        // The next row stands in the place of an item that has left.
        let by = by.saturating_sub(isize::from(std::mem::take(&mut self.has_left) && by > 0));
        self.at = self.at.saturating_add_signed(by).min(last);
        self.is_manual = self.at > 0;
        self.key = list.nth(self.at).cloned();
    }
}

/// The first of `count` rows to draw in so many `lines`, such that the chosen row is visible.
pub(crate) fn first(chosen: usize, count: usize, lines: usize) -> usize {
    let most = count.saturating_sub(lines);
    chosen.saturating_sub(lines / 2).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_follows_its_item_and_falls_to_its_neighbour() {
        let mut choice = Choice::default();
        choice.refresh(["a", "b", "c"].iter());
        assert_eq!(choice.key(), Some(&"a"));
        choice.step(["a", "b", "c"].iter(), 1);
        choice.refresh(["x", "a", "b"].iter());
        assert_eq!((choice.key(), choice.at()), (Some(&"b"), 2));
        choice.refresh(["x", "a"].iter());
        assert_eq!(choice.key(), Some(&"a"));
        choice.refresh([].iter());
        assert_eq!(choice.key(), None);
        choice.step(["a", "b"].iter(), 9);
        assert_eq!(choice.key(), Some(&"b"));
        choice.step(["a", "b"].iter(), -9);
        choice.refresh(["x", "a", "b"].iter());
        assert_eq!(choice.key(), Some(&"x"), "nobody chose one");
    }

    #[test]
    fn what_has_left_the_list_stays_chosen_until_somebody_moves() {
        let mut choice = Choice::default();
        let all = ["a", "b", "c"];
        choice.stay(all.iter());
        choice.step(all.iter(), 1);
        choice.stay(["a", "c"].iter());
        assert_eq!((choice.key(), choice.row()), (Some(&"b"), None));
        let mut down = choice.clone();
        down.step(["a", "c"].iter(), 1);
        assert_eq!((down.key(), down.row()), (Some(&"c"), Some(1)));
        choice.step(["a", "c"].iter(), -1);
        assert_eq!((choice.key(), choice.row()), (Some(&"a"), Some(0)));
    }

    #[test]
    fn the_chosen_row_is_always_visible() {
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
