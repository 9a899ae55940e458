//! Workspaces in which something is in the way of crew: work that it refuses to take over, a folder that
//! somebody has deleted, and a person who works there.

use model::{AgentName, TicketId};

use crate::git::By;
use crate::rng::Rng;
use crate::world::{Key, Space, World};

/// What crew refuses of the work in a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refuses {
    /// A merge was begun and is not finished: nothing can be committed for the agent.
    UnfinishedMerge,
    /// A file is too large: all but it is committed.
    LargeFile,
    /// A file that git cannot even keep: all but it is committed.
    CannotBeKept,
}

impl Refuses {
    /// The reason, in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::UnfinishedMerge => "a merge was begun and is not finished",
            Self::LargeFile => "a file is too large",
            Self::CannotBeKept => "a file cannot be kept",
        }
    }
}

/// Why the work in a workspace is not taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// The workspace is not there.
    Gone,
    /// crew refuses it.
    Refused(Refuses),
}

impl NotTaken {
    /// The reason, in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Gone => "the workspace is gone",
            Self::Refused(refuses) => refuses.words(),
        }
    }
}

/// The branch of an agent on a ticket, in the user's repository.
pub(crate) fn branch((agent, ticket): (&AgentName, &TicketId)) -> String {
    format!("refs/heads/agent/{agent}-{ticket}")
}

impl World {
    /// Commits what is changed in a workspace, and takes its branch over. Gives the tip.
    pub(crate) fn take_over(&mut self, key: &Key) -> Result<usize, NotTaken> {
        let space = self.spaces.get(key).ok_or(NotTaken::Gone)?;
        if space.refuses == Some(Refuses::UnfinishedMerge) {
            return Err(NotTaken::Refused(Refuses::UnfinishedMerge));
        }
        let tip = self.save(key).ok_or(NotTaken::Gone)?;
        self.git.refs.insert(branch((&key.0, &key.1)), tip);
        Ok(tip)
    }

    /// Takes over what was submitted: all of it, or nothing.
    pub(crate) fn take_submitted(&mut self, key: &Key) -> Result<usize, NotTaken> {
        let tip = self.take_over(key)?;
        match self.spaces.get(key).and_then(|space| space.refuses) {
            Some(refuses) => Err(NotTaken::Refused(refuses)),
            None => Ok(tip),
        }
    }

    /// The branch of a workspace as it was taken over last.
    pub(crate) fn branch_of(&self, key: &Key) -> Option<usize> {
        self.git.refs.get(&branch((&key.0, &key.1))).copied()
    }

    /// Keeps what a workspace holds that is nowhere else.
    pub(crate) fn rescue(&mut self, key: &Key) {
        let Some(tip) = self.save(key) else { return };
        let mut there = vec![false; self.git.commits.len()];
        // Its own branch goes with it.
        let own = branch((&key.0, &key.1));
        let others = self.git.refs.iter().filter(|(name, _)| **name != own);
        for (_, at) in others {
            self.git.mark(*at, &mut there);
        }
        if !there[tip] {
            let name = format!("refs/crew/rescue/{}/{}", key.1, self.git.id(tip));
            self.git.refs.insert(name, tip);
        }
    }

    /// A workspace goes away without crew: what was not taken over is gone, and nobody can bring it back. The
    /// turns in it end with it: the branch is as it was before them.
    pub(crate) fn lose_workspace(&mut self, key: &Key) {
        let Some(space) = self.spaces.remove(key) else {
            return;
        };
        for turn in space.turns.iter().rev() {
            let name = branch((&key.0, &key.1));
            let tip = self.git.refs.insert(name, turn.start).unwrap_or(turn.start);
            if tip != turn.start {
                let kept = format!("refs/crew/attempts/{}/{}", turn.ticket, turn.number);
                self.git.refs.insert(kept, tip);
            }
        }
        self.unsaved
            .retain(|(of, number, _), _| *of != key.1 || *number != space.number);
        let mut there = vec![false; self.git.commits.len()];
        let heads = self.spaces.values().map(|space| &space.head);
        for at in self.git.refs.values().chain(heads) {
            self.git.mark(*at, &mut there);
        }
        self.made.retain(|at| there[*at]);
        self.touched = true;
        self.lost_workspaces += 1;
    }

    /// A person works in a workspace: finishes or takes back what crew refuses there, and commits.
    pub(crate) fn work_in(&mut self, key: &Key) -> Option<usize> {
        let content = self.content(0);
        let space = self.spaces.get_mut(key)?;
        space.refuses = None;
        let mut tree = self.git.tree(space.head).clone();
        tree.insert(format!("p{}", content % 8), content);
        let parents = vec![space.head];
        space.head = self.git.commit(tree, parents, By::Person(key.1.clone()));
        let turn = space.turns.last().map(|turn| turn.ticket.clone());
        self.made.push(space.head);
        self.of_persons.insert(space.head, turn);
        self.touched = true;
        Some(space.head)
    }

    /// The work of a child is its parent's.
    pub(crate) fn note_unified(&mut self, child: &TicketId, tip: usize) {
        self.refused.remove(child);
        self.unified.insert(child.clone(), tip);
    }

    /// The work of a child is refused; where an engine that was killed has taken it over before, it stays so.
    pub(crate) fn note_refused(&mut self, child: &TicketId) {
        self.refusals += 1;
        if !self.unified.contains_key(child) {
            self.refused.insert(child.clone());
        }
    }

    /// The commits of persons that are taken out of a workspace with the turn of a child.
    pub(crate) fn note_taken_out(&mut self, (start, tip): (usize, usize), child: &TicketId) {
        let (mut before, mut there) = (
            vec![false; self.git.commits.len()],
            vec![false; self.git.commits.len()],
        );
        self.git.mark(start, &mut before);
        self.git.mark(tip, &mut there);
        let taken = self.of_persons.keys().filter(|at| there[**at] && !before[**at]);
        let taken: Vec<_> = taken.map(|at| (*at, child.clone())).collect();
        self.taken_out.extend(taken);
    }

    /// Something happens to a workspace, one in which somebody waits or works for another if there is any.
    /// Gives it in words.
    pub(crate) fn strike_workspace(&mut self, what: Strike, rng: &mut Rng) -> Option<String> {
        let is_shared = |space: &Space| !space.turns.is_empty();
        let shared = self.spaces.iter().filter(|(_, space)| is_shared(space));
        let shared: Vec<Key> = shared.map(|(key, _)| key.clone()).collect();
        let all: Vec<Key> = self.spaces.keys().cloned().collect();
        let among = if rng.percent(80) && !shared.is_empty() {
            shared
        } else {
            all
        };
        let key = rng.pick(&among)?.clone();
        let name = format!("the workspace {}-{}", key.0, key.1);
        match what {
            Strike::Delete => {
                self.lose_workspace(&key);
                Some(format!("{name} is deleted"))
            }
            Strike::Work => {
                if self.live().any(|process| process.space.0 == key) {
                    return None;
                }
                self.work_in(&key)?;
                Some(format!("a person commits in {name}"))
            }
        }
    }
}

/// What happens to a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strike {
    /// Somebody deletes it.
    Delete,
    /// A person commits in it.
    Work,
}
