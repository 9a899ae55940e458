//! What the merge train was measured at, in tables.

use super::super::{median, quantile};
use super::{BATCH, Compared, SEEDS, SLOTS, Trains};

/// The most milliseconds that merge, commit and pin of an entry may take.
const BUILD_GOAL: f64 = 15.0;
/// What is done for an entry, and the same in words that say more.
const WORDS: [(&str, &str); 4] = [
    ("save ahead", "import of a branch from its workspace"),
    ("build candidate", "merge, commit and pin"),
    ("start check", "a checkout made ready, and a run started"),
    ("land", "a landing, of all entries of its batch"),
];

/// The middle, the lowest and the highest.
fn range(values: &[f64]) -> String {
    let [low, middle, high] = [0.0, 0.5, 1.0].map(|share| quantile(values.iter().copied(), share));
    format!("{middle:.1} ({low:.1}–{high:.1})")
}

fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

/// The goal of an order, and whether the computed orders' middle one reaches it.
fn goal(compared: &Compared) -> String {
    compared.order.goal.map_or("–".to_owned(), |goal| {
        let reached = median(compared.computed());
        format!(
            "≥ {goal:.0}, {}",
            met(reached.min(compared.real_or(reached)) >= goal)
        )
    })
}

impl Compared {
    /// The real ratio counts where there are no culprits, whose places are a matter of luck.
    fn real_or(&self, other: f64) -> f64 {
        if self.order.culprits == 0 {
            self.real()
        } else {
            other
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "some dozens")]
    fn percent(&self) -> f64 {
        100.0 * self.order.culprits as f64 / self.order.branches as f64
    }

    fn computed_runs(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "some dozens")]
        median(self.computed.iter().map(|one| one.runs as f64))
    }
}

/// The most runs that a count of runs may come to.
fn most(culprits: usize) -> usize {
    if culprits == 0 { 2 } else { 8 }
}

/// For the terminal, with this machine's own times.
pub(crate) fn told(trains: &Trains) -> String {
    let mut lines = vec![format!("\ntrain, batch {BATCH}, {SLOTS} slots")];
    for compared in &trains.compared {
        lines.push(format!(
            "  {:.0} % at fault: {:.1} times as fast as the loop ({} runs); {SEEDS} computed orders {} ({:.0} runs; goal {})",
            compared.percent(),
            compared.real(),
            compared.train.runs,
            range(&compared.computed()),
            compared.computed_runs(),
            goal(compared)
        ));
    }
    for (order, landed) in &trains.counted {
        lines.push(format!(
            "  {} branches, {} at fault: {} runs (goal {}) in {:.1} s, a run {} s",
            order.branches,
            order.culprits,
            landed.runs,
            most(order.culprits),
            landed.took,
            order.check
        ));
    }
    for (what, many, ms) in &trains.costs {
        lines.push(format!("  {what:<16} {many:>5} times, the middle one {ms:.1} ms"));
    }
    lines.join("\n")
}

/// For the page.
pub(crate) fn page(trains: &Trains) -> String {
    let mut page = String::from(TRAIN);
    page.push_str(&format!(
        "The train has batches of up to {BATCH} and {SLOTS} slots, in a repository of {} files ({}).\n\n\
         | branches | at fault | a run, s | loop ÷ train, real | runs | loop ÷ train, {SEEDS} computed orders | runs | goal |\n\
         |---|---|---|---|---|---|---|---|\n",
        trains.files, trains.machine
    ));
    for compared in &trains.compared {
        page.push_str(&format!(
            "| {} | {}, {:.0} % | {} | {:.1} | {} | {} | {:.0} | {} |\n",
            compared.order.branches,
            compared.order.culprits,
            compared.percent(),
            compared.order.check,
            compared.real(),
            compared.train.runs,
            range(&compared.computed()),
            compared.computed_runs(),
            goal(compared)
        ));
    }
    page.push_str(COUNTED);
    page.push_str(
        "| branches | at fault | a run, s | runs | goal | all of it ÷ a run |\n|---|---|---|---|---|---|\n",
    );
    for (order, landed) in &trains.counted {
        let most = most(order.culprits);
        page.push_str(&format!(
            "| {} | {} | {} | {} | ≤ {most}, {} | {:.1} |\n",
            order.branches,
            order.culprits,
            order.check,
            landed.runs,
            met(landed.runs <= most),
            landed.took / order.check
        ));
    }
    page.push_str(&format!(
        "{COSTS}| | times | the middle one, of the goal of {BUILD_GOAL} ms |\n|---|---|---|\n"
    ));
    for (what, words) in WORDS {
        let found = trains.costs.iter().find(|(one, _, _)| one == what);
        if let Some((_, many, ms)) = found {
            page.push_str(&format!(
                "| {words} | {many} | {:.0} % |\n",
                100.0 * ms / BUILD_GOAL
            ));
        }
    }
    page
}

const TRAIN: &str = "
## train

Branches that are all submitted when the clock begins, landed by the merge train and by the loop that everybody has: `git merge`, run the
checks, the next one; a branch at fault is merged off again. The checks sleep for a known time, and fail on everything that has a branch at
fault. The clock ends when all others have landed; a figure counts only if each has a merge of its own on the target, no branch at fault is
there, and `git fsck --strict` finds nothing. **Real** is the release binary with real git and the loop, one after the other; its branches
at fault are as far from one another as they can be. **Computed** are orders that have as many branches at fault at places that are drawn:
by the train's own rules in simulated time, with what a merge, a landing and the start of a run cost in the real ones, against the real loop.

";

const COUNTED: &str = "
How often the checks run until all branches that are not at fault have landed, in the real binary:

";

const COSTS: &str = "
What is done for an entry in all of these, in the real binary. The goal is that of merge, commit and pin; the others stand beside it.

";
