//! Commitments: work lands once it meets them, as crew itself has verified.

use std::fs;

use testkit::world::{DONE, World, crew};

#[test]
fn an_acceptance_test_that_fails_keeps_the_work_from_landing_and_its_agent_gets_the_output() {
    let world = World::new();
    world
        .ticket("t-1")
        .line("acceptance_test: \"echo not yet there; false\"")
        .agent(
            "work \"t.$RUN\" x\n[ \"$RUN\" = 3 ] && { echo 'BLOCKED: it cannot be met'; exit 0; }\necho DONE",
        )
        .write();
    let said = world.drain_held();
    assert!(world.landed().is_empty(), "{}", said.all());
    assert_eq!(world.held("t-1").0, "blocked");
    let told = world.prompt("t-1", 1);
    assert!(
        told.contains("the acceptance test passes (`echo not yet there; false`)"),
        "{told}"
    );
    for step in [2, 3] {
        let told = world.prompt("t-1", step);
        assert!(
            told.contains("does not meet this commitment:\nthe acceptance test passes"),
            "{told}"
        );
        assert!(told.contains("not yet there\n(exit code 1)"), "{told}");
    }
    assert_eq!(world.count("t-1", "commitment_unmet"), 2);
    let explained = world.must(&["explain", "t-1"]);
    assert!(
        explained
            .out
            .contains("commitment 1, from the ticket's file, failed"),
        "{}",
        explained.out
    );
}

#[test]
fn an_unmet_commitment_goes_back_once_and_then_lands_with_its_trailer() {
    let world = World::new();
    world
        .ticket("t-1")
        .line("commitments:\n  - says: The page is there\n    run: [test, -e, page]\n  - run: test -e t-1.1")
        .body("# A page\n\n## Acceptance Criteria\n\n- A person likes it.\n- It greets: `$ grep -q hello page`\n")
        .agent(
            "case $RUN in\n\
             1) work t-1.1 x ;;\n\
             *) work page hello ;;\n\
             esac\n\
             echo DONE",
        )
        .write();
    world.must(&[
        "commit-to",
        "t-1",
        "The page is a file",
        "--",
        "test",
        "-f",
        "page",
    ]);
    let refused = world.crew(&["commit-to", "t-1", "A person likes it"]);
    assert!(refused.err.contains("t-1 is not reviewed"), "{}", refused.err);
    world.drain_all();
    assert_eq!(world.count("t-1", "commitment_unmet"), 1);
    assert!(
        world.prompt("t-1", 2).contains("The page is there"),
        "{}",
        world.prompt("t-1", 2)
    );
    let trailer = world.git(&[
        "log",
        "-1",
        "--format=%(trailers:key=Commitments,valueonly)",
        "main",
    ]);
    assert_eq!(trailer.trim(), "4/4");
    let how = format!("{:?}", world.state("t-1").state);
    assert!(how.contains("The page is a file"), "{how}");
    let explained = world.json(&["explain", "t-1"]);
    assert_eq!(explained["commitments"][0]["state"], "passed", "{explained}");
}

#[test]
fn an_agents_commitment_is_an_argument_vector_that_no_shell_reads() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    let touched = outside.path().join("touched");
    let shell = format!("t-1.1; touch {}", touched.display());
    world
        .ticket("t-1")
        .agent(&format!(
            "if [ \"$RUN\" = 1 ]; then\n\
             echo '{{\"crew\":\"commitment\",\"says\":\"by a shell\",\"run\":\"touch {touched}\"}}'\n\
             echo '{{\"crew\":\"commitment\",\"says\":\"it is there\",\"run\":[\"test\",\"-e\",\"{shell}\"]}}'\n\
             work t-1.1 x\n\
             elif [ \"$RUN\" = 3 ]; then\n\
             git ls-files >&2; mkdir -p \"$(dirname '{shell}')\"; work '{shell}' x || true\n\
             echo 'BLOCKED: enough'; exit 0\n\
             fi\n\
             echo DONE",
            touched = touched.display()
        ))
        .write();
    world.drain_held();
    assert!(!touched.exists(), "a shell has read it");
    assert_eq!(world.count("t-1", "commitment_unmet"), 1);
    let told = world.prompt("t-1", 2);
    assert!(told.contains("crew runs no shell"), "{told}");
    let ticket = world.state("t-1");
    let [only] = ticket.commitments.as_slice() else {
        panic!("{:?}", ticket.commitments)
    };
    assert_eq!(only.promise.says, "it is there");
    assert!(world.landed().is_empty());
}

