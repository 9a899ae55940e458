//! What an agent is told, what it may say, and what it may do to the machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use model::journal::Fact;
use model::{attempt, ticket};

use testkit::world::{DONE, World};

#[test]
fn done_without_a_commit_is_sent_back() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("[ \"$RUN\" = 1 ] || work t x\necho DONE")
        .write();
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 2));
    assert!(
        world.prompt("t-1", 2).contains("nothing was committed"),
        "{}",
        world.prompt("t-1", 2)
    );
    assert_eq!(world.count("t-1", "no_commits"), 1);
    assert_eq!(
        world.variable("t-1", 1, "CREW_SESSION_ID"),
        world.variable("t-1", 2, "CREW_SESSION_ID")
    );
    assert_eq!(world.variable("t-1", 1, "CREW_SESSION_NEW").as_deref(), Some("1"));
    assert_eq!(world.variable("t-1", 2, "CREW_SESSION_NEW").as_deref(), Some("0"));
}

#[test]
fn what_is_left_uncommitted_lands_too() {
    let world = World::new();
    world.commit(".gitignore", "*.log\n");
    world
        .ticket("t-1")
        .agent("echo more >> README\nmkdir -p deep/er\necho new > deep/er/file\necho staged > staged\ngit add staged\necho noise > build.log\nmv .gitignore .gitignore.x; mv .gitignore.x .gitignore\necho DONE")
        .write();
    world.drain_all();
    assert_eq!(world.read("README"), "hello\nmore\n");
    assert_eq!(
        (world.read("deep/er/file"), world.read("staged")),
        ("new\n".to_owned(), "staged\n".to_owned())
    );
    assert_eq!(world.on_main("build.log"), None);
}

#[test]
fn done_inside_a_sentence_is_not_done() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(
            "work \"t.$RUN\" x\n\
             case $RUN in\n\
             1) echo 'DONE with the first part'; echo 'not DONE'; echo '\"DONE\"'; echo '    DONE'; echo 'DONE.'; echo done ;;\n\
             2) echo 'the ticket said:' ; echo '> DONE' ; echo DONE >&2 ;;\n\
             *) echo DONE ;;\n\
             esac",
        )
        .write();
    world.drain_all();
    assert_eq!(world.runs("t-1"), 3);
    assert_eq!(world.read("t.3"), "x\n");
    assert!(
        world.prompt("t-1", 2).contains("step 2 of"),
        "{}",
        world.prompt("t-1", 2)
    );
}

#[test]
fn the_step_limit_means_a_last_chance_and_then_a_person() {
    let world = World::with(|s| s.run = "max_steps = 2\nattempts = 1".to_owned());
    world.ticket("t-1").agent("work \"t.$RUN\" x").write();
    world.ticket("t-2").agent(DONE).write();
    let said = world.drain_held();
    assert!(said.tells_of("t-1", "attempts are spent"), "{said}");
    let note = world.held("t-1").1;
    assert!(
        note.contains("printed no result") && note.contains("crew logs t-1"),
        "{note}"
    );
    assert_eq!(world.runs("t-1"), 3);
    assert!(!world.prompt("t-1", 2).contains("last step"));
    assert!(
        world.prompt("t-1", 3).contains("last step"),
        "{}",
        world.prompt("t-1", 3)
    );
    assert_eq!(world.state_name("t-1"), "open (held)");
    assert_eq!(world.held("t-1").0, "failed");
    assert_eq!(
        world.landed(),
        ["t-2"],
        "the limit never means done, and holds nobody else up"
    );
    assert!(world.front("t-1", "tags").contains("failed"));
    assert_eq!(world.git(&["show", "refs/crew/attempts/t-1/1:t.3"]), "x");

    // A retry begins where this one ended, and says so.
    world.script("t-1", "test -e t.1\ntest -e t.2\nwork more x\necho DONE");
    world.must(&["retry", "t-1"]);
    world.drain_all();
    let told = world.prompt("t-1", 4);
    assert!(told.contains("Earlier work is in it"), "{told}");
    assert_eq!(world.variable("t-1", 4, "CREW_SESSION_NEW").as_deref(), Some("1"));
    assert_ne!(
        world.variable("t-1", 3, "CREW_SESSION_ID"),
        world.variable("t-1", 4, "CREW_SESSION_ID")
    );
    assert_eq!(
        (world.read("t.1"), world.read("more")),
        ("x\n".to_owned(), "x\n".to_owned())
    );
    assert_eq!(world.landed(), ["t-2", "t-1"]);
}

