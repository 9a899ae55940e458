//! One seed, looked at.

/// Prints the whole trace of the seed that `SIM_SEED` names.
#[test]
fn replay() {
    #[expect(clippy::disallowed_methods, reason = "the seed to be looked at is named by whoever runs this test")]
    let Ok(seed) = std::env::var("SIM_SEED") else { return };
    let seed: u64 = seed.parse().expect("SIM_SEED is a number");
    for line in sim::replay(seed, None) {
        println!("{line}");
    }
    if let Err(failure) = sim::run(seed, None) {
        panic!("{failure}");
    }
}
