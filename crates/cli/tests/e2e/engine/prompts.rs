//! What docs/prompts.md says: the team's own templates, in the running program.

use std::fs;

use testkit::world::{DONE, World};

/// The settings line that names the folder.
const DIR: &str = "prompts_dir = \"prompts\"";

/// A world whose templates stand in `prompts/`.
fn with_templates(templates: &[(&str, &str)]) -> World {
    let world = World::with(|s| {
        s.top = DIR.to_owned();
        s.checks = "commands = [\"test ! -e red\"]".to_owned();
    });
    world.in_session();
    for (name, text) in templates {
        world.commit(&format!("prompts/{name}.md"), text);
    }
    world
}

#[test]
fn every_template_can_be_replaced_and_each_is_said_when_it_is_due() {
    let world = with_templates(&[
        ("instructions", "STANDING {{ agent }} {{ branch }} {{ title }}"),
        (
            "init",
            "INIT {{ ticket }}|{{ title }}|{{ agent }}|{{ branch }}|{{ target }}|{{ target_commit }}|{{ step }}/{{ max_steps }}\
             |{{ checks | join(';') }}|{{ feedback | length }}|{{ new_session }}\n{{ body }}",
        ),
        ("step", "STEP {{ step }}"),
        (
            "checks_failed",
            "{% if nothing_committed %}NOTHING{% else %}FAILED {{ which }}|{{ output }}{% endif %}",
        ),
        ("edited", "EDITED {{ body }}"),
        (
            "merge_conflict",
            "CONFLICT {{ paths | join(';') }} {{ target_commit }}",
        ),
        ("last_chance", "LAST of {{ max_steps }}"),
        ("resume", "RESUME {{ ticket }} {{ feedback | length }}"),
    ]);
    let agent = "case $RUN in
        1) cat \"$CREW_INSTRUCTIONS\" > \"$LOGS/instructions\" ;;
        2) echo DONE ;;
        3) work red yes; until_there \"$GATES/edited\"; echo DONE ;;
        4) echo '{\"crew\":\"failure\",\"class\":\"session_missing\",\"message\":\"no such\"}' ;;
        5) echo DONE ;;
        6) git rm -q red; git commit -qm mended; work README mine; until_there \"$GATES/moved\"; echo DONE ;;
        7) git merge -q -X ours $(sed 's/.* //' \"$LOGS/t-1.7.prompt\"); echo DONE ;;
        esac";
    let body = "Leave {{ 7 * 7 }} and {% raw %} alone.";
    world
        .ticket("t-1")
        .title("Do {{ it }}")
        .body(body)
        .agent(agent)
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 3);
    let base = world.git(&["rev-parse", "main"]);
    world.edit("t-1", |text| format!("{text}\nAnd more.\n"));
    world.wait("the edit is seen", || world.count("t-1", "edited") > 0);
    world.open("edited");
    world.wait_for_run("t-1", 6);
    world.commit("README", "a person's\n");
    let moved = world.git(&["rev-parse", "main"]);
    world.open("moved");
    world.wait("it landed", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();

    let told = |n| world.prompt("t-1", n);
    let agent = world.variable("t-1", 1, "CREW_AGENT").unwrap();
    let instructions = fs::read_to_string(world.path("logs/instructions")).unwrap();
    assert_eq!(
        instructions,
        format!("STANDING {agent} agent/{agent}-t-1 Do {{{{ it }}}}")
    );
    let init = format!(
        "INIT t-1|Do {{{{ it }}}}|{agent}|agent/{agent}-t-1|main|{base}|1/20|test ! -e red|0|True\n# Do"
    );
    assert!(told(1).starts_with(&init), "{}", told(1));
    assert!(told(1).contains(body), "{}", told(1));
    assert_eq!(told(2), "STEP 2");
    assert_eq!(told(3), "NOTHING");
    // Edited while it worked: it is told before its work is submitted.
    assert!(
        told(4).starts_with("EDITED # Do") && told(4).contains("And more.") && told(4).ends_with("STEP 4"),
        "{}",
        told(4)
    );
    // A new conversation: the task, which has the new text, and why its work came back.
    assert_eq!(told(5), "RESUME t-1 0\nNOTHING");
    assert!(told(6).starts_with("FAILED test ! -e red|"), "{}", told(6));
    assert_eq!(told(7), format!("CONFLICT README {moved}"));
}

#[test]
fn the_last_step_says_so_in_the_teams_words() {
    let world = with_templates(&[("last_chance", "LAST of {{ max_steps }}")]);
    let toml = world
        .read("crew.toml")
        .replace("[run]\n", "[run]\nmax_steps = 1\n");
    world.commit("crew.toml", &toml);
    world
        .ticket("t-1")
        .agent("[ \"$RUN\" = 1 ] || { work t x; echo DONE; }")
        .write();
    world.drain_all();
    assert_eq!(world.prompt("t-1", 2), "LAST of 1");
}

#[test]
fn an_edit_of_a_template_is_for_the_next_step_and_a_bad_one_leaves_the_last_good() {
    let world = with_templates(&[("step", "OLD")]);
    let toml = world
        .read("crew.toml")
        .replace("[run]\n", "[run]\nmax_steps = 10000\n");
    world.commit("crew.toml", &toml);
    let agent = "echo $RUN | tr 0-9 a-j\ngrep -q 'NEW WORDS' \"$LOGS/t-1.$RUN.prompt\" || exit 0\nwork t x\necho DONE";
    world.ticket("t-1").agent(agent).write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 2);
    world.write("prompts/step.md", "{{ tikcet }}");
    world.wait("the bad edit is told", || {
        let said = engine.said().all();
        said.contains("last good settings stand")
            && said.contains("step.md")
            && said.contains("is `ticket` meant?")
    });
    let runs = world.runs("t-1");
    world.wait_for_run("t-1", runs + 2);
    assert_eq!(world.prompt("t-1", runs + 2), "OLD");
    world.write("prompts/step.md", "NEW WORDS");
    world.wait("it landed", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn a_folder_that_is_named_while_the_engine_runs_is_heeded() {
    let world = World::with(|s| s.run = "max_steps = 10000".to_owned());
    world.commit("words/step.md", "OUR WORDS");
    let agent = "echo $RUN | tr 0-9 a-j\ngrep -q 'OUR WORDS' \"$LOGS/t-1.$RUN.prompt\" || exit 0\nwork t x\necho DONE";
    world.ticket("t-1").agent(agent).write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 2);
    let toml = world.read("crew.toml");
    world.write("crew.toml", &format!("prompts_dir = \"words\"\n{toml}"));
    world.wait("it landed", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
}

#[test]
fn templates_that_cannot_be_used_keep_the_engine_from_starting_and_say_why() {
    let world = with_templates(&[]);
    world.ticket("t-1").agent(DONE).write();
    let refused = |texts: &[&str]| {
        let said = world.crew(&["run", "--until-idle"]);
        assert_ne!(said.code, Some(0), "{said}");
        for text in texts {
            assert!(said.err.contains(text), "no {text:?} in {said}");
        }
    };
    refused(&["prompts_dir", "project/prompts"]);
    world.write("prompts/init.md", "{% if ticket %}");
    refused(&["prompts/init.md", "syntax error"]);
    world.write("prompts/init.md", "Do {{ ticket }}.");
    world.write("prompts/steps.md", "Go on.");
    refused(&["prompts/steps.md", "is `step.md` meant?"]);
    fs::remove_file(world.project("prompts/steps.md")).unwrap();
    assert_eq!(world.runs("t-1"), 0);
    world.drain_all();
    assert_eq!(world.prompt("t-1", 1), "Do t-1.");
}
