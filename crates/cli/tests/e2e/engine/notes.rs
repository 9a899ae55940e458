//! crew's notes at landing: what was done, and the commit, once in the ticket's file whatever dies.

use std::fs;

use testkit::world::{DONE, World};

/// The notes at landing in a ticket's file.
fn notes(world: &World, id: &str) -> Vec<String> {
    let file = fs::read_to_string(world.ticket_file(id)).unwrap();
    let notes = file.lines().filter(|line| line.starts_with("DONE: "));
    notes.map(str::to_owned).collect()
}

/// The note that a ticket whose work is main's newest merge has to have.
fn due(world: &World, says: &str) -> Vec<String> {
    let commit = world.git(&["rev-parse", "--short=8", "main"]);
    vec![format!("DONE: {says} ({})", commit.trim())]
}

#[test]
fn a_landed_ticket_says_what_was_done_and_by_which_commit_also_where_its_file_is_tracked() {
    for is_tracked in [false, true] {
        let world = World::new();
        world
            .ticket("t-1")
            .agent("work a x\nprintf 'SUMMARY: \\033[31madds a\\033[0m, as asked\\n'\necho DONE")
            .write();
        if is_tracked {
            world.git(&["add", "--force", ".tickets"]);
            world.git(&["commit", "--quiet", "--message", "tickets"]);
        }
        world.drain_all();
        assert_eq!(world.landed(), ["t-1"]);
        assert_eq!(notes(&world, "t-1"), due(&world, "adds a, as asked"));
        assert_eq!(world.front("t-1", "status"), "closed");
        let shown = world.must(&["ticket", "show", "t-1"]).out;
        assert!(
            shown.contains("## Notes") && shown.contains("DONE: adds a"),
            "{shown}"
        );
        // The next engine looks at the file: it is as crew has left it.
        world.drain_all();
        for fact in ["edited", "commented", "file_drifted", "file_unheeded", "reopened"] {
            assert_eq!(world.count("t-1", fact), 0, "{fact}");
        }
        let noticed = world.must(&["events", "--leader"]).out;
        assert!(
            noticed.contains("landed") && !noticed.contains("comment"),
            "{noticed}"
        );
    }
}

#[test]
fn a_note_is_there_once_whenever_the_engine_is_killed() {
    for point in ["durable.landed", "begun.write_file:3", "performed.write_file:3"] {
        let world = World::new();
        world.ticket("t-1").agent(DONE).write();
        world.around("CREW_FAILPOINT_AT", point);
        let said = world.crew(&["run", "--until-idle"]);
        assert_eq!(said.signal, Some(9), "{point}: {said}");
        assert_eq!(world.state_name("t-1"), "done/landed", "{point}");
        world.around("CREW_FAILPOINT_AT", "");
        world.drain_all();
        assert_eq!(notes(&world, "t-1").len(), 1, "{point}");
        assert_eq!(world.front("t-1", "status"), "closed");
        assert_eq!(world.count("t-1", "edited"), 0, "{point}");
    }
}

#[test]
fn a_ticket_that_is_opened_again_keeps_its_note_and_gets_another() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work \"a$RUN\" x\necho \"SUMMARY: step $RUN\"\necho DONE")
        .write();
    world.drain_all();
    let first = due(&world, "step 1");
    assert_eq!(notes(&world, "t-1"), first);
    world.must(&["ticket", "reopen", "t-1"]);
    world.drain_all();
    assert_eq!(notes(&world, "t-1"), [first, due(&world, "step 2")].concat());
    assert_eq!(world.count("t-1", "landed"), 2);
    assert_eq!(world.count("t-1", "edited"), 0);
}

#[test]
fn nothing_is_noted_where_crew_has_landed_nothing() {
    let world = World::new();
    world.ticket("t-1").agent("echo 'QUESTION: well?'").write();
    world.ticket("t-2").agent("echo 'BLOCKED: no key'").write();
    world.drain_held();
    world.must(&["drop", "t-1"]);
    world.must(&["ticket", "close", "t-2"]);
    world.drain_all();
    for id in ["t-1", "t-2"] {
        assert_eq!(world.front(id, "status"), "closed");
        assert_eq!(notes(&world, id), Vec::<String>::new());
    }
    let file = fs::read_to_string(world.ticket_file("t-2")).unwrap();
    assert!(file.contains("\nBLOCKED: no key\n"), "{file}");
}

#[test]
fn a_child_that_lands_with_its_parent_has_its_own_summary_and_its_parents_commit() {
    let world = World::new();
    world.script("t-1-c1", "work one x\necho 'SUMMARY: wrote one'\necho DONE");
    let leader = r#"case "$RUN" in
1) "$CREW_TOOL" tool delegate '{"tasks": [{"title": "The half"}]}' ;;
*) work whole x; echo "SUMMARY: the whole"; echo DONE ;;
esac"#;
    world.ticket("t-1").line("tags: [leader]").agent(leader).write();
    world.drain_all();
    assert_eq!(notes(&world, "t-1"), due(&world, "the whole"));
    assert_eq!(notes(&world, "t-1-c1"), due(&world, "wrote one"));
}
