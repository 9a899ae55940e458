//! The project's stream: its state with its version.

use model::journal::{Entry, Fact, State};
use model::machine::{Machine as _, Rejected};
use model::project::{Event, Machine, Project};

/// The project as the journal has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectStream {
    project: Project,
    version: u64,
}

impl ProjectStream {
    /// The project of a journal.
    pub(crate) fn new(project: Project, version: u64) -> Self {
        Self { project, version }
    }

    /// The project.
    pub(crate) fn project(&self) -> &Project {
        &self.project
    }

    /// How many entries its stream has.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Takes an event, and returns the entry that makes it durable.
    pub(crate) fn apply(&mut self, event: Event) -> Result<Entry, Rejected> {
        self.project = Machine::transition(&self.project, &event)?.state;
        self.version += 1;
        Ok(Entry {
            fact: Fact::Project(event),
            after: State::Project(self.project.clone()),
            effects: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use model::AgentName;

    use super::*;

    #[test]
    fn only_an_event_that_is_accepted_counts_as_an_entry() {
        let mut stream = ProjectStream::new(Project::default(), 7);
        let name = AgentName::new("ann").unwrap();
        let entry = stream.apply(Event::AgentSpawned { name: name.clone() }).unwrap();
        assert_eq!(stream.version(), 8);
        assert_eq!(entry.after, State::Project(stream.project().clone()));
        stream.apply(Event::AgentSpawned { name }).unwrap_err();
        assert_eq!(stream.version(), 8);
    }
}
