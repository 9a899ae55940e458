//! What was measured, in tables.

use super::append::Appended;
use super::beats::Beats;
use super::calls::Called;
use super::dispatch::Dispatched;
use super::drain::{Drained, Traced};
use super::exits::Noticed;
use super::idle::{AGENTS, Idled};
use super::listing::Listed;
use super::place::Place;
use super::recover::{COMMANDS, Recovered};
use super::streams::Streamed;
use super::train::{self, Trains};
use super::transcript::Read;
use super::web::{self, Measured};
use super::{figures, median, quantile};

/// All of a run.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) drains: Vec<Drained>,
    pub(crate) dispatch: Option<Dispatched>,
    pub(crate) exits: Vec<Noticed>,
    pub(crate) idle: Vec<Idled>,
    pub(crate) watching: Vec<Idled>,
    pub(crate) recovers: Vec<Recovered>,
    pub(crate) append: Option<Appended>,
    pub(crate) streams: Vec<Streamed>,
    pub(crate) transcript: Option<Read>,
    pub(crate) listings: Vec<Listed>,
    pub(crate) beats: Vec<Beats>,
    pub(crate) calls: Option<Called>,
    pub(crate) trains: Option<Trains>,
    pub(crate) web: Vec<Measured>,
}

/// How one method compares with another: the middle of the rounds' own ratios, and how far these went.
pub(crate) fn ratio(of: &[f64], to: &[f64]) -> String {
    let ratios: Vec<f64> = of.iter().zip(to).map(|(of, to)| of / to).collect();
    let [low, middle, high] = [0.0, 0.5, 1.0].map(|share| quantile(ratios.iter().copied(), share));
    format!("{middle:.2} ({low:.2}–{high:.2})")
}

/// For the terminal, with this machine's own times.
pub(crate) fn drained(drained: &Drained) -> String {
    let Drained {
        size,
        shape,
        crew,
        xargs,
        pool,
        traced,
    } = drained;
    let ms = |all: &[f64]| median(all.iter().copied());
    format!(
        "\ndrain, {} ({} files), {} tickets, {} rounds\n  crew {:.1} ms a ticket, X {:.1}, S {:.1}\n  crew / X {}  (goal {})\n  crew / S {}\n\n{}",
        size.name,
        size.files,
        shape.tickets,
        shape.rounds,
        ms(crew),
        ms(xargs),
        ms(pool),
        ratio(crew, xargs),
        size.goal,
        ratio(crew, pool),
        traced_table(traced),
    )
}

fn traced_table(traced: &Traced) -> String {
    let mut lines = vec![format!(
        "  {:<22} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "a ticket", "times", "ms", "% whole", "p50", "p99", "waited"
    )];
    for row in &traced.rows {
        let share = 100.0 * row.took / traced.whole;
        lines.push(format!(
            "  {:<22} {:>8.2} {:>8.2} {share:>8.0} {:>8.2} {:>8.2} {:>8.2}",
            row.what, row.times, row.took, row.p50, row.p99, row.waited
        ));
    }
    lines.push(format!("  {:<22} {:>8} {:>8.2}", "the whole", "", traced.whole));
    lines.push(format!("  processes of git: {:.1} a ticket", traced.git));
    lines.join("\n")
}

/// For the terminal.
pub(crate) fn dispatched(dispatched: &Dispatched) -> String {
    let at = |share| quantile(dispatched.times.iter().copied(), share);
    format!(
        "\ndispatch, {} tickets: p50 {:.1} ms (goal 40), p99 {:.1} ms (goal 120)",
        dispatched.times.len(),
        at(0.5),
        at(0.99)
    )
}

/// The most milliseconds that it may take to give out work again.
fn recover_goal(recovered: &Recovered) -> f64 {
    if recovered.events > 100_000 { 2000.0 } else { 300.0 }
}

/// For the terminal.
pub(crate) fn recovered(recovered: &Recovered) -> String {
    let at = |share| quantile(recovered.times.iter().copied(), share);
    let commands: Vec<String> = recovered
        .commands
        .iter()
        .map(|(command, took, memory)| format!("{command} {took:.0} ms, {memory:.0} MiB"))
        .collect();
    format!(
        "\nrecover, {} events in {:.0} MiB: p50 {:.0} ms, worst {:.0} ms (goal {:.0}), {:.0} MiB (goal 150)\n  {}",
        recovered.events,
        recovered.file,
        at(0.5),
        at(1.0),
        recover_goal(recovered),
        recovered.memory,
        commands.join("; ")
    )
}

/// For the terminal.
pub(crate) fn appended(appended: &Appended) -> String {
    let Appended {
        plain,
        append,
        events,
    } = appended;
    let ms = |all: &[f64]| median(all.iter().copied());
    let tenth = append.len().div_ceil(10);
    let last = append.len() - tenth;
    format!(
        "\nappend, 200 at once, {} rounds, {events} events: p99 {:.2} ms, plain commit {:.3} ms\n  append / plain {}  (goal 20); the first tenth {}, the last {}",
        append.len(),
        ms(append),
        ms(plain),
        ratio(append, plain),
        ratio(&append[..tenth], &plain[..tenth]),
        ratio(&append[last..], &plain[last..]),
    )
}

