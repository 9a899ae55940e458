//! `[delegate]`: how far agents may divide a ticket among other agents.

use schemars::JsonSchema;
use serde::Serialize;

use super::reader::{Reader, Table};

/// The most tickets that may be delegated one by another. A guard against a slip of the finger.
const MAX_DEPTH: u32 = 16;
/// The most children at once.
const MAX_BREADTH: u32 = 64;

/// `[delegate]`: agents that may delegate give parts of their ticket to other agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Delegate {
    /// How deep delegation goes: with 1, no child delegates in its turn; with 0, nobody delegates.
    #[schemars(range(min = 0, max = 16))]
    pub depth: u32,
    /// The most children that one ticket has at once.
    #[schemars(range(min = 1, max = 64))]
    pub breadth: u32,
}

impl Default for Delegate {
    fn default() -> Self {
        Self { depth: 2, breadth: 4 }
    }
}

pub(super) fn read<'t>(reader: &mut Reader<'t>, mut table: Table<'t>) -> Delegate {
    let mut delegate = Delegate::default();
    table.set(reader, "depth", &mut delegate.depth, |r, v| {
        r.whole(&v, 0..=MAX_DEPTH)
    });
    table.set(reader, "breadth", &mut delegate.breadth, |r, v| {
        r.whole(&v, 1..=MAX_BREADTH)
    });
    reader.finish("delegate", table);
    delegate
}
