//! A small queue in which everything happens once, and a person who does what they are needed for, however
//! often crew dies.

use std::collections::{BTreeMap, BTreeSet};

use model::ticket::Ticket;

use crate::kill::crew;
use crate::kill::git::{git, try_git};
use crate::kill::oracle::{self, Expected};
use crate::kill::rig::Rig;
use crate::kill::world::{Kit, Plan, World};
use testkit::wait;

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
    pub(crate) rig: Rig,
    plans: BTreeMap<String, Plan>,
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
            train: (1, 1),
            settings: ("", ""),
            in_memory: true,
        };
        let mut rig = Rig::new(World::with(kit, &plans));
        // After the last death it is counted what happens when nobody is to die any more.
        rig.arm(points.iter().cloned().map(Some).chain([None]));
        Self { rig, plans }
    }

    /// Works the queue off. Panics at the first promise that was not kept.
    pub(crate) fn play(&mut self) {
        let mut dropped = false;
        self.drain(|scenario| {
            if !dropped && scenario.rig.world.outside("waiting").exists() {
                scenario.rig.command(&["drop", DROPPED], DROPPED, Ticket::is_done);
                dropped = true;
            }
        });
        if self.plans.contains_key(BLOCKED) {
            assert_eq!(self.held(), [BLOCKED], "{}", oracle::log(&self.rig.world));
            self.by_hand();
            self.drain(|_| {});
        }
        self.check();
    }

    /// What the queue waits for, and something of the person's own.
    fn by_hand(&mut self) {
        std::fs::write(self.rig.world.outside("key"), "").unwrap();
        self.rig
            .command(&["retry", BLOCKED], BLOCKED, |ticket| ticket.held.is_none());
        std::fs::write(self.rig.world.outside("answered"), "").unwrap();
        self.rig.command(&["answer", ASKS, "forty-two"], ASKS, |ticket| {
            model::command::Question::of(ticket).is_none()
        });
        self.rig
            .world
            .commit_by_hand("src/part-30.txt", "by hand\n", || {});
        self.edit(BLOCKED);
        self.plant_a_stale_lock();
    }

    /// Says something below what a ticket asks for.
    fn edit(&self, id: &str) {
        let file = self.rig.world.repo().join(format!(".tickets/{id}.md"));
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(file, text + "\nThe key is there.\n").unwrap();
    }

    /// Runs the engine until it has nothing to do, with a person beside it.
    fn drain(&mut self, mut person: impl FnMut(&mut Self)) {
        self.rig.begin();
        let status = wait::until("the queue is worked off", || {
            let ended = self.rig.ended();
            if ended.is_none() {
                person(self);
            }
            ended
        });
        // 3: something waits for a person.
        assert!(
            matches!(status.code(), Some(0 | 3)),
            "{status}\n{}",
            oracle::log(&self.rig.world)
        );
    }

    fn held(&self) -> Vec<String> {
        let tickets = oracle::tickets(&self.rig.world);
        let held = tickets.into_iter().filter(|(_, ticket)| ticket.held.is_some());
        held.map(|(id, _)| id).collect()
    }

    /// Of a git that was killed long ago.
    fn plant_a_stale_lock(&self) {
        let lock = self.rig.world.repo().join(".git/refs/heads/main.lock");
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
        oracle::check_world(&self.rig.world, &expected, &BTreeMap::new());
        oracle::no_commit_is_lost(&self.rig.world, self.plans.len());
        oracle::each_step_started_once(&self.rig.world);
        if self.plans.contains_key(DROPPED) {
            self.dropped_work_is_kept();
        }
        let (good, said, _) = crew::said(&self.rig.world, &["doctor"]);
        assert!(good, "crew doctor:\n{said}");
    }

    /// What was on another branch of the dropped ticket's workspace, and what was in no commit.
    fn dropped_work_is_kept(&self) {
        let repo = self.rig.world.repo();
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
