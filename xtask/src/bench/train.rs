//! The merge train beside the loop that everybody has: merge a branch, run the checks, take the next one.
//!
//! The checks sleep for a known time, so that what is compared is how often they run, and how many at once.

pub(crate) mod report;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::drain::number;
use super::place::Place;
use super::repository::{self, Size};
use super::{median, now, rest};

/// Branches, of which some are at fault: the checks fail on everything that has them.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) branches: usize,
    /// How many are at fault.
    pub(crate) culprits: usize,
    /// Seconds that the checks take.
    pub(crate) check: f64,
    /// The least that the train has to be faster than the loop by.
    pub(crate) goal: Option<f64>,
}

/// How much is measured.
pub(crate) struct Shape {
    pub(crate) orders: Vec<Order>,
    /// The branches of the count of runs, and the seconds that the checks take there.
    pub(crate) counted: (usize, f64),
}

impl Shape {
    /// The shape of a whole run, or of a look.
    pub(crate) fn new(quick: bool) -> Self {
        let (branches, check) = if quick { (32, 1.0) } else { (64, 2.0) };
        let order = |percent: usize, goal| Order {
            branches,
            culprits: (branches * percent + 50) / 100,
            check,
            goal,
        };
        Self {
            orders: vec![order(0, Some(14.0)), order(5, Some(4.0)), order(20, None)],
            counted: (16, if quick { 1.0 } else { 5.0 }),
        }
    }
}

/// The largest batch, and the number of checkouts.
pub(crate) const BATCH: usize = 16;
pub(crate) const SLOTS: usize = 2;
/// The orders that are made up.
pub(crate) const SEEDS: usize = 20;

/// A drain of submitted branches.
#[derive(Clone, Debug)]
pub(crate) struct Landed {
    /// Seconds until the last branch that is not at fault has landed.
    pub(crate) took: f64,
    /// How often the checks ran.
    pub(crate) runs: usize,
}

/// An order that ran, and others like it that were computed.
pub(crate) struct Compared {
    pub(crate) order: Order,
    pub(crate) train: Landed,
    pub(crate) serial: Landed,
    /// The same number of culprits at other places: by the train's own rules, in simulated time.
    pub(crate) computed: Vec<Landed>,
}

impl Compared {
    /// How many times as fast as the loop the real train was.
    pub(crate) fn real(&self) -> f64 {
        self.serial.took / self.train.took
    }

    /// The same of each computed order.
    pub(crate) fn computed(&self) -> Vec<f64> {
        self.computed
            .iter()
            .map(|one| self.serial.took / one.took)
            .collect()
    }
}

/// What was measured.
pub(crate) struct Trains {
    pub(crate) compared: Vec<Compared>,
    /// The count of runs: of so many branches, with so many at fault, and seconds a run.
    pub(crate) counted: Vec<(Order, Landed)>,
    /// Milliseconds of what is done for an entry, the median: of what, and of how many.
    pub(crate) costs: Vec<(String, usize, f64)>,
    /// The files of the repository.
    pub(crate) files: usize,
    /// The machine, and how many processes wanted its cores when it began.
    pub(crate) machine: String,
}

/// Does its work, and waits: first for the signal, and once it was sent back for ever.
const AGENT: &str = r#"#!/bin/sh
id=$CREW_TICKET_ID
[ -e PLACE/gates/begun-$id ] && exec sleep 100000
mkdir -p tk && echo $id > tk/$id.txt && git add tk/$id.txt
[ -e PLACE/bad/$id ] && echo x > tk/bad-$id && git add tk/bad-$id
git commit -q -m "t $id"
touch PLACE/gates/begun-$id
until [ -e PLACE/gates/go ]; do sleep 0.2; done
echo DONE
"#;

/// Takes a known time, and fails where a branch at fault was merged. The bare target waits for the signal, so
/// that all branches are submitted before the first is merged.
const CHECK: &str = r#"if ! ls tk/*.txt >/dev/null 2>&1; then
  until [ -e PLACE/gates/target ]; do sleep 0.05; done
  exit 0
