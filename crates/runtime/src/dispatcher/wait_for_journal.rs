//! Outlasting a journal that cannot be written for a while.

use std::time::Duration;

use model::Time;
use store::Journal as _;
use tokio::sync::watch;

use super::{Dispatcher, signalled};
use crate::{Error, Result, Signal, clock, log};

/// A journal that cannot be written is tried again this often.
const RETRY: Duration = Duration::from_secs(1);
/// One that is in trouble again so soon after it was well is in the same trouble.
const SAME: Duration = Duration::from_mins(1);
/// The same trouble, which comes and goes, is told again this often.
const REMIND: Duration = Duration::from_mins(10);
/// Loading the journal reads all of it: in the same trouble this is done ever more rarely, 2 to the power of
/// this at most.
const DOUBLINGS: u32 = 5;

impl Dispatcher {
    /// Waits until the journal can be written again, and loads it anew: decisions that are not durable are
    /// made once more. Nothing begins meanwhile, and runs go on. A person who asks the engine to stop is
    /// obeyed at once, since that request cannot be written either: the next engine goes on.
    pub(super) async fn wait_for_journal(
        &mut self,
        mut error: Error,
        signals: &mut Option<watch::Receiver<Signal>>,
    ) -> Result<()> {
        let is_news = self.health.note_trouble(clock::now());
        if is_news {
            let why = text::with_causes(&error);
            let hint = error.hint().unwrap_or_default();
            tracing::warn!(
                "nothing new begins until the journal can be written: {why}\n{hint}; crew goes on by itself"
            );
        }
        loop {
            log::journal_retried(&error, self.health.pause());
            tokio::select! {
                () = tokio::time::sleep(self.health.pause()) => {}
                signal = signalled(signals) => {
                    if signal != Signal::None {
                        return Err(error);
                    }
                }
            }
            // Taking it up may need no write at all, and would prove nothing.
            let at = clock::now();
            let loaded = match self.ledger.0.set_meta("written", &at.0.to_string()).await {
                Ok(()) => {
                    self.health.note_loaded();
                    self.load().await
                }
                Err(error) => Err(Error::Store(error)),
            };
            match loaded {
                Ok(()) => {
                    if is_news {
                        tracing::warn!("the journal can be written again");
                    }
                    self.health.note_well(at);
                    return Ok(());
                }
                Err(again) if again.is_passing() => error = again,
                Err(other) => return Err(other),
            }
        }
    }
}

/// How the journal has been.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// When it was last well again.
    well_since: Option<Time>,
    /// When its trouble was last told.
    told: Option<Time>,
    /// How often it was taken up in this trouble.
    loaded: u32,
}

impl Health {
    /// It cannot be written; whether a person is to be told.
    fn note_trouble(&mut self, now: Time) -> bool {
        let is_new = self.well_since.is_none_or(|well| now.since(well) > SAME);
        if is_new {
            self.loaded = 0;
        }
        let is_news = is_new || self.told.is_none_or(|told| now.since(told) > REMIND);
        if is_news {
            self.told = Some(now);
        }
        is_news
    }

    /// It is being taken up.
    fn note_loaded(&mut self) {
        self.loaded += 1;
    }

    /// It is taken up.
    fn note_well(&mut self, now: Time) {
        self.well_since = Some(now);
    }

    /// How long it is left alone before it is tried.
    fn pause(&self) -> Duration {
        RETRY * 2_u32.pow(self.loaded.min(DOUBLINGS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trouble of a second, with this long between one and the next. Returns how often it is reported, and
    /// how often the journal is read.
    fn comes_and_goes(between: Duration, for_long: Duration) -> (usize, usize) {
        let mut health = Health::default();
        let (mut now, mut told, mut read) = (Time(0), 0, 0);
        while now < Time(0) + for_long {
            told += usize::from(health.note_trouble(now));
            now = now + health.pause();
            health.note_loaded();
            read += 1;
            health.note_well(now);
            now = now + between;
        }
        (told, read)
    }

    #[test]
    fn trouble_that_comes_and_goes_is_told_now_and_then_and_costs_little() {
        let hour = Duration::from_hours(1);
        let (told, read) = comes_and_goes(Duration::from_secs(1), hour);
        assert!((5..=7).contains(&told), "{told} times");
        assert!(read < 130, "{read} times");
    }

    #[test]
    fn trouble_after_it_was_well_for_a_time_is_told_anew_and_tried_at_once() {
        let hour = Duration::from_hours(1);
        let (told, read) = comes_and_goes(Duration::from_mins(2), hour);
        assert_eq!(told, read);
        assert!(told > 25, "{told} times");
        let mut health = Health::default();
        health.note_loaded();
        health.note_well(Time(0));
        assert!(health.note_trouble(Time(0) + Duration::from_mins(2)));
        assert_eq!(health.pause(), RETRY);
    }
}
