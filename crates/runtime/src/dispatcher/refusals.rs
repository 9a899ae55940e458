//! Decisions that the journal refuses, and when there are too many of them.

use crate::{Error, Result};

/// The same refusal so often is none of another engine that was here for a moment.
const MOST: u32 = 5;

/// The last refusal. It tells versions and fences, so that another's write in between makes it another one.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    last: String,
    times: u32,
}

impl Refusals {
    /// Counts one more; an error when starting over from the journal has not helped again and again.
    pub(super) fn note(&mut self, error: store::Error) -> Result<()> {
        let told = error.to_string();
        if told != self.last {
            (self.last, self.times) = (told, 0);
        }
        self.times += 1;
        if self.times < MOST {
            return Ok(());
        }
        Err(Error::Disputed {
            times: self.times,
            source: error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conflict(found: u64) -> store::Error {
        store::Error::VersionConflict {
            stream: model::journal::Stream::Ticket(model::TicketId::new("t-1").unwrap()),
            expected: store::Version(found - 1),
            found: store::Version(found),
        }
    }

    #[test]
    fn the_same_refusal_again_and_again_ends_the_engine_and_another_each_time_does_not() {
        let mut refusals = Refusals::default();
        for found in 1..=3 * u64::from(MOST) {
            refusals.note(conflict(found)).unwrap();
        }
        let mut refusals = Refusals::default();
        for _ in 1..MOST {
            refusals.note(conflict(7)).unwrap();
        }
        let error = refusals.note(conflict(7)).unwrap_err();
        assert!(text::with_causes(&error).contains("ticket/t-1"), "{error}");
        assert!(!error.is_passing() && error.hint().is_some());
    }
}
