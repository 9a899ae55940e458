//! The rare facts: crew dies before each is durable, after, and at later hits.

use crate::kill::facts::{every_point_was_passed, first, play, points};
use crate::kill::life::Hit;

#[test]
fn killed_at_every_rare_fact_it_comes_to_the_same() {
    let lived = play(vec![Vec::new(), first(&["decided"]), first(&["durable"])]);
    let (content, passed) = &lived[0];
    every_point_was_passed(passed);
    let wanted = points(&["decided", "durable"]);
    // Few are there again: the target's moves under a landing.
    let later = |hit: fn(u64) -> u64| -> Vec<Hit> {
        let hits = wanted.iter().map(|point| (point.clone(), hit(passed[point])));
        hits.filter(|(_, hit)| *hit > 1).collect()
    };
    let killed_later = play(vec![later(|hits| hits.min(2)), later(|hits| hits)]);
    for (other, _) in lived.iter().chain(&killed_later) {
        assert_eq!(other, content, "the target's content");
    }
}