#[test]
fn commitments_that_are_edited_while_an_agent_works_wait_for_a_persons_word() {
    let world = World::new();
    world
        .ticket("t-1")
        .line("acceptance_test: \"true\"")
        .agent(&format!(
            "work t-1.txt x\nsed -i 's/\"true\"/\"test -e t-1.txt\"/' {}\nuntil_there \"$GATES/seen\"\necho DONE",
            world.ticket_file("t-1").display()
        ))
        .write();
    let mut engine = world.engine();
    world.wait("its file is read", || world.count("t-1", "edited") == 1);
    world.open("seen");
    world.wait("it is held", || {
        world.try_state("t-1").is_some_and(|ticket| ticket.held.is_some())
    });
    let (why, note) = world.held("t-1");
    assert_eq!(why, "commitments");
    assert!(note.contains("crew approve t-1"), "{note}");
    let inbox = world.crew(&["inbox"]);
    assert!(inbox.out.contains("crew approve t-1"), "{}", inbox.out);
    world.must(&["approve", "t-1"]);
    world.wait("it lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    let promise = &world.state("t-1").commitments[0].promise;
    assert!(promise.to_string().contains("test -e t-1.txt"), "{promise}");
}

#[test]
fn the_same_unmet_commitment_is_paid_for_three_times_and_a_waiver_is_counted_as_one() {
    let world = World::new();
    world
        .ticket("t-1")
        .line("acceptance_test: \"false\"")
        .agent("[ \"$RUN\" = 1 ] && work t-1.txt x\necho DONE")
        .write();
    world.drain_held();
    assert_eq!(
        (world.runs("t-1"), world.count("t-1", "commitment_unmet")),
        (3, 3)
    );
    let (why, note) = world.held("t-1");
    assert_eq!(why, "no_progress");
    assert!(note.contains("the acceptance test passes"), "{note}");
    let inbox: serde_json::Value = serde_json::from_str(&world.crew(&["inbox", "--json"]).out).unwrap();
    let acts = inbox["items"][0]["acts"].as_array().unwrap();
    let typed: Vec<&str> = acts.iter().filter_map(|act| act["typed"].as_str()).collect();
    assert_eq!(
        typed,
        [
            "crew waive t-1 --commitment 1 \"…\"",
            "crew retry t-1",
            "crew waive t-1 \"…\"",
            "crew drop t-1"
        ]
    );
    let explained = world.must(&["explain", "t-1"]).out;
    let at = |words: &str| {
        explained
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {explained}"))
    };
    assert!(
        at("--commitment 1 <reason>") < at("crew waive t-1 <reason>"),
        "{explained}"
    );
    assert!(at("neither checked") > 0, "{explained}");
    world.must(&["waive", "t-1", "the", "test", "is", "wrong"]);
    world.drain_all();
    let trailer = world.git(&[
        "log",
        "-1",
        "--format=%(trailers:key=Commitments,valueonly)",
        "main",
    ]);
    assert_eq!(trailer.trim(), "0/1");
    let how = format!("{:?}", world.state("t-1").state);
    assert!(how.contains("the test is wrong"), "{how}");
}

#[test]
fn shell_text_in_a_ticket_that_an_agent_made_counts_once_a_person_has_said_so() {
    let world = World::new();
    let make = format!(
        "\"{}\" ticket create 'A page' -t epic --acceptance '- It greets: `$ test -e greeted`' > \"$LOGS/made\"\n\
         work t-1 x\necho DONE",
        crew()
    );
    world.ticket("t-1").agent(&make).write();
    world.drain_all();
    let made = fs::read_to_string(world.path("logs/made")).unwrap();
    let made = made.trim();
    assert!(!world.front(made, "made_by").is_empty());
    world.script(made, "work greeted x\necho DONE");
    world.edit(made, |text| text.replacen("type: epic", "type: task", 1));
    world.drain_held();
    let (why, note) = world.held(made);
    assert_eq!(why, "commitments");
    assert!(note.contains("made this ticket"), "{note}");
    assert!(world.state(made).commitments.is_empty());
    let explained = world.must(&["explain", made]).out;
    assert!(explained.contains("test -e greeted"), "{explained}");
    world.must(&["approve", made]);
    world.drain_all();
    assert!(world.is_landed(made));
    assert_eq!(world.state(made).commitments.len(), 1);
}

#[test]
fn a_program_that_checks_do_not_find_is_no_commitment_and_its_agent_is_told_before_the_work_is_submitted() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(
            "if [ \"$RUN\" = 1 ]; then\n\
             echo '{\"crew\":\"commitment\",\"says\":\"it flies\",\"run\":[\"no-such-program\"]}'\n\
             work t-1.1 x\n\
             fi\n\
             echo DONE",
        )
        .write();
    world.drain_all();
    assert_eq!(world.count("t-1", "commitment_added"), 0);
    let told = world.prompt("t-1", 2);
    let expected = "the commitment “it flies” is not taken: checks do not find the program no-such-program on their PATH.";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_refused_commitment_holds_the_submission_back_and_everybody_is_told_each_line_and_its_fault() {
    let world = World::new();
    let shell = "{\"crew\":\"commitment\",\"says\":\"it is full\",\"run\":\"test -s x\"}";
    let missing = "{\"crew\":\"commitment\",\"says\":\"it flies\",\"run\":[\"no-such-program\"]}";
    world
        .ticket("t-1")
        .agent(&format!(
            "[ \"$RUN\" = 1 ] && work t-1.txt x\necho '{shell}'\necho '{missing}'\necho DONE"
        ))
        .write();
    world.drain_held();
    assert_eq!((world.runs("t-1"), world.count("t-1", "candidate_built")), (3, 0));
    let (why, note) = world.held("t-1");
    assert_eq!(why, "no_progress");
    let faults = [
        "“it is full”",
        "crew runs no shell",
        "“it flies”",
        "no-such-program",
    ];
    let explained = world.must(&["explain", "t-1"]).out;
    let history = world.must(&["history", "t-1"]).out;
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [&note, &world.prompt("t-1", 2), &explained, &history] {
        let text = one_line(text);
        for fault in faults {
            assert!(text.contains(fault), "{fault}: {text}");
        }
    }
    // An agent that leaves them out is believed.
    world.script("t-1", "echo DONE");
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert!(world.is_landed("t-1"));
}

#[test]
fn the_last_step_is_told_what_could_not_be_used_and_so_is_whoever_comes_after_it() {
    let world = World::with(|s| s.run = "max_steps = 1\nattempts = 2".to_owned());
    world
        .ticket("t-1")
        .agent("work t-1.$RUN x\necho '{\"crew\":\"commitment\",\"says\":\"it is full\"}'\necho DONE")
        .write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "failed");
    assert!(note.contains("“it is full”"), "{note}");
    let last = world.prompt("t-1", 2);
    assert!(
        last.contains("This is the last step") && last.contains("“it is full”"),
        "{last}"
    );
    let next = world.prompt("t-1", 3);
    assert!(
        next.contains("What the earlier attempt came back with") && next.contains("“it is full”"),
        "{next}"
    );
}

