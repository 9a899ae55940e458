//! Work that would land what looks like secrets.

use std::fs;
use std::path::Path;

use serde_json::Value;
use testkit::world::World;

/// A value that looks like a token, put together here so that no scanner finds it in this file.
fn token() -> String {
    ["ghp_", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1", "dE4fG6"].concat()
}

/// Shell words that print the token without having it in one piece.
const PRINTED: &str = "printf 'let token = \"%s%s\";\\n' ghp_ aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE4fG6";

fn has(text: &[u8], what: &[u8]) -> bool {
    text.windows(what.len()).any(|it| it == what)
}

/// The files of a folder that have these bytes.
fn files_with(folder: &Path, what: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            files_with(&path, what, found);
        } else if has(&fs::read(&path).unwrap_or_default(), what.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
}

#[test]
fn a_token_waits_for_a_person_and_is_masked_everywhere() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(&format!(
            "{PRINTED} > main.rs\ngit add .\ngit commit -qm token\necho DONE"
        ))
        .write();
    let said = world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "secrets");
    assert!(note.contains("main.rs:1 (github-pat: ghp_…)"), "{note}");
    assert!(said.tells_of("t-1", "main.rs:1 (github-pat: ghp_…)"), "{said}");
    let mut shown = said.all();
    for command in ["ps", "queue", "inbox", "history"] {
        shown.push_str(&world.crew(&[command]).all());
        shown.push_str(&world.crew(&["--json", command]).all());
    }
    for command in ["explain", "diff", "history"] {
        shown.push_str(&world.must(&[command, "t-1"]).all());
    }
    assert!(shown.contains("+let token = \"ghp_…\";"), "{shown}");
    assert!(
        shown.contains("looks like a secret: main.rs:1 (github-pat: ghp_…)"),
        "{shown}"
    );
    let inbox: Value = serde_json::from_str(&world.crew(&["inbox", "--json"]).out).unwrap();
    let diff = world.json(&["diff", "t-1"]);
    for found in [&inbox["items"][0]["secrets"][0], &diff["secrets"][0]] {
        let place = (&found["path"], &found["line"], &found["rule"], &found["commit"]);
        assert_eq!(
            format!("{place:?}"),
            r#"(String("main.rs"), Number(1), String("github-pat"), Null)"#
        );
    }
    assert!(!shown.contains(&token()), "{shown}");
    // crew's own files do not have it either: those of the agent do, in its workspace.
    let mut found = Vec::new();
    files_with(&world.project(".crew"), &token(), &mut found);
    found.retain(|file| !file.ends_with("/main.rs"));
    assert_eq!(found, Vec::<String>::new());
    assert!(world.on_main("main.rs").is_none());

    world.must(&["approve", "t-1"]);
    world.drain_all();
    assert!(world.on_main("main.rs").unwrap().contains(&token()));
}

#[test]
fn a_token_that_was_taken_away_again_waits_too_and_goes_back_to_its_agent() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(&format!(
            "if [ -e own ]; then\n\
             git reset -q --hard HEAD~3\nwork clean x\necho DONE\nexit\nfi\n\
             {PRINTED} > main.rs\ngit add .\ngit commit -qm token\n\
             git rm -q main.rs\ngit commit -qm away\nwork own x\necho DONE"
        ))
        .write();
    let said = world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "secrets", "{said}");
    assert!(
        note.contains("main.rs:1 (github-pat: ghp_…), taken away again, but it stays in commit"),
        "{note}"
    );
    world.must(&["reject", "t-1", "take it out of the history"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    let log = world.git(&["log", "-p", "main"]);
    assert!(!log.contains(&token()), "{log}");
}

#[test]
fn work_that_comes_back_as_it_was_can_be_approved_by_who_sent_it_back() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(&format!(
            "[ -e main.rs ] || {{ {PRINTED} > main.rs; git add .; git commit -qm token; }}\necho DONE"
        ))
        .write();
    world.drain_held();
    world.must(&["reject", "t-1", "take it out"]);
    // Its agent finds nothing wrong, and a person changes their mind.
    world.drain_held();
    assert_eq!(world.held("t-1").0, "secrets");
    world.must(&["approve", "t-1"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.runs("t-1"), 2);
}

#[test]
fn a_token_in_the_message_of_a_commit_waits_too() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(&format!(
            "echo x > own\ngit add .\n{PRINTED} | git commit -qF -\necho DONE"
        ))
        .write();
    let said = world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "secrets", "{said}");
    assert!(
        note.contains("the message of commit ") && note.contains("(github-pat: ghp_…)"),
        "{note}"
    );
}

#[test]
fn a_token_in_what_the_agent_says_it_has_done_is_masked_in_the_merge() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(&format!("work own x\nprintf 'SUMMARY: '\n{PRINTED}\necho DONE"))
        .write();
    world.drain_all();
    let message = world.git(&["log", "-1", "--format=%B", "main"]);
    assert!(message.contains("let token = \"ghp_…\";"), "{message}");
}

#[test]
fn with_secrets_off_nobody_looks() {
    let world = World::with(|s| s.land = "secrets = \"off\"".to_owned());
    world
        .ticket("t-1")
        .agent(&format!(
            "{PRINTED} > main.rs\ngit add .\ngit commit -qm token\necho DONE"
        ))
        .write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn what_was_on_the_target_before_is_no_find() {
    let world = World::new();
    let line = format!("let token = \"{}\";\n", token());
    world.commit("main.rs", &line);
    world
        .ticket("t-1")
        .agent("git mv main.rs moved.rs\necho '// more' >> moved.rs\ngit commit -qam moved\necho DONE")
        .write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}

/// The first and the last line of a private key, and what is between.
fn key(body: &str) -> String {
    let line = |what: &str| format!("-----{what} PRIVATE KEY-----\n");
    format!(
        "{}{}{}",
        line("BEGIN"),
        format!("{body}\n").repeat(4),
        line("END")
    )
}

#[test]
fn a_new_key_between_the_old_first_and_last_line_of_another_is_a_find() {
    let world = World::new();
    let old = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
    world.commit("key.txt", &key(old));
    let new: String = old.chars().rev().collect();
    world
        .ticket("t-1")
        .agent(&format!(
            "sed -i s/{old}/{new}/ key.txt\ngit commit -qam key\necho DONE"
        ))
        .write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "secrets");
    assert!(note.contains("key.txt:1 (private-key: "), "{note}");
}

#[test]
fn what_the_target_has_and_the_branch_puts_back_is_no_find() {
    let world = World::new();
    world.commit("main.rs", &format!("let token = \"{}\";\n", token()));
    world
        .ticket("t-1")
        .agent(
            "echo > main.rs\ngit commit -qam away\ngit checkout -q HEAD~1 -- main.rs\ngit commit -qm back\n\
             work other x\necho DONE",
        )
        .write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}
