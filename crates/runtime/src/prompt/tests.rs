//! The prompts' texts, and that text which others wrote stays text in them.

use std::collections::BTreeSet;

use model::policy::budget::Budget;

use super::templates::{BUILT_IN, COMMON};
use super::*;

fn facts() -> Facts {
    Facts {
        ticket: "t-1".into(),
        title: "Mend the {{ roof }}".into(),
        body: "# Mend the {{ roof }}\n\nIt leaks. {% raw %}".into(),
        agent: "ada".into(),
        branch: "agent/ada-t-1".into(),
        target: "main".into(),
        target_commit: "a".repeat(40),
        step: 2,
        max_steps: 20,
        feedback: vec!["the reviewer said no".into()],
        kept: vec!["b".repeat(40)],
        children: Vec::new(),
        done_before: Vec::new(),
        answers: Vec::new(),
        unusable: Vec::new(),
        said: Vec::new(),
        returned: None,
        mode: None,
        parts: Vec::new(),
        baited: None,
        edited: true,
        was_lost: false,
        left_out: None,
        new_session: false,
        checks: vec!["make test".into()],
        commitments: vec!["it is there (`test -e it`)".into()],
        submodules: Vec::new(),
        empty_submodules: Vec::new(),
        parent: String::new(),
        is_apart: false,
        is_leader: false,
        budget: None,
    }
}

#[test]
fn a_template_that_never_ends_and_what_is_no_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let endless = "{% for i in range(10000) %}{% for j in range(10000) %}x{% endfor %}{% endfor %}";
    std::fs::write(folder.path().join("step.md"), endless).unwrap();
    let said = Prompts::load(Some(folder.path())).unwrap_err().to_string();
    assert!(said.contains("step.md") && said.contains("fuel"), "{said}");
    std::fs::remove_file(folder.path().join("step.md")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("init.md")).unwrap();
    let said = Prompts::load(Some(folder.path())).unwrap_err().to_string();
    assert!(said.contains("no regular file"), "{said}");
}

#[test]
fn every_built_in_template_renders_and_ticket_text_is_data() {
    let prompts = Prompts::load(None).unwrap();
    let all = [
        Prompt::Init,
        Prompt::Resume,
        Prompt::Step,
        Prompt::ChecksFailed {
            which: "make".into(),
            output: "{{ boom }}".into(),
            remembered: false,
        },
        Prompt::CommitmentUnmet {
            says: "it {{ works }}".into(),
            command: "test -e it".into(),
            output: "{{ boom }}".into(),
        },
        Prompt::NothingCommitted,
        Prompt::MergeConflict {
            paths: vec!["a.txt".into()],
            missing: None,
        },
        Prompt::LastChance,
        Prompt::Answer { text: "yes".into() },
        Prompt::Wakeup {
            why: "the build".into(),
        },
        Prompt::Unanswered {
            question: "which?".into(),
        },
        Prompt::ChangedAfter {
            paths: ticket::Listed::of(["app.txt".to_owned()]),
        },
    ];
    for prompt in &all {
        let said = prompts.step(prompt, &facts()).unwrap();
        assert!(
            said.contains("DONE"),
            "{prompt:?} does not say how to end:\n{said}"
        );
    }
    let said = prompts.step(&Prompt::Init, &facts()).unwrap();
    assert!(
        said.contains("Mend the {{ roof }}") && said.contains("{% raw %}"),
        "{said}"
    );
    assert!(prompts.instructions(&facts()).unwrap().contains("agent/ada-t-1"));
}

#[test]
fn a_new_conversation_hears_its_task_whatever_else_it_hears() {
    let prompts = Prompts::load(None).unwrap();
    let prompt = Prompt::ChecksFailed {
        which: "make".into(),
        output: "boom".into(),
        remembered: false,
    };
    let said = prompts
        .step(
            &prompt,
            &Facts {
                new_session: true,
                ..facts()
            },
        )
        .unwrap();
    assert!(said.contains("It leaks.") && said.contains("boom"), "{said}");
    assert!(
        !prompts
            .step(
                &prompt,
                &Facts {
                    edited: false,
                    was_lost: false,
                    left_out: None,
                    ..facts()
                }
            )
            .unwrap()
            .contains("It leaks.")
    );
}

#[test]
fn a_new_conversation_hears_what_was_answered_before_and_each_answer_once() {
    let prompts = Prompts::load(None).unwrap();
    let answered = |question: &str, answer: &str| Answered {
        question: question.to_owned(),
        answer: answer.to_owned(),
    };
    let mut facts = Facts {
        new_session: true,
        answers: vec![answered("Which?", "the left one"), answered("When?", "tomorrow")],
        ..facts()
    };
    let newest = Prompt::Answer {
        text: "tomorrow".into(),
    };
    for prompt in [
        Prompt::Init,
        Prompt::Resume,
        Prompt::NothingCommitted,
        newest.clone(),
    ] {
        let said = prompts.step(&prompt, &facts).unwrap();
        for told in ["Which?", "the left one", "When?", "tomorrow"] {
            assert_eq!(said.matches(told).count(), 1, "{prompt:?}: {said}");
        }
    }
    facts.new_session = false;
    let said = prompts.step(&newest, &facts).unwrap();
    assert!(!said.contains("the left one"), "it was there: {said}");
}