#[test]
fn attempts_left_mean_a_wait_and_not_a_person() {
    let world = World::with(|s| s.run = "max_steps = 1\nattempts = 2".to_owned());
    world.ticket("t-1").agent(":").write();
    let mut engine = world.engine();
    world.wait("it gave up", || {
        world.try_state("t-1").is_some_and(|ticket| ticket.due.is_some())
    });
    let ticket = world.state("t-1");
    assert_eq!(ticket.state_name(), "open");
    let wait = ticket.due.unwrap().since(ticket.since);
    assert_eq!(wait.as_secs(), 30);
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.runs("t-1"), 2);
}

#[test]
fn blocked_is_held_with_the_agents_reason() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work t x\necho 'BLOCKED: the key of the vault is missing'")
        .write();
    let said = world.drain_held();
    assert!(said.tells_of("t-1", "the key of the vault is missing"), "{said}");
    assert_eq!(
        world.held("t-1"),
        ("blocked".to_owned(), "the key of the vault is missing".to_owned())
    );
    assert!(
        fs::read_to_string(world.ticket_file("t-1"))
            .unwrap()
            .contains("BLOCKED: the key of the vault is missing")
    );
    assert!(world.kept("t-1", 1).is_some());
    assert!(world.landed().is_empty());
}

#[test]
fn a_question_waits_for_its_answer() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 1 ]; then echo 'QUESTION: red or blue?'; else work t x; echo DONE; fi")
        .write();
    let said = world.drain_held();
    assert!(said.tells_of("t-1", "red or blue?"), "{said}");
    assert_eq!(world.state_name("t-1"), "in_progress/waiting_for_input");
    let agent = world.agent_of("t-1");
    world.must(&["answer", &agent, "as blue as the sea"]);
    world.drain_all();
    let told = world.prompt("t-1", 2);
    assert!(told.contains("as blue as the sea"), "{told}");
    assert_eq!(world.variable("t-1", 2, "CREW_SESSION_NEW").as_deref(), Some("0"));
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn a_question_of_the_only_agent_does_not_keep_until_idle_waiting() {
    let world = World::with(|s| s.agents = "names = [\"ada\"]".to_owned());
    world
        .ticket("t-1")
        .priority(0)
        .agent("echo 'QUESTION: red or blue?'")
        .write();
    world.ticket("t-2").agent(DONE).write();
    let said = world.drain_held();
    assert!(
        said.tells_of("t-1", "red or blue?") && said.tells_of("t-2", "no agent is free"),
        "{said}"
    );
}

#[test]
fn a_failed_step_is_tried_again_after_a_wait() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("if [ \"$RUN\" = 1 ]; then echo DONE; exit 7; fi\nwork t x\necho DONE")
        .write();
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.count("t-1", "step_failed")), (2, 1));
    assert!(world.facts("t-1").iter().any(|fact| fact == "landed"));
}