#[test]
fn a_person_waives_one_commitment_of_a_ticket_that_has_failed_and_the_merge_counts_the_others() {
    let world = World::new();
    world
        .ticket("t-1")
        .line("commitments:\n  - run: test -e t-1.1\n  - run: test -e never")
        .agent("case $RUN in\n1) work t-1.1 x ;;\n2) echo 'BLOCKED: never'; exit 0 ;;\nesac\necho DONE")
        .write();
    world.drain_held();
    let refused = world.crew(&["waive", "t-1", "--commitment", "7", "so"]);
    assert!(refused.err.contains("t-1 has no commitment 7"), "{}", refused.err);
    world.must(&["waive", "t-1", "--commitment", "2", "nobody", "needs", "it"]);
    let explained = world.must(&["explain", "t-1"]);
    assert!(explained.out.contains("waived by"), "{}", explained.out);
    world.must(&["retry", "t-1"]);
    world.drain_all();
    let trailer = world.git(&[
        "log",
        "-1",
        "--format=%(trailers:key=Commitments,valueonly)",
        "main",
    ]);
    assert_eq!(trailer.trim(), "1/2");
}

#[test]
fn a_commitment_whose_program_is_missing_is_mended_in_its_file_and_approved_without_another_step() {
    let world = World::new();
    world
        .ticket("t-1")
        .body("# A file\n\n## Acceptance Criteria\n\n- It is there: `$ no-such-program t-1.txt`\n")
        .agent(DONE)
        .write();
    let mut engine = world.engine();
    world.wait("the hold", || {
        world.try_state("t-1").is_some_and(|ticket| ticket.held.is_some())
    });
    let inbox = world.crew(&["inbox"]).all();
    assert!(
        inbox.contains("the commitment “It is there: `$ no-such-program t-1.txt`” could not be run")
            && inbox.contains("mend the command in the ticket's file, then `crew approve t-1`"),
        "{inbox}"
    );
    world.edit("t-1", |text| text.replace("no-such-program", "test -e"));
    world.wait("the edit is seen", || world.count("t-1", "edited") == 1);
    let inbox = world.crew(&["inbox"]).all();
    assert!(
        inbox.contains("new: It is there: `$ test -e t-1.txt`")
            && inbox.contains("taken out: It is there: `$ no-such-program t-1.txt`"),
        "{inbox}"
    );
    world.must(&["approve", "t-1"]);
    world.wait("the landing", || world.is_landed("t-1"));
    world.must(&["stop", "--wait"]);
    engine.end();
    assert_eq!(world.runs("t-1"), 1, "{:?}", world.facts("t-1"));
}
