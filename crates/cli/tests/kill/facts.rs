//! The facts that the small queue of `scenario.rs` does not come by. One queue comes by all of them, with a person who does what
//! they are needed for, and crew dies before, after, and before and after each is durable.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use model::attempt;
use model::journal::State;
use model::ticket::Ticket;

use crate::crew;
use crate::git::git;
use crate::oracle::{self, Expected};
use crate::processes;
use crate::wait;
use crate::world::{Kit, World};

/// Facts that the queue of this file comes by, and no other.
const FACTS: [&str; 25] = [
    "woken",
    "woken_early",
    "wait_timed_out",
    "recovered",
    "submitted",
    "released",
    "no_commits",
    "could_not_run",
    "waived",
    "target_red",
    "retry_due",
    "target_moved",
    "checkout_edited",
    "landing_retried",
    "sensitive_paths",
    "paths_approved",
    "file_drifted",
    "closed_by_person",
    "reopened",
    "recovery_not_needed",
    "harness_barred",
    "harness_freed",
    "budget_spent",
    "budget_raised",
    "day_budget_low",
];
/// As [`FACTS`]; those of a day.
const OF_THE_DAY: [&str; 2] = ["day_budget_spent", "day_budget_free"];

/// Facts that no engine writes, and why.
const ABSENT: &[(&[&str], &str)] = &[
    (
        &["worker_gave_up", "worker_crashed", "blocked"],
        "what an attempt comes to is part of the fact that its step ended with, or that it was recovered with",
    ),
    (
        &["ticket_edited"],
        "the ticket tells its attempt: it is part of `edited`",
    ),
    (&["baited"], "no command says so yet"),
    (
        &["worker_lost"],
        "there is one host, and its shims tell of every end",
    ),
    (&["agent_retired"], "nobody gives an agent up for good yet"),
    (
        &[
            "review_claimed",
            "review_crashed",
            "review_gave_up",
            "approved",
            "rejected",
            "work_failed",
        ],
        "this build has no review",
    ),
];

/// Whether nobody passes this point but the queue of this file.
pub(crate) fn has(point: &str) -> bool {
    let fact = point
        .strip_prefix("decided.")
        .or_else(|| point.strip_prefix("durable."));
    fact.is_some_and(|fact| FACTS.contains(&fact) || OF_THE_DAY.contains(&fact))
}

/// The tickets of the beginning, with what only their file says.
const FIRST: [(&str, &str); 14] = [
    ("f-nap", "deps: []\n"),
    ("f-early", "deps: []\n"),
    ("f-merged", "deps: []\n"),
    ("f-asks", "deps: []\n"),
    ("f-empty", "deps: []\n"),
    ("f-stuck", "deps: []\n"),
    ("f-hangs", "deps: []\n"),
    ("f-behind", "deps: [f-hangs]\n"),
    ("f-spare", "deps: []\nrecovers: f-nap\n"),
    ("f-held", "deps: []\n"),
    ("f-edits", "deps: []\n"),
    ("f-waived", "deps: []\n"),
    ("f-moved", "deps: []\n"),
    ("f-last", "deps: []\n"),
];
/// Those that are added, one after another.
const LATER: [&str; 3] = ["f-red", "f-auth", "f-costs"];
/// The one that turns out not to be needed.
const NOT_NEEDED: &str = "f-spare";

/// What the person sees.
struct Seen {
    tickets: BTreeMap<String, Arc<Ticket>>,
    /// Stream and fact.
    facts: BTreeSet<(String, &'static str)>,
    /// Whether the day's budget is in the way.
    is_paused: bool,
}

impl Seen {
    fn has(&self, id: &str, fact: &'static str) -> bool {
        self.facts.contains(&(id.to_owned(), fact))
    }

    fn is_done(&self, id: &str) -> bool {
        self.tickets.get(id).is_some_and(|ticket| ticket.is_done())
    }

    fn sleeps(&self, id: &str) -> bool {
        self.tickets.get(id).is_some_and(|ticket| sleeps(ticket))
    }

