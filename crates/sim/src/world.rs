//! The simulated world: the state outside the journal, and how it goes on by itself.

use std::collections::{BTreeMap, BTreeSet};

use engine::End;
use model::attempt::Class;
use model::call::Call;
use model::ticket::{FileStatus, Loss};
use model::{AgentName, RunId, SessionId, TicketId, Time};

use crate::checks::Checks;
use crate::files::Files;
use crate::folders::Refuses;
use crate::git::{BROKEN, By, Git, TARGET, TOUCHY, Tree};
use crate::process::{self, Act, Process};
use crate::rng::mix;

/// An agent's workspace, with its own repository.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// The attempt it was made for.
    pub(crate) number: u32,
    /// The tip of its branch.
    pub(crate) head: usize,
    /// Files changed since.
    pub(crate) dirty: Tree,
    /// The turns of children that work in it, the innermost last.
    pub(crate) turns: Vec<Turn>,
    /// What crew refuses of what is in it.
    pub(crate) refuses: Option<Refuses>,
}

/// The turn of a child in the workspace of its parent.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) ticket: TicketId,
    /// The child's attempt.
    pub(crate) number: u32,
    /// The tip with which it began.
    pub(crate) start: usize,
}

/// A call in the folder of its run, which nobody has seen.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) run: RunId,
    pub(crate) call: Call,
    /// True if it names the run of an earlier step.
    pub(crate) stale: bool,
}

/// An uncommitted change of an agent: ticket, attempt, path.
pub(crate) type Unsaved = (TicketId, u32, String);

/// A workspace: the agent and the ticket that it was made for.
pub(crate) type Key = (AgentName, TicketId);

/// Everything outside the journal.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) git: Git,
    /// The files of the user's checkout.
    pub(crate) checkout: Tree,
    /// The edits of a person there that are not committed, as the person left them.
    pub(crate) edits: Tree,
    pub(crate) spaces: BTreeMap<(AgentName, TicketId), Space>,
    pub(crate) processes: BTreeMap<RunId, Process>,
    /// The calls of agents that nobody has seen, oldest first.
    pub(crate) calls: Vec<Written>,
    /// Runs whose folders are there, and that nobody has begun: an engine died in between.
    pub(crate) made_runs: BTreeSet<RunId>,
    /// Those of them that were asked to stop. Asked before its folder is there, a run is not stopped.
    pub(crate) stop_wishes: BTreeSet<RunId>,
    /// Conversations that the client knows.
    pub(crate) sessions: BTreeSet<SessionId>,
    pub(crate) files: Files,
    /// The checks that were run.
    pub(crate) checks: Checks,
    /// True if a check that passes has really passed, and does not only report it.
    pub(crate) is_check_real: bool,
    /// Every commit that an agent, or crew for it, made of work.
    pub(crate) made: Vec<usize>,
    /// Every uncommitted change that has not been superseded by its own author.
    pub(crate) unsaved: BTreeMap<Unsaved, u64>,
    /// Commits that gatekeepers have made in their checkouts, by their runs.
    pub(crate) reviewed: BTreeMap<RunId, usize>,
    /// The tip of each ticket's work as it was merged first, for an engine that holds on to that.
    pub(crate) first_tips: BTreeMap<TicketId, usize>,
    /// Tickets whose agents report that they are done without doing anything.
    pub(crate) lazy: BTreeSet<TicketId>,
    /// Commits that someone has taken back from the target.
    pub(crate) taken_back: BTreeSet<usize>,
    /// The ticket whose agent has written a content.
    pub(crate) authors: BTreeMap<u64, TicketId>,
    /// The tip of the work of each child that became its parent's.
    pub(crate) unified: BTreeMap<TicketId, usize>,
    /// Commits of persons in workspaces, each with the child whose turn it was there.
    pub(crate) of_persons: BTreeMap<usize, Option<TicketId>>,
    /// Commits of persons that were taken out of workspaces, each with the child whose turn was ended.
    pub(crate) taken_out: Vec<(usize, TicketId)>,
    /// Children whose work crew has refused, and has not taken over since.
    pub(crate) refused: BTreeSet<TicketId>,
    /// How often work of children was refused, and workspaces were deleted.
    pub(crate) refusals: u32,
    pub(crate) lost_workspaces: u32,
    /// Children whose branches were merged into their parents', or were in conflict with them, and turns
    /// that were taken back.
    pub(crate) merged: u32,
    pub(crate) conflicted: u32,
    pub(crate) put_back: u32,
    /// The commits that crew has moved the target to.
    pub(crate) moved_to: BTreeSet<usize>,
    /// The target's branch is not there, until then.
    pub(crate) unborn_until: Option<Time>,
    /// The disk is full, until then.
    pub(crate) full_until: Option<Time>,
    /// Another has the journal locked, until then.
    pub(crate) busy_until: Option<Time>,
    /// No faults any more, and agents that do what they should.
    pub(crate) calm: bool,
    /// True if repository or processes changed since they were last examined.
    pub(crate) touched: bool,
    tokens: u64,
}

