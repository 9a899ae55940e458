//! The order of system calls of a real drain: nothing is said to have landed before it is on the disk, and
//! what landed is what the checks passed.
//!
//! Git's objects are certain first (see [`Disk`]), then the ref's lock is fsynced before it becomes the ref,
//! then the ref's folder; all of it before the journal is told.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use model::attempt;
use model::journal::{Fact, Stream};
use model::ticket::Event;

use crate::faults::mounts::is_there;
use crate::faults::traced::{Disk, Packs, strace, whole_calls};
use testkit::world::{DONE, World, make_executable, path_variable};

/// Lists every file of the checkout with what is in it, beside the check's HOME.
const LISTS: &str = "find . -path ./.git -prune -o -type f -print | sed 's,^./,,' | LC_ALL=C sort > \"$HOME/names.$$\" && \
                     git hash-object --no-filters --stdin-paths < \"$HOME/names.$$\" | paste -d' ' \"$HOME/names.$$\" - > \"$HOME/checked.$$\"";

/// Commits more files than git takes in as files of their own.
const MANY: &str = "n=0; while [ $n -lt 150 ]; do echo \"$n of $CREW_TICKET_ID\" > \"$CREW_TICKET_ID.$n\"; n=$((n+1)); done\n\
                    git add -A; git commit -q -m many\necho DONE\n";

/// The same, and leaves it to crew to commit them.
const MANY_UNCOMMITTED: &str = "n=0; while [ $n -lt 150 ]; do echo \"$n of $CREW_TICKET_ID\" > \"$CREW_TICKET_ID.$n\"; n=$((n+1)); done\n\
                                echo DONE\n";

#[test]
fn nothing_is_said_to_have_landed_before_it_is_on_the_disk() {
    let (world, base, trace) = drained_under_strace(&[DONE; 4], None);
    let landed = merges(&world, &base);
    assert_eq!(landed.len(), 4);
    in_order(&world, &landed, &base, &trace).unwrap();
    what_landed_had_passed(&world, &landed);
    nothing_is_begun_before_it_is_decided(&world, &trace);
}

#[test]
fn many_objects_are_on_the_disk_as_a_pack_before_they_are_said_to_have_landed() {
    let (world, base, trace) = drained_under_strace(&[MANY, MANY_UNCOMMITTED], None);
    let landed = merges(&world, &base);
    assert_eq!(landed.len(), 2);
    // So many that git keeps those of one in a pack, or this is no proof of packs. Crew's own commit is of
    // loose ones.
    let packs = Packs::of(&world);
    let in_packs = packs.hold(&objects(&world, "main", &base));
    assert!(in_packs > 100, "{in_packs} objects are in packs");
    assert!(
        packs.kinds().is_superset(&["pack", "idx"].into()),
        "{:?}",
        packs.kinds()
    );
    in_order(&world, &landed, &base, &trace).unwrap();
    what_landed_had_passed(&world, &landed);
}

#[test]
fn a_git_that_syncs_nothing_is_found_by_the_same_look() {
    // In the place of git, one that forgets what it was told about syncing.
    let forgetful = "#!/bin/sh\nfor one; do case $one in core.fsync=*) one=core.fsync=none ;; esac; set -- \"$@\" \"$one\"; shift; done\n";
    for agent in [DONE, MANY] {
        let (world, base, trace) = drained_under_strace(&[agent], Some(forgetful));
        let landed = merges(&world, &base);
        let found = in_order(&world, &landed, &base, &trace).unwrap_err();
        assert!(found.contains("synced"), "{found}");
    }
}

#[test]
fn a_folder_of_packs_that_is_not_synced_is_found_by_the_same_look() {
    let (world, base, trace) = drained_under_strace(&[MANY], None);
    let landed = merges(&world, &base);
    let is_of_folder = |line: &&str| line.contains("fsync(") && line.contains("/project/.git/objects/pack>");
    let without: Vec<&str> = trace.lines().filter(|line| !is_of_folder(line)).collect();
    assert!(without.len() < trace.lines().count(), "none was synced");
    let found = in_order(&world, &landed, &base, &without.join("\n")).unwrap_err();
    assert!(found.contains("a folder that is not synced"), "{found}");
}

/// Tickets whose agents do this, drained. Gives the target before, and what the system was asked, in order.
fn drained_under_strace(agents: &[&str], wrapper: Option<&str>) -> (World, String, String) {
    let world = World::with(|settings| {
        settings.agents = "count = 2".to_owned();
        // Each lands by a move of its own, of a tree that was checked itself.
        settings.checks = format!("commands = ['''{LISTS}''']\n[train]\nbatch = 1");
    });
    for (agent, n) in agents.iter().zip(1..) {
        world.ticket(&format!("t-{n}")).agent(agent).write();
    }
    let base = world.git(&["rev-parse", "main"]);
    let mut path = path_variable();
    if let Some(wrapper) = wrapper {
        let real = std::env::split_paths(&path)
            .map(|folder| folder.join("git"))
            .find(|git| is_there(git));
        let bin = world.path("bin");
        fs::create_dir(&bin).unwrap();
        let text = format!("{wrapper}exec {} \"$@\"\n", real.unwrap().display());
        fs::write(bin.join("git"), text).unwrap();
        make_executable(&bin.join("git"));
        let mut folders = vec![bin];
        folders.extend(std::env::split_paths(&path));
        path = std::env::join_paths(folders).unwrap();
    }
    let (said, trace) = strace(&world, &["run", "--until-idle"], path);
    assert_eq!(said.code, Some(0), "{said}");
    (world, base, trace)
}