fi
echo run >> PLACE/checked
sleep SECONDS
! ls tk/bad-* >/dev/null 2>&1
"#;

/// Merge, test, next: in one checkout, whose state before a merge is restored where the checks fail.
const SERIAL: &str = r#"cd "$1"
for i in $(seq "$2"); do
  git merge -q --no-ff --no-edit -m "m $i" a/t-$i
  if ! sh "$3"; then git reset -q --hard HEAD^; fi
done
"#;

/// Drains each order with the train and with the loop in turn, and computes more orders with what the steps
/// cost. `orders`: the example of the simulation's crate that does so.
pub(crate) fn run(place: &Place, orders: &Path, shape: &Shape) -> Result<Trains, String> {
    let size = repository::MEDIUM;
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("unknown");
    let machine = format!("{}, load average {load}", place.described());
    let mut done = Vec::new();
    for (n, order) in shape.orders.iter().enumerate() {
        let bad = spread(order);
        let mut pair = (None, None);
        // Each method begins as often as the other.
        for method in 0..2 {
            if (method + n) % 2 == 0 {
                pair.0 = Some(train(place, size, order, &bad)?);
            } else {
                pair.1 = Some(serial(place, size, order, &bad)?);
            }
        }
        if let (Some(train), Some(serial)) = pair {
            println!(
                "  {} branches, {} at fault, checks of {} s: the train {:.1} s and {} runs, the loop {:.1} s and {} runs",
                order.branches, order.culprits, order.check, train.took, train.runs, serial.took, serial.runs
            );
            done.push((order.clone(), train, serial));
        }
    }
    let mut counted = Vec::new();
    for culprits in [0, 1] {
        let (branches, check) = shape.counted;
        let order = Order {
            branches,
            culprits,
            check,
            goal: None,
        };
        counted.push((order.clone(), train(place, size, &order, &spread(&order))?));
    }
    let costs = costs(place)?;
    let of = |what: &str| {
        costs
            .iter()
            .find(|(one, _, _)| one == what)
            .map_or(0.0, |(_, _, ms)| *ms)
    };
    let steps = [of("build candidate"), of("land"), of("start check")].map(|ms| format!("{ms:.1}"));
    let mut compared = Vec::new();
    for (order, train, serial) in done {
        let computed = computed(place, orders, &order, &steps)?;
        compared.push(Compared {
            order,
            train,
            serial,
            computed,
        });
    }
    fs::remove_file(place.path("timings")).map_err(|error| format!("timings: {error}"))?;
    Ok(Trains {
        compared,
        counted,
        costs,
        files: size.files,
        machine,
    })
}

/// The branches at fault of the order that is run, as far from one another as they can be: the worst case.
fn spread(order: &Order) -> Vec<usize> {
    let apart = order.branches.checked_div(order.culprits).unwrap_or(0);
    (0..order.culprits).map(|n| 1 + apart / 2 + n * apart).collect()
}

/// What the agents and the checks of an order are, and the repository with its branches still to be made.
fn prepared(place: &Place, name: &str, size: Size, order: &Order, bad: &[usize]) -> Result<(), String> {
    repository::make(place, name, size)?;
    for folder in ["gates", "bad"] {
        place.remove(folder)?;
        fs::create_dir_all(place.path(folder)).map_err(|error| format!("{folder}: {error}"))?;
    }
    for n in bad {
        place.write(&format!("bad/t-{n}"), "")?;
    }
    place.write("checked", "")?;
    let check = CHECK
        .replace("PLACE", &text(&place.path("")))
        .replace("SECONDS", &order.check.to_string());
    place.write("check.sh", &check).map(drop)
}

