//! `crew clean`, killed at each of its steps: the next one goes on, and no work is lost.

use std::collections::BTreeMap;

use model::attempt;

use crate::kill::crew;
use crate::kill::git::{git, try_git};
use crate::kill::oracle;
use crate::kill::rig::Rig;
use crate::kill::world::{Kit, World};
use testkit::wait;

/// In the order in which `crew clean --yes` comes by.
const ALL: [&str; 6] = [
    "clean.begun",
    "clean.workspace",
    "clean.put_away",
    "clean.reopened",
    "clean.swept",
    "clean.renamed",
];
/// The one of them that it comes by for each workspace.
const PER_WORKSPACE: &str = "clean.workspace";
/// `crew clean --older 0s --yes` comes by, for each kept commit.
const FORGOTTEN: &str = "clean.forgotten";

/// Whether nobody passes this point who does not clean.
pub(crate) fn has(point: &str) -> bool {
    ALL.contains(&point) || point == FORGOTTEN
}

/// A world without an engine, in which two agents sleep: one has committed its work, and one has not.
struct Cleaned {
    rig: Rig,
}

const TICKETS: [&str; 2] = ["f-merged", "f-unsaved"];

impl Cleaned {
    fn new() -> Self {
        let kit = Kit {
            agent: include_str!("facts.sh"),
            check: include_str!("facts-check.sh"),
            agents: 2,
            train: (1, 1),
            settings: ("", ""),
            in_memory: true,
        };
        let world = World::with(kit, &BTreeMap::new());
        for id in TICKETS {
            world.add_ticket(id, "deps: []\n");
        }
        let mut engine = crew::Crew::start(&world);
        wait::until("both sleep", || {
            assert!(engine.ended(&world).is_none(), "{}", oracle::log(&world));
            let both = world.journal().exists() && {
                let tickets = oracle::tickets(&world);
                TICKETS.iter().all(|id| {
                    let attempt = tickets.get(*id).and_then(|ticket| ticket.attempt());
                    matches!(
                        attempt.map(|attempt| &attempt.state),
                        Some(attempt::State::WaitingForWakeup { .. })
                    )
                })
            };
            both.then_some(())
        });
        engine.kill(&[]);
        Self { rig: Rig::new(world) }
    }

    fn succeeds(&mut self, args: &[&str]) {
        let status = self.rig.run(args);
        assert!(status.success(), "{status}\n{}", oracle::log(&self.rig.world));
    }

    fn kept(&self) -> Vec<String> {
        let said = git(
            &self.rig.world.repo(),
            &["for-each-ref", "--format=%(refname)", "refs/crew/"],
        );
        said.lines().map(str::to_owned).collect()
    }

    /// Whether a file's only text is in some kept commit.
    fn keeps(&self, path: &str, text: &str) -> bool {
        self.kept().iter().any(|name| {
            let (good, out, _) = try_git(&self.rig.world.repo(), &["show", &format!("{name}:{path}")]);
            good && out == text
        })
    }
}

#[test]
fn killed_while_everything_is_cleaned_away_the_next_time_does_it_and_no_work_is_lost() {
    for workspace in [1, 2] {
        let mut cleaned = Cleaned::new();
        let state = cleaned.rig.world.state().join("crew");
        let workspaces = || {
            let folders = std::fs::read_dir(&state).unwrap().flatten();
            // The slot of checks goes last.
            let of_checks = |name: std::ffi::OsString| name.to_string_lossy().ends_with(".checks");
            folders.filter(|folder| !of_checks(folder.file_name())).count()
        };
        for point in ALL {
            let hit = if point == PER_WORKSPACE { workspace } else { 1 };
            cleaned.rig.dies(&["clean", "--yes"], (point, hit));
            // Whoever goes on with something else than a clean must not miss it.
            assert_eq!(workspaces(), 1, "{point}:{hit}");
        }
        cleaned.succeeds(&["clean", "--yes"]);
        assert_eq!(workspaces(), 0);
        oracle::no_commit_is_lost(&cleaned.rig.world, 1);
        oracle::nothing_is_left_behind(&cleaned.rig.world);
        cleaned.rig.world.check_edits();
        for id in TICKETS {
            let path = format!("work/{id}.txt");
            assert!(
                cleaned.keeps(&path, &format!("{id}\n")),
                "{path}: {:?}",
                cleaned.kept()
            );
            let ticket = cleaned
                .rig
                .world
                .queue()
                .read(&tickets::Id::new(id).unwrap())
                .unwrap();
            assert_eq!(ticket.status, tickets::Status::Open, "{id}");
            assert!(ticket.tags.is_empty(), "{id}: {:?}", ticket.tags);
        }
        for name in [".crew", ".crew.removed"] {
            assert!(!cleaned.rig.world.repo().join(name).exists(), "{name}");
        }
    }
}

#[test]
fn killed_while_kept_commits_are_forgotten_the_next_time_forgets_the_others() {
    for (hit, left) in [(1, 1), (2, 0)] {
        let mut cleaned = Cleaned::new();
        for id in TICKETS {
            cleaned.succeeds(&["drop", id]);
        }
        assert_eq!(cleaned.kept().len(), 2, "{:?}", cleaned.kept());
        let forget = ["clean", "--older", "0s", "--yes"];
        cleaned.rig.dies(&forget, (FORGOTTEN, hit));
        assert_eq!(cleaned.kept().len(), left, "{:?}", cleaned.kept());
        cleaned.succeeds(&forget);
        assert_eq!(cleaned.kept(), Vec::<String>::new());
        oracle::nothing_is_left_behind(&cleaned.rig.world);
        cleaned.rig.world.check_edits();
    }
}
