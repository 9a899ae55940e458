//! Arrows between our crates: which may depend on which, each with its reason.

use crate::metadata::{Kind, Package};

/// One of our crates, and what it may depend on.
struct Rule {
    name: &'static str,
    /// Ours that it may use.
    ours: &'static [&'static str],
    /// The rule in words, for the message that refuses an arrow.
    why: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        name: "model",
        ours: &["text"],
        why: "the pure half stands on value types only",
    },
    Rule {
        name: "failpoint",
        ours: &[],
        why: "a point at which a test kills crew knows nothing of it",
    },
    Rule {
        name: "text",
        ours: &[],
        why: "which characters hide does not depend on who asks",
    },
    Rule {
        name: "watch",
        ours: &[],
        why: "a notice of a change does not depend on who asks",
    },
    Rule {
        name: "store",
        ours: &["failpoint", "model", "text", "watch"],
        why: "the journal knows the model's values, and no adapter or frontend",
    },
    Rule {
        name: "process",
        ours: &["failpoint", "text"],
        why: "an adapter knows nothing of ours",
    },
    Rule {
        name: "git",
        ours: &["failpoint", "text"],
        why: "an adapter knows nothing of ours",
    },
    Rule {
        name: "tickets",
        ours: &["failpoint", "text", "watch"],
        why: "an adapter knows nothing of ours",
    },
    Rule {
        name: "harness",
        ours: &["process", "text"],
        why: "an agent client is a process, and nothing else of ours",
    },
    Rule {
        name: "engine",
        ours: &["model"],
        why: "the core decides; the runtime around it acts",
    },
    Rule {
        name: "runtime",
        ours: &[
            "engine",
            "failpoint",
            "git",
            "harness",
            "model",
            "process",
            "store",
            "text",
            "tickets",
            "watch",
        ],
        why: "the shell joins the core, the journal and the adapters, and knows no frontend",
    },
    Rule {
        name: "client",
        ours: &[
            "failpoint",
            "git",
            "harness",
            "model",
            "process",
            "runtime",
            "store",
            "text",
            "tickets",
            "watch",
        ],
        why: "what every frontend needs of the rest; it prints nothing and draws nothing",
    },
    Rule {
        name: "doctor",
        ours: &[
            "client", "git", "model", "process", "runtime", "store", "text", "tickets",
        ],
        why: "the doctor examines what all the others keep; it prints nothing",
    },
    Rule {
        name: "mcp",
        ours: &["model", "process", "text", "watch"],
        why: "the agent's end of a call knows the folder of its run, and neither journal nor engine",
    },
    Rule {
        name: "tui",
        ours: &["model", "store", "text"],
        why: "a frontend: it folds the journal's rows and asks for commands, as values; it touches no hand and knows no engine",
    },
    Rule {
        name: "web",
        ours: &["client", "doctor", "model", "store", "text", "watch"],
        why: "a frontend: it folds the journal and submits commands through client, and knows no engine",
    },
    Rule {
        name: "notify",
        ours: &["client", "failpoint", "model", "store", "text"],
        why: "a frontend without a screen: it reads the inbox through client, and runs programs of a person's choice",
    },
    Rule {
        name: "crew",
        ours: &[
            "client",
            "doctor",
            "failpoint",
            "mcp",
            "model",
            "notify",
            "process",
            "runtime",
            "store",
            "text",
            "tui",
            "web",
        ],
        why: "frontends write commands and fold the journal; they reach git, ticket files and agent clients only through client",
    },
    Rule {
        name: "sim",
        ours: &["engine", "model", "store"],
        why: "the simulation runs the real core against a world of its own, without the adapters",
    },
    Rule {
        name: "model-check",
        ours: &["model", "store"],
        why: "the exploration takes the real machines and the journal's own admission, and nothing that acts",
    },
    Rule {
        name: "fuzz",
        ours: &["harness", "model", "process", "text", "tickets"],
        why: "properties of what reads others' bytes; it reaches for nothing that acts or stores",
    },
    Rule {
        name: "model-server",
        ours: &[],
        why: "a model service knows nothing of ours, or it would not stand for a real one",
    },
    Rule {
        name: "testkit",
        ours: &["model", "model-server", "store"],
        why: "a test plays the user and reads the journal; it never calls what it tests",
    },
    Rule {
        name: "xtask",
        ours: &[],
        why: "the developer's commands must build when nothing else does",
    },
];

/// Arrows that only tests may add: (from, to).
const TEST_ARROWS: &[(&str, &str)] = &[
    ("crew", "git"),
    ("crew", "model-server"),
    ("crew", "testkit"),
    ("crew", "tickets"),
    ("harness", "model-server"),
];

/// Third parties' crates that the pure crates may use: (ours, theirs). All of them are values and formats.
const PURE: &[(&str, &[&str])] = &[
    (
        "model",
        &[
            "jiff",
            "regex-lite",
            "schemars",
            "serde",
            "serde_json",
            "strsim",
            "thiserror",
            "toml",
            "uuid",
        ],
    ),
    ("engine", &["jiff", "serde", "serde_json", "thiserror", "uuid"]),
    ("text", &["unicode-width"]),
];

/// Third parties' crates that only one of ours may use, tests aside: (theirs, ours).
const OWNED: &[(&str, &[&str])] = &[
    ("clap", &["crew"]),
    ("aho-corasick", &["runtime"]),
    ("secrets_scanner", &["runtime"]),
    ("http-body-util", &["model-server"]),
    ("hyper", &["model-server", "web"]),
    ("hyper-util", &["model-server", "web"]),
    ("axum", &["web"]),
    ("tower-http", &["web"]),
    ("rust-embed", &["web"]),
    ("fast_qr", &["crew"]),
    ("indicatif", &["crew"]),
    ("libc", &["process"]),
    ("miette", &["crew"]),
    ("minijinja", &["runtime"]),
    ("ratatui", &["tui"]),
    ("rmcp", &["mcp"]),
    ("serde-saphyr", &["tickets"]),
    ("sqlx", &["store"]),
];

