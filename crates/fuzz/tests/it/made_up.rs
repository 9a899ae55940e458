//! Input that is made up from what is kept, the same in each run, so that a change is only ever refused for
//! what it broke itself.
//!
//! Nothing guides it, as the counters of `cargo xtask fuzz` do, but it needs no build of its own. `FUZZ_SEED`
//! asks for other input; `cargo xtask fuzz` and `cargo xtask test --deep` look for what nobody has found yet.
#![expect(
    clippy::disallowed_methods,
    reason = "a test takes its seed from the environment"
)]

use std::panic::catch_unwind;
use std::path::Path;

use crate::kept;

/// For each target: some seconds of the slowest one.
const INPUTS: usize = 10_000;
/// Without `FUZZ_SEED`.
const SEED: u64 = 1;
/// Bytes of an input at most, as `cargo xtask fuzz` has it.
const LONGEST: usize = 8192;
/// What readers of text and numbers stumble over.
const AWKWARD: [&[u8]; 12] = [
    b"\0",
    b"\n",
    b"\r\n",
    b"\xff",
    b"\xe2\x80\xae",
    b"\x1b[2J",
    b"\"",
    b": ",
    b"---\n",
    b"{",
    b"-1",
    b"18446744073709551616",
];

/// SplitMix64: the same numbers for the same seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    /// A part of some bytes, a short one as a rule.
    fn part<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let from = self.below(bytes.len() + 1);
        let longest = if self.below(4) == 0 { bytes.len() } else { 16 };
        let length = self.below(longest + 1).min(bytes.len() - from);
        &bytes[from..from + length]
    }

    /// A kept input, changed in a few places.
    fn input(&mut self, kept: &[Vec<u8>]) -> Vec<u8> {
        let mut input = kept[self.below(kept.len())].clone();
        for _ in 0..=self.below(6) {
            let at = self.below(input.len() + 1);
            let put = match self.below(4) {
                0 if at < input.len() => {
                    input[at] ^= 1 << self.below(8);
                    continue;
                }
                0 | 1 => AWKWARD[self.below(AWKWARD.len())].to_vec(),
                2 => {
                    let other = self.below(kept.len());
                    self.part(&kept[other]).to_vec()
                }
                _ => self.part(&input).to_vec(),
            };
            let taken = if self.below(2) == 0 { 0 } else { self.below(16) };
            let end = (at + taken).min(input.len());
            drop(input.splice(at..end, put));
        }
        input.truncate(LONGEST);
        input
    }
}

fn hold(name: &str) {
    let target = fuzz::target(name).unwrap();
    let kept: Vec<Vec<u8>> = kept(name).into_iter().map(|(_, bytes)| bytes).collect();
    let seed = std::env::var("FUZZ_SEED").map_or(SEED, |seed| seed.parse().expect("FUZZ_SEED is a number"));
    println!("FUZZ_SEED={seed}");
    let mut chance = Chance(seed);
    for tried in 1..=INPUTS {
        let input = chance.input(&kept);
        if catch_unwind(|| (target.check)(&input)).is_err() {
            let found = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{seed}-{tried}"));
            std::fs::write(&found, &input).unwrap();
            panic!(
                "input {tried} breaks what must hold: it is {}; mended, put it into corpus/{name} under a name that says what it is",
                found.display()
            );
        }
    }
}

macro_rules! targets {
    ($($test:ident $name:literal)*) => {
        $(
            #[test]
            fn $test() {
                hold($name);
            }
        )*

        #[test]
        fn each_target_has_its_test() {
            let mut tested = [$($name),*];
            let mut targets = fuzz::TARGETS.map(|target| target.name);
            tested.sort_unstable();
            targets.sort_unstable();
            assert_eq!(tested, targets);
        }
    };
}

targets! {
    made_up_front_matter_holds "front-matter"
    made_up_names_hold "names"
    made_up_records_hold "records"
    made_up_texts_hold "sanitiser"
    made_up_settings_hold "settings"
    made_up_streams_hold "stream"
}
