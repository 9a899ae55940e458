//! `crew run` reads the file that `crew init` writes.

use std::time::Duration;

use proptest::prelude::*;

use crate::money::Usd;
use crate::settings::{
    Author, Checks, Harness, HarnessKind, PerMillion, Price, Proposal, Settings, Workspace, detect,
};

fn scripted() -> Harness {
    Harness {
        command: vec!["./agent.sh".to_owned()],
        ..Harness::new(HarnessKind::Command)
    }
}

fn checks_only(checks: &Checks) -> Proposal {
    Proposal {
        checks: checks.clone(),
        ..Proposal::default()
    }
}

/// The template with each commented setting made live.
fn uncommented(template: &str) -> String {
    let lines = template.lines().map(|line| {
        let setting = line.strip_prefix("# ").filter(|rest| {
            let word = rest.split(' ').next().unwrap_or_default();
            rest.starts_with('[') || rest[word.len()..].starts_with(" = ")
        });
        setting.unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_template_reads_back() {
    let checks = Checks {
        commands: vec!["cargo test".to_owned()],
        ..Checks::default()
    };
    let harness = scripted();
    let text = Settings::template("main", &checks_only(&checks), Some(("scripted", &harness)));
    insta::assert_snapshot!(text);
    let settings = Settings::parse(&text, "crew.toml").unwrap();
    let mut expected = Settings {
        checks,
        ..Settings::default()
    };
    expected.agents.harness = Some("scripted".to_owned());
    expected.harness.insert("scripted".to_owned(), harness);
    assert_eq!(settings, expected);
    // The comments show the defaults: made live, they change nothing, but for budgets, hooks and the
    // author, of which there are none.
    expected.land.author = Some(Author {
        name: "Name".to_owned(),
        email: "address".to_owned(),
    });
    expected.budget.ticket_usd = Some(Usd(5_000_000));
    expected.budget.day_usd = Some(Usd(50_000_000));
    let notify = vec!["./notify.sh".to_owned()];
    (expected.hooks.completed, expected.hooks.all) = (notify.clone(), notify);
    assert_eq!(
        Settings::parse(&uncommented(&text), "crew.toml").unwrap(),
        expected
    );
}

#[test]
fn the_template_without_anything_says_so_and_reads_back() {
    let text = Settings::template("main", &Proposal::default(), None);
    insta::assert_snapshot!(text);
    assert_eq!(Settings::parse(&text, "crew.toml").unwrap(), Settings::default());
    let live = Settings::parse(&uncommented(&text), "crew.toml").unwrap();
    assert_eq!(live.chosen_harness(None), Some(("scripted", &scripted())));
}

#[test]
fn the_template_for_claude_reads_back() {
    let mut harness = Harness::new(HarnessKind::Claude);
    for full in [false, true] {
        if full {
            harness.command = vec!["/opt/claude".to_owned()];
            harness.model = Some("opus".to_owned());
            harness.pass_env = vec!["ANTHROPIC_API_KEY".to_owned()];
            harness.price = Some(Price::new(PerMillion(3_000_000), PerMillion(15_500_000)));
        }
        let text = Settings::template("main", &Proposal::default(), Some(("claude", &harness)));
        let settings = Settings::parse(&text, "crew.toml").unwrap();
        assert_eq!(settings.harness["claude"], harness, "{text}");
        assert_eq!(settings.agents.harness.as_deref(), Some("claude"));
    }
}

#[test]
fn the_template_names_other_runners_in_comments() {
    let paths = [
        "package.json",
        "package-lock.json",
        "Makefile",
        "Pipfile",
        "tests/test_x.py",
    ];
    let text = |path: &str| match path {
        "package.json" => Some(r#"{"scripts":{"test":"jest"}}"#.to_owned()),
        "Makefile" => Some("test:".to_owned()),
        _ => None,
    };
    let mut found = detect(&paths, text);
    let taken = found.remove(0);
    let workspace = Workspace {
        setup: taken.workspace_setup(&taken.to_ignore),
        ..Workspace::default()
    };
    let proposal = Proposal {
        checks: taken.checks(),
        workspace: workspace.clone(),
        also_seen: found,
    };
    let text = Settings::template("main", &proposal, None);
    for line in [
        r#"# Also seen: make in Makefile: commands = ["make test"]"#,
        "# Also seen: pipenv in Pipfile: env = { PIPENV_VENV_IN_PROJECT = \"1\" }, \
         setup = [\"pipenv install --dev --skip-lock\", \"pipenv run pip install pytest\"], \
         keep = [\".venv\"], commands = [\"pipenv run pytest\"]",
    ] {
        assert!(text.lines().any(|it| it == line), "{line} is missing:\n{text}");
    }
    let settings = Settings::parse(&text, "crew.toml").unwrap();
    assert_eq!(settings.checks, taken.checks());
    assert_eq!(settings.workspace, workspace);
    // Made live, comments of other runners stay comments.
    assert_eq!(
        Settings::parse(&uncommented(&text), "crew.toml").unwrap().checks,
        taken.checks()
    );
}

#[test]
fn the_template_names_every_key_but_the_rare_ones() {
    let text = uncommented(&Settings::template("main", &Proposal::default(), None));
    let mut rare = Vec::new();
    for (table, known) in crate::settings::keys::KNOWN {
        for key in known.iter().filter(|_| !table.is_empty()) {
            if !text.lines().any(|line| line.split(" = ").next() == Some(key)) {
                rare.push(format!("{table}.{key}"));
            }
        }
    }
    assert_eq!(
        rare,
        [
            "run.answer_within",
            "agents.names",
            "agents.leaders",
            "harness.*.model",
            "harness.*.args",
            "harness.*.session",
            "harness.*.price",
            "price.input",
            "price.output",
            "price.cache_read",
            "price.cache_write",
            "checks.blind",
            "check.name",
            "check.paths",
            "check.tests",
            "check.retry",
            "review.when.labels",
            "review.when.paths",
            "review.when.lines",
            "land.pr.draft",
            "land.pr.labels",
            "land.pr.after",
            "hooks.failed",
            "hooks.comment",
            "hooks.stuck",
            "hooks.question",
            "hooks.held",
            "hooks.budget",
            "hooks.landed",
        ]
    );
}

/// Text that a setting accepts, with all that must be escaped.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{0,12}", "[\"\\\\\n\t\r\u{1}\u{7f}é日\u{85}#']{1,6}"]
        .prop_map(|text| format!("x{text}"))
}

proptest! {
    #[test]
    fn any_values_read_back(
        target in "[a-z]{1,5}(/[a-z0-9]{1,5})?",
        setup in prop::collection::vec(text(), 0..3),
        commands in prop::collection::vec(text(), 0..3),
        seconds in 1_u64..1_000_000,
        command in prop::collection::vec(text(), 1..3),
        args in prop::collection::vec(text(), 0..3),
        env in prop::collection::btree_map("[A-Z_][A-Z0-9_]{0,5}", text(), 0..3),
        pass_env in prop::collection::vec("[A-Z]{1,5}", 0..3),
        setup_inputs in prop::collection::vec("[a-z]{1,5}(/[a-z]{1,5})?", 0..3),
        keep in prop::collection::vec("\\.?[a-z]{1,5}", 0..3),
    ) {
        prop_assume!(!target.starts_with("agent"));
        prop_assume!(!keep.iter().any(|folder| folder == ".git"));
        let checks = Checks {
            setup,
            setup_inputs,
            keep,
            env: env.clone(),
            pass_env: pass_env.clone(),
            timeout: Duration::from_secs(seconds),
            commands,
            ..Checks::default()
        };
        let harness = Harness { command, args, env, pass_env, ..Harness::new(HarnessKind::Command) };
        let written = Settings::template(&target, &checks_only(&checks), Some(("a.b", &harness)));
        let read = Settings::parse(&written, "crew.toml");
        prop_assert!(read.is_ok(), "{written}\n{read:?}");
        let read = read.unwrap();
        prop_assert_eq!(read.project.target, target);
        prop_assert_eq!(read.checks, checks);
        prop_assert_eq!(&read.harness["a.b"], &harness);
    }
}
