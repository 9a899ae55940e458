//! The table of retired words, with the reasons for exceptions.

/// Files that have other people's words: input for tests, and this table with its tests.
pub(super) const NOT_OURS: &[&str] = &[
    "/corpus/",
    "/fixtures/",
    "/regressions/",
    "xtask/src/words",
    "CHANGELOG.md",
];

/// Where in the code a word is refused.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum In {
    /// As one or more whole segments of any identifier.
    Segments,
    /// As the whole name of a type that is defined.
    Type,
    /// As the whole name of a module.
    Module,
}

/// A word that identifiers do not have any more.
pub(super) struct Retired {
    /// In snake case and lower case.
    pub(super) word: &'static str,
    pub(super) at: In,
    pub(super) becomes: &'static str,
    /// Identifiers with the word in its everyday or technical meaning, in snake case.
    pub(super) but: &'static [&'static str],
}

const fn of(word: &'static str, at: In, becomes: &'static str) -> Retired {
    Retired {
        word,
        at,
        becomes,
        but: &[],
    }
}

pub(super) const IDENTIFIERS: &[Retired] = &[
    of(
        "ring",
        In::Segments,
        "event loop, `Dispatcher`; a cycle of dependencies",
    ),
    of("rings", In::Segments, "cycles"),
    of("hands", In::Segments, "adapters, `Executor`"),
    of("face", In::Segments, "frontend"),
    of("faces", In::Segments, "frontends"),
    of("rooms", In::Segments, "crates, modules"),
    of("room", In::Module, "preflight"),
    of("room", In::Type, "preflight (disk), crate, module"),
    Retired {
        but: &["progress_bar", "status_bar", "scroll_bar"],
        ..of("bar", In::Segments, "harness pause")
    },
    of("bars", In::Segments, "harness pauses"),
    of("barred", In::Segments, "paused"),
    of("unbarred", In::Segments, "resumed"),
    of("breaker", In::Segments, "`no_progress`"),
    of(
        "settle",
        In::Segments,
        "advance, finish, wait, …; the setting is `debounce`",
    ),
    of("settles", In::Segments, "advances, finishes, waits, …"),
    of("set_aside", In::Segments, "archive, archived"),
    of("put_aside", In::Segments, "archive, archived"),
    of("take_back", In::Segments, "restore"),
    of("is_aside", In::Segments, "is_archived"),
    of("aside", In::Type, "archive"),
    of("behind", In::Module, "archived"),
    of("past", In::Module, "archive"),
    of("shelf", In::Segments, "interner"),
    of("shelves", In::Segments, "interners"),
    of("spare", In::Segments, "pooled checkout"),
    of("spares", In::Segments, "pooled checkouts"),
    of("take_up", In::Segments, "load"),
    of("taken_up", In::Segments, "loaded"),
    of("outlast", In::Segments, "wait_for_journal"),
    of("strays", In::Segments, "orphans"),
    of("recall", In::Segments, "restore"),
    of("recalled", In::Segments, "restored"),
    of("bring", In::Module, "fetch_objects"),
    of("living", In::Segments, "lock_holders"),
    of("shut", In::Module, "permissions"),
    of("beneath", In::Module, "openat"),
    of("plain", In::Module, "atomic_write"),
    of("stored", In::Module, "ref_files"),
    of("helper", In::Module, "cat_file"),
    of("sighted", In::Segments, "observed"),
    of("given_out", In::Segments, "dispatched"),
    of("give_out", In::Segments, "dispatch"),
    of("said_again", In::Segments, "retried"),
    of("in_vain", In::Segments, "failed"),
    of("fold", In::Type, "Recorded"),
    of("bill", In::Segments, "cost"),
    of("deeds", In::Segments, "attempt summaries"),
    of("purse", In::Segments, "budget"),
    of("purses", In::Segments, "budgets"),
    of("seat", In::Segments, "slot"),
    of("seats", In::Segments, "slots"),
    of("seated", In::Segments, "in a slot"),
    of("unseat", In::Segments, "free the slot"),
    of("then", In::Type, "AfterStop"),
    of("from", In::Type, "StartPoint"),
    of("same", In::Type, "Fingerprint"),
    of("again", In::Type, "Repeat"),
    of("beside", In::Type, "Context"),
    of("answering", In::Type, "WriteMeta"),
    of("heard", In::Type, "Event"),
    of("patient", In::Type, "Subject"),
    of("crash_point", In::Segments, "failpoint"),
    of("crash_points", In::Segments, "failpoints"),
];

/// A word that prose does not have any more.
pub(super) struct Prose {
    pub(super) word: &'static str,
    pub(super) becomes: &'static str,
    /// Where the word is everyday or technical English: the words around it, in lower case, each with its
    /// reason.
    pub(super) but: &'static [(&'static str, &'static str)],
}

const fn word(word: &'static str, becomes: &'static str) -> Prose {
    Prose {
        word,
        becomes,
        but: &[],
    }
}

pub(super) const PROSE: &[Prose] = &[
    Prose {
        word: "ring",
        becomes: "event loop; cycle",
        but: &[(
            "ring buffer",
            "the field's word for a buffer that begins anew at its end",
        )],
    },
    Prose {
        word: "hands",
        becomes: "adapters, executor",
        but: &[
            ("hands over", "the verb"),
            ("hands out", "the verb"),
            ("hands it", "the verb"),
            ("hands the work", "the verb"),
            ("hands back", "the verb"),
        ],
    },
    word("faces", "frontends"),
    word("breaker", "`no_progress`"),
    word("settle", "advance, finish, wait, …; `debounce`"),
    Prose {
        word: "spare",
        becomes: "pooled checkout",
        but: &[("to spare", "the idiom for more than enough")],
    },
    word("spares", "pooled checkouts"),
    word("seat", "slot"),
    word("seats", "slots"),
    word("sighted", "observed"),
    word("purse", "budget"),
    word("barred", "paused"),
    word("shelf", "archive, interner"),
];

/// Files that must have a retired word: how their paths begin, the word, and the reason.
pub(super) const NEEDED: &[(&str, &str, &str)] = &[
    (
        "crates/model/src/settings/keys.rs",
        "settle",
        "refuses the setting's old name",
    ),
    (
        "crates/model/src/settings/tests/bad.rs",
        "settle",
        "tests that the setting's old name is refused",
    ),
    (
        "crates/cli/tests/e2e/kill/",
        "deeds",
        "acts of a person, not summaries of attempts",
    ),
    (
        "crates/git/tests/",
        "deeds",
        "acts of an agent, not summaries of attempts",
    ),
];
