//! What was measured of streams, a long transcript, heartbeats and calls, in tables.

use super::beats::Beats;
use super::calls::{BESIDE, Called};
use super::listing::{self, Listed};
use super::quantile;
use super::report::ratio;
use super::streams::{STREAMS, Streamed};
use super::transcript::{GOAL, Read};

/// For the terminal.
pub(crate) fn streamed(streams: &[Streamed]) -> String {
    let mut text = String::new();
    for stream in streams {
        let speed = |all: &[f64]| quantile(all.iter().copied(), 0.5);
        text.push_str(&format!(
            "\nstreams, {}, {} rounds: skipped at {:.0} MB/s; reader ÷ skip {} (goal 0.5), transcript ÷ skip {}",
            stream.name,
            stream.skip.len(),
            speed(&stream.skip),
            ratio(&stream.reader, &stream.skip),
            ratio(&stream.transcript, &stream.skip),
        ));
    }
    text
}

/// For the terminal.
pub(crate) fn read(read: &Read) -> String {
    let each: Vec<String> = rows(read)
        .into_iter()
        .map(|(what, memory)| format!("{what} {memory:.1}"))
        .collect();
    format!(
        "\ntranscript of {} MB, MiB (goal {GOAL:.0}): {}",
        read.bytes / 1_000_000,
        each.join(", ")
    )
}

fn rows(read: &Read) -> Vec<(&'static str, f64)> {
    let first = [("the engine", read.engine), ("the step's shim", read.shim)];
    first.into_iter().chain(read.commands.iter().copied()).collect()
}

/// For the terminal.
pub(crate) fn beaten(beats: &Beats) -> String {
    let at = |share| quantile(beats.times.iter().copied(), share);
    format!(
        "\nbeats, {} processes, {} heartbeats: p50 {:.2} ms, p99 {:.2} ms of processor time (goal 20)",
        beats.processes,
        beats.times.len(),
        at(0.5),
        at(0.99)
    )
}

/// For the terminal.
pub(crate) fn called(called: &Called) -> String {
    let at = |times: &[f64], share| quantile(times.iter().copied(), share);
    let Called { files, tool } = called;
    format!(
        "\ncalls, {BESIDE} agents at work beside, {} of each way: through the files p50 {:.2} ms, p99 {:.2} ms (goal 20); \
         by `crew tool` p50 {:.2} ms, p99 {:.2} ms (goal 20)",
        files.len(),
        at(files, 0.5),
        at(files, 0.99),
        at(tool, 0.5),
        at(tool, 0.99),
    )
}

/// For the page: its section.
pub(crate) fn streams_page(streams: &[Streamed]) -> String {
    if streams.is_empty() {
        return String::new();
    }
    let mut page = STREAMS_HEAD.to_owned();
    for stream in streams {
        let about = STREAMS.iter().find(|(name, _)| *name == stream.name);
        page.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            about.map_or(stream.name, |(_, about)| about),
            stream.skip.len(),
            ratio(&stream.reader, &stream.skip),
            ratio(&stream.transcript, &stream.skip),
        ));
    }
    page
}

/// For the page: its section.
pub(crate) fn transcript_page(read: Option<&Read>) -> String {
    let Some(read) = read else {
        return String::new();
    };
    let mut page = TRANSCRIPT_HEAD
        .replace("BYTES", &(read.bytes / 1_000_000).to_string())
        .replace("GOAL", &format!("{GOAL:.0}"));
    for (what, memory) in rows(read) {
        let what = what
            .strip_prefix("crew")
            .map_or(what.to_owned(), |_| format!("`{what}`"));
        page.push_str(&format!("| {what} | {:.0} % |\n", 100.0 * memory / GOAL));
    }
    page
}

