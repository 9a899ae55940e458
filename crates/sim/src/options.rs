//! What a seed draws before anything happens: the settings of the engine and how rough the world is.

use std::time::Duration;

use model::money::Usd;
use model::settings::Settings;
use model::{AgentName, Time};

use crate::rng::Rng;

/// When the world begins, unless it is near midnight.
const BEGIN: Time = Time(1_800_000_000_000);

/// The drawn options of one simulation; printed with a failure.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// What the engine is told.
    pub(crate) settings: Settings,
    /// When the world begins: often a little before midnight.
    pub(crate) begin: Time,
    /// Inputs to the core before the world is calm.
    pub(crate) inputs: u32,
    /// Percent of turns in which a person does something.
    pub(crate) people: u64,
    /// Percent of effects that fail outside anyone's reach.
    pub(crate) sick: u64,
    /// Per mille of turns in which the engine crashes.
    pub(crate) crash: u64,
    /// Percent of steps that go wrong.
    pub(crate) clumsy: u64,
    /// Percent of starts that are for one command only.
    pub(crate) errands: u64,
    /// Percent of inputs that are not written down before the next is heard.
    pub(crate) batch: u64,
    /// Percent of crashes after which the old engine writes once more.
    pub(crate) zombie: u64,
}

impl Options {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let small = |rng: &mut Rng, low, high| u32::try_from(rng.from(low, high)).unwrap_or(1);
        let mut settings = Settings::default();
        settings.run.max_workers = small(rng, 1, 4);
        settings.run.max_steps = small(rng, 2, 6);
        settings.run.attempts = small(rng, 1, 3);
        settings.run.stall_after = Duration::from_secs(rng.from(20, 40));
        settings.run.step_timeout = Duration::from_secs(rng.from(100, 300));
        settings.run.settle = Duration::from_millis(rng.below(3) * 250);
        settings.run.conflict_resolutions = small(rng, 0, 3);
        settings.run.recoveries = small(rng, 0, 2);
        settings.agents.count = small(rng, 1, 4);
        if rng.percent(30) {
            settings.run.answer_within = Some(Duration::from_secs(rng.from(5, 120)));
        }
        if rng.percent(30) {
            let names = ["ann", "ben", "cat"].into_iter().take(rng.from(1, 3) as usize);
            settings.agents.names = names.filter_map(|name| AgentName::new(name).ok()).collect();
        }
        settings.budget.ticket_usd = rng.percent(40).then(|| Usd(rng.from(150, 700)));
        settings.budget.day_usd = rng.percent(40).then(|| Usd(rng.from(300, 1_500)));
        let midnight = BEGIN.day().next().begins();
        let begin = if rng.percent(60) {
            Time(midnight.0 - rng.ms(0, 4 * 60_000))
        } else {
            BEGIN
        };
        Self {
            settings,
            begin,
            inputs: small(rng, 105, 150),
            people: rng.from(3, 14),
            sick: rng.below(3) * 6,
            crash: rng.below(4) * 12,
            clumsy: if rng.percent(15) { 95 } else { rng.from(5, 50) },
            errands: rng.below(3) * 12,
            batch: rng.below(3) * 30,
            zombie: rng.below(2) * 40,
        }
    }
}
