//! What people see: everything that is printed goes through here, and is made harmless on its way.

mod out;
mod problem;
mod screen;
mod table;
mod time;

pub(crate) use out::{Out, Style, Terminal};
pub(crate) use problem::show as show_problem;
pub(crate) use screen::Screen;
pub(crate) use table::{Cell, Table, columns};
pub(crate) use time::{clock as clock_time, span};

use model::attempt::Usage;

/// One line of untrusted text, fit to be shown.
pub(crate) fn clean(text: &str) -> String {
    harness::sanitise::line(text)
}

/// Tokens, short: `950`, `12.3k`, `1.2M`.
pub(crate) fn tokens(count: u64) -> String {
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

/// What something cost: nothing for nothing, `<$0.01` for what rounds to it, `~` before what is estimated in part.
pub(crate) fn cost(usage: Usage) -> String {
    let about = if usage.estimated_micro_usd > 0 { "~" } else { "" };
    match usage.cost_micro_usd {
        0 => String::new(),
        1..5_000 => format!("{about}<$0.01"),
        micro => format!("{about}{}", dollars(micro)),
    }
}

/// Money: `$0.25`.
pub(crate) fn dollars(micro: u64) -> String {
    let cents = micro.saturating_add(5_000) / 10_000;
    format!("${}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    #[test]
    fn figures_are_short() {
        let short = [0, 999, 1_000, 12_345, 123_456, 999_999, 1_000_000, 12_300_000].map(super::tokens);
        assert_eq!(
            short,
            ["0", "999", "1.0k", "12.3k", "123k", "999k", "1.0M", "12.3M"]
        );
        assert_eq!(
            [0, 4_999, 5_000, 250_000, 12_000_000].map(super::dollars),
            ["$0.00", "$0.00", "$0.01", "$0.25", "$12.00"]
        );
    }
}
