//! Refusals: decisions that the journal refuses, and when there are too many of them.

/// The same refusal so often is not another engine's that was here for a moment.
const MOST: u32 = 5;

/// The journal refused the same decision again and again, although a new core was loaded each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the journal refused the same decision {times} times")]
pub struct TooManyRefusals {
    /// How often it was refused.
    pub times: u32,
}

/// The last refusal, and how often it came in a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals {
    last: String,
    times: u32,
}

impl Refusals {
    /// Counts one more; an error when loading a new core has not helped again and again.
    pub(super) fn note(&mut self, why: String) -> Result<(), TooManyRefusals> {
        if why != self.last {
            (self.last, self.times) = (why, 0);
        }
        self.times += 1;
        if self.times < MOST {
            return Ok(());
        }
        Err(TooManyRefusals { times: self.times })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_refusal_again_and_again_ends_the_engine_and_another_each_time_does_not() {
        let mut refusals = Refusals::default();
        for version in 1..=3 * MOST {
            refusals.note(format!("version {version}")).unwrap();
        }
        let mut refusals = Refusals::default();
        for _ in 1..MOST {
            refusals.note("version 7".to_owned()).unwrap();
        }
        let error = refusals.note("version 7".to_owned()).unwrap_err();
        assert_eq!(error.times, MOST);
    }
}
