//! Conflicts whose resolution takes landed work off the target, outside of what was in conflict.

use std::fs;

use testkit::world::World;

/// What an agent does that was told to merge: `$oid` is the commit.
const OID: &str =
    "oid=$(sed -n 's/.*`git merge \\([0-9a-f]*\\)`.*/\\1/p' \"$LOGS/$CREW_TICKET_ID.2.prompt\")\n";

/// Runs `t-1` until it works, lets a person commit to the target, and waits for the end.
fn run_while(world: &World, scripts: [&str; 2], person: impl FnOnce()) {
    let [merge, mend] = scripts;
    let script = format!(
        "case $RUN in\n\
         1) touch \"$GATES/works\"; until_there \"$GATES/go\"; work same mine ;;\n\
         2) {OID}{merge} ;;\n\
         *) {OID}{mend} ;;\n\
         esac\necho DONE"
    );
    world.ticket("t-1").agent(&script).write();
    let mut engine = world.engine();
    world.wait("the agent works", || world.path("gates/works").exists());
    person();
    fs::write(world.path("gates/go"), "").unwrap();
    world.wait_for("t-1", "done/landed");
    world.must(&["stop"]);
    assert_eq!(engine.end().code, Some(0));
    assert_eq!(world.runs("t-1"), 3);
    world.assert_at_rest();
}

#[test]
fn a_conflict_resolved_by_its_own_side_alone_goes_back_with_the_paths_it_takes_back() {
    let world = World::new();
    fs::write(world.project("precious"), "old\n").unwrap();
    world.git(&["add", "precious"]);
    world.git(&["commit", "-q", "-m", "precious"]);
    run_while(
        &world,
        [
            "git merge -q -s ours -m merged \"$oid\"",
            "git checkout -q \"$oid\" -- new precious; git commit -q -m 'put back'",
        ],
        || {
            for (path, content) in [("same", "theirs\n"), ("precious", "new\n"), ("new", "new\n")] {
                fs::write(world.project(path), content).unwrap();
            }
            world.git(&["add", "same", "precious", "new"]);
            world.git(&["commit", "-q", "-m", "a person"]);
        },
    );
    let told = world.prompt("t-1", 3);
    assert!(
        told.contains("takes back what the target has in \"new\", \"precious\""),
        "{told}"
    );
    assert!(told.contains("-- new precious"), "{told}");
    let now = ["same", "precious", "new"].map(|path| world.read(path));
    assert_eq!(now, ["mine\n", "new\n", "new\n"]);
}

#[test]
fn a_resolution_that_puts_a_submodule_back_goes_back_to_its_agent() {
    let world = World::new();
    let outer = world.path("outer");
    fs::create_dir_all(&outer).unwrap();
    world.git_at(&outer, &["init", "-q", "-b", "main"]);
    for (key, value) in [("user.name", "User"), ("user.email", "user@example.org")] {
        world.git_at(&outer, &["config", key, value]);
    }
    for version in ["A", "B"] {
        fs::write(outer.join("v"), version).unwrap();
        world.git_at(&outer, &["add", "."]);
        world.git_at(&outer, &["commit", "-q", "-m", version]);
    }
    let url = format!("file://{}", outer.display());
    let allow = "protocol.file.allow=always";
    world.git(&["-c", allow, "submodule", "add", "-q", &url, "lib"]);
    let lib = world.project("lib");
    world.git_at(&lib, &["checkout", "-q", "HEAD~1"]);
    world.git(&["commit", "-q", "-a", "-m", "a submodule"]);
    run_while(
        &world,
        [
            "git merge -q \"$oid\" || true; echo mine > same; git add -A; git commit -q -m merged",
            "git checkout -q \"$oid\" -- lib; git commit -q -m 'put back'",
        ],
        || {
            world.git_at(&lib, &["checkout", "-q", "main"]);
            fs::write(world.project("same"), "theirs\n").unwrap();
            world.git(&["add", "lib", "same"]);
            world.git(&["commit", "-q", "-m", "a person"]);
        },
    );
    assert!(world.prompt("t-1", 2).contains("an old commit of a submodule"));
    let told = world.prompt("t-1", 3);
    assert!(
        told.contains("takes back what the target has in \"lib\":"),
        "{told}"
    );
    let newest = world.git_at(&outer, &["rev-parse", "HEAD"]);
    assert_eq!(world.git(&["rev-parse", "main:lib"]), newest);
}
