//! A queue of tickets that do next to nothing, drained: all that is left is what it costs to have them done.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::place::Place;
use super::repository::{self, Size};
use super::{median, now, quantile};

/// How much is drained.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) tickets: usize,
    pub(crate) rounds: usize,
}

/// Enough for a comparison.
pub(crate) const WHOLE: Shape = Shape {
    tickets: 200,
    rounds: 5,
};
/// A look.
pub(crate) const QUICK: Shape = Shape {
    tickets: 60,
    rounds: 3,
};

/// What was measured in one size.
pub(crate) struct Drained {
    pub(crate) size: Size,
    pub(crate) shape: Shape,
    /// Milliseconds a ticket, a round each.
    pub(crate) crew: Vec<f64>,
    pub(crate) xargs: Vec<f64>,
    pub(crate) pool: Vec<f64>,
    pub(crate) traced: Traced,
}

/// Where the time of a further drain went.
#[derive(Default)]
pub(crate) struct Traced {
    /// Milliseconds a ticket of the whole.
    pub(crate) whole: f64,
    /// By what was done, in the order in which it is done.
    pub(crate) rows: Vec<Row>,
    /// Processes of git a ticket, those of the agent left out.
    pub(crate) git: f64,
}

/// One thing that is done for tickets.
pub(crate) struct Row {
    pub(crate) what: String,
    /// How often, a ticket.
    pub(crate) times: f64,
    /// Milliseconds a ticket.
    pub(crate) took: f64,
    /// Milliseconds of the middle one and of the hundredth slowest.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// Milliseconds a ticket between order and beginning.
    pub(crate) waited: f64,
}

/// What the agent does, in a script and for crew: the same.
const WORK: &str = "mkdir -p tk && echo $1 > tk/$1.txt && git add tk/$1.txt && git commit -q -m \"t $1\"";

/// Two at a time, a lock around what git cannot do twice at once; to delete a
/// branch, git reads every worktree there is, and dies of one that goes meanwhile.
const XARGS: &str = r#"cd "$1" && export D=$1 N=$2
mkdir wt && git -C m checkout -q main
agent() { WORK; }
one() {
  flock $D/wl git -C $D/m worktree add -q -b a/$1 $D/wt/$1 main
  (cd $D/wt/$1 && agent $1)
  flock $D/wl git -C $D/m worktree remove --force $D/wt/$1
  flock $D/ml git -C $D/m merge -q --no-ff --no-edit -m "m $1" a/$1 &&
    flock $D/wl git -C $D/m branch -q -D a/$1
}
export -f agent one
seq $N | xargs -P 2 -I{} bash -c 'one {}'
"#;

/// Two worktrees that are used again, merges without a checkout.
const POOL: &str = r#"cd "$1" && export D=$1 N=$2
git -C m checkout -q --detach main
for p in 0 1; do git -C m worktree add -q --detach $D/wt$p main; done
agent() { WORK; }
worker() {
  cd $D/wt$1
  for i in $(seq $((1 + $1)) 2 $N); do
    git checkout -q --detach main
    agent $i
    h=$(git rev-parse HEAD)
    flock $D/ml sh -c "c=\$(git rev-parse main); t=\$(git merge-tree --write-tree \$c $h) && n=\$(git commit-tree -p \$c -p $h -m m \$t) && git update-ref refs/heads/main \$n \$c"
  done
}
worker 0 & worker 1 & wait
"#;

/// Counts a program's calls by a line each.
const COUNTED: &str = "#!/bin/sh\necho \"$*\" >> \"LOG\"\nexec GIT \"$@\"\n";

/// Settings of the drain: two agents at once, as in the scripts, no wait for a person's edits, nothing to
/// check.
const SETTINGS: &str = "[run]\ndebounce = \"0s\"\n[agents]\ncount = 2";

