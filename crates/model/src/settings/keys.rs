//! The keys that are known, the ones that come later, and what a person may have meant.

/// The tables and their keys; `""` is the top of the file and `harness.*` is each harness's table. A test
/// holds this against the schema.
pub(super) const KNOWN: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "workspace_dir",
            "prompts_dir",
            "project",
            "run",
            "agents",
            "harness",
            "workspace",
            "checks",
            "check",
            "review",
            "train",
            "delegate",
            "land",
            "budget",
            "hooks",
        ],
    ),
    ("project", &["target"]),
    (
        "run",
        &[
            "max_workers",
            "max_steps",
            "attempts",
            "step_timeout",
            "stall_after",
            "exit_within",
            "debounce",
            "on_stop",
            "conflict_resolutions",
            "recoveries",
            "answer_within",
            "outputs_mib",
            "quiet_children",
        ],
    ),
    ("agents", &["count", "names", "harness", "leaders"]),
    (
        "harness.*",
        &[
            "kind", "command", "model", "args", "env", "pass_env", "session", "price",
        ],
    ),
    ("price", &["input", "output", "cache_read", "cache_write"]),
    ("workspace", &["setup", "copy"]),
    (
        "checks",
        &[
            "setup",
            "setup_inputs",
            "keep",
            "env",
            "pass_env",
            "toolchain",
            "timeout",
            "blind",
            "commands",
        ],
    ),
    (
        "check",
        &["name", "command", "paths", "timeout", "tests", "retry"],
    ),
    ("review", &["when", "harness", "count", "agree", "tries"]),
    ("review.when", &["labels", "paths", "lines"]),
    ("train", &["batch", "slots"]),
    ("delegate", &["depth", "breadth"]),
    (
        "land",
        &[
            "mode",
            "remote",
            "pr",
            "hold",
            "secrets",
            "hold_paths",
            "max_file_mib",
            "author",
            "trailers",
        ],
    ),
    ("land.pr", &["draft", "labels", "after"]),
    ("budget", &["ticket_usd", "day_usd"]),
    (
        "hooks",
        &[
            "all",
            "completed",
            "failed",
            "comment",
            "stuck",
            "question",
            "held",
            "budget",
            "landed",
            "timeout",
        ],
    ),
];

/// Keys that are designed and not in this build: the table, the key, and its requirement.
pub(super) const LATER: &[(&str, &str, &str)] = &[
    ("", "commitments", "commitments come later"),
    ("", "sandbox", "the sandbox comes later"),
    (
        "workspace",
        "setup_inputs",
        "workspaces that are used again come later",
    ),
    (
        "workspace",
        "dir",
        "`workspace_dir` at the top of the file names the folder",
    ),
];

/// Keys that have another name now: the table, the old name, the new one.
pub(super) const RENAMED: &[(&str, &str, &str)] = &[("run", "settle", "debounce")];

/// The harness kinds that are designed and not in this build.
pub(super) const LATER_KINDS: &[&str] = &["codex", "pi", "acp"];

/// The keys of a table.
pub(super) fn of(table: &str) -> &'static [&'static str] {
    KNOWN
        .iter()
        .find(|(name, _)| *name == table)
        .map_or(&[], |(_, keys)| keys)
}

/// The reason for which a known key is not in this build.
pub(super) fn later(table: &str, key: &str) -> Option<&'static str> {
    LATER
        .iter()
        .find(|(of, name, _)| *of == table && *name == key)
        .map(|(_, _, why)| *why)
}

/// The name that a key of a table has now, where it had another one.
pub(super) fn renamed(table: &str, key: &str) -> Option<&'static str> {
    RENAMED
        .iter()
        .find(|(of, old, _)| *of == table && *old == key)
        .map(|(_, _, new)| *new)
}

/// A hint for an unknown key of a table. `as_written` is the table as the file has it.
pub(super) fn hint(table: &str, as_written: &str, key: &str) -> String {
    let elsewhere = KNOWN
        .iter()
        .find(|(name, keys)| *name != table && keys.contains(&key));
    if let Some((home, _)) = elsewhere {
        return belongs(home, key);
    }
    let known = of(table);
    let Some(nearest) = nearest(key, known.iter().copied()) else {
        return "remove it".to_owned();
    };
    if is_slip(key, nearest) {
        return format!("did you mean `{nearest}`?");
    }
    // A slip of a key that one other table has.
    let mut elsewhere = KNOWN
        .iter()
        .filter(|(name, _)| !name.is_empty() && *name != table)
        .flat_map(|(home, keys)| keys.iter().map(move |known| (*home, *known)))
        .filter(|(_, known)| known.len() > 6 && is_slip(key, known));
    if let (Some((home, known)), None) = (elsewhere.next(), elsewhere.next()) {
        return format!("did you mean `{known}`? {}", belongs(home, known));
    }
    let place = if as_written.is_empty() {
        "the file".to_owned()
    } else {
        format!("[{as_written}]")
    };
    format!(
        "the nearest known key is `{nearest}`; {place} knows {}",
        known.join(", ")
    )
}

/// Where a key belongs that stands in another table.
fn belongs(home: &str, key: &str) -> String {
    match home {
        "" => format!("`{key}` stands at the top of the file, before the first [table]"),
        "harness.*" => format!("`{key}` belongs in a [harness.<name>] table"),
        "price" => format!("`{key}` belongs in `price` of a [harness.<name>] table"),
        "check" => format!("`{key}` belongs in a [[check]] table"),
        home => format!("`{key}` belongs in [{home}]"),
    }
}

/// The most similar word.
pub(super) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // The distance takes time in the product of the lengths, and a key may be a megabyte.
    let word: String = word.chars().take(64).collect::<String>().to_lowercase();
    known.into_iter().min_by_key(|known| {
        let edits = strsim::damerau_levenshtein(&word, &known.to_lowercase());
        let contained = !word.is_empty() && (known.contains(&word) || word.contains(*known));
        (if contained { edits.min(2) } else { edits }, edits)
    })
}

/// True if one word is likely a slip of the other, rather than something else.
pub(super) fn is_slip(word: &str, known: &str) -> bool {
    let word: String = word.chars().take(64).collect::<String>().to_lowercase();
    strsim::damerau_levenshtein(&word, known) <= (known.len() / 3).max(2)
}
