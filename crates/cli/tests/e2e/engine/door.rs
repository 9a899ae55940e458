//! What an agent's process, or a hook's, can do to the queue beside the tools of crew's.

use std::fs;

use testkit::world::{DONE, World, crew, make_executable};

/// Calls `crew ticket`, and keeps what it says and its exit code.
const TICKET: &str = r#"ticket() { code=0; "$CREW_TOOL" ticket "$@" >> "$LOGS/said" 2>&1 || code=$?; echo "exit $code" >> "$LOGS/said"; }
"#;

fn script(calls: &str) -> String {
    format!("{TICKET}{calls}\n{DONE}")
}

/// What each call said, with its exit code at the end.
fn said(world: &World) -> Vec<String> {
    let said = fs::read_to_string(world.path("logs/said")).unwrap_or_default();
    let mut each = Vec::new();
    let mut one = String::new();
    for line in said.lines() {
        one.push_str(line);
        one.push('\n');
        if line.starts_with("exit ") {
            each.push(std::mem::take(&mut one));
        }
    }
    each
}

#[test]
fn creating_a_ticket_in_an_agents_process_is_its_tool_with_all_that_limits_it() {
    let world = World::with(|s| s.top = "[review]\nwhen = { labels = [\"risky\"] }\n".to_owned());
    let calls = "ticket create 'A leader' --tags leader
ticket create 'For bob' -a bob
ticket create 'Look further' -d 'In the cellar.' --design 'With a lamp.' --acceptance '- It is lit.' -t bug -p 1 --parent t-1 --tags ui
ticket create 'Look further'
for n in 1 2 3 4 5 6 7 8 9 10; do ticket create \"Another $n\"; done
until_there \"$GATES/never\"";
    world
        .ticket("t-1")
        .line("tags: [risky]")
        .agent(&script(calls))
        .write();
    let mut engine = world.engine();
    world.wait("the last call", || said(&world).len() == 14);
    world.must(&["stop", "--kill", "--wait"]);
    engine.end();
    let said = said(&world);
    assert!(
        said[0].contains("only a person gives a ticket the tag `leader`") && said[0].ends_with("exit 1\n"),
        "{said:?}"
    );
    assert!(
        said[1].contains("leave -a out") && said[1].ends_with("exit 1\n"),
        "{said:?}"
    );
    assert_eq!(said[2], "t-1-n1\nexit 0\n");
    assert!(
        said[3].contains("made t-1-n1 before: it has this title") && said[3].ends_with("t-1-n1\nexit 0\n"),
        "{said:?}"
    );
    assert_eq!(said[12], "t-1-n10\nexit 0\n");
    assert!(
        said[13].contains("10 tickets, which are the most") && said[13].ends_with("exit 1\n"),
        "{said:?}"
    );
    let made = fs::read_to_string(world.ticket_file("t-1-n1")).unwrap();
    for part in [
        "tags: [risky, ui]",
        "type: bug",
        "priority: 1",
        "parent: t-1",
        "In the cellar.",
        "## Design\n\nWith a lamp.",
        "- It is lit.",
    ] {
        assert!(made.contains(part), "{part}: {made}");
    }
    assert_eq!(
        fs::read_dir(world.project(".tickets"))
            .unwrap()
            .filter(is_ticket)
            .count(),
        11
    );
}

fn is_ticket(entry: &std::io::Result<fs::DirEntry>) -> bool {
    let name = entry.as_ref().unwrap().file_name();
    name.to_string_lossy().ends_with(".md")
}

