//! The merge train: one run of the checks decides on many tickets, and finds the one at fault.

use std::fs;
use std::path::PathBuf;

use testkit::world::{Engine, World};

/// A world in which so many tickets come into the train before any of them is tried, however long that
/// takes. Tickets beside the train have all checkouts until then: they are to be reviewed, so they are
/// checked by themselves first, and these checks never end. The checks append a line to a log outside of
/// the tree for each run on a merged result of the train, and fail where there is a file `bad`.
pub(crate) struct Submitted {
    pub(crate) world: World,
    /// The file that a run on a merged result appends to.
    log: PathBuf,
    tickets: usize,
    slots: u32,
}

impl Submitted {
    /// `bad`: the ticket that brings the file in, and takes it away when it is asked to.
    fn new(tickets: usize, train: (u32, u32), bad: Option<usize>) -> Self {
        Self::with(tickets, train, bad, "", |_| {})
    }

    /// As [`Submitted::new`], with lines of `[land]`, and a world that is made ready before the first engine.
    pub(crate) fn with(
        tickets: usize,
        (batch, slots): (u32, u32),
        bad: Option<usize>,
        land: &str,
        ready: impl FnOnce(&World),
    ) -> Self {
        let world = World::with(|s| {
            let agents = tickets + slots as usize;
            s.top = "[review]\nwhen = { labels = [\"keep\"] }\n".to_owned();
            s.run = format!("max_workers = {agents}");
            s.agents = format!("count = {agents}");
            s.checks = "commands = ['sh \"$HOME/check.sh\"']".to_owned();
            s.land = format!("{land}\n[train]\nbatch = {batch}\nslots = {slots}");
        });
        ready(&world);
        let (log, gates) = (world.path("checked"), world.path("gates"));
        fs::write(&log, "").unwrap();
        let check = format!(
            "wait_for() {{ until [ -e '{}'/$1 ]; do sleep 0.02; done; }}\n\
             if ls t-*.txt >/dev/null 2>&1; then echo run >> '{}'; wait_for merged; \
             elif ls keeps-*.txt >/dev/null 2>&1; then wait_for never; fi\n! [ -e bad ]\n",
            gates.display(),
            log.display(),
        );
        fs::write(world.path("home/check.sh"), check).unwrap();
        for id in keepers(slots) {
            let script = "work \"$CREW_TICKET_ID.txt\" x\necho DONE";
            world.ticket(&id).line("tags: [keep]").agent(script).write();
        }
        for n in 1..=tickets {
            let more = match bad == Some(n) {
                true => "if [ \"$RUN\" = 1 ]; then work bad x; else git rm -q bad; fi\n",
                false => "",
            };
            let script =
                format!("until_there \"$GATES/go\"\nwork \"$CREW_TICKET_ID.txt\" \"$RUN\"\n{more}echo DONE");
            world.ticket(&id(n)).agent(&script).write();
        }
        Self {
            world,
            log,
            tickets,
            slots,
        }
    }

    /// An engine with everything in the train, and a checkout free.
    pub(crate) fn begin(&self, args: &[&str]) -> Engine {
        let engine = self.begin_held(args);
        self.world.open("merged");
        engine
    }

    /// As [`Submitted::begin`], with checks on merged results that end once the gate `merged` is open.
    fn begin_held(&self, args: &[&str]) -> Engine {
        let Self { world, .. } = self;
        let engine = world.start_at(&world.path("project"), args);
        world.wait("all checkouts are taken", || {
            keepers(self.slots).all(|id| world.count(&id, "check_ordered") > 0)
        });
        world.open("go");
        world.wait("everything is in the train", || {
            (1..=self.tickets).all(|n| world.count(&id(n), "joined_train") > 0)
        });
        for id in keepers(self.slots) {
            world.must(&["drop", &id]);
        }
        engine
    }

    /// The number of times that the checks ran on a merged result.
    fn runs(&self) -> usize {
        fs::read_to_string(&self.log).unwrap().lines().count()
    }

    fn merges(&self) -> usize {
        let log = self
            .world
            .git(&["log", "--first-parent", "--merges", "--format=%s", "main"]);
        log.lines().filter(|line| line.starts_with("Merge t-")).count()
    }

    fn landed(&self) -> usize {
        let is_landed = |n: &usize| self.world.state_name(&id(*n)) == "done/landed";
        (1..=self.tickets).filter(is_landed).count()
    }
}

fn id(n: usize) -> String {
    format!("t-{n:02}")
}

/// The tickets that have a checkout each.
fn keepers(slots: u32) -> impl Iterator<Item = String> {
    (1..=slots).map(|n| format!("keeps-{n}"))
}

#[test]
fn sixteen_tickets_land_after_at_most_two_runs_of_the_checks() {
    let it = Submitted::new(16, (16, 2), None);
    let said = it.begin(&["run", "--until-idle"]).end();
    assert_eq!(said.code, Some(0), "{said}");
    it.world.assert_at_rest();
    assert_eq!((it.landed(), it.merges()), (16, 16));
    assert!((1..=2).contains(&it.runs()), "{} runs", it.runs());
    let format = "--format=%(trailers:key=Train,valueonly)";
    let trailers = it.world.git(&["log", "--first-parent", format, "main"]);
    assert!(trailers.contains("2/16"), "{trailers}");
}