#[test]
fn whatever_is_said_the_warning_comes_with_it() {
    let prompts = Prompts::load(None).unwrap();
    let budget = Budget {
        spent_micro_usd: 4_100_000,
        limit_micro_usd: 5_000_000,
    };
    let facts = Facts {
        budget: Some(BudgetWords::of(budget)),
        ..facts()
    };
    for prompt in [Prompt::Init, Prompt::Step, Prompt::NothingCommitted] {
        let said = prompts.step(&prompt, &facts).unwrap();
        let figures = ["$4.10", "$5.00", "$0.90"];
        assert!(figures.iter().all(|figure| said.contains(figure)), "{said}");
    }
}

#[test]
fn the_teams_template_wins_and_a_bad_one_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    let refused = || Prompts::load(Some(dir.path())).unwrap_err().to_string();
    write("step.md", "Go on, {{ agent }}. DONE when done.");
    write("README.md", "What these {{ files }} are.");
    let prompts = Prompts::load(Some(dir.path())).unwrap();
    let facts = Facts {
        edited: false,
        was_lost: false,
        left_out: None,
        ..facts()
    };
    assert_eq!(
        prompts.step(&Prompt::Step, &facts).unwrap(),
        "Go on, ada. DONE when done."
    );
    for (text, why) in [
        ("{{ agnt }}", "no variable `agnt`: is `agent` meant?"),
        (
            "{% if step > 99 %}{{ whatever }}{% endif %}",
            "no variable `whatever`: there are ticket, title",
        ),
        ("{{ output }}", "no variable `output`"),
        ("{{ step.of }}", "undefined value"),
        ("{% if", "syntax error"),
    ] {
        write("step.md", text);
        let said = refused();
        assert!(
            said.contains("step.md cannot be used") && said.contains(why),
            "{said}"
        );
    }
    write("step.md", "DONE");
    write("steps.md", "DONE");
    assert!(refused().contains("is `step.md` meant?"), "{}", refused());
    assert!(Prompts::load(Some(&dir.path().join("nowhere"))).is_err());
}

#[test]
fn the_templates_that_are_told_of_are_those_that_there_are() {
    let guide = include_str!("../../../../docs/prompts.md");
    for built_in in BUILT_IN {
        assert!(
            guide.contains(&format!("\n| `{}.md` | ", built_in.name)),
            "{}",
            built_in.name
        );
        for name in COMMON.iter().chain(built_in.own) {
            assert!(
                guide.contains(&format!("`{name}`")),
                "{name} of {}",
                built_in.name
            );
        }
    }
    let facts = minijinja::Value::from_serialize(facts());
    let fields: BTreeSet<String> = facts.try_iter().unwrap().map(|name| name.to_string()).collect();
    let named = COMMON.iter().chain(&["budget"]).map(|name| (*name).to_owned());
    assert_eq!(fields, named.collect());
}

#[test]
fn an_answer_is_told_without_what_only_a_terminal_understands() {
    let prompts = Prompts::load(None).unwrap();
    let text = "red\u{1b}[2J\u{7}\r\n\tand \u{1b}]0;x\u{7}blue\0\n";
    let said = prompts
        .step(&Prompt::Answer { text: text.into() }, &facts())
        .unwrap();
    assert!(said.contains("\n\nred\n\tand blue\n\n"), "{said:?}");
}

#[test]
fn an_edit_is_told_with_whatever_else_is_said_and_once() {
    let prompts = Prompts::load(None).unwrap();
    let told = |prompt: &Prompt, new_session| {
        let facts = Facts {
            new_session,
            ..facts()
        };
        let said = prompts.step(prompt, &facts).unwrap();
        said.matches("It leaks.").count()
    };
    let conflict = Prompt::MergeConflict {
        paths: vec!["a.txt".into()],
        missing: None,
    };
    for prompt in [
        Prompt::Step,
        Prompt::NothingCommitted,
        conflict,
        Prompt::LastChance,
        Prompt::Init,
    ] {
        assert_eq!([told(&prompt, false), told(&prompt, true)], [1, 1], "{prompt:?}");
    }
}

#[test]
fn why_the_work_came_back_is_told_until_it_is_answered_to_whoever_does_not_remember_it() {
    let prompts = Prompts::load(None).unwrap();
    let reason = Prompt::ChecksFailed {
        which: "make test".into(),
        output: "1 failed".into(),
        remembered: false,
    };
    let answer = Prompt::Answer { text: "blue".into() };
    let told = |prompt: &Prompt, new_session| {
        let facts = Facts {
            returned: Some(reason.clone()),
            new_session,
            ..facts()
        };
        let told = prompts.step(prompt, &facts).unwrap();
        told.matches("does not pass: make test").count()
    };
    for prompt in [
        &reason,
        &answer,
        &Prompt::Step,
        &Prompt::LastChance,
        &Prompt::Resume,
    ] {
        assert_eq!(told(prompt, true), 1, "{prompt:?}");
        assert_eq!(told(prompt, false), usize::from(*prompt == reason), "{prompt:?}");
    }
}
