//! What the person does for the queue of `facts.rs`, each once, when its time has come.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

use model::attempt;
use model::journal::State;
use model::ticket::Ticket;

use crate::kill::facts::FIRST;
use crate::kill::life::Action;
use crate::kill::oracle;
use crate::kill::world::World;

/// What the person sees.
pub(crate) struct Seen {
    tickets: BTreeMap<String, Arc<Ticket>>,
    /// Stream and fact.
    facts: BTreeSet<(String, &'static str)>,
    /// Whether the day's budget is in the way.
    is_paused: bool,
}

impl Seen {
    /// At this moment; nothing before there is a journal.
    pub(crate) fn of(world: &World) -> Option<Self> {
        if !world.journal().exists() {
            return None;
        }
        let mut seen = Self {
            tickets: BTreeMap::new(),
            facts: BTreeSet::new(),
            is_paused: false,
        };
        for fold in oracle::facts(world) {
            let stream = match fold.after {
                State::Ticket(ticket) => {
                    let id = ticket.id.to_string();
                    seen.tickets.insert(id.clone(), ticket);
                    id
                }
                State::Project(project) => {
                    seen.is_paused = project.pause.is_some();
                    "project".to_owned()
                }
            };
            seen.facts.insert((stream, fold.fact.name()));
        }
        Some(seen)
    }

    pub(crate) fn ticket(&self, id: &str) -> Option<&Ticket> {
        self.tickets.get(id).map(Arc::as_ref)
    }

    pub(crate) fn has(&self, id: &str, fact: &'static str) -> bool {
        self.facts.contains(&(id.to_owned(), fact))
    }

    /// Whether any stream has a fact of this kind.
    pub(crate) fn any_has(&self, fact: &'static str) -> bool {
        self.facts.iter().any(|(_, of)| *of == fact)
    }

    pub(crate) fn is_done(&self, id: &str) -> bool {
        self.tickets.get(id).is_some_and(|ticket| ticket.is_done())
    }

    pub(crate) fn sleeps(&self, id: &str) -> bool {
        self.tickets.get(id).is_some_and(|ticket| sleeps(ticket))
    }

