//! The one place that reads the clock.

use model::Time;

/// Now.
pub(crate) fn now() -> Time {
    Time(jiff::Timestamp::now().as_millisecond())
}