/// Lets crew land an order, from the moment at which the target's own checks have passed.
fn train(place: &Place, size: Size, order: &Order, bad: &[usize]) -> Result<Landed, String> {
    prepared(place, "train", size, order, bad)?;
    let many = order.branches;
    let settings = format!(
        "[run]\ndebounce = \"0s\"\non_stop = \"kill\"\nmax_workers = {many}\n\
         [checks]\ncommands = ['sh \"{}\"']\n[train]\nbatch = {BATCH}\nslots = {SLOTS}\n[agents]\ncount = {many}",
        place.path("check.sh").display()
    );
    let agent = AGENT.replace("PLACE", &text(&place.path("")));
    repository::set_up(place, "train", &agent, &settings)?;
    for n in 1..=many {
        let id = format!("t-{n}");
        place.write(
            &format!("train/.tickets/{id}.md"),
            &repository::ticket(&id, "open", ""),
        )?;
    }
    let dir = place.path("train");
    let open = |gate: &str| place.write(&format!("gates/{gate}"), "").map(drop);
    open("target")?;
    let engine = Engine::start(place, &dir)?;
    within(120, "every agent is at work", || {
        (1..=many).all(|n| place.path(&format!("gates/begun-t-{n}")).exists())
    })?;
    place.said_in(&dir, &place.crew, &["stop", "--leave"])?;
    engine.ended()?;
    // The next engine has another target to check, and merges nothing before that has passed.
    fs::remove_file(place.path("gates/target")).map_err(|error| format!("the gate: {error}"))?;
    place.write("train/README", "hello again\n")?;
    place.git(&["-C", &text(&dir), "add", "README"])?;
    place.git(&["-C", &text(&dir), "commit", "-q", "-m", "readme"])?;
    open("go")?;
    let engine = Engine::start(place, &dir)?;
    within(120, "every branch is submitted", || {
        let said = place.said_in(&dir, &place.crew, &["train", "--json"]);
        let shown: serde_json::Value = serde_json::from_str(&said.unwrap_or_default()).unwrap_or_default();
        shown["entries"]
            .as_array()
            .is_some_and(|entries| entries.len() == many)
    })?;
    open("target")?;
    let begun = now();
    let expected = many - bad.len();
    let limit = 60 + 4 * many as u64 * order.check.ceil() as u64;
    within(limit, "all but the branches at fault have landed", || {
        on_target(place, &dir).is_ok_and(|landed| landed >= expected)
    })?;
    let took = begun.elapsed().as_secs_f64();
    let runs = runs(place)?;
    place.said_in(&dir, &place.crew, &["stop", "--kill"])?;
    engine.ended()?;
    verify(place, &dir, expected)?;
    for left in ["train", "state"] {
        place.remove(left)?;
    }
    Ok(Landed { took, runs })
}

/// The same by the loop.
fn serial(place: &Place, size: Size, order: &Order, bad: &[usize]) -> Result<Landed, String> {
    prepared(place, "serial", size, order, bad)?;
    let dir = place.path("serial");
    let at = text(&dir);
    for n in 1..=order.branches {
        let id = format!("t-{n}");
        place.git(&["-C", &at, "checkout", "-q", "-b", &format!("a/{id}"), "main"])?;
        place.write(&format!("serial/tk/{id}.txt"), &format!("{id}\n"))?;
        if bad.contains(&n) {
            place.write(&format!("serial/tk/bad-{id}"), "x\n")?;
        }
        place.git(&["-C", &at, "add", "tk"])?;
        place.git(&["-C", &at, "commit", "-q", "-m", &format!("t {id}")])?;
    }
    place.git(&["-C", &at, "checkout", "-q", "main"])?;
    let script = place.script("loop", SERIAL)?;
    let begun = now();
    let check = text(&place.path("check.sh"));
    place.said(
        "bash",
        &["-e", &text(&script), &at, &order.branches.to_string(), &check],
    )?;
    let took = begun.elapsed().as_secs_f64();
    let runs = runs(place)?;
    verify(place, &dir, order.branches - bad.len())?;
    place.remove("serial")?;
    Ok(Landed { took, runs })
}

/// How often the checks ran on a merged result.
fn runs(place: &Place) -> Result<usize, String> {
    let log = fs::read_to_string(place.path("checked")).map_err(|error| format!("checked: {error}"))?;
    Ok(log.lines().count())
}

