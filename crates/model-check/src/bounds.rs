//! Bounds of the exploration: the guards that stand, the worth of a lease, and the number of things that may
//! go wrong.

/// The guards of the event loop. All stand in crew; the proof takes them away one at a time to show that it
/// would notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guards {
    /// The journal refuses an append that was decided on another version or fence.
    pub admission: bool,
    /// The target moves by compare-and-swap.
    pub swap: bool,
    /// A report of an order of an earlier claim does not count for a later one.
    pub claim: bool,
    /// Work whose checks have passed is reviewed, where the bounds have a gatekeeper.
    pub review: bool,
    /// An act that fails and is tried again fails as often as the bounds allow, no more: an act that crew
    /// repeats in vain without end is counted and left to a person, or it is a fault that somebody ends (a
    /// full disk).
    pub counted: bool,
    /// A parent that ends its children waits until none of them has a process.
    pub waits: bool,
}

impl Guards {
    /// As crew is.
    pub const ALL: Self = Self {
        admission: true,
        swap: true,
        claim: true,
        review: true,
        counted: true,
        waits: true,
    };
}

/// The worth of holding the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lease {
    /// The lock of one host: it ends with its holder and the holder's children, never before.
    Lock,
    /// A lease that runs out while its holder sleeps: another engine takes over, and the sleeper wakes
    /// knowing nothing.
    RunsOut,
}

/// The number of things that may go wrong in one history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The number of tickets, at most three.
    pub tickets: u8,
    /// The number of agents, one or two.
    pub agents: u8,
    /// Gatekeepers, none or one: with one, all work is reviewed.
    pub gatekeepers: u8,
    /// The worth of a lease.
    pub lease: Lease,
    /// Times that a gatekeeper sends work back.
    pub rejections: u8,
    /// Engines killed, or leases run out.
    pub stops: u8,
    /// Commits that somebody else pushes.
    pub pushes: u8,
    /// Pushes taken back by force.
    pub rewinds: u8,
    /// Steps whose process is lost.
    pub losses: u8,
    /// Tickets that a person drops, or agents that a person has go on without their children.
    pub drops: u8,
    /// Times a person's edits are in the way of a landing.
    pub edits: u8,
    /// Times an effect fails and is tried again.
    pub failures: u8,
    /// Tickets that are held since their work cannot be merged, checked or landed. They are tried again by
    /// themselves.
    pub holds: u8,
    /// Children that the first ticket's agent delegates, at most two, with one call; none: nobody delegates.
    /// The other tickets are these children then.
    pub children: u8,
    /// Steps that end with a question.
    pub questions: u8,
}
