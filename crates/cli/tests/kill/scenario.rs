//! A small queue in which everything happens once, and a person who does what they are needed for, however often crew dies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};

use model::ticket;

use crate::crew;
use crate::git::{git, try_git};
use crate::oracle::{self, Expected};
use crate::processes;
use crate::wait;
use crate::world::{Kit, Plan, World};

/// Tickets of `scenario.sh`.
const ALL: [&str; 8] = ["k-00", "k-01", "k-02", "k-03", "k-04", "k-05", "k-06", "k-07"];
/// Those in which nothing is special.
const FEW: [&str; 2] = ["k-00", "k-01"];
/// The one that is given back.
const BLOCKED: &str = "k-04";
/// The one that asks.
const ASKS: &str = "k-05";
/// The one that is dropped.
const DROPPED: &str = "k-07";

/// How much of the queue there is: what can be seen with a little of it is not waited for with all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Few,
    All,
}

/// One queue, worked off.
pub(crate) struct Scenario {
    pub(crate) world: World,
    plans: BTreeMap<String, Plan>,
    /// Where points are counted, and where to die; the next one once somebody died.
    armed: Vec<(PathBuf, Option<String>)>,
    engine: Option<Child>,
    /// Engines and commands that died of SIGKILL.
    pub(crate) deaths: usize,
}

impl Scenario {
    /// `points`: where to die, in order, each `<name>:<hit>`, counted anew after the death before.
    pub(crate) fn new(size: Size, points: &[String]) -> Self {
        let tickets: &[&str] = match size {
            Size::Few => &FEW,
            Size::All => &ALL,
        };
        let plan = |id: &&str| ((*id).to_owned(), Plan::default());
        let plans: BTreeMap<String, Plan> = tickets.iter().map(plan).collect();
        let kit = Kit {
            agent: include_str!("scenario.sh"),
            check: include_str!("scenario-check.sh"),
            agents: 4,
            settings: ("", ""),
            in_memory: true,
        };
        let world = World::with(kit, &plans);
        // The last counts what happens when nobody is to die any more.
        let mut armed: Vec<(PathBuf, Option<String>)> = (0..)
            .map(|n| world.outside(&format!("points-{n}")))
            .zip(points.iter().cloned().map(Some).chain([None]))
            .collect();
        armed.reverse();
        for (folder, _) in &armed {
            std::fs::create_dir(folder).unwrap();
        }
        Self {
            world,
            plans,
            armed,
            engine: None,
            deaths: 0,
        }
    }

    /// Works the queue off. Panics at the first promise that was not kept.
    pub(crate) fn play(&mut self) {
        let mut dropped = false;
        self.drain(|scenario| {
            if !dropped && scenario.world.outside("waiting").exists() {
                scenario.command(&["drop", DROPPED], ticket::Ticket::is_done);
                dropped = true;
            }
        });
        if self.plans.contains_key(BLOCKED) {
            assert_eq!(self.held(), [BLOCKED], "{}", oracle::log(&self.world));
            self.by_hand();
            self.drain(|_| {});
        }
        self.check();
    }

    /// What the queue waits for, and something of the person's own.
    fn by_hand(&mut self) {
        std::fs::write(self.world.outside("key"), "").unwrap();
        self.command(&["retry", BLOCKED], |ticket| ticket.held.is_none());
        std::fs::write(self.world.outside("answered"), "").unwrap();
        self.command(&["answer", ASKS, "forty-two"], |ticket| {
            model::command::Question::of(ticket).is_none()
        });
        self.world.commit_by_hand("src/part-30.txt", "by hand\n", || {});
        self.edit(BLOCKED);
        self.plant_a_stale_lock();
    }

    /// Says something below what a ticket asks for.
    fn edit(&self, id: &str) {
        let file = self.world.repo().join(format!(".tickets/{id}.md"));
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(file, text + "\nThe key is there.\n").unwrap();
    }