#[test]
fn one_ticket_at_fault_is_found_by_at_most_nine_runs_and_all_others_land() {
    let it = Submitted::new(16, (16, 2), Some(5));
    let mut engine = it.begin(&["run"]);
    it.world.wait("all innocent tickets have landed", || {
        (1..=16).all(|n| n == 5 || it.world.state_name(&id(n)) == "done/landed")
    });
    // One more may have begun by now, on the work that its agent has mended.
    let mended = usize::from(it.world.runs(&id(5)) > 1);
    assert!(it.runs() <= 9 + mended, "{} runs", it.runs());
    it.world.wait_for(&id(5), "done/landed");
    it.world.must(&["stop", "--wait"]);
    engine.end();
    assert_eq!(it.merges(), 16);
    for n in 1..=16 {
        let failed = it.world.count(&id(n), "checks_failed");
        assert_eq!(failed, usize::from(n == 5), "{}", id(n));
    }
    assert_eq!(it.world.on_main("bad"), None);
}

#[test]
fn a_check_that_fails_once_by_chance_sends_nobody_of_its_batch_back() {
    let it = Submitted::new(4, (4, 1), None);
    let script = it.world.path("home/check.sh");
    let check = fs::read_to_string(&script).unwrap();
    // The first run on a merged result of the train fails, whatever is in it.
    let flaky = format!(
        "{check}[ \"$(wc -l < '{}')\" != 1 ] || ! ls t-*.txt\n",
        it.log.display()
    );
    fs::write(&script, flaky).unwrap();
    let said = it.begin(&["run", "--until-idle"]).end();
    assert_eq!(said.code, Some(0), "{said}");
    for n in 1..=4 {
        assert_eq!(it.world.count(&id(n), "checks_failed"), 0, "{said}");
    }
    assert_eq!((it.landed(), it.merges()), (4, 4), "{said}");
    assert_eq!(
        it.runs(),
        4,
        "the batch, two that halve it, and the last one by itself"
    );
}

#[test]
fn a_batch_lands_whole_or_not_at_all_wherever_the_engine_is_killed() {
    for point in [
        "durable.batch_landing",
        "land.ready",
        "land.moved",
        "decided.landed",
        "durable.landed",
    ] {
        let it = Submitted::new(4, (4, 1), None);
        it.world.around("CREW_FAILPOINT_AT", point);
        let said = it.begin(&["run", "--until-idle"]).end();
        assert_eq!(said.signal, Some(9), "{point}: {said}");
        it.world.around("CREW_FAILPOINT_AT", "");
        assert!([0, 4].contains(&it.landed()), "{point}: {} of 4", it.landed());
        assert!([0, 4].contains(&it.merges()), "{point}: {} of 4", it.merges());
        it.world.drain_all();
        assert_eq!((it.landed(), it.merges(), it.runs()), (4, 4, 1), "{point}");
        for n in 1..=4 {
            assert_eq!(it.world.count(&id(n), "landed"), 1, "{point}");
        }
    }
}

#[test]
fn the_train_says_what_is_merged_on_what_and_a_dropped_entry_leaves_it() {
    let it = Submitted::new(3, (3, 1), None);
    let world = &it.world;
    let mut engine = it.begin_held(&["run"]);
    let entries = || world.json(&["train"])["entries"].as_array().unwrap().clone();
    world.wait("the tip is tried", || {
        entries()
            .iter()
            .any(|entry| entry["trial"] == "running" && entry["place"] == 3)
    });
    let seen = entries();
    let trials: Vec<_> = seen.iter().map(|entry| entry["trial"].clone()).collect();
    assert_eq!(trials, ["untried", "untried", "running"]);
    assert!(seen[0]["on"].is_null());
    assert_eq!(
        (&seen[1]["on"], &seen[2]["on"]),
        (&seen[0]["ticket"], &seen[1]["ticket"])
    );
    let first = seen[0]["ticket"].as_str().unwrap();
    world.must(&["drop", first]);
    world.wait("the others are merged anew", || {
        let entries = entries();
        entries.len() == 2
            && entries
                .iter()
                .any(|entry| entry["trial"] == "running" && entry["place"] == 2)
    });
    let shown = world.must(&["train"]).out;
    assert!(shown.contains("was ahead of it, left the train"), "{shown}");
    world.open("merged");
    world.wait("they have landed", || it.landed() == 2);
    world.must(&["stop", "--wait"]);
    engine.end();
    assert_eq!((it.runs(), it.merges()), (2, 2));
    assert_eq!(world.state_name(first), "done/dropped");
}

/// What a check compares the merged result with is the target, and not the entry ahead.
#[test]
fn a_check_that_looks_at_what_has_changed_sees_all_entries_of_a_batch() {
    let it = Submitted::new(3, (3, 1), Some(1));
    let world = &it.world;
    let check = world.path("home/check.sh");
    let script = fs::read_to_string(&check).unwrap();
    let script = script.replace(
        "! [ -e bad ]\n",
        "echo $CREW_BASE >> \"$HOME/bases\"\n! git diff --name-only $CREW_BASE | grep -qx bad\n",
    );
    assert!(script.contains("CREW_BASE"));
    fs::write(&check, script).unwrap();
    let before = world.git(&["rev-parse", "main"]);
    let said = it.begin(&["run", "--until-idle"]).end();
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!((it.landed(), it.merges()), (3, 3));
    let failed = |n: usize| world.count(&id(n), "checks_failed");
    assert_eq!((failed(1), failed(2), failed(3)), (1, 0, 0));
    assert_eq!(world.on_main("bad"), None);
    let bases = fs::read_to_string(world.path("home/bases")).unwrap();
    let line = world.git(&["log", "--first-parent", "--format=%H", "main"]);
    assert!(bases.lines().any(|base| base == before.trim()), "{bases}");
    assert!(bases.lines().all(|base| line.contains(base)), "{bases}");
}
