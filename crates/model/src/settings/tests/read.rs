//! Good files.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::Value;

use crate::ids::AgentName;
use crate::settings::{
    Diagnostic, Harness, HarnessKind, OnStop, PerMillion, Settings, branch_name, duration, keys, names,
    nearest,
};

const FULL: &str = r#"
workspace_dir = "./agents/"
prompts_dir = "docs/prompts"

[project]
target = "release/1.x"

[run]
max_workers = 1
max_steps = 1_000
attempts = 0x5
step_timeout = "1h30m"
stall_after = "90s"
exit_within = "45s"
debounce = "0s"
on_stop = "leave"
conflict_resolutions = 0
recoveries = 7

[agents]
names = ["ada", "bob.2", "_c-3"]
harness = "scripted"

[harness.scripted]
kind = "command"
command = ["./agent.sh", "--fast"]
args = ["", "-x"]
env = { LEVEL = "3", PATH = "/opt/bin" }
pass_env = ["ANTHROPIC_API_KEY"]
session = true

[harness.command]
command = ["true"]

[checks]
setup = ["npm ci"]
timeout = "500ms"
commands = ["make lint", "make test"]

[review]
when = { labels = ["risky", "api"] }
harness = "command"
count = 3
agree = 2
tries = 5

[land]
mode = "push"
remote = "team/up-1"
pr = { draft = true, labels = ["b", "a"], after = "approved" }
hold_paths = ["ci/", "crew.toml", "ci", ".github"]
max_file_mib = 250
author = "Ada L. Byron <ada@example.com>"
trailers = ["Reviewed-by: Grace <grace@example.com>", "Part-of:plan"]
"#;

fn read(text: &str) -> Settings {
    Settings::parse(text, "crew.toml")
        .map_err(|found| listed(&found))
        .unwrap()
}

