//! A world in which crew dies where it is told to, and is started again as often as it takes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};

use model::ticket::Ticket;

use crate::kill::crew;
use crate::kill::git::git;
use crate::kill::oracle;
use crate::kill::processes;
use crate::kill::world::World;
use testkit::wait;

/// Works the queue off.
const DRAIN: [&str; 2] = ["run", "--until-idle"];
/// The same, whatever the checks of the bare target say.
const DRAIN_ANYWAY: [&str; 3] = ["run", "--until-idle", "--anyway"];

/// The world, and what runs in it.
pub(crate) struct Rig {
    pub(crate) world: World,
    /// Where points are counted, and where to die; the next one once somebody died.
    armed: Vec<(PathBuf, Option<String>)>,
    /// How many of `armed` are behind us.
    past: usize,
    /// Folders that points were ever counted in.
    folders: usize,
    engine: Option<Child>,
    /// Engines and commands that died of SIGKILL.
    pub(crate) deaths: usize,
    /// Whether engines start agents on a target that does not pass its checks.
    pub(crate) is_anyway: bool,
}

impl Rig {
    /// Nobody dies in it yet.
    pub(crate) fn new(world: World) -> Self {
        let mut rig = Self {
            world,
            armed: Vec::new(),
            past: 0,
            folders: 0,
            engine: None,
            deaths: 0,
            is_anyway: false,
        };
        rig.arm([None]);
        rig
    }

    /// Where to die from now on, in order: each is points as `CREW_FAILPOINT_AT` takes them, counted anew
    /// after the death before; the last one stays. Not empty.
    pub(crate) fn arm(&mut self, points: impl IntoIterator<Item = Option<String>>) {
        let first = self.folders;
        self.armed = points
            .into_iter()
            .zip(first..)
            .map(|(at, n)| (self.folder(n), at))
            .collect();
        self.folders += self.armed.len();
        self.past = 0;
        for (folder, _) in &self.armed {
            fs::create_dir(folder).unwrap();
        }
    }

    fn folder(&self, n: usize) -> PathBuf {
        self.world.outside(&format!("points-{n}"))
    }

    /// How often each point was passed under one of those that are armed.
    pub(crate) fn hits(&self, nth: usize) -> BTreeMap<String, u64> {
        let count = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().unwrap();
            (name, entry.metadata().unwrap().len())
        };
        let entries = fs::read_dir(&self.armed[nth].0).unwrap();
        entries.flatten().map(count).collect()
    }

    /// Whether somebody died at every point that was asked for.
    pub(crate) fn died_everywhere(&self) -> bool {
        let died = |folder: &Path, at: &str| {
            let (name, hit) = at.rsplit_once(':').unwrap();
            let passed = folder.join(name).metadata().map_or(0, |meta| meta.len());
            passed >= hit.parse::<u64>().unwrap()
        };
        self.armed.iter().all(|(folder, at)| {
            let mut at = at.iter().flat_map(|at| at.split(','));
            at.all(|at| died(folder, at))
        })
    }

    /// Starts an engine that works the queue off: see [`Rig::ended`].
    pub(crate) fn begin(&mut self) {
        let args: &[&str] = if self.is_anyway { &DRAIN_ANYWAY } else { &DRAIN };
        self.engine = Some(self.start(args));
    }

    /// How the engine has ended for good, if it has; one that died is started again.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.engine.as_mut()?.try_wait().unwrap()?;
        if self.goes_on_after(status) {
            self.begin();
            return None;
        }
        self.engine = None;
        Some(status)
    }

    /// A command of the person's, given again until it was taken, or all is as they want it.
    pub(crate) fn command(&mut self, args: &[&str], id: &str, is_done: impl Fn(&Ticket) -> bool) {
        wait::until(&format!("`crew {}` did it", args.join(" ")), || {
            if oracle::ticket(&self.world, id).is_some_and(|ticket| is_done(&ticket)) {
                return Some(());
            }
            let status = self.start(args).wait().unwrap();
            (!self.goes_on_after(status) && status.success()).then_some(())
        });
    }

    /// Has crew die at a point, at this hit of it.
    pub(crate) fn dies(&mut self, args: &[&str], (point, hit): (&str, u64)) {
        self.arm([Some(format!("{point}:{hit}"))]);
        let status = self.run(args);
        self.arm([None]);
        assert_eq!(
            status.signal(),
            Some(9),
            "who was to die at {point}:{hit}: {status}\n{}",
            oracle::log(&self.world)
        );
    }

    /// Runs crew to its end, whatever that is.
    pub(crate) fn run(&mut self, args: &[&str]) -> ExitStatus {
        wait::until("crew has ended", || {
            let engine = match &mut self.engine {
                Some(engine) => engine,
                None => self
                    .engine
                    .insert(start(&self.world, args, &self.armed[self.past])),
            };
            let status = engine.try_wait().unwrap()?;
            self.engine = None;
            (!is_turned_away(status)).then_some(status)
        })
    }

    /// Whether what ended so is started again: it died, or was turned away.
    pub(crate) fn goes_on_after(&mut self, status: ExitStatus) -> bool {
        let died = status.signal() == Some(9);
        if died {
            self.deaths += 1;
            self.past = (self.past + 1).min(self.armed.len() - 1);
        }
        died || is_turned_away(status)
    }

    pub(crate) fn start(&self, args: &[&str]) -> Child {
        start(&self.world, args, &self.armed[self.past])
    }

    /// What the target holds, but for the settings, which say where this world stands.
    pub(crate) fn content(&self) -> String {
        let all = git(&self.world.repo(), &["ls-tree", "-r", "main"]);
        let kept = all.lines().filter(|line| !line.ends_with("\tcrew.toml"));
        kept.map(|line| line.to_owned() + "\n").collect()
    }
}

/// A git of one that died still ran.
fn is_turned_away(status: ExitStatus) -> bool {
    status.code() == Some(crew::HELD)
}

fn start(world: &World, args: &[&str], (folder, at): &(PathBuf, Option<String>)) -> Child {
    let mut command = crew::logged(world);
    command.args(args).env("CREW_FAILPOINT_LOG", folder);
    if let Some(at) = at {
        command.env("CREW_FAILPOINT_AT", at);
    }
    command.spawn().unwrap()
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(engine) = &mut self.engine {
            let _ = engine.kill();
            let _ = engine.wait();
        }
        // A test that failed leaves nothing running either.
        for _ in 0..3 {
            for process in processes::of_root(self.world.root()) {
                process.kill();
            }
        }
    }
}