/// For the terminal.
pub(crate) fn idled(idled: &Idled) -> String {
    format!(
        "\nidle, {} tickets, {AGENTS} agents, {:.0} s: {:.2} % of a core (goal 0.3), {:.1} MiB (goal 40), of which {:.1} its own",
        idled.many,
        idled.time.as_secs_f64(),
        idled.cpu,
        idled.memory,
        idled.anonymous
    )
}

/// For the terminal.
pub(crate) fn watched(idled: &Idled) -> String {
    format!(
        "\nidle, {} agents at work, {:.0} s: {:.2} % of a core (goal 1), {:.1} MiB, of which {:.1} its own",
        idled.many,
        idled.time.as_secs_f64(),
        idled.cpu,
        idled.memory,
        idled.anonymous
    )
}

/// For the terminal.
pub(crate) fn noticed(noticed: &Noticed) -> String {
    let at = |share| quantile(noticed.times.iter().copied(), share);
    let gap = |share| quantile(noticed.gaps.iter().copied(), share);
    format!(
        "\nexits, {} agents at work beside, {} steps: heard of after p50 {:.1} ms, p99 {:.1} ms (goal 10), worst {:.1} ms; \
         the next step after p50 {:.1} ms, p99 {:.1} ms (goal 15)",
        noticed.beside,
        noticed.times.len(),
        at(0.5),
        at(0.99),
        at(1.0),
        gap(0.5),
        gap(0.99)
    )
}

impl Report {
    /// The page that is committed: ratios and shares only.
    pub(crate) fn page(&self, place: &Place) -> String {
        let mut page = format!(
            "# Benchmarks\n\n\
             `cargo xtask bench` writes this page; do not edit it. The figures come from one run on one shared machine ({}).\n\
             Each ratio is the median of its rounds, with the lowest and the highest value. The figures are measurements, not limits that a\n\
             test enforces.\n\n",
            place.described()
        );
        page.push_str(DRAIN);
        page.push_str("| repository | tickets × rounds | crew ÷ X | goal | crew ÷ S | git processes a ticket |\n|---|---|---|---|---|---|\n");
        for drained in &self.drains {
            let Drained {
                size,
                shape,
                crew,
                xargs,
                pool,
                traced,
            } = drained;
            page.push_str(&format!(
                "| {}, {} files | {} × {} | {} | ≤ {} | {} | {:.0} |\n",
                size.name,
                size.files,
                shape.tickets,
                shape.rounds,
                ratio(crew, xargs),
                size.goal,
                ratio(crew, pool),
                traced.git
            ));
        }
        page.push_str(WHERE);
        page.push_str("| of the time of one ticket, % |");
        for drained in &self.drains {
            page.push_str(&format!(" {} | waited |", drained.size.name));
        }
        page.push_str("\n|---|");
        page.push_str(&"---|---|".repeat(self.drains.len()));
        page.push('\n');
        let rows = self
            .drains
            .first()
            .map(|drained| drained.traced.rows.as_slice())
            .unwrap_or_default();
        for row in rows {
            page.push_str(&format!("| {} |", row.what));
            for Drained { traced, .. } in &self.drains {
                let found = traced.rows.iter().find(|one| one.what == row.what);
                let share = |amount: f64| 100.0 * amount / traced.whole;
                let cells = found.map_or_else(
                    || " – | – |".to_owned(),
                    |one| format!(" {:.0} | {:.0} |", share(one.took), share(one.waited)),
                );
                page.push_str(&cells);
            }
            page.push('\n');
        }
        if let Some(Dispatched { times }) = &self.dispatch {
            let share = |at, goal| 100.0 * quantile(times.iter().copied(), at) / goal;
            page.push_str(&format!(
                "{DISPATCH}| | of the goal |\n|---|---|\n| p50, goal 40 ms | {:.0} % |\n| p99, goal 120 ms | {:.0} % |\n",
                share(0.5, 40.0),
                share(0.99, 120.0)
            ));
        }
        if !self.exits.is_empty() {
            page.push_str(EXITS);
            page.push_str(
                "| agents beside | steps | noticed, p50, of 10 ms | p99, goal 10 ms | next step, p50, of 15 ms | p99, goal 15 ms |\n\
                 |---|---|---|---|---|---|\n",
            );
        }
        for Noticed { beside, times, gaps } in &self.exits {
            let share = |at| 100.0 * quantile(times.iter().copied(), at) / 10.0;
            let gap = |at| 100.0 * quantile(gaps.iter().copied(), at) / 15.0;
            page.push_str(&format!(
                "| {beside} | {} | {:.0} % | {:.0} % | {:.0} % | {:.0} % |\n",
                times.len(),
                share(0.5),
                share(0.99),
                gap(0.5),
                gap(0.99)
            ));
        }
        if let Some(Idled { time, .. }) = self.idle.first() {
            page.push_str(&format!(
                "\n## idle\n\n{AGENTS} agents without work, and tickets that wait for one of these agents; {:.0} seconds.\n\n\
                 | tickets | processor, goal 0.3 % of a core | memory (RSS), goal 40 MiB |\n|---|---|---|\n",
                time.as_secs_f64()
            ));
        }
        for idled in &self.idle {
            page.push_str(&format!(
                "| {} | {:.0} % | {:.0} % |\n",
                idled.many,
                100.0 * idled.cpu / 0.3,
                100.0 * idled.memory / 40.0
            ));
        }
        if !self.watching.is_empty() {
            page.push_str(
                "\nAgents at work that print nothing, for the same time:\n\n| agents | processor, goal 1 % of a core |\n|---|---|\n",
            );
        }
        for idled in &self.watching {
            page.push_str(&format!("| {} | {:.0} % |\n", idled.many, 100.0 * idled.cpu));
        }
        if !self.recovers.is_empty() {
            page.push_str(RECOVER);
            page.push_str("| events | engine, of the goal | worst | goal | memory, of 150 MiB |");
            for command in COMMANDS {
                page.push_str(&format!(" {command}, of a second | memory, of 150 MiB |"));
            }
            page.push_str("\n|---|---|---|---|---|");
            page.push_str(&"---|---|".repeat(COMMANDS.len()));
            page.push('\n');
            for recovered in &self.recovers {
                let share =
                    |at| 100.0 * quantile(recovered.times.iter().copied(), at) / recover_goal(recovered);
                page.push_str(&format!(
                    "| {} | {:.0} % | {:.0} % | {:.0} ms | {:.0} % |",
                    recovered.events,
                    share(0.5),
                    share(1.0),
                    recover_goal(recovered),
                    recovered.memory / 1.5
                ));
                for (_, took, memory) in &recovered.commands {
                    page.push_str(&format!(" {:.0} % | {:.0} % |", took / 10.0, memory / 1.5));
                }
                page.push('\n');
            }
        }
        if let Some(Appended { plain, append, .. }) = &self.append {
            let tenth = append.len().div_ceil(10);
            let last = append.len() - tenth;
            page.push_str(&format!(
                "{APPEND}| rounds | append ÷ commit | goal | the first tenth | the last |\n|---|---|---|---|---|\n| {} | {} | ≤ 20 | {} | {} |\n",
                append.len(),
                ratio(append, plain),
                ratio(&append[..tenth], &plain[..tenth]),
                ratio(&append[last..], &plain[last..]),
            ));
        }
        page.push_str(&figures::streams_page(&self.streams));
        page.push_str(&figures::transcript_page(self.transcript.as_ref()));
        page.push_str(&figures::beats_page(&self.beats));
        page.push_str(&figures::calls_page(self.calls.as_ref()));
        page.push_str(&figures::listings_page(&self.listings));
        if let Some(trains) = &self.trains {
            page.push_str(&train::report::page(trains));
        }
        page.push_str(&web::page(&self.web));
        page
    }
}

