//! Notifications: a person's programs are told what waits, whatever kills the notifier and whatever they do.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use testkit::world::{Said, World, make_executable};

/// The points at which a notifier is killed, and how often one item is told then.
const POINTS: [(&str, usize); 3] = [("notify.noted", 1), ("notify.sent", 2), ("notify.told", 1)];

/// Whether a test here kills a notifier at this point.
pub(crate) fn has(point: &str) -> bool {
    POINTS.iter().any(|(name, _)| *name == point)
}

/// Takes a message: its arguments, its input and its environment.
const TAKE: &str = "#!/bin/sh\nout=$1; shift\nfor one in \"$@\"; do printf '%s\\n' \"$one\" >> \"$out.args\"; done\n\
    env >> \"$out.env\"\ncat >> \"$out\"\n";

/// Asks something, and goes on with the answer.
const ASKS: &str = "if [ \"$RUN\" = 1 ]; then echo 'QUESTION: red or blue?'; else work a b; echo DONE; fi";

/// A world whose person has this `notify.toml`: `TAKE` is the words of a program that takes everything, as
/// `took` gives it.
fn notified(toml: &str) -> World {
    let world = World::new();
    program(&world, "take", TAKE);
    set(&world, toml);
    world
}

/// Writes `notify.toml`.
fn set(world: &World, toml: &str) {
    let take = format!(
        "\"{}\", \"{}\"",
        world.path("take").display(),
        world.path("took").display()
    );
    let folder = world.path("home/.config/crew");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("notify.toml"), toml.replace("TAKE", &take)).unwrap();
}

fn program(world: &World, name: &str, script: &str) -> PathBuf {
    let path = world.path(name);
    fs::write(&path, script).unwrap();
    make_executable(&path);
    path
}

/// A world in which an agent has asked something, while no notifier ran.
fn asked(toml: &str) -> World {
    let world = notified("");
    fs::remove_file(world.path("home/.config/crew/notify.toml")).unwrap();
    world.ticket("t-1").title("Paint it").agent(ASKS).write();
    world.drain_held();
    set(&world, toml);
    world
}

