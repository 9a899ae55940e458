//! US dollars as a value: whole millionths, so that sums and limits are exact.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Millionths of a dollar.
const DOLLAR: u64 = 1_000_000;

/// The most that an amount may be: a guard against a slip of the finger, far above what a crew can spend.
pub const MOST: Usd = Usd(1_000_000 * DOLLAR);

/// US dollars, in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Usd(pub u64);

impl Usd {
    /// Reads an amount as settings write it: `5`, `0.25`, `1_000.5`; at most six decimals.
    ///
    /// # Errors
    ///
    /// What is wrong with it, as the end of a sentence that began with the key.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let plain = text.strip_prefix('+').unwrap_or(text).replace('_', "");
        if plain.starts_with('-') {
            return Err("is less than nothing");
        }
        let (whole, part) = plain.split_once('.').unwrap_or((&plain, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) {
            return Err("is no amount of dollars");
        }
        let part = part.trim_end_matches('0');
        if part.len() > 6 {
            return Err("is finer than a millionth of a dollar");
        }
        let micro: u64 = format!("{part:0<6}").parse().unwrap_or(0);
        let whole = whole
            .parse::<u64>()
            .ok()
            .and_then(|whole| whole.checked_mul(DOLLAR));
        let all = whole.and_then(|whole| whole.checked_add(micro)).map(Usd);
        all.filter(|all| *all <= MOST)
            .ok_or("is more than a million dollars")
    }

    /// As a JSON or TOML number of dollars; an amount that is written is read as the same amount.
    #[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53 millionths")]
    #[must_use]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// `$5.12`; an amount below a dollar has as many decimals as it needs, at most four.
impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 >= DOLLAR || self.0.is_multiple_of(10_000) {
            let cents = self.0.saturating_add(5_000) / 10_000;
            return write!(f, "${}.{:02}", cents / 100, cents % 100);
        }
        // Something is never shown as nothing.
        let parts = (self.0.saturating_add(50) / 100).max(1);
        let text = format!("{}.{:04}", parts / 10_000, parts % 10_000);
        let short = text.trim_end_matches('0');
        let least = text.find('.').map_or(text.len(), |dot| dot + 3);
        write!(f, "${}", &text[..short.len().max(least)])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_are_read_exactly() {
        let read = ["5", "5.0", "0.1", "0.000001", "1_000.5", "+2", "1000000"]
            .map(|text| Usd::parse(text).unwrap().0);
        assert_eq!(
            read,
            [
                5_000_000,
                5_000_000,
                100_000,
                1,
                1_000_500_000,
                2_000_000,
                1_000_000_000_000
            ]
        );
        for bad in [
            "",
            ".5",
            "5.",
            "-1",
            "1e3",
            "inf",
            "nan",
            "0.0000001",
            "1000000.1",
            "99999999999999999999999",
        ] {
            assert!(Usd::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn amounts_are_shown_short() {
        let shown = [
            0, 1, 50, 4_200, 10_000, 123_456, 250_000, 999_999, 1_000_000, 5_123_456, 12_000_000,
        ]
        .map(|micro| Usd(micro).to_string());
        assert_eq!(
            shown,
            [
                "$0.00", "$0.0001", "$0.0001", "$0.0042", "$0.01", "$0.1235", "$0.25", "$1.00", "$1.00",
                "$5.12", "$12.00"
            ]
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_the_same(micro in 0..MOST.0) {
            prop_assert_eq!(Usd::parse(&Usd(micro).dollars().to_string()), Ok(Usd(micro)));
        }
    }
}
