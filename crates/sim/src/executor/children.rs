//! Children: their files, and their work in the workspace of their parent.

use engine::Report;
use model::attempt::{Child, StartPoint};
use model::ticket::{FileStatus, Spec};
use model::{AgentName, Time};

use super::Executor;
use crate::files::File;
use crate::world::Key;

impl Executor<'_> {
    /// The workspace in which the agent of a ticket works, and the attempt that it was made for.
    pub(super) fn space_of(&self, agent: &AgentName, ticket: &model::TicketId, number: u32) -> (Key, u32) {
        match &self.shared {
            Some(shared) => ((shared.agent.clone(), shared.of.clone()), shared.number),
            None => ((agent.clone(), ticket.clone()), number),
        }
    }

    pub(super) fn create_child(&mut self, child: &Child) -> Report {
        let now = self.world.now;
        if !self.world.files.has(&child.id) {
            let leader = child.is_leader.then(|| "leader".to_owned());
            let spec = Spec {
                title: child.title.clone(),
                tags: leader.into_iter().collect(),
                kind: "task".to_owned(),
                assignee: child.agent.as_ref().map(ToString::to_string),
                made_by: Some(child.by.to_string()),
                created: child.at,
                digest: "1".to_owned(),
                ..Spec::default()
            };
            let file = File {
                spec,
                status: FileStatus::Open,
                tags: std::collections::BTreeSet::new(),
                notes: Vec::new(),
                changed_at: now,
                unreadable: false,
                by_crew: true,
            };
            self.world.files.files.insert(child.id.clone(), file);
        }
        let deliver_at = Time(now.0 + self.rng.ms(0, 400));
        self.world.files.see(&child.id, now, deliver_at);
        Report::Done
    }

    pub(super) fn prepare_shared(&self, from: &StartPoint) -> Report {
        let Some(shared) = &self.shared else {
            return Report::Done;
        };
        let key = (shared.agent.clone(), shared.of.clone());
        let space = self.world.spaces.get(&key);
        let pin = format!("refs/crew/base/{}/{}", shared.of, shared.number);
        match (space, self.world.git.refs.get(&pin)) {
            (Some(space), Some(base)) if space.number == shared.number => Report::WorkspaceReady {
                base: self.world.git.id(*base),
                earlier_work: matches!(from, StartPoint::Kept { .. }),
            },
            (_, _) => Report::WorkspaceFailed {
                why: "the workspace of its parent is gone".to_owned(),
            },
        }
    }

    pub(super) fn unify(&mut self) -> Report {
        if let Some(shared) = &self.shared {
            self.world.save(&(shared.agent.clone(), shared.of.clone()));
        }
        Report::Unified
    }
}
