//! The panes of the dashboard.

/// A pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pane {
    /// The roster, and what each is doing.
    Agents,
    /// The tickets, what is nearest to the target first, then what landed.
    Queue,
    /// What is submitted, in the order in which it is checked and landed.
    Train,
    /// What waits for a person.
    Inbox,
    /// What the chosen agent prints.
    Output,
    /// What happened to the chosen ticket.
    History,
    /// Tokens and money.
    Cost,
}

impl Pane {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Agents,
        Self::Queue,
        Self::Train,
        Self::Inbox,
        Self::Output,
        Self::History,
        Self::Cost,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Agents => "Agents",
            Self::Queue => "Queue",
            Self::Train => "Train",
            Self::Inbox => "Inbox",
            Self::Output => "Output",
            Self::History => "History",
            Self::Cost => "Cost",
        }
    }

    /// The key that goes to it, from 1.
    #[must_use]
    pub fn number(self) -> usize {
        Self::ALL.iter().position(|pane| *pane == self).unwrap_or(0) + 1
    }

    /// Whether something is chosen in it, on which the others look.
    pub(crate) fn chooses(self) -> bool {
        match self {
            Self::Agents | Self::Queue | Self::Train | Self::Inbox => true,
            Self::Output | Self::History | Self::Cost => false,
        }
    }

    /// The pane that is so many further, round and round.
    pub(crate) fn turned(self, by: isize) -> Self {
        let count = Self::ALL.len();
        let at = self.number() - 1;
        let to = (at + count).saturating_add_signed(by) % count;
        Self::ALL[to]
    }
}