/// Drains in turn with crew and the scripts, and once more with eyes on what takes how long.
pub(crate) fn run(place: &Place, size: Size, shape: Shape) -> Result<Drained, String> {
    repository::make(place, "plain", size)?;
    place.git(&[
        "clone",
        "-q",
        &text(&place.path("plain")),
        &text(&place.path("crewed")),
    ])?;
    place.git(&["-C", &text(&place.path("crewed")), "remote", "remove", "origin"])?;
    place.git(&["-C", &text(&place.path("crewed")), "config", "gc.auto", "0"])?;
    repository::set_up(
        place,
        "crewed",
        &format!("#!/bin/sh\nset -- \"$CREW_TICKET_ID\"\n{WORK} && echo DONE\n"),
        SETTINGS,
    )?;
    let mut drained = Drained {
        size,
        shape,
        crew: Vec::new(),
        xargs: Vec::new(),
        pool: Vec::new(),
        traced: Traced::default(),
    };
    for round in 0..shape.rounds {
        // Each is as often first as last.
        for method in 0..3 {
            match (method + round) % 3 {
                0 => drained.crew.push(crew(place, shape.tickets, &Eyes::None)?),
                1 => drained.xargs.push(script(place, shape.tickets, XARGS)?),
                _ => drained.pool.push(script(place, shape.tickets, POOL)?),
            }
        }
    }
    drained.traced = traced(place, shape.tickets)?;
    for name in ["plain", "crewed"] {
        place.remove(name)?;
    }
    Ok(drained)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Milliseconds a ticket that a script takes.
fn script(place: &Place, tickets: usize, script: &str) -> Result<f64, String> {
    let dir = place.path("run");
    fs::create_dir(&dir).map_err(|error| format!("run: {error}"))?;
    place.said("cp", &["-a", &text(&place.path("plain")), &text(&dir.join("m"))])?;
    let path = place.script("script", &script.replace("WORK", WORK))?;
    let begun = now();
    place.said("bash", &["-e", &text(&path), &text(&dir), &tickets.to_string()])?;
    let took = begun.elapsed();
    verify(place, tickets)?;
    place.remove("run")?;
    Ok(per(took.as_secs_f64() * 1000.0, tickets))
}

/// What is looked at while crew drains.
enum Eyes {
    None,
    /// What things take.
    Timings,
    /// How often git is called.
    Calls,
}

/// Milliseconds a ticket that crew takes, from its start to its end.
fn crew(place: &Place, tickets: usize, eyes: &Eyes) -> Result<f64, String> {
    let dir = place.path("run");
    fs::create_dir(&dir).map_err(|error| format!("run: {error}"))?;
    place.said("cp", &["-a", &text(&place.path("crewed")), &text(&dir.join("m"))])?;
    for i in 1..=tickets {
        place.write(
            &format!("run/m/.tickets/t-{i}.md"),
            &repository::ticket(&format!("t-{i}"), "open", ""),
        )?;
    }
    let counted = place.path("counted");
    let mut command = place.command(
        &place.crew,
        matches!(eyes, Eyes::Calls).then_some(counted.as_path()),
    );
    command.args(["run", "--until-idle"]).current_dir(dir.join("m"));
    if let Eyes::Timings = eyes {
        command.env("CREW_TIMINGS", place.path("timings"));
    }
    let begun = now();
    let ended = command
        .stderr(std::process::Stdio::piped())
        .output()
        .map_err(|error| format!("crew: {error}"))?;
    let took = begun.elapsed();
    if !ended.status.success() {
        let why = String::from_utf8_lossy(&ended.stderr).into_owned();
        return Err(format!(
            "crew run --until-idle ended with {}: {why}",
            ended.status
        ));
    }
    verify(place, tickets)?;
    for i in 1..=tickets {
        let path = dir.join(format!("m/.tickets/t-{i}.md"));
        if !fs::read_to_string(&path).is_ok_and(|text| text.contains("\nstatus: closed\n")) {
            return Err(format!("t-{i} was not closed"));
        }
    }
    if let Eyes::None = eyes {
        place.remove("run")?;
        place.remove("state")?;
    }
    Ok(per(took.as_secs_f64() * 1000.0, tickets))
}

/// A method counts only when all of its work is on the target and the repository is sound.
fn verify(place: &Place, tickets: usize) -> Result<(), String> {
    let dir = text(&place.path("run/m"));
    let listed = place.git(&["-C", &dir, "ls-tree", "-r", "--name-only", "main", "tk"])?;
    let found = listed.lines().count();
    if found != tickets {
        return Err(format!("{found} of {tickets} tickets are on the target"));
    }
    place.git(&["-C", &dir, "fsck", "--full", "--strict", "--no-progress"])?;
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "some hundred tickets")]
fn per(amount: f64, tickets: usize) -> f64 {
    amount / tickets as f64
}

