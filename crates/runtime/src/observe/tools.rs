//! The tools that a client uses, as its output shows them, for people who look at the run.

use harness::Event;
use process::Run;

use crate::clock;

/// Tools of a client that are kept in mind at once.
const MOST: usize = 32;

/// The tools that a client uses now.
#[derive(Default)]
pub(super) struct Tools {
    /// By the client's ids for them, in the words of people; the last one began last.
    open: Vec<(String, String)>,
    /// The last of them that is noted beside the run: its id. A client that uses no tool says nothing of its
    /// work, and no note is made.
    noted: Option<String>,
}

impl Tools {
    /// Takes what an event says of them.
    pub(super) fn take(&mut self, event: &Event) {
        if let Event::ToolStart { id, name } = event {
            self.open.push((id.clone(), words(name)));
            // A client that names no end of its tools is at the last of them.
            let many = self.open.len().saturating_sub(MOST);
            self.open.drain(..many);
        } else if let Event::ToolEnd { id, .. } = event {
            self.open.retain(|(of, _)| of != id);
        }
    }

    /// Notes the last of them beside the run, where it is another one than before.
    pub(super) fn note_beside(&mut self, run: &Run) {
        let last = self.open.last();
        let id = last.map(|(id, _)| id.clone());
        if id == self.noted {
            return;
        }
        let said = process::Said {
            at: u64::try_from(clock::now().0).unwrap_or_default(),
            tool: last.map(|(_, words)| words.clone()),
        };
        // It is for people to look at, and where it fails the next look notes it again.
        if run.note_said(&said).is_ok() {
            self.noted = id;
        }
    }
}

/// The use of a tool in words, without what may hold a secret: the tool, and of a command the program's
/// name with its first argument.
fn words(name: &str) -> String {
    match name.split_once(": ") {
        Some((tool, target)) => format!("{tool}: {}", process::short(target)),
        None => name.to_owned(),
    }
}
