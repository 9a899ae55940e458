//! The facts of batches, reviews and commitments: crew dies before each is durable too.

use crate::kill::gate::OWN;
use crate::kill::life;

#[test]
fn killed_before_every_fact_of_the_gate_is_durable_it_comes_to_the_same() {
    let lived = life::play(vec![Vec::new(), OWN.before()], OWN.live);
    assert_eq!(lived[1].0, lived[0].0, "the target's content");
}