fn listed(found: &[Diagnostic]) -> String {
    found
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn an_empty_file_is_every_default() {
    assert_eq!(read(""), Settings::default());
    assert_eq!(read("\u{feff}# nothing yet\r\n"), Settings::default());
    let defaults = serde_json::to_string_pretty(&Settings::default()).unwrap();
    insta::assert_snapshot!(defaults);
}

#[test]
fn a_number_that_is_that_of_the_names_is_no_contradiction() {
    let settings = read("[agents]\ncount = 2\nnames = [\"ada\", \"bob\"]\n");
    assert_eq!((settings.agents.count, settings.agents.names.len()), (2, 2));
}

#[test]
fn every_key_is_read() {
    let settings = read(FULL);
    assert_eq!(settings.workspace_dir.as_deref(), Some("agents"));
    assert_eq!(settings.prompts_dir.as_deref(), Some("docs/prompts"));
    assert_eq!(settings.project.target, "release/1.x");
    assert_eq!(
        (
            settings.run.max_workers,
            settings.run.max_steps,
            settings.run.attempts
        ),
        (1, 1000, 5)
    );
    assert_eq!(settings.run.step_timeout, Duration::from_mins(90));
    assert_eq!(settings.run.stall_after, Duration::from_secs(90));
    assert_eq!(settings.run.exit_within, Duration::from_secs(45));
    assert_eq!(settings.run.debounce, Duration::ZERO);
    assert_eq!(settings.run.on_stop, OnStop::Leave);
    assert_eq!(
        (settings.run.conflict_resolutions, settings.run.recoveries),
        (0, 7)
    );
    assert_eq!(
        settings
            .agents
            .names
            .iter()
            .map(AgentName::as_str)
            .collect::<Vec<_>>(),
        ["ada", "bob.2", "_c-3"]
    );
    assert_eq!(settings.agents.count, 3);
    let (name, harness) = settings.chosen_harness(None).unwrap();
    assert_eq!((name, harness.kind), ("scripted", HarnessKind::Command));
    assert_eq!(harness.command, ["./agent.sh", "--fast"]);
    assert_eq!(harness.args, ["", "-x"]);
    assert_eq!(harness.env["LEVEL"], "3");
    assert_eq!(harness.pass_env, ["ANTHROPIC_API_KEY"]);
    assert_eq!(settings.harness["command"].kind, HarnessKind::Command);
    assert_eq!(settings.checks.setup, ["npm ci"]);
    assert_eq!(settings.checks.timeout, Duration::from_millis(500));
    assert_eq!(settings.checks.commands, ["make lint", "make test"]);
    assert_eq!(settings.land.hold_paths, ["crew.toml", "ci", ".github"]);
    assert_eq!(settings.land.max_file_mib, 250);
    let author = settings.land.author.as_ref().unwrap();
    assert_eq!(
        (author.name.as_str(), author.email.as_str()),
        ("Ada L. Byron", "ada@example.com")
    );
    let trailers = settings.land.trailers.iter();
    let trailers: Vec<_> = trailers.map(|it| (it.key.as_str(), it.value.as_str())).collect();
    assert_eq!(
        trailers,
        [("Reviewed-by", "Grace <grace@example.com>"), ("Part-of", "plan")]
    );
    assert_eq!(settings.land.pushes_to(), Some("team/up-1"));
}

#[test]
fn a_harness_can_be_asked_for() {
    let settings = read(FULL);
    assert_eq!(settings.chosen_harness(Some("command")).unwrap().0, "command");
    assert!(settings.chosen_harness(Some("comand")).is_none());
    assert_eq!(
        nearest("comand", settings.harness.keys().map(String::as_str)),
        Some("command")
    );
    assert!(Settings::default().chosen_harness(None).is_none());
}

#[test]
fn held_paths_are_files_and_all_that_is_in_folders() {
    let settings = read(FULL);
    let held = [
        "crew.toml",
        ".lfsconfig",
        "ci",
        "ci/run",
        "ci/a/b",
        ".github/workflows/x.yml",
        "docs/prompts/init.md",
    ];
    let free = [
        "crew.toml.md",
        "sub/crew.toml",
        "cid",
        "src/ci/run",
        "docs/prompts.md",
        "",
    ];
    assert!(held.iter().all(|path| settings.holds(path)));
    assert!(!free.iter().any(|path| settings.holds(path)));
    assert!(Settings::default().holds("crew.toml"));
    assert!(read("[land]\nhold_paths = []\n").holds("crew.toml"));
}

#[test]
fn branch_names_are_checked_by_gits_rules() {
    let good = [
        "main",
        "release/1.x",
        "é",
        "a.b",
        "feature/x-y_z",
        "agents",
        "HEAD2",
        "a@b",
        "@x",
    ];
    let bad = [
        "",
        "-x",
        "a b",
        "a..b",
        "a/",
        "/a",
        "a//b",
        ".a",
        "a/.b",
        "a.lock",
        "a.lock/b",
        "a.",
        "a~1",
        "a^",
        "a:b",
        "a?",
        "a*",
        "a[",
        "a\\b",
        "a\x7f",
        "a\u{202e}",
        "a\u{a0}b",
        "a/-x",
        "a./b",
        "a@{1",
        "@",
        "HEAD",
        "refs/heads/main",
        "agent",
        "agent/x",
    ];
    for name in good {
        assert_eq!(branch_name(name), Ok(()), "{name:?}");
    }
    for name in bad {
        assert!(branch_name(name).is_err(), "{name:?}");
    }
}

#[test]
fn paths_are_put_in_their_plain_form() {
    assert_eq!(names::inner_path("./a//b/./c/"), Ok("a/b/c".to_owned()));
    assert_eq!(names::inner_path("...").as_deref(), Ok("..."));
}

#[test]
fn the_schema_knows_the_same_keys_and_documents_each() {
    let schema = Settings::schema();
    for (table, known) in keys::KNOWN {
        let place = match *table {
            "" => &schema,
            "harness.*" => &schema["properties"]["harness"]["additionalProperties"],
            "price" => &schema["properties"]["harness"]["additionalProperties"]["properties"]["price"],
            "check" => &schema["properties"]["check"]["items"],
            "review.when" => {
                let when = &schema["properties"]["review"]["properties"]["when"]["anyOf"];
                let mut forms = when.as_array().unwrap().iter();
                forms.find(|form| form["properties"].is_object()).unwrap()
            }
            "land.pr" => &schema["properties"]["land"]["properties"]["pr"],
            table => &schema["properties"][table],
        };
        let properties = place["properties"].as_object().unwrap();
        let mut known = known.to_vec();
        known.sort_unstable();
        let mut described: Vec<&str> = properties.keys().map(String::as_str).collect();
        described.sort_unstable();
        assert_eq!(described, known, "[{table}]");
        assert_eq!(place["additionalProperties"], Value::Bool(false), "[{table}]");
        for (key, property) in properties {
            assert!(
                property["description"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty()),
                "[{table}] {key}"
            );
        }
    }
}

#[test]
fn claude_needs_nothing_and_takes_a_model_and_a_price() {
    let read = |text: &str| Settings::parse(text, "crew.toml").unwrap().harness["claude"].clone();
    let plain = read("[agents]\nharness = \"claude\"\n[harness.claude]\n");
    assert_eq!(plain, Harness::new(HarnessKind::Claude));
    assert_eq!(plain.command, ["claude"]);
    let full = read(
        "[harness.claude]\ncommand = [\"./bin/claude\"]\nmodel = \"opus\"\n\
         price = { input = 3, output = 15.5, cache_write = 6.0 }\n",
    );
    assert_eq!(full.command, ["./bin/claude"]);
    assert_eq!(full.model.as_deref(), Some("opus"));
    let price = full.price.unwrap();
    let dollars = [price.input, price.output, price.cache_read, price.cache_write].map(PerMillion::dollars);
    assert_eq!(
        dollars.map(|dollars| format!("{dollars}")),
        ["3", "15.5", "0.3", "6"]
    );
}

#[test]
fn durations_are_read() {
    for (text, millis) in [
        ("90s", 90_000),
        ("5m", 300_000),
        ("500ms", 500),
        ("1h30m", 5_400_000),
        ("1d1ms", 86_400_001),
    ] {
        assert_eq!(duration::parse(text), Ok(Duration::from_millis(millis)), "{text}");
    }
}

proptest! {
    #[test]
    fn durations_are_read_as_they_are_written(millis in 0..=u64::try_from(duration::MAX.as_millis()).unwrap()) {
        let duration = Duration::from_millis(millis);
        prop_assert_eq!(duration::parse(&duration::format(duration)), Ok(duration));
    }

    #[test]
    fn no_text_panics_as_a_duration(text in "[0-9dhms]{0,30}") {
        let _ = duration::parse(&text);
    }
}