#[test]
fn a_step_says_exactly_what_the_contract_says_and_nothing_secret_passes() {
    let world = World::new();
    world.ticket("t-1").title("Paint it").agent(DONE).write();
    world.drain_all();
    let env = fs::read_to_string(world.path("logs/t-1.1.env")).unwrap();
    assert!(!env.contains("canary"), "{env}");
    let names: BTreeSet<&str> = env
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name)
        .collect();
    let shells = ["PWD", "OLDPWD", "SHLVL", "_"];
    let given: BTreeSet<&str> = names.into_iter().filter(|name| !shells.contains(name)).collect();
    let expected: BTreeSet<&str> = [
        "CREW_WORKER",
        "CREW_RUN_ID",
        "CREW_TICKET_ID",
        "CREW_AGENT",
        "CREW_ROLE",
        "CREW_STEP",
        "CREW_MODE",
        "CREW_PROMPT_KIND",
        "CREW_SESSION_ID",
        "CREW_SESSION_NEW",
        "CREW_LEADER",
        "CREW_HAS_TOOLS",
        "CREW_RUN_DIR",
        "CREW_TOKEN",
        "CREW_TOOL",
        "CREW_INSTRUCTIONS",
        "TICKETS_DIR",
        "CREW_QUEUE",
        "GIT_CEILING_DIRECTORIES",
        "PATH",
        "HOME",
        "SCRIPTS",
        "LOGS",
        "GATES",
    ]
    .into();
    assert_eq!(given, expected);
    let is = |name: &str| world.variable("t-1", 1, name).unwrap();
    for (name, value) in [
        ("CREW_WORKER", "1"),
        ("CREW_TICKET_ID", "t-1"),
        ("CREW_ROLE", "worker"),
        ("CREW_STEP", "1"),
        ("CREW_MODE", "execute"),
        ("CREW_PROMPT_KIND", "init"),
        ("CREW_SESSION_NEW", "1"),
        ("CREW_LEADER", "crew"),
        ("CREW_HAS_TOOLS", "0"),
    ] {
        assert_eq!(is(name), value, "{name}");
    }
    assert!(is("CREW_SESSION_ID").parse::<uuid::Uuid>().is_ok());
    assert_eq!(
        fs::canonicalize(is("TICKETS_DIR")).unwrap(),
        fs::canonicalize(world.project(".tickets")).unwrap()
    );
    let folder = fs::read_to_string(world.path("logs/t-1.1.pwd")).unwrap();
    assert!(
        folder.trim_end().ends_with(&format!("{}-t-1", is("CREW_AGENT"))),
        "{folder}"
    );
    assert!(
        !folder.starts_with(&world.path("project").display().to_string()),
        "{folder}"
    );
    let told = world.prompt("t-1", 1);
    assert!(
        told.contains("# Paint it") && told.contains("t-1") && told.contains(&is("CREW_AGENT")),
        "{told}"
    );
}

#[test]
fn instructions_stand_beside_the_workspace_and_not_in_it() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("cp \"$CREW_INSTRUCTIONS\" \"$LOGS/instructions\"\ngit status --porcelain --ignored > \"$LOGS/status\"\ngit remote > \"$LOGS/remotes\"\ngit branch --show-current > \"$LOGS/branch\"\nwork t x\necho DONE")
        .write();
    world.drain_all();
    let read = |name: &str| fs::read_to_string(world.path("logs").join(name)).unwrap();
    assert!(read("instructions").contains("t-1"));
    assert_eq!((read("status"), read("remotes")), (String::new(), String::new()));
    assert_eq!(
        read("branch"),
        format!("agent/{}-t-1\n", world.variable("t-1", 1, "CREW_AGENT").unwrap())
    );
}

#[test]
fn a_flood_of_output_is_survived() {
    let world = World::new();
    world
        .ticket("one-line")
        .agent("work one x\nhead -c 50000000 /dev/zero | tr '\\0' x\necho\necho DONE")
        .write();
    world
        .ticket("many-lines")
        .agent(
            "work many x\nyes 'a line of the flood, which is not DONE' | head -c 50000000\necho\necho DONE",
        )
        .write();
    world.drain_all();
    assert_eq!(
        (
            world.landed().len(),
            world.runs("one-line"),
            world.runs("many-lines")
        ),
        (2, 1, 1)
    );
}

#[test]
fn output_that_is_no_text_is_survived() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work t x\nprintf '\\377\\376\\000\\033[2J\\r\\n'\nprintf 'SUMMARY: made it \\033[31mred\\n'\nprintf 'DONE\\r\\n'")
        .write();
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
    let message = world.git(&["log", "-1", "--format=%B", "main"]);
    assert!(
        message.contains("made it red") && !message.chars().any(|c| c.is_control() && c != '\n'),
        "{message:?}"
    );
}

#[test]
fn a_step_that_does_not_say_that_it_is_done_is_followed_by_another() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work \"t.$RUN\" x\n[ \"$RUN\" = 1 ] || echo DONE")
        .write();
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.read("t.1")), (2, "x\n".to_owned()));
    assert_eq!(world.count("t-1", "step_failed"), 0);
}