/// The branches whose work is on the target.
fn on_target(place: &Place, dir: &Path) -> Result<usize, String> {
    let listed = place.git(&[
        "-C",
        &text(dir),
        "ls-tree",
        "-r",
        "--name-only",
        "main",
        "--",
        "tk",
    ])?;
    Ok(listed.lines().filter(|name| name.ends_with(".txt")).count())
}

/// A method counts only when what is not at fault is on the target, a merge each, nothing else is, and the
/// repository is sound.
fn verify(place: &Place, dir: &Path, expected: usize) -> Result<(), String> {
    let landed = on_target(place, dir)?;
    let listed = [
        "-C",
        &text(dir),
        "log",
        "--first-parent",
        "--merges",
        "--format=%h",
        "main",
    ];
    let merges = place.git(&listed)?.lines().count();
    if (landed, merges) != (expected, expected) {
        return Err(format!(
            "{landed} branches and {merges} merges of {expected} are on the target"
        ));
    }
    let bad = place.git(&[
        "-C",
        &text(dir),
        "ls-tree",
        "-r",
        "--name-only",
        "main",
        "--",
        "tk",
    ])?;
    if bad.contains("bad-") {
        return Err("a branch at fault is on the target".to_owned());
    }
    place
        .git(&["-C", &text(dir), "fsck", "--full", "--strict", "--no-progress"])
        .map(drop)
}

/// The median of each thing that was done for an entry, in milliseconds.
fn costs(place: &Place) -> Result<Vec<(String, usize, f64)>, String> {
    const WANTED: [&str; 4] = ["build candidate", "save ahead", "start check", "land"];
    let lines = fs::read_to_string(place.path("timings")).map_err(|error| format!("timings: {error}"))?;
    let mut took: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in lines.lines() {
        let named = line
            .split("what=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        if let (Some(what), Some(micros)) = (named, number(line, "took=")) {
            took.entry(what).or_default().push(micros / 1000.0);
        }
    }
    let row = |what: &&str| {
        let all = took.get(what).cloned().unwrap_or_default();
        ((*what).to_owned(), all.len(), median(all))
    };
    Ok(WANTED.iter().map(row).collect())
}

/// Other orders with as many at fault, each with its seed: by the train's rules, with what the steps cost.
fn computed(
    place: &Place,
    program: &Path,
    order: &Order,
    steps: &[String; 3],
) -> Result<Vec<Landed>, String> {
    let [build, land, slot] = steps;
    let check = (order.check * 1000.0).to_string();
    let numbers = [order.branches, order.culprits, BATCH, SLOTS, SEEDS].map(|n| n.to_string());
    let mut arguments: Vec<&str> = numbers.iter().map(String::as_str).collect();
    arguments.extend([check.as_str(), build, land, slot]);
    let said = place.said(program, &arguments)?;
    let line = |line: &str| {
        let field = |name| number(line, name).ok_or(format!("`{line}` is no order"));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let runs = field("runs=")? as usize;
        Ok(Landed {
            took: field("took=")? / 1000.0,
            runs,
        })
    };
    said.lines().map(line).collect()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Looks until something is so, twenty times a second.
fn within(seconds: u64, what: &str, mut is_so: impl FnMut() -> bool) -> Result<(), String> {
    let begun = now();
    while !is_so() {
        if begun.elapsed() > Duration::from_secs(seconds) {
            return Err(format!("{seconds} s have passed, and not yet: {what}"));
        }
        rest(Duration::from_millis(50));
    }
    Ok(())
}

/// An engine in the background; it does not outlive this.
struct Engine(Child);

impl Engine {
    fn start(place: &Place, dir: &Path) -> Result<Self, String> {
        let mut command = place.command(&place.crew, None);
        let log = fs::File::create(place.path("engine.log")).map_err(|error| format!("a log: {error}"))?;
        command
            .arg("run")
            .env("CREW_TIMINGS", place.path("timings"))
            .current_dir(dir)
            .stderr(Stdio::from(log));
        command
            .spawn()
            .map(Self)
            .map_err(|error| format!("crew: {error}"))
    }

    fn ended(mut self) -> Result<(), String> {
        self.0.wait().map(drop).map_err(|error| format!("crew: {error}"))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
