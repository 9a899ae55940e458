//! The `crew.toml` that `crew init` writes.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Checks, Detected, Harness, HarnessKind, Workspace, duration};

/// The proposal of `crew init` for a repository.
#[derive(Clone, Debug, Default)]
pub struct Proposal {
    /// The `[checks]` table.
    pub checks: Checks,
    /// The `[workspace]` table.
    pub workspace: Workspace,
    /// Other runners that were seen, for comments.
    pub also_seen: Vec<Detected>,
}

pub(super) fn write(target: &str, proposal: &Proposal, harness: Option<(&str, &Harness)>) -> String {
    let mut out = String::new();
    out.push_str(
        "# What the crew does in this repository. A line that begins with # shows the default.\n\
         # Every key: crew config --schema\n\n\
         [project]\n",
    );
    line(
        &mut out,
        "target",
        &quoted(target),
        "the branch that work lands on",
    );
    out.push_str(RUN);
    out.push_str(
        "\n[agents]\n# count = 4                       # busy at once; or names = [\"ada\", \"bob\"]\n",
    );
    match harness {
        Some((name, harness)) => {
            line(
                &mut out,
                "harness",
                &quoted(name),
                "what agents run on: a table below",
            );
            write_harness(&mut out, name, harness);
        }
        None => out.push_str(NO_HARNESS),
    }
    write_workspace(&mut out, &proposal.workspace);
    write_checks(&mut out, &proposal.checks);
    for other in &proposal.also_seen {
        write_other(&mut out, other);
    }
    out.push_str(REVIEW);
    out.push_str(TRAIN);
    out.push_str(DELEGATE);
    out.push_str(LAND);
    out.push_str(BUDGET);
    out.push_str(HOOKS);
    out
}

const RUN: &str = r#"
[run]
# max_workers = 10                # agent processes at once
# max_steps = 20                  # an attempt, then the last chance
# attempts = 3                    # per ticket, then it is held
# step_timeout = "60m"
# stall_after = "5m"              # no output and no activity for this long: stuck
# exit_within = "30s"             # after an agent's result: exit, or be stopped and taken at its word
# debounce = "500ms"              # a ticket's file must be this still before it is dispatched
# on_stop = "finish"              # finish | leave | kill: what `crew stop` does to running steps
# conflict_resolutions = 3        # per attempt, then the ticket is held
# recoveries = 3                  # of a stuck attempt, then it counts as crashed
# outputs_mib = 4096              # what steps and checks have printed; then the oldest of closed tickets goes
# quiet_children = "stop"         # stop | wait: whether a download below a silent agent is a sign of life
"#;

const NO_HARNESS: &str = r#"# No harness yet: until one is named here, no agent can be started.
# harness = "scripted"

# [harness.scripted]
# kind = "command"                # any program: the prompt on its standard input, DONE on its output
# command = ["./agent.sh"]
"#;

const REVIEW: &str = r#"
[review]
# when = "never"                  # never | always | { labels, paths, lines }: the work that a gatekeeper looks at
# count = 1                       # gatekeepers: reviews at once
# agree = 1                       # gatekeepers that must approve of the same work
# tries = 3                       # reviews without a verdict in a row, then the ticket is held
"#;

const TRAIN: &str = r#"
[train]
# batch = 8                       # branches that one run of the checks decides on; 1: each for itself
# slots = 1                       # checkouts in which checks run at once
"#;

const DELEGATE: &str = r#"
[delegate]
# depth = 2                       # tickets that agents delegate one by another: [agents] leaders, or the tag `leader`
# breadth = 4                     # children of one ticket at once
"#;

const LAND: &str = r#"
[land]
# mode = "local"                  # local | push | pr: here, on the branch of the remote, or by pull requests
# remote = "origin"               # the remote of mode = "push" and "pr"
# pr = { draft = false, labels = [], after = "merged" }  # after: merged (by people) | approved (crew merges)
# hold = "paths"                  # paths | all: all work waits for a person, once it has passed its checks
# secrets = "hold"                # hold | off: work with what looks like keys or tokens waits for a person
# hold_paths = ["crew.toml"]      # a change to these waits for a person; crew.toml and .lfsconfig always do
# max_file_mib = 100              # a larger file is refused: GitHub and others would refuse the push
# author = "Name <address>"       # the author of the merges that land; by default the agent that did the work
# trailers = []                   # lines at the end of their messages, such as "Reviewed-by: Ada <ada@example.com>"
"#;

const BUDGET: &str = r#"
[budget]
# ticket_usd = 5.0                # US dollars per ticket, then it is held; no limit by default
# day_usd = 50.0                  # per day (UTC), then nothing is started before the next; no limit by default
"#;

const HOOKS: &str = r#"
[hooks]
# completed = ["./notify.sh"]     # a program that gets notices of this kind, as JSON: failed, comment, stuck,
# all = ["./notify.sh"]           # question, held, budget, landed; or all
# timeout = "30s"                 # for one notice, then the program is stopped
"#;

