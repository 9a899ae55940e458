//! Whatever people, agents and a failing machine do, in whatever order: what is there is what a small reference says.
//!
//! The real binary, the real git and real processes. Each step of an agent ends when and how the history says; the engine is
//! killed at any of its writes. `PROPTEST_CASES` asks for more histories than a test run has the time for; a history that
//! failed is kept in `regressions.txt` and tried first from then on.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod crew;
mod reference;
#[expect(dead_code, reason = "the ring's tests use the rest of it")]
#[path = "../shared/world.rs"]
mod support;
#[path = "../shared/wait.rs"]
mod wait;

use crew::Crew;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};
use proptest_state_machine::prop_state_machine;

/// Histories of a test run, and what they are drawn from: the same ones in every run.
const CASES: u32 = 6;
const SEED: u64 = 4;

fn config() -> Config {
    let asked = Config::default();
    // The default is for what takes microseconds; whoever asks for a number gets so many, and others each time.
    let (cases, rng_seed) = if asked.cases == 256 {
        (CASES, RngSeed::Fixed(SEED))
    } else {
        (asked.cases, asked.rng_seed)
    };
    Config {
        cases,
        rng_seed,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/histories/regressions.txt"
        )))),
        max_shrink_iters: 64,
        ..asked
    }
}

prop_state_machine! {
    #![proptest_config(config())]

    #[test]
    fn what_is_there_is_what_the_reference_says(sequential 4..16 => Crew);
}
