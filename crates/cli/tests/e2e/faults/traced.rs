//! What a real run asked of the system, in order, and what of a file system is certain by then. `strace`
//! records it.
//!
//! Of git's objects, each new one is fsynced under its passing name before it gets its own (or written out,
//! and all of them fsynced together, as `core.fsyncMethod=batch` does); of a pack, so are its index and what
//! else belongs to it, and the folder in which they got their names afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;

use testkit::world::{Said, World, crew};

/// Runs crew, and gives what the system was asked, in order.
pub(crate) fn strace(world: &World, args: &[&str], path: OsString) -> (Said, String) {
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
pub(crate) fn whole_calls(trace: &str) -> Vec<String> {
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

/// What of a file system is certain to survive, as the calls are gone through.
#[derive(Default)]
pub(crate) struct Disk {
    /// Files, by their last two names: whether what is in them is on the disk.
    synced: BTreeSet<String>,
    /// Written out and not yet asked for: the next sync of any file of git's batch brings them all.
    written_out: BTreeSet<String>,
    /// Final names of objects and packs, and whether each was on the disk when it got its name.
    named: BTreeMap<String, bool>,
    /// Names that were given in a folder of packs since it was synced.
    unsettled: BTreeSet<String>,
    /// Landings that the journal was told of.
    pub(crate) told: BTreeSet<String>,
    /// Whether the target's lock, and after it the target's folder, was synced since the last landing was
    /// told.
    pub(crate) target: bool,
    pub(crate) folder: bool,
}

impl Disk {
    /// Whether an object is certain: its own file, or all that makes up its pack.
    pub(crate) fn has(&self, object: &str, packs: &Packs) -> Result<(), String> {
        let files = match packs.of.get(object) {
            Some(pack) => packs.files[pack].clone(),
            None => vec![format!("{}/{}", &object[..2], &object[2..])],
        };
        for file in files {
            match self.named.get(&file) {
                Some(true) if self.unsettled.contains(&file) => {
                    return Err(format!(
                        "{file}, with {object} in it, has its name in a folder that is not synced since"
                    ));
                }
                Some(true) => {}
                Some(false) => {
                    return Err(format!(
                        "{file}, with {object} in it, was not synced before it got its name"
                    ));
                }
                None => {
                    return Err(format!(
                        "{object} is needed before {file} has its name, or is synced"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Takes in a call that has ended.
    pub(crate) fn see(&mut self, call: &str) {
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
                if path.ends_with("/objects/pack") {
                    self.unsettled.clear();
                }
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
                if to.starts_with("pack/") {
                    self.unsettled.insert(to.clone());
                }
                self.named.insert(to, self.synced.contains(&from));
            }
            _ => {}
        }
    }
}

/// The packs of the user's repository.
pub(crate) struct Packs {
    /// Objects, and each one's pack.
    of: BTreeMap<String, String>,
    /// Packs, and the files that make up each, by their last two names.
    files: BTreeMap<String, Vec<String>>,
}

impl Packs {
    /// Those of a world.
    pub(crate) fn of(world: &World) -> Self {
        let mut packs = Self {
            of: BTreeMap::new(),
            files: BTreeMap::new(),
        };
        for entry in fs::read_dir(world.project(".git/objects/pack"))
            .unwrap()
            .flatten()
        {
            let name = entry.file_name().into_string().unwrap();
            let pack = name.split('.').next().unwrap().to_owned();
            if name.ends_with(".idx") {
                let listed = world.git(&["verify-pack", "-v", entry.path().to_str().unwrap()]);
                let objects = listed.lines().filter_map(|line| line.split_once(' '));
                let objects = objects.filter(|(object, _)| object.len() == 40);
                packs
                    .of
                    .extend(objects.map(|(object, _)| (object.to_owned(), pack.clone())));
            }
            packs.files.entry(pack).or_default().push(format!("pack/{name}"));
        }
        packs
    }

    /// How many of these objects are in packs.
    pub(crate) fn hold(&self, objects: &str) -> usize {
        objects
            .lines()
            .filter(|object| self.of.contains_key(*object))
            .count()
    }

    /// The ends of the names of each pack's files.
    pub(crate) fn kinds(&self) -> BTreeSet<&str> {
        let files = self.files.values().flatten();
        files.filter_map(|file| Some(file.rsplit_once('.')?.1)).collect()
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