/// The messages that were taken.
fn took(world: &World) -> Vec<Value> {
    let text = fs::read_to_string(world.path("took")).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn arguments(world: &World) -> String {
    fs::read_to_string(world.path("took.args")).unwrap_or_default()
}

#[track_caller]
fn once(world: &World, code: i32) -> Said {
    let said = world.crew(&["notify", "--once"]);
    assert_eq!(said.code, Some(code), "{said}");
    said
}

const AT_ONCE: &str =
    "[[to]]\nafter = \"0s\"\nsettled = true\ncommand = [TAKE, \"{title}\", \"{body}\", \"{url}\"]\n";

#[test]
fn a_question_is_told_once_with_its_link_and_told_again_when_it_is_settled() {
    let world = asked(AT_ONCE);
    let said = once(&world, 0);
    assert!(
        said.out.contains("was told: ada asks about t-1 (project)"),
        "{said}"
    );
    let item = world.json_of_inbox();
    let id = item["id"].as_str().unwrap();
    assert_eq!(
        arguments(&world),
        format!(
            "ada asks about t-1 (project)\nt-1: “Paint it”\nada wrote:\n> red or blue?\n\
             http://127.0.0.1:7627/r/project/inbox/{id}\n"
        )
    );
    let all = took(&world);
    let [message] = all.as_slice() else {
        panic!("{all:?}")
    };
    assert_eq!(
        (message["id"].as_str(), &message["waits"]),
        (Some(id), &Value::Bool(true))
    );
    assert_eq!(message["items"][0]["why"], item["why"]);
    once(&world, 0);
    assert_eq!(took(&world).len(), 1, "it is told once");
    world.must(&["answer", "t-1", "blue"]);
    once(&world, 0);
    let all = took(&world);
    let [_, settled] = all.as_slice() else {
        panic!("{all:?}")
    };
    assert_eq!(
        (settled["id"].as_str(), &settled["waits"]),
        (Some(id), &Value::Bool(false))
    );
    assert_eq!(settled["title"], "Settled: ada asks about t-1 (project)");
    once(&world, 0);
    assert_eq!(took(&world).len(), 2, "nothing waits, and nothing is told");
}

#[test]
fn a_notifier_that_is_killed_tells_a_message_again_with_the_same_id_and_never_not() {
    for (point, times) in POINTS {
        let world = asked(AT_ONCE);
        world.around("CREW_FAILPOINT_AT", point);
        assert_eq!(world.crew(&["notify", "--once"]).signal, Some(9), "{point}");
        world.around("CREW_FAILPOINT_AT", "");
        once(&world, 0);
        once(&world, 0);
        let all = took(&world);
        assert_eq!(all.len(), times, "{point}: {all:?}");
        assert!(all.iter().all(|one| one == &all[0]), "{point}: {all:?}");
        // Killed while it tells that it is settled.
        world.must(&["answer", "t-1", "blue"]);
        world.around("CREW_FAILPOINT_AT", point);
        assert_eq!(world.crew(&["notify", "--once"]).signal, Some(9), "{point}");
        world.around("CREW_FAILPOINT_AT", "");
        once(&world, 0);
        let settled: Vec<Value> = took(&world).split_off(times);
        assert_eq!(settled.len(), times, "{point}: {settled:?}");
        let is_settled = |one: &Value| one["id"] == all[0]["id"] && one["waits"] == false;
        assert!(settled.iter().all(is_settled), "{point}: {settled:?}");
    }
}

#[test]
fn what_may_have_been_told_before_a_kill_is_told_as_settled_and_what_was_not_is_not() {
    for (point, expected) in [("notify.sent", 2), ("", 0)] {
        let world = asked(AT_ONCE);
        if point.is_empty() {
            program(&world, "take", "#!/bin/sh\nexit 3\n");
            once(&world, 1);
            program(&world, "take", TAKE);
        } else {
            world.around("CREW_FAILPOINT_AT", point);
            assert_eq!(world.crew(&["notify", "--once"]).signal, Some(9));
            world.around("CREW_FAILPOINT_AT", "");
        }
        world.must(&["answer", "t-1", "blue"]);
        once(&world, 0);
        let all = took(&world);
        assert_eq!(all.len(), expected, "{all:?}");
        assert!(all.last().is_none_or(|last| last["waits"] == false), "{all:?}");
    }
}

#[test]
fn a_program_that_fails_is_shown_by_the_doctor_and_tried_again_until_it_works() {
    let world = asked("[[to]]\nafter = \"0s\"\ncommand = [\"GATED\"]\n");
    let gated = format!(
        "#!/bin/sh\n[ -e {0} ] || {{ echo no route to ntfy.lan >&2; exit 7; }}\ncat >> {1}\n",
        world.path("gates/up").display(),
        world.path("took").display()
    );
    let gated = program(&world, "gated", &gated).display().to_string();
    set(
        &world,
        &format!("[[to]]\nafter = \"0s\"\ncommand = [\"{gated}\"]\n"),
    );
    let said = once(&world, 1);
    assert!(
        said.out.contains("failed: exit code 7: no route to ntfy.lan"),
        "{said}"
    );
    let doctor = world.crew(&["doctor"]);
    for part in ["fail since", "no route to ntfy.lan; 1 message waits for it"] {
        let words: Vec<&str> = doctor.out.split_whitespace().collect();
        assert!(words.join(" ").contains(part), "{part}: {doctor}");
    }
    assert_eq!(doctor.code, Some(1), "{doctor}");
    // One that goes on tries again by itself.
    let mut notifier = world.start_at(&world.path("project"), &["notify"]);
    world.wait("it has failed again", || {
        notifier.said().out.contains("exit code 7")
    });
    world.open("up");
    world.wait("it is told", || took(&world).len() == 1);
    world.wait("that is noted", || notifier.said().out.contains("was told"));
    notifier.signal("INT");
    assert_eq!(notifier.end().code, Some(130));
    let doctor = world.crew(&["doctor"]);
    assert!(!doctor.out.contains("fail since"), "{doctor}");
}

#[test]
fn a_program_that_hangs_is_ended_with_its_children_and_tried_again() {
    let world = asked("");
    let pids = world.path("pids").display().to_string();
    let hangs = format!("#!/bin/sh\nsleep 1000 & echo $! >> {pids}\necho $$ >> {pids}\nwait\n");
    let hangs = program(&world, "hangs", &hangs).display().to_string();
    set(
        &world,
        &format!("[[to]]\nafter = \"0s\"\ncommand = [\"{hangs}\"]\n"),
    );
    let said = once(&world, 1);
    assert!(
        said.out.contains("it did not end within 10 s, and was ended"),
        "{said}"
    );
    let pids = fs::read_to_string(world.path("pids")).unwrap();
    assert_eq!(pids.lines().count(), 2, "{pids}");
    let runs = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    world.wait("none of it runs", || !pids.lines().any(runs));
}

#[test]
fn an_engine_has_a_notifier_inside_that_neither_holds_it_up_nor_ends_it() {
    let world = notified(AT_ONCE);
    world.ticket("t-1").agent(ASKS).write();
    let mut engine = world.engine();
    world.wait("the question is told", || took(&world).len() == 1);
    let said = world.crew(&["notify"]);
    assert_eq!(said.code, Some(4), "{said}");
    let pid = format!("a notifier runs here already (process {})", engine.pid());
    assert!(said.err.contains(&pid), "{said}");
    world.must(&["answer", "t-1", "blue"]);
    world.wait("the answer is told", || took(&world).len() == 2);
    world.must(&["stop", "--wait"]);
    assert_eq!(engine.end().code, Some(0));
    world.assert_at_rest();
    // One that hangs is given up with the engine.
    let hangs = program(
        &world,
        "take",
        "#!/bin/sh\necho >> \"$1.hangs\"\nexec sleep 1000\n",
    );
    world.ticket("t-2").agent(ASKS).write();
    let mut engine = world.engine();
    world.wait("a program hangs", || world.path("took.hangs").exists());
    world.must(&["stop", "--wait"]);
    assert_eq!(engine.end().code, Some(0));
    world.assert_at_rest();
    assert!(hangs.exists());
}

#[test]
fn settings_that_cannot_be_used_are_one_warning_to_an_engine_and_an_error_to_a_notifier() {
    let world = asked("[[to]]\ncommand = [TAKE]\nevery = \"5m\"\n");
    let said = world.crew(&["notify", "--once"]);
    assert_eq!(said.code, Some(2), "{said}");
    assert!(said.err.contains("unknown key `every` in [[to]]"), "{said}");
    assert!(said.err.contains("notify.toml:3:1"), "{said}");
    let mut engine = world.engine();
    world.wait("it is warned", || {
        engine.said().all().contains("unknown key `every`")
    });
    world.must(&["answer", "t-1", "blue"]);
    world.wait("t-1 lands", || world.is_landed("t-1"));
    world.must(&["stop", "--wait"]);
    let said = engine.end();
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(said.all().matches("unknown key `every`").count(), 1, "{said}");
    fs::remove_file(world.path("home/.config/crew/notify.toml")).unwrap();
    let said = world.crew(&["notify"]);
    assert_eq!(said.code, Some(1), "{said}");
    for part in ["nobody knows whom to tell", "[[to]]", "notify-send"] {
        assert!(said.err.contains(part), "{part}: {said}");
    }
}

#[test]
fn no_secret_of_an_agent_or_a_check_is_in_a_message_or_around_a_program() {
    let world = asked("");
    world.change_settings("env = { ", "env = { API_KEY = \"canary-0123456789\", ");
    world
        .ticket("t-2")
        .agent("echo \"QUESTION: is $API_KEY right? \u{1b}[31mred\"")
        .write();
    world.must(&["drop", "t-1"]);
    world.drain_held();
    set(&world, AT_ONCE);
    once(&world, 0);
    let all = fs::read_to_string(world.path("took")).unwrap() + &arguments(&world);
    assert!(all.contains("is [removed] right? red"), "{all}");
    assert!(!all.contains("canary") && !all.contains('\u{1b}'), "{all}");
    let env = fs::read_to_string(world.path("took.env")).unwrap();
    assert!(!env.contains("canary") && !env.contains("CREW_"), "{env}");
    assert!(env.contains("HOME="), "{env}");
}

#[test]
fn a_brief_way_gets_nothing_but_the_title_and_the_link() {
    let world = asked("[[to]]\nafter = \"0s\"\nbrief = true\ncommand = [TAKE, \"{title}|{body}|{url}\"]\n");
    once(&world, 0);
    let id = world.json_of_inbox()["id"].as_str().unwrap().to_owned();
    let url = format!("http://127.0.0.1:7627/r/project/inbox/{id}");
    assert_eq!(
        arguments(&world),
        format!("ada asks about t-1 (project)||{url}\n")
    );
    let text = fs::read_to_string(world.path("took")).unwrap();
    assert!(!text.contains("Paint it") && !text.contains("blue"), "{text}");
}

#[test]
fn at_quiet_hours_only_what_holds_everyone_up_is_told() {
    // One of the two is quiet now.
    let to = |quiet: &str, kinds: &str| {
        format!(
            "[[to]]\nafter = \"0s\"\nkinds = {kinds}\nquiet = \"{quiet}\"\ncommand = [TAKE, \"{quiet}\"]\n"
        )
    };
    let both = ["00:00-12:00", "12:00-00:00"];
    let world = asked(&both.map(|quiet| to(quiet, "[\"word\"]")).concat());
    once(&world, 0);
    assert_eq!(took(&world).len(), 1, "{}", arguments(&world));
    world.write("crew.toml", "[nonsense]\n");
    set(&world, &both.map(|quiet| to(quiet, "[\"everyone\"]")).concat());
    once(&world, 0);
    assert_eq!(took(&world).len(), 3, "{}", arguments(&world));
}

#[test]
fn a_value_at_the_beginning_of_an_argument_makes_no_option() {
    let world = asked("");
    let folder = world.path("--help");
    world.git(&["clone", "-q", ".", "../--help"]);
    fs::create_dir_all(folder.join(".tickets")).unwrap();
    fs::write(folder.join(".tickets/-a b-.md"), "no ticket\n").unwrap();
    set(
        &world,
        "[[to]]\nafter = \"0s\"\nkinds = [\"everyone\", \"word\", \"parked\"]\ncommand = [TAKE, \"{repository}\", \"{repository}{title}\"]\n",
    );
    let said = world.crew_at(&folder, &["notify", "--once"]);
    assert_eq!(said.code, Some(0), "{said}");
    let arguments = arguments(&world);
    assert!(arguments.starts_with(" --help\n --help"), "{arguments}");
}

#[test]
fn an_agent_is_refused() {
    let world = asked(AT_ONCE);
    world.around("CREW_WORKER", "ada");
    let said = world.crew(&["notify", "--once"]);
    assert_eq!(said.code, Some(2), "{said}");
    assert!(said.err.contains("`crew notify` is for people"), "{said}");
    assert!(took(&world).is_empty());
}

trait Inbox {
    /// The only item that waits.
    fn json_of_inbox(&self) -> Value;
}

impl Inbox for World {
    fn json_of_inbox(&self) -> Value {
        let said = self.crew(&["inbox", "--json"]);
        let inbox: Value = serde_json::from_str(&said.out).unwrap();
        let items = inbox["items"].as_array().unwrap();
        let [item] = items.as_slice() else {
            panic!("{inbox}")
        };
        item.clone()
    }
}
