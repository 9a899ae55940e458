//! Proof that the simulation can find anything: each planted bug is caught within five hundred seeds, and by name.

use sim::Plant;

/// Runs seeds until one breaks; the invariant that it breaks is among `wanted`.
fn caught(plant: Plant, wanted: &[&str]) {
    let failure = (0..500).find_map(|seed| sim::run(seed, Some(plant)).err());
    let failure = failure.unwrap_or_else(|| panic!("{plant:?} was not caught within 500 seeds"));
    println!(
        "{plant:?}: seed {} breaks \"{}\": {}",
        failure.seed, failure.invariant, failure.what
    );
    assert!(
        wanted.contains(&failure.invariant),
        "{plant:?} broke another invariant:\n{failure}"
    );
    assert!(
        failure.to_string().contains(failure.invariant),
        "the message names the invariant"
    );
}

#[test]
fn an_unfenced_write_is_caught() {
    caught(
        Plant::UnfencedWrite,
        &["stored state equals replay", "fences strictly increase"],
    );
}

#[test]
fn a_file_closed_before_its_landing_is_caught() {
    caught(Plant::CloseBeforeLand, &["closed only after landed"]);
}

#[test]
fn a_lost_timer_is_caught() {
    caught(Plant::LostTimer, &["timers are the deadlines"]);
}

#[test]
fn a_step_started_twice_is_caught() {
    caught(
        Plant::DoubleStep,
        &[
            "one live process per attempt",
            "a live process belongs to an attempt",
        ],
    );
}

#[test]
fn an_engine_that_forgets_its_budget_is_caught() {
    caught(
        Plant::Spendthrift,
        &["no step is started past a budget", "a low budget is told once"],
    );
}

#[test]
fn a_dropped_rescue_is_caught() {
    caught(
        Plant::DroppedRescue,
        &["no commit of an agent is lost", "no uncommitted work is lost"],
    );
}

#[test]
fn a_service_that_is_asked_too_soon_is_caught() {
    caught(Plant::ShortWait, &["no step on a harness that refuses"]);
}