/// A world in which a step may be silent for a second and last as long as this, and what it came to when its
/// first step did this, after which nothing of that may be alive.
fn stopped_while_it(does: &str, step_timeout: &str) -> (World, String) {
    let run = format!("stall_after = \"3s\"\nstep_timeout = \"{step_timeout}\"");
    let world = World::with(|s| s.run = run);
    // Each notes who it is before it begins. One that left its session is of the step too.
    // With when it began: its number may be another's by the time it is looked for.
    let note = "echo $$ $(cut -d \" \" -f 22 /proc/$$/stat) >> \"$LOGS/pids\"";
    let script = format!(
        "work \"t.$RUN\" x\n[ \"$RUN\" = 1 ] || {{ echo DONE; exit 0; }}\n{note}\n\
         setsid -f sh -c '{note}; exec sleep 1000' >/dev/null 2>&1 </dev/null\n\
         sh -c '{note}; {does}'\necho DONE\n"
    );
    world.ticket("t-1").agent(&script).write();
    let mut engine = world.engine();
    world.wait("it was stopped", || world.count("t-1", "step_failed") > 0);
    let noted = fs::read_to_string(world.path("logs/pids")).unwrap();
    assert_eq!(noted.lines().count(), 3, "{noted}");
    let is_alive = |noted: &&str| {
        let (pid, began) = noted.split_once(' ').unwrap();
        let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
        stat.split(' ').nth(21) == Some(began)
    };
    let alive: Vec<&str> = noted.lines().filter(is_alive).collect();
    assert!(alive.is_empty(), "{alive:?} of {noted}");
    world.must(&["stop"]);
    engine.end();
    world.assert_at_rest();
    let why = world.rows().into_iter().find_map(|(_, _, fact)| match fact {
        Fact::Ticket(ticket::Event::Attempt(attempt::Event::StepFailed { failure, .. })) => {
            Some(failure.class.name().to_owned())
        }
        _ => None,
    });
    (world, why.unwrap())
}

#[test]
fn a_silent_step_is_stopped_with_all_it_began_and_gone_on_with() {
    let (world, why) = stopped_while_it("exec sleep 1000", "1h");
    assert_eq!(why, "stalled");
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.read("t.1")), (2, "x\n".to_owned()));
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn a_busy_step_is_not_silent_and_is_stopped_with_all_it_began_at_its_time() {
    let (_, why) = stopped_while_it("while :; do :; done", "11s");
    assert_eq!(why, "timeout");
}

#[test]
fn a_step_that_says_its_result_and_does_not_exit_is_taken_at_its_word() {
    let world = World::with(|s| s.run = "exit_within = \"1s\"\nstall_after = \"1s\"".to_owned());
    world
        .ticket("t-1")
        .agent("work t x\necho DONE\nsleep 1000 & exec sleep 1000")
        .write();
    world
        .ticket("t-2")
        .agent("echo 'BLOCKED: no key'\nexec sleep 1000")
        .write();
    world.drain_held();
    assert_eq!(world.landed(), ["t-1"]);
    for id in ["t-1", "t-2"] {
        assert_eq!((world.runs(id), world.count(id, "step_failed")), (1, 0), "{id}");
    }
    assert!(world.crew(&["inbox"]).out.contains("no key"));
}

#[test]
fn a_step_that_is_stopped_after_its_result_keeps_it_though_the_engine_is_killed() {
    let world = World::with(|s| s.run = "exit_within = \"1s\"".to_owned());
    world
        .ticket("t-1")
        .agent("trap '' TERM\nwork t x\necho DONE\nwhile :; do sleep 1; done")
        .write();
    let mut engine = world.engine();
    world.wait("it is being stopped", || world.count("t-1", "stop_ordered") > 0);
    engine.signal("KILL");
    engine.end();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!((world.runs("t-1"), world.count("t-1", "step_failed")), (1, 0));
}

#[test]
fn an_agent_that_changes_nothing_and_says_the_same_is_paid_three_times() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("echo 'I could not find what to do.'")
        .write();
    // What it changes need not be committed.
    world
        .ticket("t-2")
        .agent("[ \"$RUN\" != 5 ] || { work t x; echo DONE; exit 0; }\necho $RUN >> notes\necho 'Not yet.'")
        .write();
    // Neither a number nor a commit without a change is something else.
    world
        .ticket("t-3")
        .agent("git commit -q --allow-empty -m \"try $RUN\"\necho \"Nothing to do, took $(date +%N) ms.\"")
        .write();
    world.drain_held();
    assert_eq!((world.runs("t-1"), world.runs("t-3")), (3, 3));
    assert_eq!(world.landed(), ["t-2"]);
    let inbox = world.crew(&["inbox"]).out;
    assert!(
        inbox.contains("no_progress") || inbox.contains("I could not find"),
        "{inbox}"
    );
}