impl World {
    pub(crate) fn new(now: Time) -> Self {
        let tree: Tree = (0..4).map(|n| (format!("a{n}"), (n + 1) << 2)).collect();
        Self {
            now,
            git: Git::new(tree.clone()),
            checkout: tree,
            edits: Tree::new(),
            spaces: BTreeMap::new(),
            processes: BTreeMap::new(),
            calls: Vec::new(),
            made_runs: BTreeSet::new(),
            stop_wishes: BTreeSet::new(),
            sessions: BTreeSet::new(),
            files: Files::default(),
            checks: Checks::default(),
            is_check_real: true,
            made: Vec::new(),
            unsaved: BTreeMap::new(),
            reviewed: BTreeMap::new(),
            first_tips: BTreeMap::new(),
            lazy: BTreeSet::new(),
            taken_back: BTreeSet::new(),
            authors: BTreeMap::new(),
            unified: BTreeMap::new(),
            of_persons: BTreeMap::new(),
            taken_out: Vec::new(),
            refused: BTreeSet::new(),
            refusals: 0,
            lost_workspaces: 0,
            merged: 0,
            conflicted: 0,
            put_back: 0,
            moved_to: BTreeSet::new(),
            unborn_until: None,
            full_until: None,
            busy_until: None,
            calm: false,
            touched: true,
            tokens: 16,
        }
    }

    /// A content that nothing has held before.
    pub(crate) fn content(&mut self, marks: u64) -> u64 {
        self.tokens += 1;
        (self.tokens << 2) | marks
    }

    /// The time of the next act of a process.
    pub(crate) fn next_act(&self) -> Option<Time> {
        let acts = self.processes.values().filter_map(|p| p.acts.first());
        acts.map(|(at, _)| *at)
            .chain(self.checks.next_act())
            .chain(self.unborn_until)
            .chain(self.full_until)
            .chain(self.busy_until)
            .chain(self.files.away.values().map(|away| away.until))
            .min()
    }

    /// The conditions that last for a while, each with its end.
    fn passing(&mut self) -> [&mut Option<Time>; 3] {
        [&mut self.unborn_until, &mut self.full_until, &mut self.busy_until]
    }

    /// Everything that was so for a while is over.
    pub(crate) fn end_what_passes(&mut self) {
        self.passing().into_iter().for_each(|until| *until = None);
        let now = self.now;
        self.files.away.values_mut().for_each(|away| away.until = now);
        self.files.put_back(now);
    }

    /// True if nothing can be written into the journal.
    pub(crate) fn keeps_from_writing(&self) -> bool {
        self.full_until.is_some() || self.busy_until.is_some()
    }

    /// Lets time pass: the processes act as they would have acted meanwhile, in the order of the times.
    pub(crate) fn advance(&mut self, to: Time) {
        loop {
            let all = self.processes.iter();
            let next = all
                .filter_map(|(run, p)| p.acts.first().map(|(at, _)| (*at, run.clone())))
                .min();
            let Some((at, run)) = next.filter(|(at, _)| *at <= to) else {
                break;
            };
            self.now = self.now.max(at);
            if let Some(process) = self.processes.get_mut(&run) {
                let (_, act) = process.acts.remove(0);
                self.act(&run, act);
            }
        }
        self.now = self.now.max(to);
        let now = self.now;
        self.touched |= self.checks.advance(now, self.is_check_real);
        for until in self.passing() {
            *until = until.filter(|until| *until > now);
        }
        self.files.put_back(now);
    }

    /// The machine's clock is set: events of the world keep their own pace.
    pub(crate) fn set_clock(&mut self, by: i64) {
        self.now.0 += by;
        for process in self.processes.values_mut() {
            process.began.0 += by;
            if let Some(since) = &mut process.frozen {
                since.0 += by;
            }
            process.acts.iter_mut().for_each(|(at, _)| at.0 += by);
        }
        self.checks.set_clock(by);
        for (deliver_at, _) in &mut self.files.looks {
            deliver_at.0 += by;
        }
        self.files.away.values_mut().for_each(|away| away.until.0 += by);
        for until in self.passing().into_iter().flatten() {
            until.0 += by;
        }
    }

