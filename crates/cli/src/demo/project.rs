//! The repository of a demonstration, and its queue.

use client::new_repository::{FirstCommit, create};
use runtime::Place;

use super::Ground;
use super::ground::write;
use crate::error::Result;

/// The repository's first commit, and the queue: a file and its text.
const FILES: [(&str, &str); 5] = [
    ("README.md", include_str!("files/README.md")),
    ("textkit", include_str!("files/textkit")),
    ("lib/greet.sh", include_str!("files/lib/greet.sh")),
    ("tests/run.sh", include_str!("files/tests/run.sh")),
    ("tests/greet.test", include_str!("files/tests/greet.test")),
];
const SETTINGS: &str = include_str!("files/crew.toml");
const AGENT: &str = include_str!("files/agent.sh");
const GATEKEEPER: &str = include_str!("files/gatekeeper.sh");
const SLOW: &str = include_str!("files/slow.sh");
const TICKETS: [(&str, &str); 8] = [
    ("t-1", include_str!("files/tickets/t-1.md")),
    ("t-2", include_str!("files/tickets/t-2.md")),
    ("t-3", include_str!("files/tickets/t-3.md")),
    ("t-4", include_str!("files/tickets/t-4.md")),
    ("t-5", include_str!("files/tickets/t-5.md")),
    ("t-6", include_str!("files/tickets/t-6.md")),
    ("t-7", include_str!("files/tickets/t-7.md")),
    ("t-8", include_str!("files/tickets/t-8.md")),
];
/// Seconds between two lines of an agent's output.
const PACE: &str = "0.8";

/// The branch that work lands on.
pub(crate) const BRANCH: &str = "main";
/// The tickets that land together: while the slow check runs on the work of t-2, both join the train.
pub(super) const MEET: [&str; 2] = ["t-4", "t-8"];
/// How many tickets there are.
pub(crate) const ALL: usize = TICKETS.len();

/// Makes repository and queue. Blocks.
pub(crate) fn make(ground: &Ground) -> Result<Place> {
    let root = ground.repository();
    for (name, text) in FILES {
        write(&root.join(name), text)?;
    }
    write(&ground.path("agent.sh"), AGENT)?;
    write(&ground.path("gatekeeper.sh"), GATEKEEPER)?;
    write(&ground.path("slow.sh"), SLOW)?;
    let settings = SETTINGS
        .replace("{{agent}}", &quoted(&ground.path("agent.sh").to_string_lossy()))
        .replace(
            "{{gatekeeper}}",
            &quoted(&ground.path("gatekeeper.sh").to_string_lossy()),
        )
        .replace("{{slow}}", &quoted(&ground.path("slow.sh").to_string_lossy()))
        .replace("{{notes}}", &quoted(&ground.path("notes").to_string_lossy()))
        .replace("{{pace}}", &quoted(PACE));
    write(&root.join("crew.toml"), &settings)?;
    let first = FirstCommit {
        branch: BRANCH,
        author: "crew demo",
        email: "demo@localhost",
        message: "textkit, and its crew.toml",
    };
    create(&root, &ground.env["PATH"], first)?;
    for (id, text) in TICKETS {
        write(&root.join(".tickets").join(format!("{id}.md")), text)?;
    }
    Ok(Place::find(&root, &ground.env)?)
}

/// The queue for people: id, title, and what is particular about it.
pub(crate) fn queue() -> [(&'static str, &'static str, &'static str); ALL] {
    TICKETS.map(|(id, text)| {
        let title = text
            .lines()
            .find_map(|line| line.strip_prefix("# "))
            .unwrap_or(id);
        let note = if text.contains("\npriority: 0\n") {
            "urgent: goes first, though written last"
        } else if text.contains("\ntags: [review]\n") {
            "needs t-2; another agent reviews it"
        } else if text.contains("\ntags: [leader]\n") {
            "its agent may give parts of it to others"
        } else if text.contains("`$ ") {
            "promises a line in the README"
        } else {
            ""
        };
        (id, title, note)
    })
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
