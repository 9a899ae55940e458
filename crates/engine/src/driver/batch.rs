//! A batch: decisions that are made durable together.

use model::command::Outcome;
use model::journal::{EffectId, Write};

use super::OWN_STOP;
use crate::{Output, Postponed};

/// Decisions that are made durable in one transaction, with what is noted after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Decisions, in order.
    pub writes: Vec<Write>,
    /// Effects that are finished without a fact.
    pub finished: Vec<EffectId>,
    /// Effects that failed and are performed again.
    pub postponed: Vec<Postponed>,
    /// Commands that are answered without a fact.
    pub answers: Vec<(String, Outcome)>,
    /// Events that a machine refused, in words: for the log.
    pub refused: Vec<String>,
    /// Warnings for people that no fact of the journal holds.
    pub warnings: Vec<String>,
}

impl Batch {
    /// Adds what the core decided on one more input. A stop that the driver itself asked for came from no
    /// inbox, so nobody is answered.
    pub(super) fn absorb(&mut self, output: Output) {
        let Output {
            mut writes,
            finished,
            postponed,
            answers,
            refused,
            warnings,
            wake_at: _,
            looks_at_target: _,
            ended: _,
        } = output;
        for write in &mut writes {
            write.answers.take_if(|(id, _)| id == OWN_STOP);
        }
        self.writes.extend(writes);
        self.finished.extend(finished);
        self.postponed.extend(postponed);
        self.answers
            .extend(answers.into_iter().filter(|(id, _)| id != OWN_STOP));
        self.refused.extend(refused);
        self.warnings.extend(warnings);
    }
}