/// What the journal was told, and what of it is on the disk.
#[derive(Default)]
pub(crate) struct Log {
    told: BTreeSet<String>,
    pub(crate) durable: BTreeSet<String>,
}

impl Log {
    /// Takes in a call. `what`: what a text that is written tells.
    pub(crate) fn see(&mut self, call: &str, what: impl FnOnce(&str) -> Option<String>) {
        let is_of_log = call.contains("/journal.db-wal>");
        if is_of_log && (call.starts_with("write(") || call.starts_with("pwrite64(")) {
            self.told.extend(what(call));
        }
        if is_of_log && (call.starts_with("fsync(") || call.starts_with("fdatasync(")) {
            self.durable.append(&mut self.told);
        }
    }
}

/// What is done for a ticket comes after what was decided of it is on the disk: its workspace after the
/// claim, its step after the step was decided.
fn nothing_is_begun_before_it_is_decided(world: &World, trace: &str) {
    let calls = whole_calls(trace);
    let mut seen = 0;
    for (stream, _, fact) in world.rows() {
        let (Stream::Ticket(id), Fact::Ticket(event)) = (stream, fact) else {
            continue;
        };
        let (event, mark) = match event {
            Event::Claimed { session, .. } => (
                format!("\\\"session\\\":\\\"{session}\\\""),
                format!("/refs/crew/base/{id}/"),
            ),
            Event::Attempt(attempt::Event::StepStarted { run, .. }) => (
                format!("\\\"step_started\\\":{{\\\"run\\\":\\\"{run}\\\""),
                format!("/.crew/runs/{run}"),
            ),
            _ => continue,
        };
        let mut log = Log::default();
        let mut begun = false;
        for call in &calls {
            log.see(call, |text| text.contains(&event).then(|| event.clone()));
            let is_begun = !call.contains("/journal.db") && call.contains(&mark);
            if is_begun && !begun {
                assert!(
                    log.durable.contains(&event),
                    "{id}: {event} is not on the disk at {call}"
                );
                begun = true;
                seen += 1;
            }
        }
        assert!(begun, "{id}: nothing was seen of {mark}");
    }
    assert!(seen >= 8, "only {seen} beginnings were seen");
}

/// The merges on the target since, oldest first.
fn merges(world: &World, base: &str) -> Vec<String> {
    let log = world.git(&[
        "rev-list",
        "--first-parent",
        "--reverse",
        &format!("{base}..main"),
    ]);
    log.lines().map(str::to_owned).collect()
}

/// Goes through the calls; the first landing that was told too early is an error.
fn in_order(world: &World, landed: &[String], base: &str, trace: &str) -> Result<(), String> {
    let (mut disk, packs) = (Disk::default(), Packs::of(world));
    let mut unfinished: BTreeMap<&str, String> = BTreeMap::new();
    for line in trace.lines() {
        let (pid, call) = line.trim_start().split_once(' ').unwrap_or_default();
        let call = call.trim_start();
        if let Some(begun) = call.strip_suffix("<unfinished ...>") {
            told(world, (&mut disk, &packs), landed, base, begun)?;
            unfinished.insert(pid, begun.to_owned());
        } else if call.starts_with("<...") {
            let begun = unfinished.remove(pid).unwrap_or_default();
            let ended = call.split_once("resumed>").map_or("", |(_, ended)| ended);
            disk.see(&format!("{begun}{ended}"));
        } else {
            told(world, (&mut disk, &packs), landed, base, call)?;
            disk.see(call);
        }
    }
    let missing: Vec<_> = landed
        .iter()
        .filter(|commit| !disk.told.contains(*commit))
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("no writing was seen that tells of {missing:?}"))
    }
}

/// Whether this call tells the journal of a landing, and all that it tells of is on the disk.
fn told(
    world: &World,
    (disk, packs): (&mut Disk, &Packs),
    landed: &[String],
    base: &str,
    call: &str,
) -> Result<(), String> {
    let writes = call.starts_with("write(") || call.starts_with("pwrite64(");
    if !writes || !call.contains("/journal.db-wal>") {
        return Ok(());
    }
    for commit in landed {
        let event = format!("\\\"landed\\\":{{\\\"commit\\\":\\\"{commit}");
        if disk.told.contains(commit) || !call.contains(&event) {
            continue;
        }
        disk.told.insert(commit.clone());
        if !std::mem::take(&mut disk.target) {
            return Err(format!(
                "{commit} is told of before the target's new value is synced"
            ));
        }
        if !std::mem::take(&mut disk.folder) {
            return Err(format!(
                "{commit} is told of before the target's folder is synced"
            ));
        }
        for object in objects(world, commit, base).lines() {
            disk.has(object, packs)
                .map_err(|why| format!("{commit} is told of: {why}"))?;
        }
    }
    Ok(())
}

/// What a commit needs beyond another.
fn objects(world: &World, commit: &str, base: &str) -> String {
    let without = format!("^{base}");
    world.git(&["rev-list", "--objects", "--no-object-names", commit, &without])
}

/// What a check saw is, file for file, what landed.
fn what_landed_had_passed(world: &World, landed: &[String]) {
    let checked: BTreeSet<String> = fs::read_dir(world.path("home"))
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("checked."))
        .map(|entry| fs::read_to_string(entry.path()).unwrap().trim_end().to_owned())
        .collect();
    for commit in landed {
        let mut tree: Vec<String> = world
            .git(&["ls-tree", "-r", "--format=%(path) %(objectname)", commit])
            .lines()
            .map(str::to_owned)
            .collect();
        tree.sort();
        assert!(
            checked.contains(&tree.join("\n")),
            "{commit} landed and was never checked: {tree:#?}"
        );
    }
}
