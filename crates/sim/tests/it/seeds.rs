//! Five hundred seeds, in shares that run beside each other: every invariant holds in each.

use std::collections::BTreeMap;

/// Seeds in one share.
const SHARE: u64 = 50;

/// Runs one share; gives what it came to in all.
fn hold(share: u64) -> sim::Summary {
    let mut sum = sim::Summary::default();
    let mut failures = Vec::new();
    for seed in share * SHARE..(share + 1) * SHARE {
        match sim::run(seed, None) {
            Ok(summary) => {
                assert!(
                    summary.inputs >= 100,
                    "seed {seed} had only {} inputs",
                    summary.inputs
                );
                sum.inputs += summary.inputs;
                sum.landed += summary.landed;
                sum.crashes += summary.crashes;
                sum.refusals += summary.refusals;
                sum.zombies += summary.zombies;
                sum.hours += summary.hours;
                sum.warned += summary.warned;
                sum.spent += summary.spent;
                sum.paused += summary.paused;
                sum.midnights += summary.midnights;
            }
            Err(failure) => failures.push(failure),
        }
    }
    if let Some(first) = failures.first() {
        let mut named: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for failure in &failures {
            named.entry(failure.invariant).or_default().push(failure.seed);
        }
        panic!("{} of {SHARE} seeds fail: {named:?}\n{first}", failures.len());
    }
    println!("{sum:?}");
    // A run can hold every invariant by doing nothing: work landed, and the faults that were to be survived came.
    assert!(sum.landed > 100 && sum.crashes > 100, "{sum:?}");
    let money = [sum.warned, sum.spent, sum.paused];
    assert!(money.iter().all(|times| *times > 0), "{sum:?}");
    sum
}

macro_rules! shares {
    ($($name:ident $share:literal)*) => {
        $(
            #[test]
            fn $name() {
                hold($share);
            }
        )*
    };
}

shares! {
    seeds_0_to_49 0
    seeds_50_to_99 1
    seeds_100_to_149 2
    seeds_150_to_199 3
    seeds_200_to_249 4
    seeds_250_to_299 5
    seeds_300_to_349 6
    seeds_350_to_399 7
    seeds_400_to_449 8
    seeds_450_to_499 9
}

#[test]
fn one_seed_is_one_history() {
    for seed in [3, 71, 4_000_000_007] {
        assert_eq!(sim::replay(seed, None), sim::replay(seed, None), "seed {seed}");
    }
    assert_ne!(sim::replay(3, None), sim::replay(4, None));
}
