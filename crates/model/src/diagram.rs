//! A machine as a page: its description, its diagram in Mermaid, and the outcome of each event in each state.
//! The page is derived by exploring the machine itself, so that it always agrees with the code.

use crate::samples::{self, Picture};

pub use crate::samples::NAMES;

/// The machine's diagram alone, in Mermaid; none when there is no machine of that name.
#[must_use]
pub fn mermaid(name: &str) -> Option<String> {
    samples::picture(name).map(|picture| picture.diagram)
}

/// The machine's page, in Markdown; none when there is no machine of that name.
#[must_use]
pub fn document(name: &str) -> Option<String> {
    let Picture {
        name,
        about,
        explored,
        diagram,
    } = samples::picture(name)?;
    let tables = explored.tables();
    Some(format!(
        "# The {name} machine\n\n\
         {about}\n\n\
         This page is generated from the machine. What stands in `[…]` is the guard: the condition that the event's fields \
         meet. Events that leave a state as it is are not drawn; the tables have them, and what a state orders on every way in or out.\n\n\
         ```mermaid\n{diagram}```\n\n\
         ## Every state, every event\n\n\
         {}\n",
        tables.trim_end()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_has_a_page_with_a_row_for_every_state() {
        for name in NAMES {
            let page = document(name).unwrap();
            assert!(page.starts_with(&format!("# The {name} machine\n")));
            let states = samples::picture(name).unwrap().explored.states;
            assert!(
                states
                    .iter()
                    .all(|state| page.contains(&format!("### `{state}`\n"))),
                "{page}"
            );
        }
        assert_eq!(document("nothing"), None);
    }
}
