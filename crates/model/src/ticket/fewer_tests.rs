//! A check that passes and runs far fewer tests than on the target: a person is asked.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{State, Ticket, Why};
use crate::Oid;

/// The numbers of tests of a check, on the work and on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FewerTests {
    /// The number with the work.
    pub ran: u64,
    /// The number on the target.
    pub before: u64,
}

impl FewerTests {
    /// The numbers, where work has less than half of the tests that the target has. Work with which none run
    /// has failed.
    #[must_use]
    pub fn of(ran: u64, before: u64) -> Option<Self> {
        let is_less_than_half = ran.saturating_mul(2) < before;
        (ran > 0 && is_less_than_half).then_some(Self { ran, before })
    }
}

impl fmt::Display for FewerTests {
    /// As the end of a sentence: `ran 3 tests, and on the target 10`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tests = if self.ran == 1 { "test" } else { "tests" };
        write!(f, "ran {} {tests}, and on the target {}", self.ran, self.before)
    }
}

impl Ticket {
    /// True if it is held, since far fewer tests run with its work.
    #[must_use]
    pub fn asks_about_tests(&self) -> bool {
        let held = self.held.as_ref().map(|held| &held.why);
        matches!(held, Some(Why::Tests { .. }))
    }

    /// Whether a person has let the work at this tip pass with fewer tests.
    #[must_use]
    pub fn may_run_fewer_tests(&self, tip: &Oid) -> bool {
        match &self.state {
            State::Verify(verify) => verify.fewer_tests.as_ref() == Some(tip),
            State::New | State::Open | State::InProgress(_) | State::Done(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_half_of_the_tests_is_a_question_and_half_is_none() {
        let asked = |ran, before| FewerTests::of(ran, before).is_some();
        assert!(asked(1, 3) && asked(4, 9) && asked(49, 100));
        assert!(!asked(1, 2) && !asked(5, 10) && !asked(5, 9) && !asked(10, 3) && !asked(0, 0));
        assert!(!asked(0, 10), "that has failed");
    }

    #[test]
    fn the_numbers_are_said_as_the_end_of_a_sentence() {
        let said = |ran| FewerTests { ran, before: 10 }.to_string();
        assert_eq!(said(1), "ran 1 test, and on the target 10");
        assert_eq!(said(3), "ran 3 tests, and on the target 10");
    }
}
