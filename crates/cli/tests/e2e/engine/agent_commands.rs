//! The commands that an agent may run: those that look, and those on the queue.

use std::fs;

use testkit::world::{DONE, World, crew};

/// Every command that decides something, with words that a person would type.
const FOR_PEOPLE: &[&str] = &[
    "approve t-1",
    "answer t-1 yes",
    "waive t-1 why-not",
    "retry t-1",
    "drop t-1 no",
    "kill ada",
    "cleanup ada",
    "clean --yes",
    "stop --kill",
    "merge t-1",
    "wake ada",
    "say ada hello",
    "mode ada plan",
    "bait ada",
    "reap ada",
    "rewind t-1 --at 1",
    "spawn 1",
    "assign ada t-1",
    "run --until-idle",
    "init --yes",
    "doctor --fix",
    "dashboard",
];

#[test]
fn an_agent_that_acts_as_a_person_is_refused_and_told_how_to_ask() {
    let world = World::new();
    let weaker = "echo '# weaker' >> crew.toml\ngit commit -qam weaker\necho DONE";
    world.ticket("t-1").agent(weaker).write();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "paths");

    let call = |line: &&str| {
        let crew = crew();
        format!(
            "code=0; echo '$ {line}'; \"{crew}\" -C \"$PROJECT\" {line} 2>&1 || code=$?; echo \"exit $code\"\n"
        )
    };
    let calls: String = FOR_PEOPLE.iter().map(call).collect();
    let looks = format!(
        "\"{0}\" -C \"$PROJECT\" inbox > \"$LOGS/inbox\" || true\n\
         \"{0}\" ticket add-note t-2 'a note' > \"$LOGS/note\"\n",
        crew()
    );
    let project = world.path("project");
    let script = format!(
        "PROJECT='{}'\n{{\n{calls}}} > \"$LOGS/said\"\n{looks}{DONE}",
        project.display()
    );
    world.ticket("t-2").agent(&script).write();
    let told = world.drain_held();

    let said = fs::read_to_string(world.path("logs/said")).unwrap();
    let parts: Vec<&str> = said.split("$ ").skip(1).collect();
    assert_eq!(parts.len(), FOR_PEOPLE.len(), "{said}");
    for (part, line) in parts.iter().zip(FOR_PEOPLE) {
        let name = line.split(' ').next().unwrap();
        assert!(part.contains(&format!("`crew {name}")), "{line}: {part}");
        assert!(part.contains("is for people"), "{line}: {part}");
        assert!(part.contains("QUESTION:"), "{line}: {part}");
        assert!(part.ends_with("exit 2\n"), "{line}: {part}");
    }
    assert_eq!(world.held("t-1").0, "paths", "nobody has approved it: {told}");
    assert_eq!(world.landed(), ["t-2"], "{told}");
    let inbox = fs::read_to_string(world.path("logs/inbox")).unwrap();
    assert!(inbox.contains("crew approve t-1"), "{inbox}");
    let ticket = fs::read_to_string(world.ticket_file("t-2")).unwrap();
    assert!(ticket.contains("a note"), "{ticket}");

    // A person is not meant.
    world.must(&["approve", "t-1"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-2", "t-1"]);
}

#[test]
fn neither_a_check_nor_a_set_up_can_act_as_a_person() {
    let tries = |name: &str| {
        let call = |line: &&str| format!("{} -C $HOME/../project {line} 2>&1; echo \"exit $?\"; ", crew());
        let calls: String = FOR_PEOPLE.iter().map(call).collect();
        format!("{{ {calls} env | grep ^CREW_ | cut -d= -f1 | sort | tr '\\n' ' '; }} > $HOME/{name}")
    };
    let closes = format!(
        "{} -C $HOME/../project ticket close t-2 > $HOME/closes 2>&1; echo \"exit $?\" >> $HOME/closes",
        crew()
    );
    let world = World::with(|s| {
        s.checks = format!(
            "setup = ['''{}''']\ncommands = ['''{}''', '''{closes}''']",
            tries("check-set-up"),
            tries("check")
        );
        s.land = format!("[workspace]\nsetup = ['''{}''']", tries("set-up"));
    });
    world.anyway();
    world.around("CREW_LOG", "debug");
    world.around("TICKETS_DIR", world.project(".tickets"));
    world.ticket("t-2").status("in_progress").write();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    let of_check = "CREW_BASE CREW_CHECK CREW_RUN_ID ";
    let of_its_set_up = "CREW_CHECK CREW_RUN_ID ";
    let of_set_up = "CREW_AGENT CREW_QUEUE CREW_RUN_ID CREW_SETUP CREW_TICKET_ID CREW_WORKER ";
    for (name, mark, own) in [
        ("check", "CREW_CHECK", of_check),
        ("check-set-up", "CREW_CHECK", of_its_set_up),
        ("set-up", "CREW_SETUP", of_set_up),
    ] {
        let said = fs::read_to_string(world.path("home").join(name)).unwrap();
        let refused = said.matches("exit 2\n").count();
        assert_eq!(refused, FOR_PEOPLE.len(), "{name}: {said}");
        assert_eq!(
            said.matches(&format!("({mark} is set)")).count(),
            refused,
            "{name}: {said}"
        );
        assert_eq!(said.lines().last(), Some(own), "{name}: {said}");
    }
    let said = fs::read_to_string(world.path("home/closes")).unwrap();
    assert!(
        said.contains("a person's word") && said.ends_with("exit 2\n"),
        "{said}"
    );
    assert_eq!(world.front("t-2", "status"), "in_progress");
}
