//! Durations as an agent writes them, in the format of `crew.toml`.

use std::time::Duration;

/// The longest time that an agent may sleep. A longer one is a slip, and people would lose sight of its
/// ticket.
pub(crate) const LONGEST: Duration = Duration::from_hours(24 * 30);

/// The units, largest first, in milliseconds.
const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// Parses `90s`, `10m`, `1h30m`: whole numbers, each with its unit, the largest unit first. The error is a
/// predicate for people, as in "soon *is no duration*".
pub(crate) fn parse(text: &str) -> Result<Duration, &'static str> {
    let mut rest = text;
    let (mut total, mut smallest) = (0_u64, u64::MAX);
    while !rest.is_empty() {
        let (number, tail) =
            rest.split_at(rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        let (unit, tail) =
            tail.split_at(tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_lowercase()).len());
        let unit = UNITS.iter().find(|(name, _)| *name == unit);
        let Some(&(_, scale)) = unit.filter(|(_, scale)| *scale < smallest && !number.is_empty()) else {
            return Err("is no duration like 90s, 10m or 1h30m");
        };
        let part = number
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(scale));
        let Some(sum) = part.and_then(|part| total.checked_add(part)) else {
            return Err("is too long: thirty days are the most");
        };
        (total, smallest, rest) = (sum, scale, tail);
    }
    match Duration::from_millis(total) {
        Duration::ZERO => Err("is no time to wait"),
        long if long > LONGEST => Err("is too long: thirty days are the most"),
        fits => Ok(fits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_nonsense_is_not() {
        for (text, millis) in [
            ("90s", 90_000),
            ("10m", 600_000),
            ("1h30m", 5_400_000),
            ("30d", 2_592_000_000),
            ("500ms", 500),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in [
            "",
            "0s",
            "10",
            "m",
            "soon",
            "-5m",
            "5m1h",
            "5m5m",
            "1.5h",
            "31d",
            "10 m",
            "5M",
            "99999999999999999999d",
            "9999999999999999d",
        ] {
            assert!(parse(text).is_err(), "{text:?} was accepted");
        }
    }
}
