//! The panes.

/// A pane of the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pane {
    /// The agents, and the work of each.
    Agents,
    /// The tickets: first the unfinished ones, the closest to landing first, then the others.
    Queue,
    /// The submitted tickets, in the order in which they are checked and landed.
    Train,
    /// The items that wait for a person.
    Inbox,
    /// The output of the chosen agent.
    Output,
    /// The events of the chosen ticket.
    History,
    /// Tokens and money.
    Cost,
    /// What a ticket would change on the target; only there while a person looks at it, and then alone.
    Diff,
}

impl Pane {
    /// Every pane that one can go to, in the order of the numbers.
    pub(crate) const ALL: [Self; 7] = [
        Self::Agents,
        Self::Queue,
        Self::Train,
        Self::Inbox,
        Self::Output,
        Self::History,
        Self::Cost,
    ];

    /// The name of the pane.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Agents => "Agents",
            Self::Queue => "Queue",
            Self::Train => "Train",
            Self::Inbox => "Inbox",
            Self::Output => "Output",
            Self::History => "History",
            Self::Cost => "Cost",
            Self::Diff => "Diff",
        }
    }

    /// The number key that moves the focus to the pane, from 1; none for the diff, which is of a ticket.
    pub(crate) fn number(self) -> Option<usize> {
        let at = Self::ALL.iter().position(|pane| *pane == self)?;
        Some(at + 1)
    }

    /// Whether the pane is a list, whose chosen row other panes show.
    pub(crate) fn chooses(self) -> bool {
        match self {
            Self::Agents | Self::Queue | Self::Train | Self::Inbox => true,
            Self::Output | Self::History | Self::Cost | Self::Diff => false,
        }
    }

    /// The pane that follows by this number of panes, in a circle.
    pub(crate) fn turned(self, by: isize) -> Self {
        let count = Self::ALL.len();
        let at = self.number().unwrap_or(1) - 1;
        let to = (at + count).saturating_add_signed(by) % count;
        Self::ALL[to]
    }
}
