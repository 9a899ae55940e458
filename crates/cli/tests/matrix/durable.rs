//! The order of system calls of a real drain: nothing is said to have landed before it is on the disk, and what landed is
//! what the checks passed.
//!
//! `strace` records it. Of git's objects, each new one is fsynced under its passing name before it gets its own (or written
//! out, and all of them fsynced together, as `core.fsyncMethod=batch` does), the ref's lock before it becomes the ref, then
//! the ref's folder; all of it before the journal is told.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;

use model::attempt;
use model::journal::{Fact, Stream};
use model::ticket::Event;

use crate::mounts::is_there;
use crate::support::{DONE, Said, World, crew, make_executable, path_variable};

/// Lists every file of the checkout with what is in it, beside the check's HOME.
const LISTS: &str = "find . -path ./.git -prune -o -type f -print | sed 's,^./,,' | LC_ALL=C sort > \"$HOME/names.$$\" && \
                     git hash-object --no-filters --stdin-paths < \"$HOME/names.$$\" | paste -d' ' \"$HOME/names.$$\" - > \"$HOME/checked.$$\"";

#[test]
fn f18_cl_f18_pr_f18_la_f18_wk_f18_re_nothing_is_said_to_have_landed_before_it_is_on_the_disk() {
    let (world, base, trace) = drained_under_strace(None);
    let landed = merges(&world, &base);
    assert_eq!(landed.len(), 4);
    in_order(&world, &landed, &base, &trace).unwrap();
    what_landed_had_passed(&world, &landed);
    nothing_is_begun_before_it_is_decided(&world, &trace);
}

#[test]
fn f18_su_nothing_is_answered_before_it_is_on_the_disk() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    let (said, trace) = strace(&world, &["spawn"], path_variable());
    assert_eq!(said.code, Some(0), "{said}");
    let name = world
        .rows()
        .into_iter()
        .rev()
        .find_map(|(_, _, fact)| match fact {
            Fact::Project(model::project::Event::AgentSpawned { name }) => Some(name.to_string()),
            Fact::Project(_) | Fact::Ticket(_) => None,
        });
    let name = name.unwrap();
    assert!(said.out.contains(&name), "{said}");
    let event = format!("\\\"agent_spawned\\\":{{\\\"name\\\":\\\"{name}");
    let mut log = Log::default();
    let mut is_answered = false;
    for call in whole_calls(&trace) {
        log.see(&call, |text| text.contains(&event).then(|| name.clone()));
        if call.starts_with("write(1<") && call.contains(&name) {
            assert!(
                log.durable.contains(&name),
                "answered before it is on the disk: {call}"
            );
            is_answered = true;
        }
    }
    assert!(is_answered, "no answer was seen");
}

#[test]
fn a_git_that_syncs_nothing_is_found_by_the_same_look() {
    // In the place of git, one that forgets what it was told about syncing.
    let forgetful = "#!/bin/sh\nfor one; do case $one in core.fsync=*) one=core.fsync=none ;; esac; set -- \"$@\" \"$one\"; shift; done\n";
    let (world, base, trace) = drained_under_strace(Some(forgetful));
    let landed = merges(&world, &base);
    let found = in_order(&world, &landed, &base, &trace).unwrap_err();
    assert!(found.contains("synced"), "{found}");
}

