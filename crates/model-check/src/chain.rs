//! The target branch and the commits that it could move to, each with its first parent.

use model::Oid;

/// A commit, as its place in the [`Chains`]; 0 is the target in the beginning.
pub(crate) type Chain = u16;

/// The work that a commit brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Commit {
    /// An attempt's work, as it was after so many steps.
    Work {
        /// The number of the ticket, from 0.
        ticket: u8,
        /// The attempt's number.
        number: u8,
        /// The number of steps that had ended well.
        steps: u8,
    },
    /// Somebody else's.
    Foreign(u8),
}

/// Every commit that any history made. The same content on the same parent is the same commit, as in git.
#[derive(Debug, Default)]
pub(crate) struct Chains(Vec<(Chain, Commit)>);

impl Chains {
    /// The commit on a parent.
    pub(crate) fn on(&mut self, parent: Chain, commit: Commit) -> Chain {
        let place = self.0.iter().position(|known| *known == (parent, commit));
        let place = place.unwrap_or_else(|| {
            self.0.push((parent, commit));
            self.0.len() - 1
        });
        Chain::try_from(place + 1).expect("a bounded exploration makes few commits")
    }

    /// A commit's first parent.
    pub(crate) fn parent(&self, chain: Chain) -> Chain {
        self.get(chain).map_or(0, |(parent, _)| *parent)
    }

    /// The work that a commit brings; none for the first.
    pub(crate) fn commit(&self, chain: Chain) -> Option<Commit> {
        self.get(chain).map(|(_, commit)| *commit)
    }

    fn get(&self, chain: Chain) -> Option<&(Chain, Commit)> {
        usize::from(chain)
            .checked_sub(1)
            .and_then(|place| self.0.get(place))
    }

    /// The commit and all before it, the newest first.
    pub(crate) fn back(&self, chain: Chain) -> impl Iterator<Item = Chain> {
        std::iter::successors((chain > 0).then_some(chain), |chain| {
            Some(self.parent(*chain)).filter(|parent| *parent > 0)
        })
    }

    /// True if a commit is in the history of another.
    pub(crate) fn holds(&self, chain: Chain, sought: Chain) -> bool {
        sought == 0 || self.back(chain).any(|known| known == sought)
    }

    /// The work of a ticket in a history, the newest first: number and steps.
    pub(crate) fn work_of(&self, chain: Chain, ticket: u8) -> impl Iterator<Item = (u8, u8)> {
        self.back(chain)
            .filter_map(move |chain| match self.commit(chain) {
                Some(Commit::Work {
                    ticket: of,
                    number,
                    steps,
                }) if of == ticket => Some((number, steps)),
                Some(Commit::Work { .. } | Commit::Foreign(_)) | None => None,
            })
    }

    /// True if the checks pass on it. The first two tickets are green alone and red together, until the later
    /// one was stepped again or begun anew: such a pair a queue must never land.
    pub(crate) fn is_green(&self, chain: Chain) -> bool {
        let mut naive = self.back(chain).filter_map(|chain| match self.commit(chain)? {
            Commit::Work {
                ticket,
                number,
                steps,
            } if ticket < 2 => Some(number == 1 && steps == 1),
            Commit::Work { .. } | Commit::Foreign(_) => None,
        });
        match (naive.next(), naive.next()) {
            (Some(later), Some(_)) => !later,
            (Some(_) | None, _) => true,
        }
    }
}

/// The name of a commit; `kind` distinguishes commits, trees and tips.
pub(crate) fn oid(kind: char, number: u32) -> Oid {
    Oid::new(format!("{kind}{number:039x}")).expect("hex digits, forty of them")
}

/// Reads a name of [`oid`] back.
pub(crate) fn number(oid: &Oid) -> u32 {
    u32::from_str_radix(&oid.as_str()[1..], 16).expect("a name of `oid`")
}
