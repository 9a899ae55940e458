//! What steps cost, and what happens when the money is spent.

use serde_json::Value;

use testkit::world::World;

/// Says what the step costs, then does as its ticket's script goes on.
const PAY: &str = "pay() { printf '{\"crew\":\"usage\",\"input_tokens\":1000,\"output_tokens\":100,\"cost_usd\":%s}\\n' \"$1\"; }\n";

fn budget(lines: &str) -> World {
    World::with(|settings| settings.land = format!("[budget]\n{lines}"))
}

/// Steps, failed ones and millionths of a dollar that a ticket has cost.
fn paid(world: &World, id: &str) -> (u64, u64, u64) {
    let total = world.json(&["cost", id])["total"].clone();
    let figure = |value: &Value| value.as_u64().unwrap();
    (
        figure(&total["steps"]),
        figure(&total["failed"]),
        figure(&total["usage"]["cost_micro_usd"]),
    )
}

#[test]
fn a_ticket_is_warned_then_held_and_goes_on_when_its_budget_is_raised() {
    let world = budget("ticket_usd = 1.0");
    let script = format!(
        "{PAY}pay 0.42\n[ \"$RUN\" != 2 ] || exit 1\n[ \"$RUN\" -lt 4 ] || {{ work t x; echo DONE; }}"
    );
    world.ticket("t-1").agent(&script).write();
    let said = world.drain_held();
    assert!(said.tells_of("t-1", "spent $1.26 of $1.00"), "{said}");
    assert_eq!(world.runs("t-1"), 3, "no step is started past the budget");
    assert_eq!(
        paid(&world, "t-1"),
        (3, 1, 1_260_000),
        "a failed step is paid too, and nothing twice"
    );
    let warning = world.prompt("t-1", 3);
    for figure in ["may cost $1.00", "$0.84 are spent", "$0.16 are left"] {
        assert!(warning.contains(figure), "{warning}");
    }
    for n in [1, 2] {
        let prompt = world.prompt("t-1", n);
        assert!(!prompt.contains("may cost"), "{prompt}");
    }
    let (why, note) = world.held("t-1");
    assert_eq!(why, "budget");
    assert!(
        note.contains("`crew retry t-1`") && note.contains("ticket_usd"),
        "{note}"
    );
    for args in [&["queue"][..], &["explain", "t-1"]] {
        let said = world.must(args);
        assert!(said.tells_of("t-1", "spent $1.26 of $1.00"), "{said}");
    }

    // Raised, but not far enough; then enough.
    world.change_settings("ticket_usd = 1.0", "ticket_usd = 1.2");
    world.drain_held();
    assert!(
        world.held("t-1").1.contains("$1.26 of $1.20"),
        "{:?}",
        world.held("t-1")
    );
    assert_eq!(world.runs("t-1"), 3);
    world.change_settings("ticket_usd = 1.2", "ticket_usd = 10");
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(paid(&world, "t-1"), (4, 1, 1_680_000));
    let session = |n| world.variable("t-1", n, "CREW_SESSION_ID");
    assert_eq!(session(4), session(1), "the conversation goes on");
    assert!(
        world.prompt("t-1", 4).contains("Go on with ticket t-1"),
        "{}",
        world.prompt("t-1", 4)
    );
}

#[test]
fn a_retry_grants_as_much_again() {
    let world = budget("ticket_usd = 0.5");
    let script = format!("{PAY}pay 0.3\nwork \"t$RUN\" x\n[ \"$RUN\" -lt 4 ] || echo DONE");
    world.ticket("t-1").agent(&script).write();
    world.drain_held();
    assert_eq!((world.runs("t-1"), world.held("t-1").0), (2, "budget".to_owned()));
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.landed()), (4, vec!["t-1".to_owned()]));
    assert_eq!(paid(&world, "t-1").2, 1_200_000);
    assert_eq!(
        world.on_main("t1").as_deref(),
        Some("x\n"),
        "the work of before is kept"
    );
}

