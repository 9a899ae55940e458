//! Pause: no step is started at all.

use model::Moment;
use model::policy::budget;
use schemars::JsonSchema;
use serde::Serialize;

/// The day's budget is spent: no step is started for a while.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pause {
    /// The same in words.
    says: String,
    /// No step is started before this: the next day's beginning.
    until: Moment,
    /// The sum that was spent when that was noticed, in millionths of a US dollar.
    spent_micro_usd: u64,
    /// The budget, in millionths of a US dollar.
    limit_micro_usd: u64,
}

impl Pause {
    /// The document of the project's pause.
    pub fn of(pause: budget::Pause) -> Self {
        Self {
            says: pause.to_string(),
            until: Moment(pause.until),
            spent_micro_usd: pause.budget.spent_micro_usd,
            limit_micro_usd: pause.budget.limit_micro_usd,
        }
    }
}
