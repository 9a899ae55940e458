//! The one place of the program that reads the clock, and where ids are minted; and the moments of the clock
//! on a person's wall.

use std::sync::LazyLock;
use std::time::Duration;

use jiff::tz::TimeZone;
use model::Time;

use crate::error::{Error, Result};

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

/// A sentence of crew's for a person, with each moment in it in their time zone: sentences that are stored,
/// or are for programs too, have it in UTC, as `2026-01-02T03:04:05Z`.
pub fn in_words(text: &str) -> String {
    each_moment(text, local)
}

fn each_moment(text: &str, shown: impl Fn(Time) -> String) -> String {
    const LEN: usize = "2026-01-02T03:04:05Z".len();
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("T").filter(|_| rest.len() >= LEN) {
        let moment = at.checked_sub("2026-01-02".len()).and_then(|from| {
            let moment = rest.get(from..from + LEN)?;
            let is_whole = |before: &str, after: &str| {
                let goes_on = |c: char| c.is_ascii_alphanumeric();
                !before.ends_with(goes_on) && !after.starts_with(goes_on)
            };
            let (before, after) = (rest.get(..from)?, rest.get(from + LEN..)?);
            let time: jiff::Timestamp = moment.strip_suffix('Z').and(moment.parse().ok())?;
            is_whole(before, after).then_some((from, Time(time.as_millisecond())))
        });
        match moment {
            Some((from, time)) => {
                said.push_str(&rest[..from]);
                said.push_str(&shown(time));
                rest = &rest[from + LEN..];
            }
            None => {
                said.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
            }
        }
    }
    said.push_str(rest);
    said
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

/// A moment that a person wrote: so long ago (`24h`), a day of UTC, or a moment as programs write it.
///
/// # Errors
/// The text is none of them.
pub fn since(text: &str, now: Time) -> Result<Time> {
    if let Ok(span) = model::settings::duration(text) {
        return Ok(Time(now.0.saturating_sub(millis(span))));
    }
    if let Ok(day) = text.parse::<jiff::civil::Date>()
        && let Ok(begins) = day.to_zoned(TimeZone::UTC)
        && !text.contains(['T', ' '])
    {
        return Ok(Time(begins.timestamp().as_millisecond()));
    }
    match text.parse::<jiff::Timestamp>() {
        Ok(moment) => Ok(Time(moment.as_millisecond())),
        Err(_) => Err(Error::usage(
            format!("`{}` is no span, day or moment", text::sanitise::line(text)),
            "write `--since 24h`, `--since 2026-01-31` or `--since 2026-01-31T08:00:00Z`",
        )),
    }
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
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

    #[test]
    fn a_sentence_has_its_moments_in_the_zone_of_whoever_reads_it() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let seen = |text: &str| each_moment(text, |at| shown(at, "%H:%M:%S", Some(&zone)));
        assert_eq!(
            seen("The tests: next try not before 2026-01-02T03:04:05Z (or 2026-01-02T23:00:00Z)"),
            "The tests: next try not before 05:04:05 (or 01:00:00)"
        );
        // Nothing else is one: an id, a day that there is not, a longer number.
        for text in [
            "T",
            "änderungen-T-2026T",
            "2026-13-02T03:04:05Z",
            "12026-01-02T03:04:05Z",
            "2026-01-02T03:04:05.250Z",
        ] {
            assert_eq!(seen(text), text);
        }
    }

    #[test]
    fn since_is_a_span_a_day_or_a_moment() {
        let now = Time(1_767_323_045_000);
        let at = |text| since(text, now).unwrap().to_string();
        assert_eq!(at("24h"), "2026-01-01T03:04:05Z");
        assert_eq!(at("7d"), "2025-12-26T03:04:05Z");
        assert_eq!(at("2026-01-01"), "2026-01-01T00:00:00Z");
        assert_eq!(at("2026-01-01T08:30:00+02:00"), "2026-01-01T06:30:00Z");
        for bad in ["", "yesterday", "2026-13-01", "5", "2026-01-01T08:30"] {
            assert!(since(bad, now).is_err(), "{bad}");
        }
    }
}
