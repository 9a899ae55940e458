//! One seed is one history, within a process and across processes.

use sim::Case;

/// Seeds whose whole traces are compared in every test run.
const SEEDS: u64 = 20;

/// The digest of the traces of the seeds, one number.
fn digest(seeds: u64) -> u64 {
    let lines = (0..seeds).flat_map(|seed| Case::of(seed).replay().1);
    let bytes = lines.flat_map(|line| line.to_string().into_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |state: u64, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn are_one_history_each(seeds: impl Iterator<Item = u64>) {
    for seed in seeds {
        let (one, other) = (Case::of(seed).replay(), Case::of(seed).replay());
        assert_eq!(one, other, "seed {seed}");
        assert_eq!(Case::of(seed).run(), one.0, "seed {seed}, without its trace");
    }
    assert_ne!(Case::of(3).replay().1, Case::of(4).replay().1);
}

/// The number that a test of this program tells in a process of its own.
fn told_elsewhere(test: &str) -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test of this very program, in a process of its own"
    )]
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let told = |line: &str| line.rsplit_once("digest ")?.1.parse::<u64>().ok();
    let digest = output.lines().find_map(told);
    digest.unwrap_or_else(|| panic!("{output}"))
}

#[test]
fn one_seed_is_one_history() {
    are_one_history_each((0..SEEDS).chain([4_000_000_007]));
}

/// The part of [`every_process_tells_the_same_history`] that runs in another process.
#[test]
#[ignore = "it proves nothing by itself"]
fn tells_a_digest() {
    println!("digest {}", digest(SEEDS));
}

#[test]
fn every_process_tells_the_same_history() {
    assert_eq!(told_elsewhere("replay::tells_a_digest"), digest(SEEDS));
}

mod deep {
    use super::{are_one_history_each, digest, told_elsewhere};

    /// Seeds whose whole traces are compared in the deep tier.
    const SEEDS: u64 = 200;

    #[test]
    fn one_seed_is_one_history() {
        are_one_history_each(super::SEEDS..SEEDS);
    }

    #[test]
    #[ignore = "it proves nothing by itself"]
    fn tells_a_digest() {
        println!("digest {}", digest(SEEDS));
    }

    #[test]
    fn every_process_tells_the_same_history() {
        assert_eq!(told_elsewhere("replay::deep::tells_a_digest"), digest(SEEDS));
    }
}
