//! Bad input, a folder a case, put before the real binary: what it answers, and what it wrote.
//!
//! A case is a folder below `cases/<area>/`. What it may hold:
//!
//! * `commands`: lines of shell, most of them a `crew` command, run in the case's repository one after the
//!   other. A line that begins with `#` says why the case is there. Without the file, the area's own
//!   `commands` are run.
//! * `*.md`: tickets. `crew.toml`, `agent.sh`, `stream`, `version`: files at the repository's root.
//! * `make.sh`: makes what cannot be a file here, after the area's own. It is run with the words of
//!   `cases/words.sh`.
//! * `expected.txt`: each command with its exit code, what it said, and the files it wrote.
//!
//! Of every refusal it is also held that the journal has no row more than before.
//!
//! Before a case begins its repository has a commit and a crew whose agents run `./agent.sh`. With
//! `CORPUS_WRITE=1` in the environment the answers are written down instead of held against `expected.txt`.

mod case;
mod place;
mod rows;
mod written;

/// Every case of an area, and all that is wrong with any of them.
#[track_caller]
fn every(area: &str) {
    let cases = case::all(area);
    assert!(!cases.is_empty(), "no case in {area}");
    let base = place::Base::new();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    if let Err(why) = case.check(&base) {
                        wrong.lock().unwrap().push(why);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} of {} cases\n\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn bad_tickets_are_answered_as_expected() {
    every("tickets");
}

#[test]
fn what_people_do_by_hand_is_answered_as_expected() {
    every("queue");
}

#[test]
fn bad_names_are_answered_as_expected() {
    every("names");
}

#[test]
fn bad_settings_are_answered_as_expected() {
    every("settings");
}

#[test]
fn odd_repositories_are_answered_as_expected() {
    every("repositories");
}

#[test]
fn failing_programs_are_answered_as_expected() {
    every("programs");
}

#[test]
fn a_failing_claude_is_answered_as_expected() {
    every("claude");
}

#[test]
fn there_are_as_many_cases_as_were_promised() {
    let areas = [
        "tickets",
        "names",
        "settings",
        "repositories",
        "programs",
        "claude",
    ];
    let count: usize = areas.iter().map(|area| case::all(area).len()).sum();
    assert!(count >= 120, "{count}");
}