#[test]
fn a_program_without_a_session_gets_the_whole_task_with_every_step() {
    for (session, tasks) in [("", 3), ("session = true", 1)] {
        let world = World::new();
        world.change_settings("[harness.scripted]", &format!("[harness.scripted]\n{session}"));
        world
            .ticket("t-1")
            .agent("work t.$RUN x\n[ \"$RUN\" != 3 ] || echo DONE")
            .write();
        world.drain_all();
        let has_task = |run: &i32| {
            let prompt = fs::read_to_string(world.path(&format!("logs/t-1.{run}.prompt"))).unwrap();
            prompt.contains("end of ticket t-1")
        };
        assert_eq!((1..=3).filter(has_task).count(), tasks, "{session}");
    }
}

#[test]
fn a_ticket_that_its_agent_closes_is_done_only_when_the_step_ends_well() {
    let world = World::with(|s| s.run = "attempts = 1".to_owned());
    let crew = env!("CARGO_BIN_EXE_crew");
    let close = format!("work \"t.$RUN\" x\n\"{crew}\" ticket close \"$CREW_TICKET_ID\"");
    world.ticket("t-1").agent(&format!("{close}\nexit 1")).write();
    world.ticket("t-2").agent(&close).write();
    world.drain_held();
    assert_eq!(world.landed(), ["t-2"]);
    assert_eq!(world.count("t-1", "submitted"), 0);
    assert_ne!(world.front("t-1", "status"), "closed");
    let file = fs::read_to_string(world.ticket_file("t-2")).unwrap();
    assert!(!file.contains("closed-by-agent"), "{file}");
}

#[test]
fn an_agent_may_not_close_the_ticket_of_another() {
    let world = World::with(|s| s.run = "max_workers = 1".to_owned());
    let crew = env!("CARGO_BIN_EXE_crew");
    let set = "ticket close t-2 2>said && exit 1\ngrep -q 'its own ticket only' said || exit 1\nrm said";
    world
        .ticket("t-1")
        .priority(0)
        .agent(&format!("\"{crew}\" {set}\n{DONE}"))
        .write();
    world.ticket("t-2").agent(DONE).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1", "t-2"]);
    assert_eq!(
        (
            world.count("t-1", "step_failed"),
            world.count("t-2", "closed_by_person")
        ),
        (0, 0)
    );
}

/// The prompt of the step that follows a first one that does this; the next one works and says DONE.
fn told_after(checks: &str, first: &str) -> (World, String) {
    let world = World::with(|s| s.checks = checks.to_owned());
    world
        .ticket("t-1")
        .agent(&format!("if [ \"$RUN\" = 1 ]; then\n{first}\nelse\ngit merge --abort 2>/dev/null || :\nwork t x\necho DONE\nfi"))
        .write();
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 2));
    let prompt = fs::read_to_string(world.path("logs/t-1.2.prompt")).unwrap();
    (world, prompt)
}

#[test]
fn a_commit_without_a_change_is_nothing_committed() {
    let (_, prompt) = told_after("", "git commit -q --allow-empty -m done\necho DONE");
    assert!(prompt.contains("nothing was committed"), "{prompt}");
}

#[test]
fn commits_that_cancel_out_are_nothing_committed() {
    let (_, prompt) = told_after("", "work n new\ngit rm -q n\ngit commit -qm back\necho DONE");
    assert!(prompt.contains("nothing was committed"), "{prompt}");
}

#[test]
fn conflict_markers_are_told_once() {
    let marked = "printf '<<<<<<< HEAD\\na\\n=======\\nb\\n>>>>>>> other\\n' > m\ngit add m\ngit commit -qm m\necho DONE";
    let (world, prompt) = told_after("", marked);
    assert!(prompt.contains("m has conflict markers in it"), "{prompt}");
    assert!(prompt.contains("nothing of it was checked"), "{prompt}");
    assert!(world.read("m").contains("<<<<<<<"), "they were meant");
}

#[test]
fn conflict_markers_are_told_also_where_checks_pass() {
    let marked = "printf '<<<<<<< HEAD\\na\\n=======\\nb\\n>>>>>>> other\\n' > m\ngit add m\ngit commit -qm m\necho DONE";
    let (_, prompt) = told_after("commands = [\"true\"]", marked);
    assert!(prompt.contains("m has conflict markers in it"), "{prompt}");
}