    /// How often each point was passed before the first death (or ever, where nobody died).
    pub(crate) fn hits(&self, round: usize) -> BTreeMap<String, u64> {
        let folder = self.world.outside(&format!("points-{round}"));
        let count = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().unwrap();
            (name, entry.metadata().unwrap().len())
        };
        std::fs::read_dir(folder).unwrap().flatten().map(count).collect()
    }

    /// What the target holds, but for the settings, which say where this world stands.
    pub(crate) fn content(&self) -> String {
        let all = git(&self.world.repo(), &["ls-tree", "-r", "main"]);
        let kept = all.lines().filter(|line| !line.ends_with("\tcrew.toml"));
        kept.map(|line| line.to_owned() + "\n").collect()
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

    /// Runs the engine until it has nothing to do, with a person beside it.
    fn drain(&mut self, mut person: impl FnMut(&mut Self)) {
        self.engine = Some(self.start(&["run", "--until-idle"]));
        let status = wait::until("the queue is worked off", || {
            let status = self.engine.as_mut().and_then(|engine| engine.try_wait().unwrap());
            match status {
                None => {
                    person(self);
                    None
                }
                Some(status) if self.goes_on_after(status) => {
                    self.engine = Some(self.start(&["run", "--until-idle"]));
                    None
                }
                Some(status) => Some(status),
            }
        });
        self.engine = None;
        // 3: something waits for a person.
        assert!(
            matches!(status.code(), Some(0 | 3)),
            "{status}\n{}",
            oracle::log(&self.world)
        );
    }

    /// A command of the person's, given again until it was taken, or all is as they want it.
    fn command(&mut self, args: &[&str], is_done: impl Fn(&ticket::Ticket) -> bool) {
        let id = args[1];
        wait::until(&format!("`crew {}` did it", args.join(" ")), || {
            if oracle::ticket(&self.world, id).is_some_and(|ticket| is_done(&ticket)) {
                return Some(());
            }
            let status = self.start(args).wait().unwrap();
            (!self.goes_on_after(status) && status.success()).then_some(())
        });
    }

    /// Whether what ended so is started again: it died, or was turned away since a git of one that died still ran.
    fn goes_on_after(&mut self, status: ExitStatus) -> bool {
        use std::os::unix::process::ExitStatusExt as _;
        let died = status.signal() == Some(9);
        self.deaths += usize::from(died);
        died || status.code() == Some(crew::HELD)
    }

    fn start(&mut self, args: &[&str]) -> Child {
        // As many points as deaths are behind us; the death of a shim is nobody's whom we started, and its point is passed.
        let (folder, at) = &self.armed[self.armed.len() - 1 - self.deaths.min(self.armed.len() - 1)];
        let mut command = crew::logged(&self.world);
        command.args(args).env("CREW_CRASH_LOG", folder);
        if let Some(at) = at {
            command.env("CREW_CRASH_AT", at);
        }
        command.spawn().unwrap()
    }

    fn held(&self) -> Vec<String> {
        let tickets = oracle::tickets(&self.world);
        let held = tickets.into_iter().filter(|(_, ticket)| ticket.held.is_some());
        held.map(|(id, _)| id).collect()
    }

    /// Of a git that was killed long ago.
    fn plant_a_stale_lock(&self) {
        let lock = self.world.repo().join(".git/refs/heads/main.lock");
        std::fs::write(&lock, "").unwrap();
        let file = std::fs::File::options().write(true).open(&lock).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    }

    fn check(&self) {
        let landed: BTreeSet<String> = self.plans.keys().filter(|id| *id != DROPPED).cloned().collect();
        let expected = Expected {
            landed,
            closed: self.plans.keys().cloned().collect(),
        };
        oracle::check_world(&self.world, &expected, &BTreeMap::new());
        oracle::no_commit_is_lost(&self.world, self.plans.len());
        oracle::each_step_started_once(&self.world);
        if self.plans.contains_key(DROPPED) {
            self.dropped_work_is_kept();
        }
        let (good, said, _) = crew::said(&self.world, &["doctor"]);
        assert!(good, "crew doctor:\n{said}");
    }

    /// What was on another branch of the dropped ticket's workspace, and what was in no commit.
    fn dropped_work_is_kept(&self) {
        let repo = self.world.repo();
        let refs = git(&repo, &["for-each-ref", "--format=%(refname)", "refs/crew/"]);
        for (path, text) in [("work/side.txt", "side\n"), ("work/k-07.txt", "nowhere\n")] {
            let kept = refs.lines().any(|name| {
                let (good, out, _) = try_git(&repo, &["show", &format!("{name}:{path}")]);
                good && out == text
            });
            assert!(kept, "{path} of the dropped ticket is lost; kept are:\n{refs}");
        }
    }
}

impl Drop for Scenario {
    fn drop(&mut self) {
        if let Some(engine) = &mut self.engine {
            let _ = engine.kill();
            let _ = engine.wait();
        }
        for _ in 0..3 {
            for process in processes::of_root(self.world.root()) {
                process.kill();
            }
        }
    }
}
