//! The most memory that a process ever had.

use std::fs;

use testkit::world::{Engine, Said, World};

/// What no process of crew's may ever have, in MiB.
pub(crate) const MOST: u64 = 150;

/// What no shim may ever have, in MiB: there is one for each run, and each is as large as all the others.
pub(crate) const MOST_OF_SHIM: u64 = 32;

/// The most memory that the process has had, in KiB; 0 when it is gone.
fn most(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// Asserts that an engine that is up never had more than so many MiB.
#[track_caller]
pub(crate) fn assert_bounded(engine: &mut Engine, limit: u64) {
    assert!(engine.is_up(), "{}", engine.said());
    let most = most(engine.pid());
    assert!(
        0 < most && most / 1024 < limit,
        "the engine had {} MiB",
        most / 1024
    );
}

/// Asserts that the shim of the ticket's run, which is up, never had more than it may have.
#[track_caller]
pub(crate) fn assert_shim_bounded(world: &World, ticket: &str) {
    let of_ticket = format!("/.crew/runs/{ticket}.");
    let is_shim = |line: &&String| line.contains(" shim ") && line.contains(&of_ticket);
    let all = world.processes();
    let shims: Vec<&String> = all.iter().filter(is_shim).collect();
    let [shim] = shims[..] else {
        panic!("not one shim: {shims:?} of {all:#?}");
    };
    let most = most(shim.split(':').next().unwrap().parse().unwrap());
    assert!(
        0 < most && most / 1024 < MOST_OF_SHIM,
        "the shim had {} MiB",
        most / 1024
    );
}

/// Runs a command to its end; it never had more than it may have, as far as looks every few milliseconds
/// tell.
#[track_caller]
pub(crate) fn bounded(world: &World, args: &[&str]) -> Said {
    let mut asked = world.start_at(&world.path("project"), args);
    let mut peak = 0;
    while asked.is_up() {
        peak = peak.max(most(asked.pid()));
        #[expect(clippy::disallowed_methods, reason = "between two looks at a fact")]
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let said = asked.end();
    assert_eq!(said.code, Some(0), "crew {args:?}: {}", said.err);
    assert!(
        0 < peak && peak / 1024 < MOST,
        "crew {args:?} had {} MiB",
        peak / 1024
    );
    said
}
