//! Names for agents that crew spawns by itself.

use std::collections::BTreeSet;

use model::AgentName;

/// People whose work this trade stands on.
const NAMES: [&str; 26] = [
    "ada", "barbara", "clara", "dennis", "edsger", "frances", "grace", "hedy", "ivan", "joan", "ken",
    "leslie", "margaret", "niklaus", "ole", "peter", "quentin", "radia", "sophie", "tony", "ursula", "vint",
    "wendy", "xavier", "yukihiro", "zuse",
];

/// The first name that `taken` does not have.
pub(crate) fn next(taken: &BTreeSet<AgentName>) -> AgentName {
    (1u32..)
        .flat_map(|round| {
            NAMES.iter().map(move |name| {
                if round == 1 {
                    (*name).to_owned()
                } else {
                    format!("{name}-{round}")
                }
            })
        })
        .filter_map(|name| AgentName::new(name).ok())
        .find(|name| !taken.contains(name))
        .expect("there are more names than agents")
}
