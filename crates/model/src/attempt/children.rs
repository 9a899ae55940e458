//! Children: tickets that an agent delegates while it has its own one, and what they come to.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::event::Effect;
use super::{AfterStop, Attempt, Event, Prompt, Raised, Shared, State, Working, mode};
use crate::machine::Rejected;
use crate::money::Usd;
use crate::ticket::Listed;
use crate::{Actor, AgentName, Oid, TicketId, Time};

/// A ticket that an agent has delegated, as it was ordered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    /// Its id: `<parent>-c<n>`.
    pub id: TicketId,
    /// The task in one line.
    pub title: String,
    /// The task in full; empty where the title says it all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task: String,
    /// What its work must meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// The agent that does it, if that one is idle when the child begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// Whether it gets a workspace of its own; otherwise it works in its parent's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_apart: bool,
    /// Whether it may delegate in its turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_leader: bool,
    /// The agent that delegates it.
    pub by: AgentName,
    /// When it was ordered.
    pub at: Time,
}

/// What an attempt keeps of the order of a child: its file may not be seen yet, and people edit it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The task in one line.
    pub title: String,
    /// Whether it gets a workspace of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_apart: bool,
}

/// What a child came to, for the agent that delegated it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildResult {
    /// Its id.
    pub id: TicketId,
    /// The task in one line.
    pub title: String,
    /// The agent that worked on it last; none where nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// How it ended.
    pub end: ChildEnd,
    /// Its agent's own summary of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Its cost, and that of its own children, in millionths of a US dollar.
    pub cost_micro_usd: u64,
    /// What it did to its parent's branch; none where it is not done, or where crew could not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Box<ChildWork>>,
    /// The tags that it has, and had when agents were given it: what decides about reviews of its work
    /// decides about its parent's.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
}

/// What a child did to the branch of its parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildWork {
    /// The tip of the branch before.
    pub from: Oid,
    /// The tip with its work.
    pub tip: Oid,
    /// The commits that it added.
    pub commits: usize,
    /// The files in which the two tips differ.
    pub files: Listed,
}

impl ChildWork {
    /// True if it changed no file.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.files.is_empty()
    }

    /// What it did, in words: `2 commits, 3 files: a, b, c`.
    #[must_use]
    pub fn words(&self) -> String {
        let files = self.files.first.len() + self.files.more;
        let [commits, files] = [(self.commits, "commit"), (files, "file")].map(|(count, what)| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        });
        match self.is_nothing() {
            true => "it changed nothing".to_owned(),
            false => format!("{commits}, {files}: {}", self.files),
        }
    }
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildEnd {
    /// Its work is in the workspace of its parent.
    Unified,
    /// It is done, and its work did not merge into that of its parent, whose agent may bring it in.
    Unmerged {
        /// The reason, in words.
        why: String,
    },
    /// It failed for good.
    GivenUp {
        /// The reason, in words.
        why: String,
    },
    /// It was ended, or did not begin.
    Ended {
        /// The reason, in words.
        why: String,
    },
}

/// What follows once the children of an attempt are over that are being ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterChildren {
    /// Their parent goes on with what they came to.
    Unify {
        /// The actor who asked for it.
        by: Actor,
    },
    /// Their parent is stopped too: what follows is as after the stop of a step.
    Stop {
        /// As after the stop of a step.
        then: AfterStop,
    },
}

impl AfterChildren {
    /// True if this wish replaces `other`, as a stop of a step is replaced by a greater one.
    fn outranks(&self, other: &Self) -> bool {
        match (self, other) {
            (AfterChildren::Unify { .. }, _) => false,
            (AfterChildren::Stop { .. }, AfterChildren::Unify { .. }) => true,
            (AfterChildren::Stop { then }, AfterChildren::Stop { then: before }) => then.outranks(before),
        }
    }
}

impl ChildResult {
    /// How it ended, and what it cost, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let end = match &self.end {
            ChildEnd::Unified => match &self.work {
                Some(work) => format!("done ({})", work.words()),
                None => "done".to_owned(),
            },
            ChildEnd::Unmerged { why } => format!("done, and not merged: {why}"),
            ChildEnd::GivenUp { why } => format!("given up: {why}"),
            ChildEnd::Ended { why } => format!("ended: {why}"),
        };
        match self.cost_micro_usd {
            0 => end,
            cost => format!("{end} ({})", Usd(cost)),
        }
    }
}

