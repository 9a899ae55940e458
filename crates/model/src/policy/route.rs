//! Routing: which ticket goes to which agent next, and why each of the others does not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::policy::budget::Pause;
use crate::target::{Target, Verdict};
use crate::ticket::{FileStatus, State, Ticket};
use crate::{AgentName, TicketId, Time};
use cycles::Cycles;

pub use refusal::{BY_DELEGATION, Refusal};

/// The facts about a ticket's file that the journal does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// The status in it, as crew last read **or wrote** it: crew's own write that is still under way is not a
    /// person's.
    pub status: FileStatus,
    /// When its bytes last changed by another hand than crew's, by crew's clock: a file's own time can lie
    /// ahead.
    pub changed_at: Time,
    /// It cannot be read as a ticket now; the journal has its last good reading, if there was one.
    pub unreadable: bool,
}

/// Everything that routing looks at.
#[derive(Clone, Copy, Debug)]
pub struct Queue<'a> {
    /// The journal's tickets.
    pub tickets: &'a BTreeMap<TicketId, Arc<Ticket>>,
    /// The files that exist.
    pub files: &'a BTreeMap<TicketId, File>,
    /// Everyone who can be given a ticket.
    pub roster: &'a BTreeSet<AgentName>,
    /// The agents that the settings name: only they get tickets that are meant for nobody. Without any, all
    /// of the roster do.
    pub names: &'a [AgentName],
    /// The time for which a file must have been still.
    pub debounce: Duration,
    /// Set when no step is started for now, so that nothing is dispatched.
    pub pause: Option<Pause>,
    /// The bare target, whose checks are to pass before anything is dispatched; none where nobody looks.
    pub target: Option<&'a Target>,
    /// The ticket whose workspace could not be set up for a cause that is every ticket's.
    pub set_up: Option<&'a TicketId>,
    /// The present time.
    pub now: Time,
}

/// True if the ticket may be dispatched at all, whoever is free.
///
/// # Errors
/// The first reason against the ticket. A cycle is reported as [`Refusal::WaitsFor`]; [`explain`] and
/// [`refusals`] find the way round.
pub fn eligible(queue: Queue<'_>, id: &TicketId) -> Result<(), Refusal> {
    look(queue, id, By::Queue)
}

/// True if a person may give the ticket to an agent, out of turn: as [`eligible`], except that neither a file
/// that changed a moment ago nor a person who has taken it is in the way. The person who assigns it has read
/// it, and speaks for people.
///
/// # Errors
/// The first reason against it.
pub fn assignable(queue: Queue<'_>, id: &TicketId) -> Result<(), Refusal> {
    look(queue, id, By::Hand)
}

/// True if a child may be given to an agent while its parent's agent waits for it: as [`assignable`], since
/// crew has written its file itself.
///
/// # Errors
/// The first reason against it.
pub fn delegable(queue: Queue<'_>, id: &TicketId) -> Result<(), Refusal> {
    look(queue, id, By::Parent)
}

/// What gives a ticket to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The queue.
    Queue,
    /// A person, out of turn.
    Hand,
    /// Its parent's wait.
    Parent,
}