    /// Everything that processes of this run still do ends: a watcher that reports its end has swept.
    pub(crate) fn sweep(&mut self, run: &RunId) {
        if let Some(process) = self.processes.get_mut(run) {
            process.acts.clear();
        }
    }

    /// Someone takes the last commits of the target back, `commits` of its first-parent chain.
    pub(crate) fn restore(&mut self, commits: usize) {
        let chain = self.git.chain();
        let Some(to) = chain.len().checked_sub(commits + 1).and_then(|at| chain.get(at)) else {
            return;
        };
        let (mut of_old, mut of_new) = (
            vec![false; self.git.commits.len()],
            vec![false; self.git.commits.len()],
        );
        self.git.mark(self.git.target(), &mut of_old);
        self.git.mark(*to, &mut of_new);
        let lost = (0..of_old.len()).filter(|at| of_old[*at] && !of_new[*at]);
        self.taken_back.extend(lost);
        let tree = self.git.tree(*to).clone();
        self.git.refs.insert(TARGET.to_owned(), *to);
        self.checkout.extend(
            tree.into_iter()
                .filter(|(path, _)| !self.edits.contains_key(path)),
        );
        self.touched = true;
    }

    fn act(&mut self, run: &RunId, act: Act) {
        self.touched = true;
        let Some(process) = self.processes.get_mut(run) else {
            return;
        };
        if let Act::End(end) = act {
            process.end = Some(end);
            return;
        }
        match act {
            Act::Freeze => {
                process.frozen.get_or_insert(self.now);
                return;
            }
            Act::Thaw => {
                process.frozen = None;
                return;
            }
            Act::Kill => {
                (process.frozen, process.end) = (None, Some(process::killed()));
                return;
            }
            Act::Edit(_)
            | Act::MergeTarget
            | Act::Heal
            | Act::Commit
            | Act::Leave(_)
            | Act::Mend
            | Act::GiveUp(_)
            | Act::State(_)
            | Act::Call { .. }
            | Act::Push(..)
            | Act::File(..)
            | Act::End(_) => {}
        }
        if let Act::Call { call, stale } = act {
            let run = process.run.clone();
            self.calls.push(Written { run, call, stale });
            return;
        }
        if let Act::State(end) = act {
            process.stated = Some(end);
            return;
        }
        if let Act::GiveUp(failure) = act {
            process.given_up = Some(failure);
            return;
        }
        if let Act::Push(path, content) = act {
            return self.push(path, content);
        }
        if let Act::File(id, status) = act {
            return self.meddle(&id, status);
        }
        let (key, number) = process.space.clone();
        let author = process.ticket.clone();
        if !self.spaces.contains_key(&key) {
            process.acts.clear();
            process.end.get_or_insert(process::failed(Class::Crash));
            return;
        }
        match act {
            Act::Edit(edits) => {
                for (path, content) in edits {
                    self.authors.insert(content, author.clone());
                    self.edit(&key, number, path, content);
                }
            }
            Act::MergeTarget => self.merge_target(&key, number),
            Act::Heal => self.heal(&key, number),
            Act::Commit => {
                self.save(&key);
            }
            Act::Leave(refuses) => self.leave_in(&key, Some(refuses)),
            Act::Mend => self.leave_in(&key, None),
            Act::GiveUp(_)
            | Act::State(_)
            | Act::Call { .. }
            | Act::Push(..)
            | Act::File(..)
            | Act::Freeze
            | Act::Thaw
            | Act::Kill
            | Act::End(_) => {}
        }
    }

    /// An agent edits a ticket's file by hand, its own or another's.
    fn meddle(&mut self, id: &TicketId, status: Option<FileStatus>) {
        let now = self.now;
        let Some(file) = self.files.files.get_mut(id) else {
            return;
        };
        match status {
            Some(status) => (file.status, file.by_crew) = (status, false),
            None => file.spec.digest.push('m'),
        }
        file.changed_at = now;
        self.files.see(id, now, Time(now.0 + 200));
    }

    fn edit(&mut self, key: &(AgentName, TicketId), number: u32, path: String, content: u64) {
        if let Some(space) = self.spaces.get_mut(key) {
            self.unsaved
                .insert((key.1.clone(), number, path.clone()), content);
            space.dirty.insert(path, content);
        }
    }

    fn leave_in(&mut self, key: &Key, refuses: Option<Refuses>) {
        if let Some(space) = self.spaces.get_mut(key) {
            space.refuses = refuses;
        }
    }