impl Attempt {
    /// The children that it waits for, or is about to wait for: those that are not known to be over.
    #[must_use]
    pub fn open_children(&self) -> &[TicketId] {
        &self.children
    }

    /// The workspace of another ticket in which it works.
    #[must_use]
    pub fn shared(&self) -> Option<&Shared> {
        self.claim.shared.as_deref()
    }

    /// The workspace in which it works: the one that it shares, or the one of its own, which is its ticket's.
    #[must_use]
    pub fn workspace(&self, ticket: &TicketId) -> Shared {
        self.shared().cloned().unwrap_or_else(|| Shared {
            of: ticket.clone(),
            agent: self.claim.agent.clone(),
            number: self.claim.number,
        })
    }

    /// True if it waits for its children.
    #[must_use]
    pub fn waits_for_children(&self) -> bool {
        matches!(self.state, State::WaitingForChildren { .. })
    }

    /// What follows once its children are over, if they are being ended.
    #[must_use]
    pub fn after_children(&self) -> Option<&AfterChildren> {
        match &self.state {
            State::WaitingForChildren { then, .. } => then.as_ref(),
            State::Preparing
            | State::Ready
            | State::Working(_)
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. }
            | State::Verifying
            | State::Done
            | State::Stuck { .. } => None,
        }
    }

    pub(super) fn delegate(
        &mut self,
        event: &Event,
        children: &[Child],
        effects: &mut Vec<Effect>,
    ) -> Result<Raised, Rejected> {
        let State::Working(working) = &self.state else {
            return Err(self.reject(event, "its agent is not at work"));
        };
        if working.next == Prompt::LastChance {
            return Err(self.reject(event, "it is its agent's last step"));
        }
        self.take_mode(event, mode::Event::Delegated)?;
        for child in children {
            self.children.push(child.id.clone());
            let order = Order {
                title: child.title.clone(),
                is_apart: child.is_apart,
            };
            self.orders.insert(child.id.clone(), order);
            effects.push(Effect::CreateChild {
                child: Box::new(child.clone()),
            });
        }
        Ok(Raised::Nothing)
    }

    /// True if it waits for children once its step is over.
    pub(super) fn has_children(&self) -> bool {
        !self.children.is_empty()
    }

    /// Goes on without the children that it has just ordered: none of them has begun.
    pub(super) fn forget_children(&mut self, event: &Event) -> Result<(), Rejected> {
        self.take_mode(event, mode::Event::ChildrenOver)?;
        self.children.clear();
        self.orders.clear();
        Ok(())
    }

    pub(super) fn wait_for_children(&mut self) {
        self.state = State::WaitingForChildren {
            ids: self.children.clone(),
            then: None,
        };
    }

    pub(super) fn end_children(&mut self, event: &Event, wish: &AfterChildren) -> Result<Raised, Rejected> {
        let refused = match &mut self.state {
            State::WaitingForChildren { then: Some(then), .. } if !wish.outranks(then) => {
                "its children are being ended already"
            }
            State::WaitingForChildren { then, .. } => {
                *then = Some(wish.clone());
                return Ok(Raised::Nothing);
            }
            State::Preparing
            | State::Ready
            | State::Working(_)
            | State::WaitingForInput { .. }
            | State::WaitingForWakeup { .. }
            | State::Verifying
            | State::Done
            | State::Stuck { .. } => "it does not wait for children",
        };
        Err(self.reject(event, refused))
    }

    pub(super) fn hear_of_children(
        &mut self,
        event: &Event,
        results: &[ChildResult],
    ) -> Result<Raised, Rejected> {
        if !self.waits_for_children() {
            return Err(self.reject(event, "it does not wait for children"));
        }
        self.take_mode(event, mode::Event::ChildrenOver)?;
        self.children.clear();
        self.orders.clear();
        self.state = State::Working(Working {
            next: Prompt::Unify {
                results: results.to_vec(),
            },
            due: None,
        });
        Ok(Raised::Nothing)
    }
}