#[test]
fn a_wakeup_that_cannot_be_used_is_told_at_the_next_step() {
    let (_, prompt) = told_after("", "echo 'WAKEUP: soon'");
    assert!(prompt.contains("WAKEUP: soon is no duration"), "{prompt}");
}

#[test]
fn a_half_done_merge_is_told_as_what_it_is() {
    let half = "git checkout -q -b side\nwork b.txt theirs\ngit checkout -q -\nwork b.txt ours\n\
                git merge -q side >/dev/null 2>&1 || echo DONE";
    let (_, prompt) = told_after("", &format!("{half}\n"));
    assert!(prompt.contains("could not be taken over"), "{prompt}");
    assert!(
        prompt.contains("merge is under way") && !prompt.contains("does not pass"),
        "{prompt}"
    );
}

#[test]
fn a_child_that_holds_the_output_does_not_hold_the_step() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work t x\nsleep 1000 &\necho DONE")
        .write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn a_daemon_does_not_outlive_its_step() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(
            "work t x\n\
             (setsid sh -c 'sleep 1000 & sleep 1000' >/dev/null 2>&1 </dev/null &)\n\
             (setsid -f sleep 1000 >/dev/null 2>&1 </dev/null)\n\
             echo DONE",
        )
        .write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
}

#[test]
fn a_harness_that_is_not_there_keeps_the_engine_from_starting() {
    for (command, word) in [
        ("./missing.sh", "missing.sh"),
        ("no-such-program-anywhere", "no-such-program-anywhere"),
        ("./README", "README"),
    ] {
        let world = World::with(|s| s.harness = format!("command = [\"{command}\"]"));
        world.ticket("t-1").agent(DONE).write();
        let said = world.crew(&["run", "--until-idle"]);
        assert!(said.code.is_some_and(|code| code == 1 || code == 2), "{said}");
        assert!(
            said.err.contains(word) && said.err.contains("int"),
            "no hint: {said}"
        );
        assert_eq!(world.front("t-1", "status"), "open");
        assert_eq!(world.state_name("t-1"), "unknown");
    }
}

#[test]
fn an_agent_that_ruins_its_workspace_hurts_only_itself() {
    let world = World::with(|s| s.run = "attempts = 1".to_owned());
    world
        .ticket("t-1")
        .priority(0)
        .agent("rm -rf .git\necho lost > kept.txt\necho DONE")
        .write();
    world.ticket("t-2").agent(DONE).write();
    let said = world.crew(&["run", "--until-idle"]);
    assert!(said.code == Some(0) || said.code == Some(3), "{said}");
    world.assert_at_rest();
    assert!(world.is_landed("t-2"), "{said}");
    assert_eq!(world.git(&["status", "--porcelain", "-uno"]), "");
}

#[test]
fn what_is_left_of_a_ruined_workspace_outlives_a_crash_of_everything() {
    let world = World::new();
    world
        .ticket("t-1")
        .priority(0)
        .agent(
            "if [ \"$RUN\" = 1 ]; then rm -rf .git; echo precious > notes; touch \"$GATES/ruined\"; until_there \"$GATES/never\"; fi\n\
             work t x\necho DONE",
        )
        .write();
    world.ticket("t-2").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("it has ruined it", || world.path("gates/ruined").exists());
    world.kill_everything();
    engine.end();
    world.drain_held();
    assert_eq!(world.landed(), ["t-2"]);
    assert_eq!(world.git(&["status", "--porcelain", "-uno"]), "");
    world.must(&["drop", "t-1"]);
    let kept = world.git(&["for-each-ref", "--format=%(refname)", "refs/crew/"]);
    let has_notes = |name: &str| world.git(&["ls-tree", "--name-only", name]).contains("notes");
    assert!(kept.lines().any(has_notes), "kept are: {kept}");
}

#[test]
fn an_agent_that_is_killed_or_crashes_is_stepped_again() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(
            "[ \"$RUN\" = 1 ] && kill -KILL $$\nwork \"t.$RUN\" x\n[ \"$RUN\" = 2 ] && kill -SEGV $$\necho DONE",
        )
        .write();
    world.drain_all();
    assert_eq!((world.runs("t-1"), world.read("t.2")), (3, "x\n".to_owned()));
}
