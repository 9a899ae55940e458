//! `examples/replay.rs`, which `cargo xtask sim replay` runs: a simulation, line by line.

use std::path::Path;
use std::process::Output;

/// Runs the example, which cargo builds with the tests.
#[expect(
    clippy::disallowed_methods,
    reason = "the example is a program of its own, run as a person runs it"
)]
fn replay(arguments: &[&str]) -> Output {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/replay");
    std::process::Command::new(program)
        .args(arguments)
        .output()
        .unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = replay(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = replay(arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_seed_is_printed_event_by_event_or_only_what_mentions_a_name() {
    let whole = printed(&["7"]);
    assert!(
        whole.contains("it starts") && whole.contains("every promise held"),
        "{whole}"
    );
    let one = printed(&["7", "t-1"]);
    assert!(one.lines().count() < whole.lines().count(), "{one}");
    let mut words = whole.split_whitespace();
    let first = words.find(|word| word.starts_with("t-") && word.ends_with(".1.1"));
    let first = first.unwrap();
    let run = printed(&["7", first]);
    let second = format!("{}2", first.trim_end_matches('1'));
    assert!(
        run.contains(&format!("start {first}")) && !run.contains(&second),
        "{run}"
    );
    let nobody = refused(&["7", "t-"]);
    assert!(
        nobody.contains("nothing in seed 7 is called t-") && nobody.contains(", t-1, t-2, "),
        "{nobody}"
    );
}

#[test]
fn a_written_case_is_replayed_and_a_bad_one_refused() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let case = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.into_os_string().into_string().unwrap()
    };
    let without_people = printed(&[&case("case.toml", "seed = 7\noff = [\"person\"]\n")]);
    assert_ne!(without_people, printed(&["7"]));
    let unknown = refused(&[&case("unknown.toml", "seed = 7\nrain = true\n")]);
    assert!(unknown.contains("`rain`"), "{unknown}");
    let missing = refused(&[&folder.join("nothing.toml").display().to_string()]);
    assert!(missing.contains("nothing.toml"), "{missing}");
}
