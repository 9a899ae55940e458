//! Whatever people, agents and a failing machine do, in whatever order: what is there is what a small
//! reference says.
//!
//! The real binary, the real git and real processes. Each step of an agent ends when and how the history
//! says; the engine is killed at any of its writes. `PROPTEST_CASES` asks for more histories than a test run
//! has the time for, `HISTORIES_SEED` for those of another run; a history that failed is kept in
//! `regressions.txt` and tried first from then on.

mod crew;
mod reference;

use std::sync::LazyLock;

use crew::Crew;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};
use proptest_state_machine::prop_state_machine;

/// Histories of a test run that are the same in every run, and what they are drawn from.
const CASES: u32 = 6;
const SEED: u64 = 4;
/// Those that are others in every run.
const FRESH: u32 = 4;

fn config(cases: u32, seed: u64) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/e2e/histories/regressions.txt"
        )))),
        max_shrink_iters: 64,
        ..Config::default()
    }
}

/// What the fresh ones are drawn from: `HISTORIES_SEED`, or a number that no run has had. It is drawn once,
/// since the settings are asked for with each history.
static DRAWN: LazyLock<u64> = LazyLock::new(|| {
    #[expect(clippy::disallowed_methods, reason = "a test's seed is its own")]
    let given = std::env::var("HISTORIES_SEED");
    let seed = given.map_or_else(
        |_| u64::try_from(jiff::Timestamp::now().as_microsecond()).unwrap(),
        |given| given.parse().expect("HISTORIES_SEED is a number"),
    );
    println!("HISTORIES_SEED={seed}");
    seed
});

/// As many as were asked for, or a few.
fn fresh() -> Config {
    let asked = Config::default();
    // The default is for what takes microseconds.
    let cases = if asked.cases == 256 { FRESH } else { asked.cases };
    config(cases, *DRAWN)
}

prop_state_machine! {
    #![proptest_config(config(CASES, SEED))]

    #[test]
    fn what_is_there_is_what_the_reference_says(sequential 4..16 => Crew);
}

mod deep {
    use super::{Crew, fresh, prop_state_machine};

    prop_state_machine! {
        #![proptest_config(fresh())]

        #[test]
        fn what_is_there_is_what_the_reference_says_in_a_history_that_nobody_has_seen(sequential 4..16 => Crew);
    }
}
