//! Time for people: relative, short.

use std::time::Duration;

use model::Time;

/// A span in its largest unit: `12s`, `3m`, `2h`, `4d`.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        172_800.. => format!("{}d", seconds / 86_400),
    }
}

/// A moment in UTC, to the second: `2026-01-02 03:04:05`.
pub(crate) fn clock(at: Time) -> String {
    at.to_string().replace('T', " ").trim_end_matches('Z').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_in_their_largest_unit() {
        let spans = [0, 59, 60, 3_599, 3_600, 172_799, 172_800].map(|s| span(Duration::from_secs(s)));
        assert_eq!(spans, ["0s", "59s", "1m", "59m", "1h", "47h", "2d"]);
        assert_eq!(clock(Time(1_000)), "1970-01-01 00:00:01");
    }
}