fn look(queue: Queue<'_>, id: &TicketId, by: By) -> Result<(), Refusal> {
    let by_hand = by != By::Queue;
    let file = queue.files.get(id);
    let Some(ticket) = queue.tickets.get(id) else {
        return Err(match file {
            None => Refusal::Unknown,
            Some(File { unreadable: true, .. }) => Refusal::Unreadable,
            Some(_) => Refusal::Debouncing { until: queue.now },
        });
    };
    if let Some(held) = &ticket.held {
        return Err(Refusal::Held {
            note: held.note.clone(),
            retry_at: held.retry_at,
        });
    }
    match &ticket.state {
        State::Open => {}
        State::New => return Err(Refusal::Unknown),
        State::InProgress(attempt) => {
            let target = queue.target.filter(|_| attempt.needs_target());
            return Err(target
                .and_then(refused_by)
                .unwrap_or_else(|| Refusal::InProgress {
                    agent: attempt.claim.agent.clone(),
                }));
        }
        State::Verify(verify) => {
            return Err(Refusal::Submitted {
                stage: verify.stage.name().to_owned(),
            });
        }
        State::Done(done) => {
            return Err(Refusal::Done {
                outcome: done.name().to_owned(),
            });
        }
    }
    if let Some(unheeded) = &ticket.unheeded {
        return Err(Refusal::FileUnheeded {
            change: unheeded.words(),
            asks: unheeded.asks(),
        });
    }
    if let Some(delegated) = ticket.delegated().filter(|_| by != By::Parent) {
        // Its parent waits for that too.
        if let Some(until) = ticket.due.filter(|due| *due > queue.now) {
            return Err(Refusal::NotDue { until });
        }
        depends(queue, ticket)?;
        return Err(Refusal::Delegated {
            by: delegated.by.clone(),
        });
    }
    let Some(file) = file else {
        return Err(Refusal::NoFile);
    };
    if file.unreadable {
        return Err(Refusal::Unreadable);
    }
    match file.status {
        FileStatus::InProgress if !by_hand => return Err(Refusal::TakenByPerson),
        FileStatus::Open | FileStatus::InProgress => {}
        FileStatus::Closed => return Err(Refusal::FileClosed),
    }
    if ticket.spec.kind == "epic" {
        return Err(Refusal::Epic);
    }
    let until = file.changed_at + queue.debounce;
    if until > queue.now && !by_hand {
        return Err(Refusal::Debouncing { until });
    }
    depends(queue, ticket)?;
    if let Some(recovers) = &ticket.spec.recovers {
        let recovers = recovers.clone();
        match recovery(queue, &recovers) {
            Recovery::Needed => {}
            Recovery::NotYet => return Err(Refusal::RecoveryNotNeededYet { recovers }),
            Recovery::NotNeeded => return Err(Refusal::RecoveryNotNeeded { recovers }),
            Recovery::Missing => return Err(Refusal::MissingRecovered { recovers }),
        }
    }
    if let Some(until) = ticket.due.filter(|due| *due > queue.now) {
        return Err(Refusal::NotDue { until });
    }
    if let Some(pause) = queue.pause {
        return Err(Refusal::DayBudget { pause });
    }
    // What its parent has begun goes on.
    let target = queue.target.filter(|_| by != By::Parent);
    if let Some(refusal) = target.and_then(refused_by) {
        return Err(refusal);
    }
    // The ticket itself is tried again, and shows whether others can be.
    match queue.set_up.filter(|shows| by != By::Parent && *shows != id) {
        Some(shows) => Err(Refusal::NotSetUp { id: shows.clone() }),
        None => Ok(()),
    }
}

/// The ticket that shows that no workspace can be set up, so that no other one is given out.
#[must_use]
pub fn shows_no_set_up<'a>(tickets: impl IntoIterator<Item = &'a Ticket>) -> Option<&'a TicketId> {
    let mut tickets = tickets.into_iter();
    let shows = |ticket: &&Ticket| ticket.failed_set_up().is_some_and(|held| held.for_all);
    tickets.find(shows).map(|ticket| &ticket.id)
}

/// The reason for which nothing new begins on the target; none where it lets agents start.
#[must_use]
pub fn refused_by(target: &Target) -> Option<Refusal> {
    let fault = target.in_the_way()?;
    Some(match &target.verdict {
        Verdict::Checking { command, .. } => Refusal::TargetUnchecked {
            command: command.clone(),
        },
        Verdict::Unchecked => Refusal::TargetUnchecked { command: None },
        Verdict::Passed
        | Verdict::Failed { .. }
        | Verdict::Blind { .. }
        | Verdict::CouldNotRun { .. }
        | Verdict::OutOfReach { .. } => Refusal::TargetRed {
            fault,
            out_of_reach: matches!(target.verdict, Verdict::OutOfReach { .. }),
        },
    })
}

/// For each ticket of the journal that is not eligible, the reason, whoever is free; cycles are spelled out.
/// One walk over the queue, however long: prefer it to asking [`explain`] for each.
#[must_use]
pub fn refusals(queue: Queue<'_>) -> BTreeMap<&TicketId, Refusal> {
    let cycles = Cycles::find(queue);
    let refused = queue
        .tickets
        .keys()
        .filter_map(|id| Some((id, eligible(queue, id).err()?)));
    let whole = refused.map(|(id, refusal)| match waits_for_others(&refusal) {
        true => (id, cycles.refusal(queue, id).unwrap_or(refusal)),
        false => (id, refusal),
    });
    whole.collect()
}

/// The way round on which a ticket would wait for itself if it depended on another one: it would never begin.
#[must_use]
pub fn cycle_with(queue: Queue<'_>, id: &TicketId, on: &TicketId) -> Option<Refusal> {
    let mut ticket = Ticket::clone(queue.tickets.get(id)?);
    // One that an agent has now would wait for it before its next attempt.
    ticket.state = State::Open;
    ticket.spec.deps = [on.clone()].into();
    let mut tickets = queue.tickets.clone();
    tickets.insert(id.clone(), Arc::new(ticket));
    let queue = Queue {
        tickets: &tickets,
        ..queue
    };
    Cycles::find(queue).refusal(queue, id)
}

/// True if the ticket waits for others, and so may wait for itself.
fn waits_for_others(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::WaitsFor { .. } | Refusal::RecoveryNotNeededYet { .. }
    )
}

