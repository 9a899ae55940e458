//! One seed, looked at; or as many as anybody likes.

#[expect(
    clippy::disallowed_methods,
    reason = "the seeds to be looked at are named by whoever runs these tests"
)]
fn named(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

/// Prints the whole trace of the seed that `SIM_SEED` names; without it, there is nothing to look at.
#[test]
fn replay() {
    let Some(seed) = named("SIM_SEED") else { return };
    let seed: u64 = seed.parse().expect("SIM_SEED is a number");
    for line in sim::replay(seed, None) {
        println!("{line}");
    }
    if let Err(failure) = sim::run(seed, None) {
        panic!("{failure}");
    }
}

/// Runs the seeds that `SIM_SEEDS` names, as in `500-9999`, and tells of every one that fails.
#[test]
fn sweep() {
    let Some(range) = named("SIM_SEEDS") else { return };
    let (first, last) = range
        .split_once('-')
        .expect("SIM_SEEDS is two numbers with a dash between");
    let number = |text: &str| {
        text.parse::<u64>()
            .expect("SIM_SEEDS is two numbers with a dash between")
    };
    let mut failed = 0;
    for seed in number(first)..=number(last) {
        if let Err(failure) = sim::run(seed, None) {
            failed += 1;
            println!("{failure}\n");
        }
    }
    assert_eq!(failed, 0, "seeds fail");
}