const DRAIN: &str = "\
## drain

Time to work through a queue of tickets that do next to nothing: the agent writes a file, adds it and commits it. Each round uses copies of
one repository. crew runs with two agents and its full journal, with every durable write, but without checks, since the scripts have none. Its
time is that of `crew run --until-idle` from start to end. **X** is a shell script: `xargs -P2`, and for each ticket a `git worktree add`, the
same work, `git worktree remove` and `git merge`, with locks around the commands that git cannot run twice at once. **S** is the fastest shell
script that we know: two worktrees that are used again and again, and merges by `git merge-tree`. Neither script can continue after it was
killed. A figure counts only if all work is on the target afterwards and `git fsck --strict` finds nothing.

";

const WHERE: &str = "
### Where the time goes

One more drain, with the time of each operation recorded. Tickets overlap, so a column adds up to more than 100 %. \"waited\" is the time until
an operation began, after it was ordered.

";

const RECOVER: &str = "
## recover

Time from the start of `crew run` to the first act of an agent, including its workspace and its process, and then the time of commands that read
the journal. The journals are as crew writes them, made by the real core: tickets of two or three steps that landed over ninety days, and 200
open tickets, of which one can be dispatched. The ticket folder holds the files of the open tickets.

";

const APPEND: &str = "
## append

The 99th percentile of the time of an append by one of 200 tasks that all append at once, as a multiple of that of a plain commit of a row of the
same size on the same disk. The two take turns, while the journal grows to ninety times its first length.

";

const EXITS: &str = "
## exits

Time from the end of all of a step's processes, as its shim records it, until the engine has noticed, and until the program of the next step
was started. The steps follow one another, while other agents are at work and print nothing. The clock counts whole milliseconds.

";

const DISPATCH: &str = "
## dispatch

Time from the rename of a ticket's file into the queue to the first act of its agent's process: the small repository, an engine that has nothing
else to do, and `debounce = \"0s\"`. A ticket waits longer by the value of `debounce`.

";
