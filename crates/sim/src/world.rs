//! The simulated world: what is true outside the journal, and how it goes on by itself.

use std::collections::{BTreeMap, BTreeSet};

use engine::End;
use model::attempt::{Class, Prompt, Signal};
use model::{AgentName, RunId, SessionId, TicketId, Time};

use crate::files::Files;
use crate::git::{BROKEN, By, Git, TARGET, TOUCHY, Tree};
use crate::options::Options;
use crate::process::{self, Act, Process};
use crate::rng::Rng;

/// An agent's workspace, with its own repository.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// The attempt it was made for.
    pub(crate) number: u32,
    /// The tip of its branch.
    pub(crate) head: usize,
    /// Files changed since.
    pub(crate) dirty: Tree,
}

/// An uncommitted change of an agent: ticket, attempt, path.
pub(crate) type Unsaved = (TicketId, u32, String);

/// Everything outside the journal.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) git: Git,
    /// The files of the user's checkout.
    pub(crate) checkout: Tree,
    /// What a person has edited there and not committed, as the person left it.
    pub(crate) edits: Tree,
    pub(crate) spaces: BTreeMap<(AgentName, TicketId), Space>,
    pub(crate) processes: BTreeMap<RunId, Process>,
    /// Runs that were told to stop before they began.
    pub(crate) stop_wishes: BTreeSet<RunId>,
    /// Conversations that the client knows.
    pub(crate) sessions: BTreeSet<SessionId>,
    pub(crate) files: Files,
    /// Commits on whose tree and parents the checks have passed.
    pub(crate) passed: BTreeSet<usize>,
    /// Every commit that an agent, or crew for it, made of work.
    pub(crate) made: Vec<usize>,
    /// Every uncommitted change that has not been superseded by its own author.
    pub(crate) unsaved: BTreeMap<Unsaved, u64>,
    /// Tickets whose agents say that they are done without doing anything.
    pub(crate) lazy: BTreeSet<TicketId>,
    /// No faults any more, and agents that do what they should.
    pub(crate) calm: bool,
    /// Whether repository or processes changed since they were last examined.
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
            stop_wishes: BTreeSet::new(),
            sessions: BTreeSet::new(),
            files: Files::default(),
            passed: BTreeSet::new(),
            made: Vec::new(),
            unsaved: BTreeMap::new(),
            lazy: BTreeSet::new(),
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

    /// When a process does something next.
    pub(crate) fn next_act(&self) -> Option<Time> {
        let live = self.processes.values().filter(|p| p.end.is_none());
        live.filter_map(|p| p.acts.first().map(|(at, _)| *at)).min()
    }

    /// Lets time pass: the processes do what they would have done meanwhile, in the order of its times.
    pub(crate) fn advance(&mut self, to: Time) {
        loop {
            let live = self.processes.iter().filter(|(_, p)| p.end.is_none());
            let next = live
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
        if let Act::GiveUp(failure) = act {
            process.given_up = Some(failure);
            return;
        }
        let key = (process.agent.clone(), process.ticket.clone());
        let number = process.number;
        if !self.spaces.contains_key(&key) {
            process.end = Some(process::failed(Class::Crash));
            return;
        }
        match act {
            Act::Edit(edits) => {
                for (path, content) in edits {
                    self.edit(&key, number, path, content);
                }
            }
            Act::MergeTarget => self.merge_target(&key, number),
            Act::Heal => self.heal(&key, number),
            Act::Commit => {
                self.save(&key);
            }
            Act::GiveUp(_) | Act::End(_) => {}
        }
    }

    fn edit(&mut self, key: &(AgentName, TicketId), number: u32, path: String, content: u64) {
        if let Some(space) = self.spaces.get_mut(key) {
            self.unsaved
                .insert((key.1.clone(), number, path.clone()), content);
            space.dirty.insert(path, content);
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

    /// Whether a workspace holds anything that the target does not.
    pub(crate) fn has_work(&self, key: &(AgentName, TicketId)) -> bool {
        self.spaces.get(key).is_some_and(|space| {
            let base = self.git.merge_base(space.head, self.git.target());
            !space.dirty.is_empty() || !self.git.changed(base, space.head).is_empty()
        })
    }

    /// Whether a workspace holds nothing at all, not even a commit that changes nothing.
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
        // Whoever pushes from the checkout has what was pushed there.
        if !self.edits.contains_key(&path) {
            self.checkout.insert(path, content);
        }
        self.touched = true;
    }

    /// What a step is going to do, drawn when it begins.
    pub(crate) fn plan(
        &mut self,
        key: &(AgentName, TicketId),
        prompt: &Prompt,
        options: &Options,
        rng: &mut Rng,
    ) -> (Vec<(Time, Act)>, bool) {
        let mut acts = Vec::new();
        let mut at = self.now;
        let mut then = |acts: &mut Vec<(Time, Act)>, wait: i64, act| {
            at.0 += wait;
            acts.push((at, act));
        };
        if self.calm {
            if !self.has_work(key) {
                let edit = (format!("n{}", key.1), self.content(0));
                then(&mut acts, 500, Act::Edit(vec![edit]));
            }
            then(&mut acts, 500, Act::MergeTarget);
            then(&mut acts, 500, Act::Heal);
            then(&mut acts, 500, Act::Commit);
            then(
                &mut acts,
                rng.ms(500, 20_000),
                Act::End(process::said(Signal::Done)),
            );
            return (acts, true);
        }
        if self.lazy.contains(&key.1) && rng.percent(80) {
            // It says that it is done whatever it is told, and changes nothing.
            then(
                &mut acts,
                rng.ms(100, 9_000),
                Act::End(process::said(Signal::Done)),
            );
            return (acts, true);
        }
        if matches!(prompt, Prompt::MergeConflict { .. }) && rng.percent(75) || rng.percent(5) {
            then(&mut acts, rng.ms(100, 9_000), Act::MergeTarget);
        }
        if matches!(prompt, Prompt::ChecksFailed { .. }) && rng.percent(70) {
            then(&mut acts, rng.ms(100, 9_000), Act::Heal);
        }
        if rng.percent(85) {
            let mut edits = Vec::new();
            for _ in 0..rng.from(1, 2) {
                let marks =
                    if rng.percent(8) { BROKEN } else { 0 } | if rng.percent(20) { TOUCHY } else { 0 };
                let path = if rng.percent(4) {
                    model::settings::FILE_NAME.to_owned()
                } else {
                    format!("a{}", rng.below(8))
                };
                edits.push((path, self.content(marks)));
            }
            then(&mut acts, rng.ms(100, 20_000), Act::Edit(edits));
            if rng.percent(80) {
                then(&mut acts, rng.ms(100, 9_000), Act::Commit);
            }
        }
        if rng.percent(options.clumsy) {
            let soon = rng.percent(60).then(|| Time(self.now.0 + rng.ms(0, 300_000)));
            let refused = match rng.below(20) {
                0 | 1 => Some(process::refused(Class::RateLimited, soon)),
                2 => Some(process::refused(Class::Overloaded, soon)),
                3 => Some(process::refused(Class::Auth, None)),
                _ => None,
            };
            if let Some(failure) = refused {
                // Some clients say so and end; others go on trying.
                acts.truncate(usize::try_from(rng.below(4)).unwrap_or(0));
                let last = acts.last().map_or(self.now, |(at, _)| *at);
                let act = if rng.percent(50) {
                    Act::GiveUp(failure)
                } else {
                    Act::End(End::Failed(failure))
                };
                acts.push((Time(last.0 + rng.ms(0, 9_000)), act));
                return (acts, true);
            }
            let class = match rng.below(12) {
                0 => Class::Transient,
                1 => Class::RateLimited,
                2 => Class::Overloaded,
                3 => Class::SessionMissing,
                4 => Class::MalformedOutput,
                5 => Class::Auth,
                6 | 7 => Class::Lost,
                8 => return (acts, false),
                9 => return (acts, true),
                _ => Class::Crash,
            };
            let at = rng.ms(0, 20_000);
            // A failure comes in the middle of the work as well as after it.
            acts.truncate(usize::try_from(rng.below(4)).unwrap_or(0));
            let last = acts.last().map_or(self.now, |(at, _)| *at);
            acts.push((Time(last.0 + at), Act::End(process::failed(class))));
            return (acts, true);
        }
        let signal = match rng.below(100) {
            0..56 => Signal::Done,
            56..80 => Signal::None,
            80..87 => Signal::Asked {
                question: "which of the two?".to_owned(),
            },
            87..94 => {
                let at = Time(self.now.0 + rng.ms(0, 90_000));
                Signal::WakeupSet {
                    at,
                    why: "a build is running".to_owned(),
                }
            }
            _ => Signal::Blocked {
                why: "there is no such file".to_owned(),
            },
        };
        then(&mut acts, rng.ms(0, 20_000), Act::End(process::said(signal)));
        (acts, true)
    }

    /// A shim is killed from outside.
    pub(crate) fn kill_shim(&mut self, run: &RunId) {
        if let Some(process) = self.processes.get_mut(run)
            && process.end.is_none()
        {
            process.end = Some(process::failed(Class::Lost));
            self.touched = true;
        }
    }

    /// The processes that live.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Process> {
        self.processes.values().filter(|p| p.end.is_none())
    }

    /// How a run ended, when it did.
    pub(crate) fn end_of(&self, run: &RunId) -> Option<&End> {
        self.processes.get(run).and_then(|p| p.end.as_ref())
    }
}