/// The arrows that are there and may not be, each with its rule.
pub(crate) fn forbidden(packages: &[Package]) -> Vec<String> {
    packages
        .iter()
        .filter(|package| package.is_ours())
        .flat_map(of)
        .collect()
}

fn of(package: &Package) -> Vec<String> {
    let name = package.name.as_str();
    let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
        return vec![format!(
            "`{name}` has no rule yet: say in xtask/src/arrows.rs what it may depend on, and why"
        )];
    };
    let mut found = Vec::new();
    for dependency in &package.dependencies {
        let to = dependency.name.as_str();
        let in_tests = dependency.kind == Kind::Dev;
        let by_tests = in_tests && TEST_ARROWS.contains(&(name, to));
        if dependency.ours && !rule.ours.contains(&to) && !by_tests {
            let may = if rule.ours.is_empty() {
                "none of ours".to_owned()
            } else {
                rule.ours.join(", ")
            };
            let tests = if in_tests {
                "; an arrow that only tests need stands in TEST_ARROWS of xtask/src/arrows.rs"
            } else {
                ""
            };
            found.push(format!(
                "{name} → {to}: {}; {name} may use {may}{tests}",
                rule.why
            ));
        }
        if dependency.ours || in_tests {
            continue;
        }
        if let Some((_, may)) = PURE.iter().find(|(pure, _)| *pure == name)
            && !may.contains(&to)
        {
            found.push(format!(
                "{name} → {to}: {name} is pure, without clock, randomness, environment or I/O; it may use {}",
                may.join(", ")
            ));
        }
        if let Some((_, owners)) = OWNED.iter().find(|(owned, _)| *owned == to)
            && !owners.contains(&name)
        {
            found.push(format!("{name} → {to}: only {} may use {to}", owners.join(", ")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::metadata::Dependency;

    fn package(name: &str, dependencies: &[(&str, Kind, bool)]) -> Package {
        let dependencies = dependencies.iter().map(|(name, kind, ours)| Dependency {
            name: (*name).to_owned(),
            kind: *kind,
            ours: *ours,
            features: Vec::new(),
        });
        Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            licence: None,
            source: None,
            manifest: PathBuf::new(),
            default_features: Vec::new(),
            dependencies: dependencies.collect(),
        }
    }

    #[test]
    fn arrows_of_the_table_pass() {
        let good = [
            package(
                "store",
                &[("model", Kind::Normal, true), ("sqlx", Kind::Normal, false)],
            ),
            package(
                "model",
                &[("serde", Kind::Normal, false), ("insta", Kind::Dev, false)],
            ),
            package(
                "crew",
                &[("runtime", Kind::Normal, true), ("clap", Kind::Normal, false)],
            ),
        ];
        assert_eq!(forbidden(&good), Vec::<String>::new());
    }

    #[test]
    fn a_forbidden_arrow_is_named_with_its_rule() {
        let found = forbidden(&[package("git", &[("process", Kind::Normal, true)])]);
        assert_eq!(
            found,
            ["git → process: an adapter knows nothing of ours; git may use failpoint, text"]
        );
        for adapter in ["git", "tickets", "harness"] {
            let found = forbidden(&[package("crew", &[(adapter, Kind::Normal, true)])]);
            assert!(
                found[0].starts_with(&format!("crew → {adapter}: frontends")),
                "{found:?}"
            );
        }
        let found = forbidden(&[package("crew", &[("engine", Kind::Normal, true)])]);
        assert!(
            found[0].starts_with("crew → engine: frontends write commands"),
            "{found:?}"
        );
    }

    #[test]
    fn what_only_tests_or_the_build_use_counts_too() {
        let found = forbidden(&[package("store", &[("git", Kind::Dev, true)])]);
        assert!(found[0].contains("TEST_ARROWS"), "{found:?}");
        assert_eq!(
            forbidden(&[package("store", &[("git", Kind::Build, true)])]).len(),
            1
        );
    }

    #[test]
    fn the_pure_crates_use_values_only() {
        for io in ["tokio", "sqlx", "rustix", "notify", "tempfile", "rand"] {
            for pure in ["model", "engine"] {
                let found = forbidden(&[package(pure, &[(io, Kind::Normal, false)])]);
                assert!(
                    found[0].starts_with(&format!("{pure} → {io}: {pure} is pure")),
                    "{found:?}"
                );
            }
        }
        assert_eq!(
            forbidden(&[package("engine", &[("cc", Kind::Build, false)])]).len(),
            1
        );
    }

    #[test]
    fn a_crate_that_one_of_ours_owns_stays_there() {
        let found = forbidden(&[package("runtime", &[("sqlx", Kind::Normal, false)])]);
        assert_eq!(found, ["runtime → sqlx: only store may use sqlx"]);
    }

    #[test]
    fn a_new_crate_needs_a_rule() {
        assert!(forbidden(&[package("nameless", &[])])[0].contains("no rule yet"));
    }

    #[test]
    fn third_parties_are_not_asked() {
        let mut tokio = package("tokio", &[("libc", Kind::Normal, false)]);
        tokio.source = Some("registry+x".to_owned());
        assert_eq!(forbidden(&[tokio]), Vec::<String>::new());
    }
}