/// Four tickets, drained. Gives the target before, and what the system was asked, in order.
fn drained_under_strace(wrapper: Option<&str>) -> (World, String, String) {
    let world = World::with(|settings| {
        settings.agents = "count = 2".to_owned();
        settings.checks = format!("commands = ['''{LISTS}''']");
    });
    for id in ["t-1", "t-2", "t-3", "t-4"] {
        world.ticket(id).agent(DONE).write();
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

/// Runs crew, and gives what the system was asked, in order.
fn strace(world: &World, args: &[&str], path: OsString) -> (Said, String) {
    let trace = world.path("trace");
    let calls = "trace=fsync,fdatasync,sync_file_range,link,linkat,rename,renameat,renameat2,mkdir,mkdirat,write,pwrite64";
    let traced = world
        .program("strace")
        .args([
            "-f",
            "-y",
            "-qq",
            "-s",
            "4200",
            "-e",
            calls,
            "-e",
            "signal=none",
            "-o",
        ])
        .arg(&trace)
        .arg(crew())
        .args(args)
        .current_dir(world.path("project"))
        .env("PATH", path)
        .output();
    let traced = traced.unwrap_or_else(|error| {
        panic!("strace is needed for this test ({error}): install the package `strace`")
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = Said {
        code: traced.status.code(),
        signal: None,
        out: text(&traced.stdout),
        err: text(&traced.stderr),
    };
    (said, text(&fs::read(&trace).unwrap()))
}

/// The calls of a trace, each when it has ended and whole.
fn whole_calls(trace: &str) -> Vec<String> {
    let mut unfinished: BTreeMap<&str, &str> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let (pid, call) = line.trim_start().split_once(' ').unwrap_or_default();
        let call = call.trim_start();
        if let Some(begun) = call.strip_suffix("<unfinished ...>") {
            unfinished.insert(pid, begun);
        } else if call.starts_with("<...") {
            let begun = unfinished.remove(pid).unwrap_or_default();
            let ended = call.split_once("resumed>").map_or("", |(_, ended)| ended);
            calls.push(format!("{begun}{ended}"));
        } else {
            calls.push(call.to_owned());
        }
    }
    calls
}

/// What the journal was told, and what of it is on the disk.
#[derive(Default)]
struct Log {
    told: BTreeSet<String>,
    durable: BTreeSet<String>,
}

impl Log {
    /// Takes in a call. `what`: what a text that is written tells.
    fn see(&mut self, call: &str, what: impl FnOnce(&str) -> Option<String>) {
        let is_of_log = call.contains("/journal.db-wal>");
        if is_of_log && (call.starts_with("write(") || call.starts_with("pwrite64(")) {
            self.told.extend(what(call));
        }
        if is_of_log && (call.starts_with("fsync(") || call.starts_with("fdatasync(")) {
            self.durable.append(&mut self.told);
        }
    }
}

/// What is done for a ticket comes after what was decided of it is on the disk: its workspace after the claim, its step after
/// the step was decided.
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

/// What of a file system is certain to survive, as the calls are gone through.
#[derive(Default)]
struct Disk {
    /// Files, by their last two names: whether what is in them is on the disk.
    synced: BTreeSet<String>,
    /// Written out and not yet asked for: the next sync of any file of git's batch brings them all.
    written_out: BTreeSet<String>,
    /// Final names of objects, and whether each was on the disk when it got its name.
    named: BTreeMap<String, bool>,
    /// Landings that the journal was told of.
    told: BTreeSet<String>,
    /// Whether the target's lock, and after it the target's folder, was synced since the last landing was told.
    target: bool,
    folder: bool,
}

/// Goes through the calls; the first landing that was told too early is an error.
fn in_order(world: &World, landed: &[String], base: &str, trace: &str) -> Result<(), String> {
    let mut disk = Disk::default();
    let mut unfinished: BTreeMap<&str, String> = BTreeMap::new();
    for line in trace.lines() {
        let (pid, call) = line.trim_start().split_once(' ').unwrap_or_default();
        let call = call.trim_start();
        if let Some(begun) = call.strip_suffix("<unfinished ...>") {
            told(world, &mut disk, landed, base, begun)?;
            unfinished.insert(pid, begun.to_owned());
        } else if call.starts_with("<...") {
            let begun = unfinished.remove(pid).unwrap_or_default();
            let ended = call.split_once("resumed>").map_or("", |(_, ended)| ended);
            disk.see(&format!("{begun}{ended}"));
        } else {
            told(world, &mut disk, landed, base, call)?;
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
fn told(world: &World, disk: &mut Disk, landed: &[String], base: &str, call: &str) -> Result<(), String> {
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
        let objects = world.git(&[
            "rev-list",
            "--objects",
            "--no-object-names",
            commit,
            &format!("^{base}"),
        ]);
        for object in objects.lines() {
            let name = format!("{}/{}", &object[..2], &object[2..]);
            match disk.named.get(&name) {
                Some(true) => {}
                Some(false) => {
                    return Err(format!(
                        "{commit}: its object {object} was not synced before it got its name"
                    ));
                }
                None => {
                    return Err(format!(
                        "{commit} is told of before its object {object} has its name, or is synced"
                    ));
                }
            }
        }
    }
    Ok(())
}

impl Disk {
    /// Takes in a call that has ended.
    fn see(&mut self, call: &str) {
        if !call.trim_end().ends_with("= 0") {
            return;
        }
        let name = call.split_once('(').map_or("", |(name, _)| name);
        match name {
            "fsync" | "fdatasync" => {
                let Some(path) = of_descriptor(call) else { return };
                if path.contains("bulk_fsync") || path.contains("bulk-fsync") {
                    self.synced.append(&mut self.written_out);
                }
                self.target |= path.ends_with("/refs/heads/main.lock");
                self.folder |= self.target && path.ends_with("/refs/heads");
                self.synced.insert(short(&path));
            }
            "sync_file_range" => {
                self.written_out
                    .extend(of_descriptor(call).map(|path| short(&path)));
            }
            "link" | "linkat" | "rename" | "renameat" | "renameat2" => {
                let paths: Vec<&str> = call.split('"').skip(1).step_by(2).collect();
                let [from, to] = paths[..] else { return };
                let (from, to) = (short(from), short(to));
                if self.synced.contains(&from) {
                    self.synced.insert(to.clone());
                }
                if self.written_out.contains(&from) {
                    self.written_out.insert(to.clone());
                }
                self.named.insert(to, self.synced.contains(&from));
            }
            _ => {}
        }
    }
}

/// The path that `strace -y` shows of the first argument.
fn of_descriptor(call: &str) -> Option<String> {
    let path = call.split_once('<')?.1;
    let end = path.rfind('>')?;
    Some(path[..end].to_owned())
}

/// The last two names of a path: git's passing names are random, and its final ones are hashes.
fn short(path: &str) -> String {
    let names: Vec<&str> = path.rsplitn(3, '/').take(2).collect();
    names.into_iter().rev().collect::<Vec<_>>().join("/")
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
