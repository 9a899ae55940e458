//! Figures in words, alike on every surface.

use std::time::Duration;

use crate::attempt::Usage;

/// A span in its largest unit: `12s`, `3m`, `2h`, `4d`.
#[must_use]
pub fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        172_800.. => format!("{}d", seconds / 86_400),
    }
}

/// A span that is left, in its largest unit, rounded up: an event that is shown to come in `2h` is never
/// later.
#[must_use]
pub fn left(left: Duration) -> String {
    let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
    let up = |unit: u64| seconds.div_ceil(unit) * unit;
    let unit = match seconds {
        0..60 => 1,
        60..=3_540 => 60,
        3_541..=169_200 => 3_600,
        169_201.. => 86_400,
    };
    span(Duration::from_secs(up(unit)))
}

/// Tokens, short: `950`, `12.3k`, `1.2M`.
#[must_use]
pub fn tokens(count: u64) -> String {
    let scaled = |unit: u64, name: &str| {
        let tenths = count / (unit / 10);
        if tenths >= 1000 {
            format!("{}{name}", tenths / 10)
        } else {
            format!("{}.{}{name}", tenths / 10, tenths % 10)
        }
    };
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => scaled(1_000, "k"),
        1_000_000.. => scaled(1_000_000, "M"),
    }
}

/// A cost: nothing for nothing, `<$0.01` for an amount that rounds to it, `~` before one that is estimated in
/// part.
#[must_use]
pub fn cost(usage: Usage) -> String {
    let about = if usage.estimated_micro_usd > 0 { "~" } else { "" };
    match usage.cost_micro_usd {
        0 => String::new(),
        1..5_000 => format!("{about}<$0.01"),
        micro => format!("{about}{}", dollars(micro)),
    }
}

/// Money, from millionths of a US dollar: `$0.25`.
#[must_use]
pub fn dollars(micro: u64) -> String {
    let cents = micro.saturating_add(5_000) / 10_000;
    format!("${}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_in_their_largest_unit() {
        let spans = [0, 59, 60, 3_599, 3_600, 172_799, 172_800].map(|s| span(Duration::from_secs(s)));
        assert_eq!(spans, ["0s", "59s", "1m", "59m", "1h", "47h", "2d"]);
        let lefts = [
            0,
            1,
            59_000,
            59_001,
            60_000,
            60_001,
            3_540_001,
            7_199_000,
            169_200_001,
            172_800_001,
        ];
        assert_eq!(
            lefts.map(|ms| left(Duration::from_millis(ms))),
            ["0s", "1s", "59s", "1m", "1m", "2m", "1h", "2h", "2d", "3d"]
        );
    }

    #[test]
    fn figures_are_short() {
        let short = [0, 999, 1_000, 12_345, 123_456, 999_999, 1_000_000, 12_300_000].map(tokens);
        assert_eq!(
            short,
            ["0", "999", "1.0k", "12.3k", "123k", "999k", "1.0M", "12.3M"]
        );
        assert_eq!(
            [0, 4_999, 5_000, 250_000, 12_000_000].map(dollars),
            ["$0.00", "$0.00", "$0.01", "$0.25", "$12.00"]
        );
    }
}
