//! `[train]`: how many submitted branches are checked at once, and in how many checkouts.

use schemars::JsonSchema;
use serde::Serialize;

use super::reader::{Reader, Table};

/// The most branches that one run of the checks may decide on. A guard against a slip of the finger.
const MAX_BATCH: u32 = 64;
/// The most checkouts that checks may have at once. Each holds the whole tree and all that its builds make.
const MAX_SLOTS: u32 = 16;

/// `[train]`: submitted branches are merged one on another, and one run of the checks decides on all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Train {
    /// The most branches that one run of the checks decides on. Where it fails, further runs find the branch
    /// at fault, and the others land without it. 1 checks each branch for itself.
    #[schemars(range(min = 1, max = 64))]
    pub batch: u32,
    /// The number of checkouts in which checks run at once. Each has its own set-up and its own builds.
    #[schemars(range(min = 1, max = 16))]
    pub slots: u32,
}

impl Default for Train {
    fn default() -> Self {
        Self { batch: 8, slots: 1 }
    }
}

impl Train {
    /// Every branch is merged on the target, checked and landed before the next one is merged.
    pub const SINGLE: Self = Self { batch: 1, slots: 1 };

    /// Whether branches are merged one on another at all.
    #[must_use]
    pub fn is_single(self) -> bool {
        self == Self::SINGLE
    }
}

pub(super) fn read<'t>(reader: &mut Reader<'t>, mut table: Table<'t>) -> Train {
    let mut train = Train::default();
    table.set(reader, "batch", &mut train.batch, |r, v| {
        r.whole(&v, 1..=MAX_BATCH)
    });
    table.set(reader, "slots", &mut train.slots, |r, v| {
        r.whole(&v, 1..=MAX_SLOTS)
    });
    reader.finish("train", table);
    train
}