    /// Commits what is changed in a workspace; gives its tip.
    pub(crate) fn save(&mut self, key: &(AgentName, TicketId)) -> Option<usize> {
        let space = self.spaces.get_mut(key)?;
        if !space.dirty.is_empty() {
            let mut tree = self.git.tree(space.head).clone();
            let dirty = std::mem::take(&mut space.dirty);
            for path in dirty.keys() {
                self.unsaved.remove(&(key.1.clone(), space.number, path.clone()));
            }
            tree.extend(dirty);
            space.head = self
                .git
                .commit(tree, vec![space.head], By::Agent(key.1.clone(), space.number));
            self.made.push(space.head);
        }
        Some(space.head)
    }

    fn merge_target(&mut self, key: &(AgentName, TicketId), number: u32) {
        self.save(key);
        let target = self.git.target();
        let Some(head) = self.spaces.get(key).map(|s| s.head) else {
            return;
        };
        if self.git.contains(head, target) {
            return;
        }
        let tree = match self.git.merge(head, target) {
            Ok(tree) => tree,
            Err((paths, mut tree)) => {
                for path in paths {
                    tree.insert(path, self.content(0));
                }
                // Every third agent changes something else in the merge itself.
                let content = self.content(0);
                if mix(content).is_multiple_of(3) {
                    tree.insert("a0".to_owned(), content);
                }
                tree
            }
        };
        let merged = self
            .git
            .commit(tree, vec![head, target], By::Agent(key.1.clone(), number));
        self.made.push(merged);
        if let Some(space) = self.spaces.get_mut(key) {
            space.head = merged;
        }
    }

    /// Rewrites its own changes without what the checks refuse.
    fn heal(&mut self, key: &(AgentName, TicketId), number: u32) {
        self.save(key);
        let Some(head) = self.spaces.get(key).map(|s| s.head) else {
            return;
        };
        let base = self.git.merge_base(head, self.git.target());
        for path in self.git.changed(base, head) {
            let bad = self
                .git
                .tree(head)
                .get(&path)
                .is_some_and(|c| c & (BROKEN | TOUCHY) != 0);
            if bad || path == model::settings::FILE_NAME && self.calm {
                let content = self.content(0);
                self.edit(key, number, path, content);
            }
        }
    }

    /// True if a workspace holds anything that the target does not.
    pub(crate) fn has_work(&self, key: &(AgentName, TicketId)) -> bool {
        self.spaces.get(key).is_some_and(|space| {
            let base = self.git.merge_base(space.head, self.git.target());
            !space.dirty.is_empty() || !self.git.changed(base, space.head).is_empty()
        })
    }

    /// True if a workspace holds nothing at all, not even a commit that changes nothing.
    pub(crate) fn is_untouched(&self, key: &(AgentName, TicketId)) -> bool {
        self.spaces.get(key).is_some_and(|space| {
            let base = self.git.merge_base(space.head, self.git.target());
            space.dirty.is_empty() && base == space.head
        })
    }

    /// A commit on the target by someone else.
    pub(crate) fn push(&mut self, path: String, content: u64) {
        let target = self.git.target();
        let mut tree = self.git.tree(target).clone();
        tree.insert(path.clone(), content);
        let pushed = self.git.commit(tree, vec![target], By::Foreign);
        self.git.refs.insert(TARGET.to_owned(), pushed);
        // A person who pushes from the checkout has the commits that were pushed there.
        if !self.edits.contains_key(&path) {
            self.checkout.insert(path, content);
        }
        self.touched = true;
    }

    /// A shim is killed from outside.
    pub(crate) fn kill_shim(&mut self, run: &RunId) {
        if let Some(check) = self.checks.runs.get_mut(run) {
            check.kill(Loss::Vanished);
            self.touched = true;
        }
        if let Some(process) = self.processes.get_mut(run)
            && (process.end.is_none() || process.frozen.is_some())
        {
            process.frozen = None;
            process.end = Some(process::failed(Class::Lost));
            process.acts.clear();
            self.touched = true;
        }
    }

    /// The processes that live.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Process> {
        self.processes.values().filter(|p| p.end.is_none())
    }

    /// True if a run has begun, be it a step's or a check's.
    pub(crate) fn has_begun(&self, run: &RunId) -> bool {
        self.processes.contains_key(run) || self.checks.runs.contains_key(run)
    }

    /// The end of a step's run, when it has ended and that can be seen.
    pub(crate) fn end_of(&self, run: &RunId) -> Option<&End> {
        let process = self.processes.get(run)?;
        process.end.as_ref().filter(|_| process.frozen.is_none())
    }
}