fn write_harness(out: &mut String, name: &str, harness: &Harness) {
    let _ = writeln!(out, "\n[harness.{}]", quoted_key(name));
    let kind = quoted(harness.kind.name());
    match harness.kind {
        HarnessKind::Command => {
            line(
                out,
                "kind",
                &kind,
                "the prompt on its standard input, DONE on its output",
            );
            line(
                out,
                "command",
                &list(&harness.command),
                "the program; it is not run by a shell",
            );
        }
        HarnessKind::Claude => {
            line(
                out,
                "kind",
                &kind,
                "Claude Code, with your login or a key that pass_env names",
            );
            if harness.command == Harness::new(harness.kind).command {
                out.push_str("# command = [\"claude\"]           # another path of the program\n");
            } else {
                line(out, "command", &list(&harness.command), "the program");
            }
            match &harness.model {
                Some(model) => line(out, "model", &quoted(model), "a name or alias that it knows"),
                None => out.push_str("# model: a name or alias that it knows; without it, its own choice\n"),
            }
            if let Some(price) = harness.price {
                let pairs = [
                    ("input", price.input),
                    ("output", price.output),
                    ("cache_read", price.cache_read),
                    ("cache_write", price.cache_write),
                ];
                let pairs = pairs.map(|(key, price)| format!("{key} = {:?}", price.dollars()));
                line(
                    out,
                    "price",
                    &format!("{{ {} }}", pairs.join(", ")),
                    "US dollars per million tokens, for steps that were killed",
                );
            }
        }
    }
    if harness.args.is_empty() {
        out.push_str("# args = []                       # appended\n");
    } else {
        line(out, "args", &list(&harness.args), "appended");
    }
    if harness.env.is_empty() {
        out.push_str("# env = {}                        # added to the agent's environment\n");
    } else {
        line(
            out,
            "env",
            &variables(&harness.env),
            "added to the agent's environment",
        );
    }
    if harness.pass_env.is_empty() {
        out.push_str("# pass_env = []                   # variables of yours that the agent gets\n");
    } else {
        line(
            out,
            "pass_env",
            &list(&harness.pass_env),
            "variables of yours that the agent gets",
        );
    }
    if harness.session {
        line(out, "session", "true", "later steps get only what is new");
    }
}

fn write_workspace(out: &mut String, workspace: &Workspace) {
    out.push_str("\n[workspace]\n");
    for (key, items, comment) in [
        (
            "setup",
            &workspace.setup,
            "run in each new workspace before its first step, such as \"npm ci\"",
        ),
        (
            "copy",
            &workspace.copy,
            "ignored files of yours that each new workspace gets, such as \".env\"",
        ),
    ] {
        list_or_default(out, key, items, comment);
    }
}

/// Another runner, as a comment.
fn write_other(out: &mut String, other: &Detected) {
    let seen_in = commented(&other.seen_in);
    let _ = write!(out, "# Also seen: {} in {seen_in}:", other.runner);
    if !other.env.is_empty() {
        let _ = write!(out, " env = {},", variables(&other.env));
    }
    for (key, items) in [("setup", &other.setup), ("keep", &other.keep)] {
        if !items.is_empty() {
            let _ = write!(out, " {key} = {},", list(items));
        }
    }
    let _ = writeln!(out, " commands = {}", list(&other.commands));
}

/// Text that stays within the line of a comment.
fn commented(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

fn write_checks(out: &mut String, checks: &Checks) {
    out.push_str("\n[checks]\n");
    for (key, items, comment) in [
        (
            "setup",
            &checks.setup,
            "run in a fresh check checkout, and again when a manifest or lock file changes",
        ),
        (
            "setup_inputs",
            &checks.setup_inputs,
            "further files and folders that set-up depends on",
        ),
        (
            "keep",
            &checks.keep,
            "ignored folders that stay from one candidate to the next",
        ),
    ] {
        list_or_default(out, key, items, comment);
    }
    if checks.env.is_empty() {
        out.push_str("# env = {}                        # added to the environment of checks\n");
    } else {
        line(
            out,
            "env",
            &variables(&checks.env),
            "added to the environment of checks",
        );
    }
    list_or_default(
        out,
        "pass_env",
        &checks.pass_env,
        "variables of yours that checks get, beside those of toolchains",
    );
    let toolchain: Vec<String> = checks.toolchain.iter().map(|words| list(words)).collect();
    match toolchain.is_empty() {
        true => out.push_str(
            "# toolchain = []                  # programs that name it, such as [\"rustc\", \"--version\"]\n",
        ),
        false => line(
            out,
            "toolchain",
            &format!("[{}]", toolchain.join(", ")),
            "with another answer all is checked anew",
        ),
    }
    if checks.timeout == Checks::default().timeout {
        out.push_str("# timeout = \"5m\"                  # of each command\n");
    } else {
        line(
            out,
            "timeout",
            &quoted(&duration::format(checks.timeout)),
            "of each command",
        );
    }
    if checks.commands.is_empty() {
        out.push_str("# No checks: nothing guards the target. Name what must pass before work lands.\n");
        out.push_str("commands = []\n");
    } else {
        line(
            out,
            "commands",
            &list(&checks.commands),
            "in order, on the merged result; all must pass",
        );
    }
}

/// A list with its comment; the default stands in a comment.
fn list_or_default(out: &mut String, key: &str, items: &[String], comment: &str) {
    if items.is_empty() {
        let _ = writeln!(out, "{:<33} # {comment}", format!("# {key} = []"));
    } else {
        line(out, key, &list(items), comment);
    }
}

/// A table of variables on one line.
fn variables(env: &BTreeMap<String, String>) -> String {
    let pairs = env
        .iter()
        .map(|(key, value)| format!("{} = {}", quoted_key(key), quoted(value)));
    format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
}

/// A key with its comment in a column, where the value leaves room for it.
fn line(out: &mut String, key: &str, value: &str, comment: &str) {
    let _ = writeln!(out, "{:<33} # {comment}", format!("{key} = {value}"));
}

fn list(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
    format!("[{}]", items.join(", "))
}

fn quoted_key(key: &str) -> String {
    let bare = !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if bare { key.to_owned() } else { quoted(key) }
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
