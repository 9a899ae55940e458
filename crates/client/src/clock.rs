//! The one place of the program that reads the clock, and where ids are minted; and the moments of the clock
//! on a person's wall.

use std::sync::LazyLock;

use jiff::tz::TimeZone;
use model::Time;

/// The zone of whoever called: `TZ`, else the machine's. None where it is not known.
static ZONE: LazyLock<Option<TimeZone>> = LazyLock::new(|| TimeZone::try_system().ok());

/// The present time.
pub fn now() -> Time {
    Time(jiff::Timestamp::now().as_millisecond())
}

/// A moment for a person, in their time zone: the time today, `03:04:05`, and any other day with its date,
/// `2026-01-02 03:04`. Where the zone is not known it is UTC, and says so.
pub fn local(at: Time) -> String {
    in_zone(at, now(), ZONE.as_ref())
}

/// A moment with its date always, for lists that go on over midnight: `2026-01-02 03:04:05`.
pub fn local_date_time(at: Time) -> String {
    shown(at, "%Y-%m-%d %H:%M:%S", ZONE.as_ref())
}

/// The time of day of a moment, for lists that say nothing of the day: `03:04:05`.
pub fn local_time(at: Time) -> String {
    shown(at, "%H:%M:%S", ZONE.as_ref())
}

fn in_zone(at: Time, now: Time, zone: Option<&TimeZone>) -> String {
    let day = |at| shown(at, "%Y-%m-%d", zone);
    let pattern = if day(at) == day(now) {
        "%H:%M:%S"
    } else {
        "%Y-%m-%d %H:%M"
    };
    shown(at, pattern, zone)
}

fn shown(at: Time, pattern: &str, zone: Option<&TimeZone>) -> String {
    let Ok(moment) = jiff::Timestamp::from_millisecond(at.0) else {
        return at.to_string();
    };
    match zone {
        Some(zone) => moment.to_zoned(zone.clone()).strftime(pattern).to_string(),
        None => format!("{} UTC", moment.to_zoned(TimeZone::UTC).strftime(pattern)),
    }
}

/// An id for a command: unique, and in the order of time.
pub fn command_id() -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "the face is the edge where commands begin"
    )]
    let id = uuid::Uuid::now_v7();
    id.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_shown_in_the_zone_of_whoever_looks() {
        let at = |text: &str| Time(text.parse::<jiff::Timestamp>().unwrap().as_millisecond());
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let late = at("2026-01-02T23:04:05Z");
        let seen = |now| in_zone(late, at(now), Some(&zone));
        assert_eq!(seen("2026-01-03T09:00:00Z"), "01:04:05");
        assert_eq!(seen("2026-01-02T21:00:00Z"), "2026-01-03 01:04");
        assert_eq!(in_zone(late, late, None), "23:04:05 UTC");
    }
}