/// A ticket's place in the queue, were it eligible: by priority, then age, then id; the first to be
/// dispatched is the least.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    priority: u8,
    created: Time,
    /// The id of the ticket.
    pub id: TicketId,
}

impl Place {
    fn of(ticket: &Ticket) -> Self {
        Self {
            priority: ticket.spec.priority,
            created: ticket.spec.created,
            id: ticket.id.clone(),
        }
    }
}

/// The ticket's place in the queue; none if the journal does not have it.
#[must_use]
pub fn place(queue: Queue<'_>, id: &TicketId) -> Option<Place> {
    queue.tickets.get(id).map(|ticket| Place::of(ticket))
}

/// Every eligible ticket, in the order of dispatch.
#[must_use]
pub fn order(queue: Queue<'_>) -> Vec<&TicketId> {
    let mut line: Vec<&Ticket> = queue
        .tickets
        .values()
        .map(Arc::as_ref)
        .filter(|t| eligible(queue, &t.id).is_ok())
        .collect();
    line.sort_by_cached_key(|ticket| Place::of(ticket));
    line.into_iter().map(|t| &t.id).collect()
}

/// True if the agent gets tickets that are meant for nobody. Another one has only been taken on under other
/// settings, or by a person: it gets what is meant for it.
#[must_use]
pub fn takes_any(names: &[AgentName], agent: &AgentName) -> bool {
    names.is_empty() || names.contains(agent)
}

/// The pairs to dispatch now: at most `free`, in order. A ticket meant for an agent goes to it or waits for
/// it; any other goes to an idle agent that [`takes_any`], to one for whom nothing eligible is meant where
/// there is one.
#[must_use]
pub fn assign<'a>(queue: Queue<'a>, idle: &[&'a AgentName], free: u32) -> Vec<(&'a TicketId, &'a AgentName)> {
    let line = order(queue);
    let meant: BTreeSet<&AgentName> = line.iter().filter_map(|id| assignee(queue, id)).collect();
    assign_in(line, queue, &meant, idle, free)
}

/// [`assign`] for a caller that has the ordered queue at hand, and knows for whom eligible tickets are meant:
/// no more of the queue is taken than is dispatched.
#[must_use]
pub fn assign_in<'a>(
    line: impl IntoIterator<Item = &'a TicketId>,
    queue: Queue<'a>,
    meant: &BTreeSet<&AgentName>,
    idle: &[&'a AgentName],
    free: u32,
) -> Vec<(&'a TicketId, &'a AgentName)> {
    let takes_any = |agent: &&AgentName| takes_any(queue.names, agent);
    let of_use = idle.iter().copied();
    let of_use = of_use.filter(|agent| takes_any(agent) || meant.contains(agent));
    let mut idle: BTreeSet<&AgentName> = of_use.collect();
    let mut line = line.into_iter();
    let mut pairs = Vec::new();
    while pairs.len() < free as usize && !idle.is_empty() {
        let Some(id) = line.next() else { break };
        let agent = match assignee(queue, id) {
            Some(agent) => idle.take(agent),
            None => {
                let mut takers = idle.iter().copied().filter(takes_any);
                let first = takers.clone().next();
                let agent = takers.find(|agent| !meant.contains(agent)).or(first);
                agent.and_then(|a| idle.take(a))
            }
        };
        pairs.extend(agent.map(|agent| (id, agent)));
    }
    pairs
}

/// The reason for which the ticket is not dispatched now, for people: none when [`assign`] dispatches it with
/// the same `idle` and `free`.
#[must_use]
pub fn explain(queue: Queue<'_>, id: &TicketId, idle: &[&AgentName], free: u32) -> Option<Refusal> {
    match eligible(queue, id) {
        Err(refusal) if waits_for_others(&refusal) => {
            return Some(Cycles::find(queue).refusal(queue, id).unwrap_or(refusal));
        }
        Err(refusal) => return Some(refusal),
        Ok(()) => {}
    }
    if assign(queue, idle, free).iter().any(|(given, _)| *given == id) {
        return None;
    }
    let ahead = order(queue).iter().take_while(|other| **other != id).count();
    Some(left_over(queue, id, idle, ahead))
}

/// [`explain`] for every ticket at once, in one walk; one that is not in the result is dispatched now.
#[must_use]
pub fn explanations<'a>(
    queue: Queue<'a>,
    idle: &[&'a AgentName],
    free: u32,
) -> BTreeMap<&'a TicketId, Refusal> {
    let mut why = refusals(queue);
    let given: BTreeSet<&TicketId> = assign(queue, idle, free).into_iter().map(|(id, _)| id).collect();
    for (ahead, id) in order(queue).into_iter().enumerate() {
        if !given.contains(id) {
            why.insert(id, left_over(queue, id, idle, ahead));
        }
    }
    why
}