/// Drains with eyes on it: the times of everything, then the number of git's processes.
fn traced(place: &Place, tickets: usize) -> Result<Traced, String> {
    let whole = crew(place, tickets, &Eyes::Timings)?;
    let mut took: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let lines = fs::read_to_string(place.path("timings")).map_err(|error| format!("timings: {error}"))?;
    for line in lines.lines() {
        let field = |name: &str| number(line, name).map_or(0.0, |micros| micros / 1000.0);
        if let Some(what) = line
            .split("what=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
        {
            took.entry(what.to_owned())
                .or_default()
                .push((field("took="), field("waited=")));
        }
    }
    let agents = took.entry("the agent's own time".to_owned()).or_default();
    let runs = place.path("run/m/.crew/runs");
    for run in fs::read_dir(&runs)
        .map_err(|error| format!("{}: {error}", runs.display()))?
        .flatten()
    {
        let exit = fs::read(run.path().join("exit.json")).unwrap_or_default();
        let exit: serde_json::Value = serde_json::from_slice(&exit).unwrap_or_default();
        if let (Some(from), Some(to)) = (exit["started_at"].as_f64(), exit["ended_at"].as_f64()) {
            agents.push((to - from, 0.0));
        }
    }
    const ORDER: [&str; 8] = [
        "prepare workspace",
        "start step",
        "the agent's own time",
        "read run",
        "save ahead",
        "build candidate",
        "start check",
        "land",
    ];
    let place_of = |what: &str| ORDER.iter().position(|one| *one == what).unwrap_or(ORDER.len());
    let mut rows: Vec<Row> = took
        .into_iter()
        .map(|(what, all)| Row {
            times: per(count(&all), tickets),
            took: per(all.iter().map(|one| one.0).sum(), tickets),
            p50: median(all.iter().map(|one| one.0)),
            p99: quantile(all.iter().map(|one| one.0), 0.99),
            waited: per(all.iter().map(|one| one.1).sum(), tickets),
            what,
        })
        .collect();
    rows.sort_by_key(|row| place_of(&row.what));
    fs::remove_file(place.path("timings")).map_err(|error| format!("timings: {error}"))?;
    place.remove("run")?;
    place.remove("state")?;

    let few = tickets.min(40);
    let log = place.path("calls");
    let git = place.said("sh", &["-c", "command -v git"])?;
    place.script(
        "counted/git",
        &COUNTED.replace("LOG", &text(&log)).replace("GIT", git.trim()),
    )?;
    crew(place, few, &Eyes::Calls)?;
    let calls = fs::read_to_string(&log).map_err(|error| format!("calls: {error}"))?;
    let crews = calls
        .lines()
        .filter(|line| line.contains("core.hooksPath="))
        .count();
    fs::remove_file(&log).map_err(|error| format!("calls: {error}"))?;
    place.remove("run")?;
    place.remove("state")?;
    #[expect(clippy::cast_precision_loss, reason = "some thousand calls")]
    let git = per(crews as f64, few);
    Ok(Traced { whole, rows, git })
}

#[expect(clippy::cast_precision_loss, reason = "some hundred")]
fn count(all: &[(f64, f64)]) -> f64 {
    all.len() as f64
}

/// The value of a field of a line of timings.
pub(crate) fn number(line: &str, name: &str) -> Option<f64> {
    line.split_whitespace()
        .find_map(|field| field.strip_prefix(name))?
        .parse()
        .ok()
}
