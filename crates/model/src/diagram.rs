//! A machine as a page: its description, its diagram in Mermaid, and the outcome of each event in each state.
//! The page is derived by exploring the machine itself, so that it always agrees with the code.

mod tavern;

use std::fmt::Write as _;

use crate::samples::{self, Picture};

#[cfg(test)]
pub(crate) use tavern::tests::names_are_of_the_machines as tavern_names_are_of_the_machines;

pub use crate::samples::NAMES;

/// The machine's diagram alone, in Mermaid; none when there is no machine of that name.
#[must_use]
pub fn mermaid(name: &str) -> Option<String> {
    samples::picture(name).map(|picture| picture.diagram)
}

/// The machine's page, in Markdown; none when there is no machine of that name.
#[must_use]
pub fn document(name: &str) -> Option<String> {
    samples::picture(name).map(|picture| page(&picture))
}

/// The page of an explored machine, in Markdown.
#[must_use]
pub fn page(picture: &Picture) -> String {
    let Picture {
        name,
        about,
        explored,
        diagram,
    } = picture;
    let tables = explored.tables();
    format!(
        "# The {name} machine\n\n\
         {about}\n\n\
         This page is generated from the machine. What stands in `[…]` is the guard: the condition that the event's fields \
         meet. Events that leave a state as it is are not drawn; the tables have them, and what a state orders on every way in or out.\n\n\
         ```mermaid\n{diagram}```\n\n\
         ## Every state, every event\n\n\
         {}\n",
        tables.trim_end()
    )
}

/// The first page of the folder: what each machine is, and where the machines of Tavern are.
#[must_use]
pub fn index() -> String {
    let mut out = String::from(
        "# The state machines\n\n\
         Each page is generated from the code of a machine: its diagram, and for each state what it accepts, where that leads, and what \
         it refuses and why. `crew diagram <machine>` prints the diagram. A machine stands inside another one: a ticket has an attempt \
         and reviews, each of these a session and a worker, and an attempt has its task mode. Parent and children are one value, which \
         is stored with every event.\n\n\
         | machine | |\n|---|---|\n",
    );
    for name in NAMES {
        let _ = writeln!(out, "| [{name}]({name}.md) | {} |", samples::about(name));
    }
    out.push('\n');
    out.push_str(&tavern::section());
    out
}