/// The reason for which an eligible ticket with so many before it was not dispatched.
fn left_over(queue: Queue<'_>, id: &TicketId, idle: &[&AgentName], ahead: usize) -> Refusal {
    match assignee(queue, id).filter(|agent| !idle.contains(agent)) {
        Some(agent) => Refusal::AssigneeBusy { agent: agent.clone() },
        None => Refusal::NoAgentFree { ahead },
    }
}

/// Open recovery tickets whose short cut it is time for: their ticket is done, and not failed.
#[must_use]
pub fn not_needed(queue: Queue<'_>) -> Vec<&TicketId> {
    let over = |id: &&TicketId| is_not_needed(queue, id);
    queue.tickets.keys().filter(over).collect()
}

/// True if the ticket is one of [`not_needed`].
#[must_use]
pub fn is_not_needed(queue: Queue<'_>, id: &TicketId) -> bool {
    queue.tickets.get(id).is_some_and(|ticket| {
        let recovers = ticket.spec.recovers.as_ref();
        matches!(ticket.state, State::Open)
            && recovers.is_some_and(|id| recovery(queue, id) == Recovery::NotNeeded)
    })
}

/// The next moment at which a file will have been still for long enough: routing is worth another look then.
#[must_use]
pub fn debounce_ends_at(queue: Queue<'_>) -> Option<Time> {
    let waiting = queue
        .tickets
        .values()
        .filter_map(|t| match eligible(queue, &t.id) {
            Err(Refusal::Debouncing { until }) => Some(until),
            Err(_) | Ok(()) => None,
        });
    waiting.min()
}

/// The agent it is meant for: an assignee that names no agent of the roster is a person's own affair.
#[must_use]
pub fn assignee<'a>(queue: Queue<'a>, id: &TicketId) -> Option<&'a AgentName> {
    let name = queue.tickets.get(id)?.spec.assignee.as_deref()?;
    queue.roster.iter().find(|agent| agent.as_str() == name)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Recovery {
    Needed,
    NotYet,
    NotNeeded,
    Missing,
}

fn recovery(queue: Queue<'_>, recovers: &TicketId) -> Recovery {
    match (queue.tickets.get(recovers), queue.files.get(recovers)) {
        (Some(ticket), _) if ticket.has_failed() => Recovery::Needed,
        (Some(ticket), _) if ticket.is_done() => Recovery::NotNeeded,
        // A ticket that was closed before crew saw it has only a file.
        (
            None,
            Some(File {
                status: FileStatus::Closed,
                unreadable: false,
                ..
            }),
        ) => Recovery::NotNeeded,
        (Some(_), _) | (None, Some(_)) => Recovery::NotYet,
        (None, None) => Recovery::Missing,
    }
}

fn depends(queue: Queue<'_>, ticket: &Ticket) -> Result<(), Refusal> {
    let mut waits = Vec::new();
    // A ticket waits for the failure of the one that it recovers, and not for its success.
    let recovers = ticket.spec.recovers.as_ref();
    for id in ticket.spec.deps.iter().filter(|id| Some(*id) != recovers) {
        match (queue.tickets.get(id), queue.files.get(id)) {
            (Some(dep), _) if let State::Done(done) = &dep.state => {
                if !done.satisfies_dependents() {
                    return Err(Refusal::DependencyFailed {
                        id: id.clone(),
                        outcome: done.name().to_owned(),
                        since: dep.since.max(ticket.since),
                    });
                }
            }
            (Some(dep), _) if is_beside(dep, ticket) => {}
            (
                None,
                Some(File {
                    status: FileStatus::Closed,
                    ..
                }),
            ) => {}
            (None, None) => return Err(Refusal::MissingDependency { id: id.clone() }),
            (Some(_), _) | (None, Some(_)) => waits.push(id.clone()),
        }
    }
    if waits.is_empty() {
        Ok(())
    } else {
        Err(Refusal::WaitsFor { ids: waits })
    }
}

/// True if the work of a child is in the workspace in which another child of the same attempt works, or
/// begins: neither of them is done before that attempt has landed.
fn is_beside(dep: &Ticket, child: &Ticket) -> bool {
    dep.is_merged() && are_siblings(dep, child)
}

/// True if the same attempt has delegated both.
fn are_siblings(one: &Ticket, other: &Ticket) -> bool {
    let of = |ticket: &Ticket| ticket.delegated().map(|it| (it.by.clone(), it.fence));
    of(one).is_some_and(|parent| of(other) == Some(parent))
}

mod cycles;
mod refusal;
#[cfg(test)]
mod tests;
