//! Everything at one moment.

use crate::book::Value;
use crate::bounds::{Bounds, Lease};
use crate::engine::Engine;
use crate::journal::{Journal, Row};
use crate::world::{Place, World};

/// Tickets that there is room for; with fewer, the last ones are over.
pub(crate) const TICKETS: usize = 3;

/// A state of the whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) journal: Journal,
    /// The engine that holds the repository, by the lease.
    pub(crate) holder: Option<u8>,
    pub(crate) engines: [Engine; 2],
    pub(crate) world: World,
    /// The number of things that may still go wrong.
    pub(crate) left: Bounds,
}

impl State {
    /// The beginning: open tickets, no engine.
    pub(crate) fn first(open: &[Value; TICKETS], bounds: Bounds) -> Self {
        let row = |value: &Value| Row {
            version: 1,
            fence: 0,
            value: *value,
        };
        Self {
            journal: Journal {
                rows: open.each_ref().map(row),
                outbox: Vec::new(),
            },
            holder: None,
            engines: [Engine::Down, Engine::Down],
            world: World {
                target: 0,
                passed: Vec::new(),
                check: None,
                reviews: [None; TICKETS],
                approved: Vec::new(),
                places: [Place::default(); TICKETS],
                files: 0,
            },
            left: bounds,
        }
    }

    /// True if an engine that runs may have been overtaken by another.
    pub(crate) fn may_be_overtaken(&self) -> bool {
        self.left.lease == Lease::RunsOut
    }
}
