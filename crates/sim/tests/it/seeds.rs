//! Ten thousand seeds, in shares that run in parallel: every invariant holds in each. The first thousand are
//! in every test run, the others in the deep tier.

use std::collections::BTreeMap;

use sim::{Case, Site, Summary};

/// Seeds in one share.
const SHARE: u64 = 500;

/// Runs one share; gives the summary of it.
fn hold(share: u64) -> Summary {
    let mut sum = Summary::default();
    let mut failures = Vec::new();
    for seed in share * SHARE..(share + 1) * SHARE {
        match Case::of(seed).run() {
            Ok(summary) => {
                assert!(
                    summary.inputs >= 100,
                    "seed {seed} had only {} inputs",
                    summary.inputs
                );
                sum.add(&summary);
            }
            Err(failure) => failures.push(failure),
        }
    }
    let mut named: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for failure in &failures {
        named
            .entry(failure.invariant)
            .or_default()
            .push(failure.case.seed);
    }
    if let Some(first) = failures.into_iter().next() {
        let small = sim::shrink(first);
        panic!(
            "of {SHARE} seeds these fail: {named:?}\n{small}\nas a regression:\n{}",
            small.case.write(small.invariant)
        );
    }
    println!("{sum}");
    // A run can hold every invariant by doing nothing: work landed, and the faults that were to be survived
    // came.
    assert!(sum.landed > 1000 && sum.crashes > 1000, "{sum}");
    for site in Site::ALL {
        assert!(sum.struck[*site as usize] > 0, "{site} never struck: {sum}");
    }
    let children = [sum.unified, sum.merged, sum.conflicted, sum.put_back];
    let folders = [sum.work_refused, sum.lost_workspaces];
    assert!(folders.iter().all(|times| *times > 0), "{sum}");
    assert!(children.iter().all(|times| *times > 0), "{sum}");
    let team = [sum.broken_up, sum.stirred];
    assert!(team.iter().all(|times| *times > 0), "{sum}");
    let money = [sum.warned, sum.spent, sum.paused, sum.midnights];
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
    seeds_0_to_499 0
    seeds_500_to_999 1
}

mod deep {
    use super::hold;

    shares! {
        seeds_1000_to_1499 2
        seeds_1500_to_1999 3
        seeds_2000_to_2499 4
        seeds_2500_to_2999 5
        seeds_3000_to_3499 6
        seeds_3500_to_3999 7
        seeds_4000_to_4499 8
        seeds_4500_to_4999 9
        seeds_5000_to_5499 10
        seeds_5500_to_5999 11
        seeds_6000_to_6499 12
        seeds_6500_to_6999 13
        seeds_7000_to_7499 14
        seeds_7500_to_7999 15
        seeds_8000_to_8499 16
        seeds_8500_to_8999 17
        seeds_9000_to_9499 18
        seeds_9500_to_9999 19
    }
}
