//! F22: checks that do not always say the same, or want what they are not given.

use std::fs;

use crate::faults::mounts::must;
use testkit::pty::Pty;
use testkit::world::{World, crew};

/// Another commit at each run: what was refused is tried again.
const AGAIN: &str = "work \"$CREW_TICKET_ID.$RUN.txt\" done\necho DONE\n";

#[test]
fn a_check_that_fails_one_time_in_ten_costs_steps_and_no_work() {
    // Every tenth look, and the first.
    let flaky = "n=$(cat \"$HOME/looks\" 2>/dev/null || echo 0); n=$((n+1)); echo $n > \"$HOME/looks\"; [ $((n % 10)) -ne 1 ]";
    // Each is checked by itself: of a batch that failed by chance nobody is sent back.
    let world = World::with(|settings| {
        settings.checks = format!("commands = ['''{flaky}''']\n[train]\nbatch = 1");
    });
    world.anyway();
    let ids = ["t-1", "t-2", "t-3", "t-4", "t-5", "t-6"];
    for id in ids {
        world.ticket(id).agent(AGAIN).write();
    }
    world.drain_all();
    let mut landed = world.landed();
    landed.sort();
    assert_eq!(landed, ids);
    let looks: u32 = fs::read_to_string(world.path("home/looks"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let failed: usize = ids.iter().map(|id| world.count(id, "checks_failed")).sum();
    assert!(failed >= 1, "no check failed in {looks}");
    for id in ids {
        // Sent back to its agent, in the same attempt, as often as a check failed and no oftener.
        let (runs, failed) = (world.runs(id) as usize, world.count(id, "checks_failed"));
        assert_eq!((world.state(id).attempts, runs), (1, 1 + failed), "{id}");
        assert!(world.on_main(&format!("{id}.{runs}.txt")).is_some(), "{id}");
    }
    world.must(&["doctor", "--deep"]);
}

#[test]
fn a_check_that_wants_a_terminal_is_told_that_there_is_none() {
    let asks = "read answer < /dev/tty && test \"$answer\" = yes";
    let world = World::with(|settings| settings.checks = format!("commands = ['''{asks}''']"));
    world.anyway();
    world.ticket("t-1").agent(AGAIN).write();
    // The engine itself has one, at which somebody says yes.
    let mut command = world.program("setsid");
    command.args(["--ctty", "--wait", &crew(), "run", "--until-idle", "--anyway"]);
    let mut terminal = Pty::start(command.current_dir(world.path("project")), (80, 24));
    terminal.press("yes\nyes\nyes\n");
    assert_eq!(terminal.ended().code(), Some(3), "{}", terminal.screen());
    world.assert_at_rest();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "target_red", "{note}");
    assert_eq!(world.runs("t-1"), 1, "its agent was blamed");
    assert!(world.landed().is_empty());
}

/// Leaves somebody behind who is nobody's child, at its first look; sees at the next whether they live.
const LEAVES: &str = r#"[ -e "$HOME/left" ] || { setsid sh -c 'echo $$ > "$HOME/.left"; mv "$HOME/.left" "$HOME/left"; exec sleep 1000' & wait; }
grep -qs sleep "/proc/$(cat "$HOME/left")/cmdline" && : > "$HOME/lives"
true"#;

#[test]
fn a_dead_check_left_nothing_to_the_next() {
    let world = World::with(|settings| settings.checks = format!("commands = ['''{LEAVES}''']"));
    world.anyway();
    world.ticket("t-1").agent(AGAIN).write();
    let engine = world.engine();
    world.wait("the check has left somebody", || world.path("home/left").exists());
    drop(engine);
    let runs = world.project(".crew/checks/runs");
    let run = fs::read_dir(runs).unwrap().flatten().next().unwrap().path();
    let shim: serde_json::Value = serde_json::from_slice(&fs::read(run.join("shim.json")).unwrap()).unwrap();
    must("kill", &["-9".as_ref(), shim["shim"]["pid"].to_string().as_ref()]);
    // The person drops the ticket, so no ticket waits for that check: the command itself ends what it left.
    world.must(&["drop", "t-1"]);
    let left = fs::read_to_string(world.path("home/left")).unwrap();
    let command_line = fs::read_to_string(format!("/proc/{}/cmdline", left.trim())).unwrap_or_default();
    assert!(!command_line.contains("sleep"), "{command_line:?} still runs");

    world.ticket("t-2").agent(AGAIN).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-2"]);
    assert!(
        !world.path("home/lives").exists(),
        "it lived beside the next check"
    );
    world.must(&["doctor", "--deep"]);
}