#[test]
fn a_step_that_outlives_its_engine_is_paid_once_and_then_holds_its_ticket() {
    let world = budget("ticket_usd = 0.5");
    let script = format!("{PAY}pay 0.3\n[ \"$RUN\" != 2 ] || until_there \"$GATES/go\"");
    world.ticket("t-1").agent(&script).write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 2);
    engine.signal("KILL");
    engine.end();
    world.open("go");
    world.drain_held();
    assert_eq!((world.runs("t-1"), world.held("t-1").0), (2, "budget".to_owned()));
    assert_eq!(paid(&world, "t-1"), (2, 0, 600_000));
}

#[test]
fn a_spent_day_stops_every_ticket_until_it_is_raised() {
    within_a_day(spend_the_day);
}

/// A trial that a midnight of UTC has come into says nothing: the next day's budget is another one. The next
/// midnight is far away then.
fn within_a_day(trial: fn()) {
    let day = || jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let begun = day();
    if let Err(failed) = std::panic::catch_unwind(trial) {
        if day() == begun {
            std::panic::resume_unwind(failed);
        }
        trial();
    }
}

fn spend_the_day() {
    let world = budget("day_usd = 0.5");
    let script = format!("{PAY}pay 0.3\nwork \"t$RUN\" x\n[ \"$RUN\" -lt 3 ] || echo DONE");
    world.ticket("t-1").agent(&script).write();
    world
        .ticket("t-2")
        .agent(&format!("{PAY}pay 0.01\nwork u x\necho DONE"))
        .write();
    let mut engine = world.engine();
    let pause = || world.json(&["ps"])["pause"].clone();
    world.wait("the day's budget is spent", || !pause().is_null());
    assert_eq!((world.runs("t-1"), world.runs("t-2")), (2, 0));
    world.wait("the engine says so", || {
        engine.said().all().contains("the day's budget is spent")
    });
    engine.signal("KILL");
    engine.end();

    // It is known at once after a restart: a ticket that is seen now is not given out either.
    let mut engine = world.engine();
    world
        .ticket("t-3")
        .agent(&format!("{PAY}work v x\necho DONE"))
        .write();
    world.wait_for("t-3", "open");
    let until = pause()["until"].as_str().unwrap().to_owned();
    assert!(until.ends_with("T00:00:00Z"), "{until}");
    // People see it in their own zone, which is UTC here.
    let day = until.strip_suffix("T00:00:00Z").unwrap();
    let says = format!("the day's budget is spent ($0.60 of $0.50): no step is started before {day} 00:00");
    for args in [&["ps"][..], &["queue"], &["explain", "t-1"], &["explain", "t-2"]] {
        let said = world.must(args);
        assert!(said.out.contains(&says), "{args:?}: {said}");
    }
    let agent = world.json(&["ps"])["agents"][0].clone();
    assert_eq!(agent["waits_until"], until.as_str(), "{agent}");
    assert_eq!(
        world.json(&["queue"])["held"],
        serde_json::json!([]),
        "it waits; nobody holds it"
    );
    assert_eq!(
        (world.runs("t-1"), world.runs("t-2"), world.runs("t-3")),
        (2, 0, 0)
    );
    assert_eq!(world.count("t-1", "step_started"), 2);

    world.change_settings("day_usd = 0.5", "day_usd = 5");
    world.wait("all land", || {
        ["t-1", "t-2", "t-3"].iter().all(|id| world.is_landed(id))
    });
    assert!(pause().is_null());
    world.must(&["stop"]);
    let said = engine.end();
    assert!(said.all().contains("the day's budget is spent"), "{said}");
    let days = world.json(&["cost", "--by", "day"]);
    assert_eq!(days["total"]["usage"]["cost_micro_usd"], 910_000, "{days}");
    let later = world.must(&["cost", "--since", "9000-01-01"]).out;
    assert_eq!(
        later,
        "no step of these has ended, so nothing was paid for them\n"
    );
}
