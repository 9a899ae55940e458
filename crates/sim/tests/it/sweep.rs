//! One thing goes wrong in an otherwise kind world: the first time that it can, the second, the third … until
//! it cannot any more; and each of these with something going wrong in the recovery from it.

use std::collections::BTreeSet;

use sim::{Case, Fault, Site};

/// Faults that an engine can die of, or be failed by.
const POINTS: &[Site] = &[
    Site::AppendLost,
    Site::AppendUntold,
    Site::KillAfterWrite,
    Site::KillHalfWay,
    Site::KillUntold,
    Site::KillWhileNoting,
    Site::Sick,
    Site::Dropped,
];

fn case(seed: u64, fault: Fault, then: &[Site]) -> Case {
    Case {
        with: BTreeSet::from([fault]),
        then: then.to_vec(),
        ..Case::kind(seed)
    }
}

/// Strikes at every passage of `site`, and each time at `then` after it; gives how many runs that were.
fn sweep(seed: u64, site: Site, then: &[Site]) -> u32 {
    for hit in 0.. {
        let case = case(seed, Fault { site, hit }, then);
        let summary = case.run().unwrap_or_else(|failure| {
            panic!("{failure}\nas a regression:\n{}", case.write(failure.invariant))
        });
        if summary.struck[site as usize] == 0 {
            return hit;
        }
        assert!(summary.landed > 0 || summary.inputs > 100, "{summary}");
    }
    unreachable!("every run has an end")
}

fn every_point(site: Site) {
    let runs: u32 = (0..4).map(|seed| sweep(seed, site, &[])).sum();
    println!("{site}: {runs} runs");
    assert!(runs > 30, "{site} was passed only {runs} times");
}

/// Every point, and then `second` at its next passage: while the remains of the first are being loaded.
fn every_pair(second: Site) {
    let of = |seed| POINTS.iter().map(move |first| sweep(seed, *first, &[second]));
    let runs: u32 = (0..3).flat_map(of).sum();
    println!("then {second}: {runs} runs");
    assert!(runs > 300, "only {runs} pairs");
}

macro_rules! points {
    ($($single:ident $pair:ident $site:ident)*) => {
        $(
            #[test]
            fn $single() {
                every_point(Site::$site);
            }
        )*

        mod deep {
            use super::{Site, every_pair};

            $(
                #[test]
                fn $pair() {
                    every_pair(Site::$site);
                }
            )*
        }
    };
}

points! {
    an_append_is_lost_anywhere and_then_an_append_is_lost AppendLost
    an_append_is_durable_and_untold_anywhere and_then_an_append_is_untold AppendUntold
    killed_after_any_write and_then_killed_after_a_write KillAfterWrite
    killed_half_way_through_any_effect and_then_killed_half_way KillHalfWay
    killed_before_any_report and_then_killed_before_a_report KillUntold
    killed_while_noting_anything and_then_killed_while_noting KillWhileNoting
    any_effect_fails and_then_an_effect_fails Sick
    any_report_is_dropped and_then_a_report_is_dropped Dropped
}

#[test]
fn killed_again_and_again_while_it_starts() {
    for times in 1..=8 {
        let then = vec![Site::KillAtStart; times];
        let runs: u32 = (0..2).map(|seed| sweep(seed, Site::KillAfterWrite, &then)).sum();
        assert!(runs >= 20, "{runs}");
    }
}