    fn agent(&self, id: &str) -> Option<String> {
        Some(self.tickets.get(id)?.attempt()?.claim.agent.to_string())
    }
}

fn sleeps(ticket: &Ticket) -> bool {
    let state = ticket.attempt().map(|attempt| &attempt.state);
    matches!(state, Some(attempt::State::WaitingForWakeup { .. }))
}

pub(crate) const ACTIONS: &[Action] = &[
    (
        "wakes",
        |_, seen| seen.sleeps("f-early"),
        |facts, _| {
            facts
                .rig
                .command(&["wake", "f-early"], "f-early", |ticket| !sleeps(ticket));
        },
    ),
    (
        "merges",
        |_, seen| seen.sleeps("f-merged") && seen.is_done("f-moved"),
        |facts, _| {
            facts
                .rig
                .command(&["merge", "f-merged"], "f-merged", |ticket| !sleeps(ticket));
        },
    ),
    (
        "approves",
        |_, seen| seen.has("f-held", "sensitive"),
        |facts, _| {
            facts
                .rig
                .command(&["approve", "f-held"], "f-held", |ticket| ticket.held.is_none());
        },
    ),
    (
        "waives",
        |_, seen| seen.has("f-waived", "could_not_run"),
        |facts, _| {
            facts.touch("tool");
            facts
                .rig
                .command(&["waive", "f-waived", "the tool is here"], "f-waived", |ticket| {
                    ticket.held.is_none()
                });
        },
    ),
    (
        "makes way",
        |_, seen| seen.has("f-edits", "checkout_edited"),
        |facts, _| {
            fs::write(facts.rig.world.repo().join("src/part-31.txt"), "part 31\n").unwrap();
        },
    ),
    (
        "pushes",
        |facts, _| facts.is_there("checking"),
        |facts, _| {
            facts
                .rig
                .world
                .commit_by_hand("src/part-33.txt", "by hand\n", || {});
            facts.touch("moved");
        },
    ),
    (
        "closes",
        |_, seen| seen.has("f-behind", "created"),
        // By a command: of an edit beside agents at work crew would ask.
        |facts, _| {
            let close = ["ticket", "close", "f-behind"];
            facts.rig.command(&close, "f-behind", Ticket::is_done);
        },
    ),
    (
        "opens",
        |facts, seen| {
            // What crew writes into the file must have arrived: it would undo what the person writes.
            seen.is_done("f-behind") && !oracle::is_pending(&facts.rig.world, "f-behind")
        },
        // By a command, too: it comes after the one that closes, also where that is taken late.
        |facts, _| {
            let open = ["ticket", "reopen", "f-behind"];
            facts.rig.command(&open, "f-behind", |ticket| !ticket.is_done());
        },
    ),
    (
        "takes",
        |facts, seen| {
            let file = fs::read_to_string(facts.rig.world.ticket_file("f-hangs")).unwrap();
            facts.is_there("hangs")
                && file.contains("status: in_progress")
                && seen.has("f-behind", "reopened")
        },
        |facts, _| facts.edit("f-hangs", "status: in_progress", "status: open"),
    ),
    (
        "kills",
        |_, seen| seen.has("f-hangs", "file_drifted"),
        |facts, seen| {
            let agent = seen.agent("f-hangs").unwrap();
            facts.rig.command(&["kill", &agent], "f-hangs", |ticket| {
                // What follows is done by whoever is up when its process has ended.
                ticket.held.is_some()
                    || ticket
                        .attempt()
                        .is_some_and(|attempt| attempt.conversation.stopping.is_some())
            });
        },
    ),
    (
        "retries",
        |_, seen| seen.has("f-hangs", "released"),
        |facts, _| {
            facts
                .rig
                .command(&["retry", "f-hangs"], "f-hangs", |ticket| ticket.held.is_none());
        },
    ),
    (
        "breaks",
        |_, seen| FIRST.iter().all(|(id, _)| *id == "f-last" || seen.is_done(id)),
        |facts, _| {
            facts
                .rig
                .world
                .commit_by_hand("src/part-32.txt", "broken\n", || {});
            facts.rig.world.add_ticket("f-red", "deps: []\n");
        },
    ),
    (
        "mends",
        |_, seen| seen.has("f-red", "target_red"),
        |facts, _| {
            facts
                .rig
                .world
                .commit_by_hand("src/part-32.txt", "mended\n", || {});
            facts.rig.world.add_ticket("f-auth", "deps: []\n");
        },
    ),
    (
        "lets in",
        |_, seen| seen.has("project", "harness_paused"),
        |facts, _| {
            facts
                .rig
                .command(&["retry", "f-auth"], "f-auth", |ticket| ticket.held.is_none());
        },
    ),
    (
        "saves",
        |_, seen| seen.is_done("f-auth") && seen.is_done("f-red"),
        |facts, _| {
            facts.budget("ticket_usd = 1.0\n");
            facts.rig.world.add_ticket("f-costs", "deps: []\n");
        },
    ),
    (
        "gives",
        |_, seen| seen.has("project", "day_budget_low"),
        |facts, _| facts.budget("ticket_usd = 10.0\nday_usd = 2.2\n"),
    ),
    (
        "saves more",
        |_, seen| seen.has("f-costs", "budget_spent"),
        |facts, _| {
            facts.budget("ticket_usd = 1.0\nday_usd = 2.2\n");
        },
    ),
    (
        "gives more",
        |_, seen| seen.has("project", "day_budget_spent") && seen.is_done("f-costs"),
        |facts, _| facts.budget("ticket_usd = 10.0\n"),
    ),
    (
        "is done",
        |facts, seen| facts.done.contains("gives more") && !seen.is_paused,
        |facts, _| facts.touch("over"),
    ),
];
