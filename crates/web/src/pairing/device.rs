//! A device as it is kept.

use client::clock;
use client::documents::WebDevice;
use model::{Moment, Time};
use serde::{Deserialize, Serialize};

use crate::app::{Device, Scope};

/// The days after its last use after which a device is not known any more.
pub(crate) const DAYS: i64 = 90;
/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;
/// The most characters of a name.
const LONGEST: usize = 40;

/// A device that is paired, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paired {
    /// Its id.
    pub id: String,
    /// Its name, as the person gave it.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// The hash of its token.
    pub(crate) token: String,
    /// When it was paired, in milliseconds of UNIX time.
    pub(crate) paired_ms: i64,
    /// When it was used last, in milliseconds of UNIX time, give or take some minutes.
    pub(crate) used_ms: i64,
}

impl Paired {
    /// Whether it was used lately enough to be known.
    #[must_use]
    pub fn is_known(&self) -> bool {
        clock::now().0 < self.used_ms + DAYS * DAY
    }

    /// It as a document.
    #[must_use]
    pub fn document(&self) -> WebDevice {
        WebDevice {
            id: self.id.clone(),
            name: self.name.clone(),
            scope: self.scope.name(),
            paired_at: Moment(Time(self.paired_ms)),
            last_used: Moment(Time(self.used_ms)),
        }
    }

    /// It as handlers see it.
    pub(crate) fn device(&self) -> Device {
        Device {
            id: self.id.clone(),
            name: self.name.clone(),
            scope: self.scope,
        }
    }
}

/// The name of a device as it is kept and shown: one line, and not long.
pub(crate) fn name(text: &str) -> Option<String> {
    let line = text::sanitise::line(text);
    let name: String = line.trim().chars().take(LONGEST).collect();
    let name = name.trim().to_owned();
    (!name.is_empty()).then_some(name)
}