#[test]
fn an_agent_changes_no_tickets_but_its_own_and_those_of_its_own_repository_as_it_likes() {
    let world = World::new();
    let calls = "ticket undep t-3 t-2
ticket dep t-2 t-3
ticket link t-2 t-3
ticket close t-2
ticket create 'Look further'
ticket dep t-1-n1 t-2
ticket dep t-1-n1 t-1
ticket undep t-1-n1 t-1
mkdir -p own/.tickets && cd own && git init -q
ticket create 'Of its own' -a bob --tags leader
id=$(basename .tickets/*.md .md)
ticket create 'Another'
other=$(basename $(ls .tickets/*.md | grep -v $id) .md)
ticket dep $id $other
ticket close $other
cd .. && cp -r own/.tickets \"$LOGS/own\" && rm -rf own
mkdir -p .tickets && ticket create 'Not in its workspace'";
    world.ticket("t-1").agent(&script(calls)).write();
    world.ticket("t-2").deps(&["t-1"]).agent(DONE).write();
    world.ticket("t-3").deps(&["t-2"]).agent(DONE).write();
    for made in ["t-1-n1", "t-1-n2"] {
        world.script(made, DONE);
    }
    world.drain_all();
    let said = said(&world);
    for refused in &said[..3] {
        assert!(
            refused.contains("changes no tickets but those that it has made")
                && refused.contains("`team_comment`")
                && refused.ends_with("exit 1\n"),
            "{said:?}"
        );
    }
    assert!(said[3].ends_with("exit 1\n"), "{said:?}");
    for taken in &said[4..] {
        assert!(taken.ends_with("exit 0\n"), "{said:?}");
    }
    assert_eq!(said[12], "t-1-n2\nexit 0\n", "{said:?}");
    assert_eq!(
        fs::read_dir(world.path("logs/own"))
            .unwrap()
            .filter(is_ticket)
            .count(),
        2
    );
    assert_eq!(world.front("t-3", "deps"), "[t-2]");
    assert_eq!(world.landed().len(), 5, "{:?}", world.landed());
}

#[test]
fn a_gatekeeper_and_a_check_make_no_tickets() {
    let made = format!(
        "{} -C $HOME/../project ticket create 'Of a check' > $HOME/made 2>&1 || true",
        crew()
    );
    let world = World::with(|s| {
        s.top = "[review]\nwhen = \"always\"\n".to_owned();
        s.checks = format!("commands = ['''{made}''']");
    });
    world.anyway();
    let approves = "printf '{\"crew\":\"verdict\",\"run_id\":\"%s\",\"verdict\":\"approve\",\"acceptance_test\":\"read it\"}\\n' \"$CREW_RUN_ID\"";
    let calls = format!(
        "{TICKET}if [ \"$CREW_ROLE\" = gatekeeper ]; then ticket create 'Of a gatekeeper'; {approves}; exit; fi\n{DONE}"
    );
    world.ticket("t-1").agent(&calls).write();
    world.drain_all();
    let said = said(&world);
    assert!(
        said[0].contains("create_ticket is not for a gatekeeper") && said[0].ends_with("exit 1\n"),
        "{said:?}"
    );
    let of_check = fs::read_to_string(world.path("home/made")).unwrap();
    assert!(of_check.contains("it makes no tickets"), "{of_check}");
    assert_eq!(
        fs::read_dir(world.project(".tickets"))
            .unwrap()
            .filter(is_ticket)
            .count(),
        1
    );
}

#[test]
fn a_leader_that_an_agent_writes_by_hand_does_not_lead_and_one_of_a_person_does() {
    let world = World::new();
    let by_hand = "printf -- '---\\nid: t-2\\nstatus: open\\ntags: [leader]\\n---\\n# By hand\\n' > \"$TICKETS_DIR/t-2.md\"
touch \"$LOGS/written\"
until_there \"$GATES/go\"";
    world.script("t-2", DONE);
    world.ticket("t-1").agent(&script(by_hand)).write();
    let mut engine = world.engine();
    world.wait("the file of the agent's", || world.try_state("t-2").is_some());
    let mine = world.must(&["ticket", "create", "Mine", "--tags", "leader"]).out;
    let mine = mine.trim();
    world.script(mine, DONE);
    let explained = world.must(&["explain", "t-2"]).out;
    assert!(
        explained.contains("does not count") && explained.contains("crew approve t-2"),
        "{explained}"
    );
    let explained = world.must(&["explain", mine]).out;
    assert!(!explained.contains("does not count"), "{explained}");
    assert_eq!(world.count(mine, "vouched_for"), 1);
    world.open("go");
    world.wait("the landings", || world.landed().len() == 3);
    world.must(&["stop", "--wait"]);
    engine.end();
    let may = |id: &str| world.variable(id, 1, "CREW_HAS_TOOLS");
    assert_eq!(may("t-2").as_deref(), Some("0"));
    assert_eq!(may(mine).as_deref(), Some("1"));
}

#[test]
fn a_hook_that_makes_a_ticket_of_each_completed_one_comes_to_an_end() {
    let world = World::new();
    let hook = world.path("next.sh");
    let text = format!(
        "#!/bin/sh\ncat > /dev/null\n'{}' ticket create \"After $CREW_HOOK_TICKET\" >> '{}' 2>&1\n",
        crew(),
        world.path("logs/said").display()
    );
    fs::create_dir_all(world.path("logs")).unwrap();
    fs::write(&hook, text).unwrap();
    make_executable(&hook);
    let hooks = format!(
        "{}\n[hooks]\ncompleted = [\"{}\"]\n",
        world.read("crew.toml"),
        hook.display()
    );
    world.commit("crew.toml", &hooks);
    let row = ["t-1", "t-1-h1", "t-1-h1-h1", "t-1-h1-h1-h1"];
    for id in &row[1..] {
        world.script(id, DONE);
    }
    world.ticket("t-1").agent(DONE).write();
    for _ in row {
        world.drain_all();
    }
    assert_eq!(world.landed(), row);
    let said = fs::read_to_string(world.path("logs/said")).unwrap();
    assert!(
        said.starts_with("t-1-h1\nt-1-h1-h1\nt-1-h1-h1-h1\n") && said.contains("3 in a row"),
        "{said}"
    );
    assert_eq!(world.front("t-1-h1", "made_by"), "the hook completed");
}

#[test]
fn an_edit_of_what_a_ticket_waits_for_is_in_its_history() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("until_there \"$GATES/go\"\nwork \"a$RUN\" x\necho DONE")
        .write();
    world.ticket("t-2").deps(&["t-1"]).agent(DONE).write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    world.must(&["ticket", "undep", "t-2", "t-1"]);
    world.wait("the edit", || world.count("t-2", "edited") == 1);
    let history = world.must(&["history", "t-2"]).out;
    assert!(history.contains("it waits no more for t-1"), "{history}");
    let said = world.must(&["say", "t-1", "- mind the gap"]);
    assert!(said.out.contains("these words"), "{said}");
    world.open("go");
    world.wait("the landings", || world.landed().len() == 2);
    world.must(&["stop", "--wait"]);
    engine.end();
}
