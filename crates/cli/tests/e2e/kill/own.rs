//! The facts and effects that the queue of one file comes by, and no other: where crew dies there.

use crate::kill::life::{self, Hit, Life};

/// Those of one queue.
pub(crate) struct Own {
    pub(crate) facts: &'static [&'static str],
    pub(crate) effects: &'static [&'static str],
    /// The queue, worked off while crew dies at these points. Panics at the first promise that was not kept.
    pub(crate) live: fn(Vec<Hit>) -> Life,
}

impl Own {
    /// Whether nobody passes this point but this queue.
    pub(crate) fn has(&self, point: &str) -> bool {
        self.all().iter().any(|one| one == point)
    }

    /// Before and after each fact is durable, and each effect is performed.
    fn all(&self) -> Vec<String> {
        [
            self.points("decided", "begun"),
            self.points("durable", "performed"),
        ]
        .concat()
    }

    fn points(&self, of_fact: &str, of_effect: &str) -> Vec<String> {
        let facts = self.facts.iter().map(|fact| format!("{of_fact}.{fact}"));
        let effects = self.effects.iter();
        let effects = effects.map(|effect| format!("{of_effect}.{effect}"));
        facts.chain(effects).collect()
    }

    /// Before each fact is durable and each effect is begun.
    pub(crate) fn before(&self) -> Vec<Hit> {
        life::first(self.points("decided", "begun"))
    }

    /// Nobody dies, and then crew dies after each fact is durable and each effect is performed: both come to
    /// the same.
    pub(crate) fn survives_what_is_durable(&self) {
        let after = life::first(self.points("durable", "performed"));
        let lived = life::play(vec![Vec::new(), after], self.live);
        life::assert_passed(&self.all(), &lived[0].1);
        assert_eq!(lived[1].0, lived[0].0, "the target's content");
    }
}