    fn agent(&self, id: &str) -> Option<String> {
        Some(self.tickets.get(id)?.attempt()?.agent.to_string())
    }
}

fn sleeps(ticket: &Ticket) -> bool {
    let state = ticket.attempt().map(|attempt| &attempt.state);
    matches!(state, Some(attempt::State::WaitingForWakeup { .. }))
}

/// Something that the person does once, when its time has come.
type Deed = (&'static str, fn(&Facts, &Seen) -> bool, fn(&mut Facts, &Seen));

const DEEDS: &[Deed] = &[
    (
        "wakes",
        |_, seen| seen.sleeps("f-early"),
        |facts, _| {
            facts.command(&["wake", "f-early"], "f-early", |ticket| !sleeps(ticket));
        },
    ),
    (
        "merges",
        |_, seen| seen.sleeps("f-merged") && seen.is_done("f-moved"),
        |facts, _| {
            facts.command(&["merge", "f-merged"], "f-merged", |ticket| !sleeps(ticket));
        },
    ),
    (
        "approves",
        |_, seen| seen.has("f-held", "sensitive_paths"),
        |facts, _| {
            facts.command(&["approve", "f-held"], "f-held", |ticket| ticket.held.is_none());
        },
    ),
    (
        "waives",
        |_, seen| seen.has("f-waived", "could_not_run"),
        |facts, _| {
            facts.touch("tool");
            facts.command(&["waive", "f-waived", "the tool is here"], "f-waived", |ticket| {
                ticket.held.is_none()
            });
        },
    ),
    (
        "makes way",
        |_, seen| seen.has("f-edits", "checkout_edited"),
        |facts, _| {
            fs::write(facts.world.repo().join("src/part-31.txt"), "part 31\n").unwrap();
        },
    ),
    (
        "pushes",
        |facts, _| facts.is_there("checking"),
        |facts, _| {
            facts.world.commit_by_hand("src/part-33.txt", "by hand\n", || {});
            facts.touch("moved");
        },
    ),
    (
        "closes",
        |_, seen| seen.has("f-behind", "created"),
        |facts, _| {
            facts.edit("f-behind", "status: open", "status: closed");
        },
    ),
    (
        "opens",
        |facts, seen| {
            // What crew writes into the file must have arrived: it would undo what the person writes.
            seen.is_done("f-behind") && !oracle::is_pending(&facts.world, "f-behind")
        },
        |facts, _| {
            facts.edit("f-behind", "status: closed", "status: open");
        },
    ),
    (
        "takes",
        |facts, seen| {
            let file = fs::read_to_string(facts.world.ticket_file("f-hangs")).unwrap();
            facts.is_there("hangs")
                && file.contains("status: in_progress")
                && seen.has("f-behind", "reopened")
        },
        |facts, _| facts.edit("f-hangs", "status: in_progress", "status: open"),
    ),
    (
        "kills",
        |_, seen| seen.has("f-hangs", "file_drifted"),
        |facts, seen| {
            let agent = seen.agent("f-hangs").unwrap();
            facts.command(&["kill", &agent], "f-hangs", |ticket| {
                // What follows is done by whoever is up when its process has ended.
                ticket.held.is_some() || ticket.attempt().is_some_and(|attempt| attempt.stopping.is_some())
            });
        },
    ),
    (
        "retries",
        |_, seen| seen.has("f-hangs", "released"),
        |facts, _| {
            facts.command(&["retry", "f-hangs"], "f-hangs", |ticket| ticket.held.is_none());
        },
    ),
    (
        "breaks",
        |_, seen| FIRST.iter().all(|(id, _)| *id == "f-last" || seen.is_done(id)),
        |facts, _| {
            facts.world.commit_by_hand("src/part-32.txt", "broken\n", || {});
            facts.world.add_ticket("f-red", "deps: []\n");
        },
    ),
    (
        "mends",
        |_, seen| seen.has("f-red", "target_red"),
        |facts, _| {
            facts.world.commit_by_hand("src/part-32.txt", "mended\n", || {});
            facts.world.add_ticket("f-auth", "deps: []\n");
        },
    ),
    (
        "lets in",
        |_, seen| seen.has("project", "harness_barred"),
        |facts, _| {
            facts.command(&["retry", "f-auth"], "f-auth", |ticket| ticket.held.is_none());
        },
    ),
    (
        "saves",
        |_, seen| seen.is_done("f-auth") && seen.is_done("f-red"),
        |facts, _| {
            facts.budget("ticket_usd = 1.0\n");
            facts.world.add_ticket("f-costs", "deps: []\n");
        },
    ),
    (
        "gives",
        |_, seen| seen.has("project", "day_budget_low"),
        |facts, _| facts.budget("ticket_usd = 10.0\nday_usd = 2.2\n"),
    ),
    (
        "saves more",
        |_, seen| seen.has("f-costs", "budget_spent"),
        |facts, _| {
            facts.budget("ticket_usd = 1.0\nday_usd = 2.2\n");
        },
    ),
    (
        "gives more",
        |_, seen| seen.has("project", "day_budget_spent") && seen.is_done("f-costs"),
        |facts, _| facts.budget("ticket_usd = 10.0\n"),
    ),
    (
        "is done",
        |facts, seen| facts.done.contains("gives more") && !seen.is_paused,
        |facts, _| facts.touch("over"),
    ),
];

/// One queue, worked off.
struct Facts {
    world: World,
    /// Where to die, each the first time that anybody comes by.
    points: Vec<String>,
    /// Deeds that are done.
    done: BTreeSet<&'static str>,
    engine: Option<Child>,
    /// Engines and commands that died of SIGKILL.
    deaths: usize,
}

impl Facts {
    fn new(points: Vec<String>) -> Self {
        let mut facts = Self::of(&FIRST);
        fs::write(facts.world.repo().join("src/part-31.txt"), "in the way\n").unwrap();
        facts.points = points;
        facts
    }

    fn of(tickets: &[(&str, &str)]) -> Self {
        let kit = Kit {
            agent: include_str!("facts.sh"),
            check: include_str!("facts-check.sh"),
            agents: 16,
            settings: ("answer_within = \"1s\"\n", "\n[land]\nhold_paths = [\"held\"]\n"),
            in_memory: true,
        };
        let world = World::with(kit, &BTreeMap::new());
        for (id, said) in tickets {
            world.add_ticket(id, said);
        }
        fs::create_dir(world.outside("points")).unwrap();
        Self {
            world,
            points: Vec::new(),
            done: BTreeSet::new(),
            engine: None,
            deaths: 0,
        }
    }

    /// Works the queue off. Panics at the first promise that was not kept.
    fn play(&mut self) {
        self.engine = Some(self.start(&["run", "--until-idle"]));
        let status = wait::until("the queue is worked off", || self.look());
        self.engine = None;
        assert!(status.success(), "{status}\n{}", oracle::log(&self.world));
        self.check();
    }

    /// How the engine has ended for good; what the person does meanwhile.
    fn look(&mut self) -> Option<ExitStatus> {
        match self.engine.as_mut().and_then(|engine| engine.try_wait().unwrap()) {
            None => {}
            Some(status) if self.goes_on_after(status) => {
                self.engine = Some(self.start(&["run", "--until-idle"]));
            }
            Some(status) => return Some(status),
        }
        // The journal is read from its beginning.
        wait::pause(Duration::from_millis(100));
        let seen = self.seen()?;
        let now = DEEDS
            .iter()
            .find(|(name, is_time, _)| !self.done.contains(name) && is_time(self, &seen));
        if let Some((name, _, act)) = now {
            act(self, &seen);
            self.done.insert(name);
        }
        None
    }

    fn seen(&self) -> Option<Seen> {
        if !self.world.journal().exists() {
            return None;
        }
        let mut seen = Seen {
            tickets: BTreeMap::new(),
            facts: BTreeSet::new(),
            is_paused: false,
        };
        for fold in oracle::facts(&self.world) {
            let stream = match fold.after {
                State::Ticket(ticket) => {
                    let id = ticket.id.to_string();
                    seen.tickets.insert(id.clone(), ticket);
                    id
                }
                State::Project(project) => {
                    seen.is_paused = project.pause.is_some();
                    "project".to_owned()
                }
            };
            seen.facts.insert((stream, fold.fact.name()));
        }
        Some(seen)
    }

    /// A command of the person's, given again until it was taken, or all is as they want it.
    fn command(&mut self, args: &[&str], id: &str, is_done: impl Fn(&Ticket) -> bool) {
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

    fn start(&self, args: &[&str]) -> Child {
        let mut command = crew::logged(&self.world);
        command
            .args(args)
            .env("CREW_CRASH_LOG", self.world.outside("points"));
        if !self.points.is_empty() {
            let points: Vec<String> = self.points.iter().map(|point| format!("{point}:1")).collect();
            command.env("CREW_CRASH_AT", points.join(","));
        }
        command.spawn().unwrap()
    }

    fn touch(&self, name: &str) {
        fs::write(self.world.outside(name), "").unwrap();
    }

    fn is_there(&self, name: &str) -> bool {
        self.world.outside(name).exists()
    }

    fn edit(&self, id: &str, from: &str, to: &str) {
        let file = self.world.ticket_file(id);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{id}:\n{text}");
        fs::write(&file, text.replace(from, to)).unwrap();
    }

    /// Commits the settings with a budget.
    fn budget(&self, lines: &str) {
        let text = fs::read_to_string(self.world.repo().join("crew.toml")).unwrap();
        let text = text.split("\n[budget]\n").next().unwrap();
        self.world
            .commit_by_hand("crew.toml", &format!("{text}\n[budget]\n{lines}"), || {});
    }

    fn passed(&self) -> BTreeSet<String> {
        let names = fs::read_dir(self.world.outside("points")).unwrap();
        names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    /// What the target holds, but for the settings, which say where this world stands.
    fn content(&self) -> String {
        let all = git(&self.world.repo(), &["ls-tree", "-r", "main"]);
        let kept = all.lines().filter(|line| !line.ends_with("\tcrew.toml"));
        kept.map(|line| line.to_owned() + "\n").collect()
    }

    fn check(&self) {
        let all = FIRST.iter().map(|(id, _)| *id).chain(LATER);
        let closed: BTreeSet<String> = all.map(str::to_owned).collect();
        let landed: BTreeSet<String> = closed.iter().filter(|id| *id != NOT_NEEDED).cloned().collect();
        let at_least = landed.len();
        oracle::check_world(&self.world, &Expected { landed, closed }, &BTreeMap::new());
        oracle::no_commit_is_lost(&self.world, at_least);
        oracle::each_step_started_once(&self.world);
        let passed = self.passed();
        let missed: Vec<_> = self
            .points
            .iter()
            .filter(|point| !passed.contains(*point))
            .collect();
        assert_eq!(
            self.deaths,
            self.points.len() - missed.len(),
            "everybody died who was to"
        );
        // Of facts that became durable together, whoever dies after the first does not come by the others; nor is there a pause
        // that could end, where an engine died as it ended.
        assert!(
            missed.len() * 10 <= self.points.len(),
            "nobody came by {missed:?}"
        );
        let (good, said, _) = crew::said(&self.world, &["doctor"]);
        assert!(good, "crew doctor:\n{said}");
    }
}

impl Drop for Facts {
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

/// The points before and after these facts are durable, as `which` of them says.
fn points(which: &[&str]) -> Vec<String> {
    let facts = FACTS.iter().chain(&OF_THE_DAY);
    facts
        .flat_map(|fact| which.iter().map(move |when| format!("{when}.{fact}")))
        .collect()
}

#[test]
fn killed_at_every_rare_fact_it_comes_to_the_same() {
    let play = |which: &'static [&'static str]| {
        move || {
            let mut facts = Facts::new(points(which));
            facts.play();
            (facts.content(), facts.passed())
        }
    };
    let lived = std::thread::scope(|scope| {
        let lives = [
            &[] as &[&str],
            &["decided"],
            &["durable"],
            &["decided", "durable"],
        ]
        .map(|which| scope.spawn(play(which)));
        lives.map(|life| life.join().unwrap())
    });
    let [(content, passed), killed @ ..] = lived;
    let wanted = points(&["decided", "durable"]);
    let missing: Vec<_> = wanted.iter().filter(|point| !passed.contains(*point)).collect();
    assert!(missing.is_empty(), "nobody came by {missing:?}");
    for (other, _) in killed {
        assert_eq!(other, content, "the target's content");
    }
}

#[test]
fn a_merge_that_no_engine_is_up_for_ends_what_is_being_landed_before_it() {
    let mut facts = Facts::of(&[("f-merged", "deps: []\n"), ("f-moved", "deps: []\n")]);
    facts.points = vec!["begun.land".to_owned()];
    let mut engine = facts.start(&["run", "--until-idle"]);
    wait::until("one is being checked, the other sleeps", || {
        let sleeps = facts.seen().is_some_and(|seen| seen.sleeps("f-merged"));
        (sleeps && facts.is_there("checking")).then_some(())
    });
    facts.touch("moved");
    let status = engine.wait().unwrap();
    assert!(
        facts.goes_on_after(status),
        "{status}\n{}",
        oracle::log(&facts.world)
    );
    facts.command(&["merge", "f-merged"], "f-merged", Ticket::is_done);
    let landed: Vec<String> = oracle::landed(&facts.world)
        .into_iter()
        .map(|(_, id)| id)
        .collect();
    assert_eq!(landed, ["f-moved", "f-merged"]);
}

#[test]
fn of_every_kind_of_fact_somebody_dies_or_no_engine_writes_it() {
    let first = model::samples::ticket::first();
    let tickets = model::samples::ticket::alphabet(&first);
    let kinds: BTreeSet<&str> = tickets
        .iter()
        .map(|sample| sample.event.name())
        .chain(model::samples::project::alphabet().iter().map(|s| s.event.name()))
        .collect();
    let of = |when: &str| -> BTreeSet<&str> {
        let points = crash::POINTS.iter();
        points.filter_map(|point| point.name.strip_prefix(when)).collect()
    };
    let (decided, durable) = (of("decided."), of("durable."));
    assert_eq!(decided, durable, "a fact has both its points");
    let absent: BTreeSet<&str> = ABSENT.iter().flat_map(|(facts, _)| *facts).copied().collect();
    let both: Vec<_> = absent.intersection(&decided).collect();
    assert!(both.is_empty(), "said to be absent, and in the table: {both:?}");
    let known: BTreeSet<&str> = decided.union(&absent).copied().collect();
    assert_eq!(
        kinds, known,
        "left: the machines' facts, right: the table's and the absent"
    );
}
