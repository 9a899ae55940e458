//! The facts of a team: crew dies before each is durable too, and at every other point that a team comes by.

use std::collections::BTreeMap;

use crate::kill::life::{Hit, play};
use crate::kill::team::OWN;

/// Points of other processes than engines and commands: a step is lost with its shim, and begins again.
const OF_OTHERS: [&str; 2] = ["shim.", "call.sent"];

#[test]
fn killed_at_every_point_of_a_team_it_comes_to_the_same() {
    let lived = play(vec![Vec::new(), OWN.before()], OWN.live);
    let (content, passed) = &lived[0];
    assert_eq!(lived[1].0, *content, "the target's content");
    let killed = play(
        vec![at(passed, |_| 1), at(passed, |hits| hits.div_ceil(2))],
        OWN.live,
    );
    for (other, _) in &killed {
        assert_eq!(other, content, "the target's content");
    }
}

/// One hit of each point.
fn at(passed: &BTreeMap<String, u64>, hit: fn(u64) -> u64) -> Vec<Hit> {
    let of_ours = |point: &str| !OF_OTHERS.iter().any(|others| point.starts_with(others));
    passed
        .iter()
        .filter(|(point, _)| of_ours(point))
        .map(|(point, hits)| (point.clone(), hit(*hits)))
        .collect()
}
