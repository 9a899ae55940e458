//! Look: the time of a look at a project and whether an engine runs, with the words for things that go on
//! without a person.

use crate::Time;
use crate::view::left;

/// The time at which something goes on that only an engine does, where none runs.
const WITHOUT_ENGINE: &str = "when an engine runs again (`crew run`)";

/// A look at a project. Nothing goes on by itself while no engine runs, so every surface has the words for
/// that from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The present time.
    pub now: Time,
    /// Whether an engine runs.
    pub engine: bool,
}

impl Look {
    /// The end of a sentence about one thing that goes on without a person.
    #[must_use]
    pub fn by_itself(self) -> &'static str {
        by_itself(self.engine)
    }

    /// The end of a sentence about several things that go on without a person.
    #[must_use]
    pub fn by_themselves(self) -> &'static str {
        match self.engine {
            true => "by themselves",
            false => WITHOUT_ENGINE,
        }
    }

    /// The time at which crew tries again, as the end of a sentence: an engine that starts does so at once.
    /// None where an engine is about to.
    #[must_use]
    pub fn tried_again(self, at: Time) -> Option<String> {
        match self.engine {
            true => self
                .left(at)
                .map(|left| format!("tried again by itself in {left}")),
            false => Some(format!("tried again {WITHOUT_ENGINE}")),
        }
    }

    /// The time at which crew looks at something again, as the end of a sentence: an engine that starts does
    /// so at once. None where an engine is about to.
    #[must_use]
    pub fn looked_at_again(self, at: Time) -> Option<String> {
        match self.engine {
            true => self.left(at).map(|left| format!("looked at again in {left}")),
            false => Some(format!("looked at again {WITHOUT_ENGINE}")),
        }
    }

    /// The time at which crew asks a remote again, as the end of a sentence: an engine that starts does so at
    /// once. None where an engine is about to.
    #[must_use]
    pub fn asked_again(self, remote: &str, at: Time) -> Option<String> {
        match self.engine {
            true => self
                .left(at)
                .map(|left| format!("crew asks {remote} again in {left}")),
            false => Some(format!("crew asks {remote} again {WITHOUT_ENGINE}")),
        }
    }

    /// The moment that something waits for, as the end of a sentence; none where it has come and an engine
    /// runs.
    #[must_use]
    pub fn due(self, at: Time) -> Option<String> {
        match (self.engine, self.left(at)) {
            (true, left) => left.map(|left| format!("in {left}")),
            (false, Some(left)) => Some(format!("{WITHOUT_ENGINE}, in {left} at the earliest")),
            (false, None) => Some(WITHOUT_ENGINE.to_owned()),
        }
    }

    /// The words as an addition to a sentence, in brackets where they have none.
    #[must_use]
    pub fn added(self, words: Option<String>) -> String {
        match (words, self.engine) {
            (None, _) => String::new(),
            (Some(words), true) => format!(" ({words})"),
            (Some(words), false) => format!("; {words}"),
        }
    }

    fn left(self, at: Time) -> Option<String> {
        (at > self.now).then(|| left(at.since(self.now)))
    }
}

/// The end of a sentence about one thing that goes on without a person. `engine`: whether one runs.
#[must_use]
pub fn by_itself(engine: bool) -> &'static str {
    match engine {
        true => "by itself",
        false => WITHOUT_ENGINE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_promised_for_a_time_while_no_engine_runs() {
        let look = |engine| Look { now: Time(0), engine };
        let (later, past) = (Time(60_000), Time(-1));
        let words = |engine, at| (look(engine).tried_again(at), look(engine).due(at));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            words(true, later),
            (some("tried again by itself in 1m"), some("in 1m"))
        );
        assert_eq!(words(true, past), (None, None));
        let again = "tried again when an engine runs again (`crew run`)";
        let due = "when an engine runs again (`crew run`)";
        assert_eq!(words(false, past), (some(again), some(due)));
        assert_eq!(
            words(false, later),
            (some(again), some(&format!("{due}, in 1m at the earliest")))
        );
    }
}