/// For the page: its section.
pub(crate) fn beats_page(beats: &[Beats]) -> String {
    if beats.is_empty() {
        return String::new();
    }
    let mut page = BEATS_HEAD.to_owned();
    for Beats { processes, times } in beats {
        let share = |at| 100.0 * quantile(times.iter().copied(), at) / 20.0;
        page.push_str(&format!(
            "| {processes} | {} | {:.0} % | {:.0} % |\n",
            times.len(),
            share(0.5),
            share(0.99)
        ));
    }
    page
}

/// For the page: its section.
pub(crate) fn calls_page(called: Option<&Called>) -> String {
    let Some(Called { files, tool }) = called else {
        return String::new();
    };
    let mut page = CALLS_HEAD.replace("BESIDE", &BESIDE.to_string());
    for (way, times) in [("the files of its run", files), ("`crew tool`", tool)] {
        let share = |at| 100.0 * quantile(times.iter().copied(), at) / 20.0;
        page.push_str(&format!(
            "| {way} | {} | {:.0} % | {:.0} % |\n",
            times.len(),
            share(0.5),
            share(0.99)
        ));
    }
    page
}

/// For the terminal.
pub(crate) fn listed(listings: &[Listed]) -> String {
    let half = |times: &[f64]| quantile(times.iter().copied(), 0.5);
    let each = listings.iter().map(|one| {
        let (first, again) = (half(&one.first), half(&one.again));
        format!("{} {again:.1} ms, without an index {first:.1} ms", one.listing)
    });
    let each: Vec<String> = each.collect();
    format!(
        "\nlisting, {} tickets, p50 (goal {:.0} ms): {}",
        listing::TICKETS,
        listing::GOAL,
        each.join("; ")
    )
}

/// The section of the page.
pub(crate) fn listings_page(listings: &[Listed]) -> String {
    if listings.is_empty() {
        return String::new();
    }
    let mut page = LISTINGS_HEAD
        .replace("TICKETS", &listing::TICKETS.to_string())
        .replace("GOAL", &format!("{:.0}", listing::GOAL));
    for one in listings {
        let of_goal = |times: &[f64]| 100.0 * quantile(times.iter().copied(), 0.5) / listing::GOAL;
        page.push_str(&format!(
            "| `crew ticket {}` | {} | {:.0} % | {:.0} % |\n",
            one.listing,
            one.again.len(),
            of_goal(&one.again),
            of_goal(&one.first)
        ));
    }
    page
}

const LISTINGS_HEAD: &str = "
## listing

Time of a listing of TICKETS tickets from the start of its process to its end, when no file has changed since the last one, and without an
index, so that every file is read.

| command | rounds | p50, of GOAL ms | without an index |
|---|---|---|---|
";

const CALLS_HEAD: &str = "
## calls

Time from an agent's call of a tool until its answer is there, while an engine watches BESIDE more agents that print nothing. The call goes
into the journal. Through the files of its run is what the server of a client's tools does; `crew tool` starts a process for it.

| way | calls | p50, of 20 ms | p99, goal 20 ms |
|---|---|---|---|
";

const STREAMS_HEAD: &str = "
## streams

The speed at which the stream of an agent client is read, as a part of the speed at which serde_json skips the same lines
(`IgnoredAny`). The reader finds the outcome of the step, the transcript makes the entries that people see; both stand on the same parser.
The streams are made up, in the shapes of Claude Code. The three take turns.

| stream | rounds | reader ÷ skip, goal ≥ 0.5 | transcript ÷ skip, goal ≥ 0.5 |
|---|---|---|---|
";

const TRANSCRIPT_HEAD: &str = "
## transcript

The most memory (RSS) that each has while an agent prints BYTES MB in one step, and people look at it before that step ends.

| | of GOAL MiB |
|---|---|
";

const BEATS_HEAD: &str = "
## beats

The processor time that the shim of a step takes for one heartbeat, in which it looks at all processes below it.

| processes | heartbeats | p50, of 20 ms | p99, goal 20 ms |
|---|---|---|---|
";
