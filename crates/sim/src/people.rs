//! People: they write, edit and close tickets, edit the checkout, push, break things, and ask crew for this
//! and that.

use std::collections::BTreeSet;

use model::attempt::Mode;
use model::command::{Command, OnStop, Question, Seen};
use model::ticket::{Done, FileStatus, Spec, State, Ticket, Unheeded, Why};
use model::{AgentName, Fence, TicketId, Time};

use crate::bound::HELPS;
use crate::files::File;
use crate::git::{BROKEN, green};
use crate::invariant::Witness;
use crate::rng::Rng;
use crate::words::asked;
use crate::world::World;

/// The most tickets that people write.
const TICKETS: usize = 9;

/// An act of a person: a line for the trace, and a command, when it was one.
pub(crate) struct Did {
    pub(crate) what: String,
    pub(crate) command: Option<Command>,
}

fn did(what: impl Into<String>) -> Did {
    Did {
        what: what.into(),
        command: None,
    }
}

/// Lets a person do something at random.
pub(crate) fn act(world: &mut World, witness: &Witness, rng: &mut Rng) -> Did {
    match rng.below(100) {
        0..22 => write_ticket(world, rng),
        22..50 => change_file(world, rng),
        50..62 => touch_repository(world, rng),
        62..66 => {
            let steps = world.live().map(|p| p.run.clone());
            let checks = world.checks.live().map(|check| check.run.clone());
            let live: Vec<_> = steps.chain(checks).collect();
            match rng.pick(&live) {
                Some(run) => {
                    world.kill_shim(run);
                    did(format!("the shim of {run} is killed"))
                }
                None => did("nothing"),
            }
        }
        66..68 => {
            let empty: Vec<_> = world
                .spaces
                .keys()
                .filter(|key| world.is_untouched(key))
                .cloned()
                .collect();
            match rng.pick(&empty).cloned() {
                Some(key) if world.live().all(|p| p.ticket != key.1) => {
                    world.spaces.remove(&key);
                    did(format!(
                        "the empty workspace {}-{} is removed by hand",
                        key.0, key.1
                    ))
                }
                Some(_) | None => did("nothing"),
            }
        }
        68 if world.checks.live().next().is_none() => {
            world.checks.set_up.clear();
            did("the checkout of the checks is removed by hand")
        }
        _ => command(witness, rng),
    }
}

fn write_ticket(world: &mut World, rng: &mut Rng) -> Did {
    let n = world.files.files.len();
    if n >= TICKETS {
        return did("nothing");
    }
    let Some(id) = (1..=TICKETS + 1)
        .filter_map(ticket)
        .find(|id| !world.files.has(id))
    else {
        return did("nothing");
    };
    let others: Vec<TicketId> = world.files.files.keys().cloned().collect();
    let mut deps = BTreeSet::new();
    let mut recovers = None;
    if rng.percent(20) {
        deps.extend(rng.pick(&others).cloned());
    }
    if rng.percent(2) {
        deps.extend(ticket(99));
    }
    if rng.percent(7) {
        recovers = rng.pick(&others).cloned();
    }
    let replaces = recovers.is_some() && rng.percent(40);
    let spec = Spec {
        title: format!("Ticket {id}"),
        kind: if rng.percent(5) { "epic" } else { "task" }.to_owned(),
        priority: u8::try_from(rng.below(5)).unwrap_or(2),
        deps,
        tags: BTreeSet::new(),
        assignee: rng.percent(8).then(|| "ada".to_owned()),
        recovers,
        reverts: None,
        made_by: None,
        replaces,
        created: world.now,
        acceptance: None,
        commitments: crate::commitments::of(&id),
        digest: "1".to_owned(),
        notes: 0,
    };
    let status = if rng.percent(3) {
        FileStatus::Closed
    } else {
        FileStatus::Open
    };
    put(world, &id, spec, status, rng);
    if rng.percent(12) {
        world.lazy.insert(id.clone());
    }
    did(format!("{id} is written"))
}

pub(crate) fn put(world: &mut World, id: &TicketId, spec: Spec, status: FileStatus, rng: &mut Rng) {
    let now = world.now;
    let file = File {
        spec,
        status,
        tags: BTreeSet::new(),
        notes: Vec::new(),
        changed_at: now,
        unreadable: false,
        by_crew: false,
    };
    world.files.files.insert(id.clone(), file);
    world.files.see(id, now, Time(now.0 + rng.ms(0, 400)));
}

/// The first tickets, before anything runs.
pub(crate) fn begin(world: &mut World, tickets: u64, rng: &mut Rng) {
    for _ in 0..tickets {
        write_ticket(world, rng);
        world.now.0 += 1000;
    }
}

fn change_file(world: &mut World, rng: &mut Rng) -> Did {
    let ids: Vec<TicketId> = world.files.files.keys().cloned().collect();
    let Some(id) = rng.pick(&ids).cloned() else {
        return did("nothing");
    };
    let now = world.now;
    let Some(file) = world.files.files.get_mut(&id) else {
        return did("nothing");
    };
    let what = match rng.below(100) {
        0..40 => {
            file.spec.digest.push('e');
            format!("the text of {id} is edited")
        }
        40..50 => {
            file.spec.priority = u8::try_from(rng.below(5)).unwrap_or(2);
            format!("the priority of {id} is changed")
        }
        50..58 => {
            (file.status, file.by_crew) = (FileStatus::Closed, false);
            format!("{id} is closed by hand")
        }
        58..68 => {
            (file.status, file.by_crew) = (FileStatus::Open, false);
            format!("{id} is opened by hand")
        }
        68..74 => {
            (file.status, file.by_crew) = (FileStatus::InProgress, false);
            format!("{id} is taken by hand")
        }
        74..80 => {
            file.tags.insert("held".to_owned());
            format!("{id} is tagged by hand")
        }
        80..86 => {
            file.unreadable = !file.unreadable;
            format!(
                "{id} is {}",
                if file.unreadable { "half written" } else { "mended" }
            )
        }
        86..92 => {
            file.spec.deps.extend(rng.pick(&ids).cloned());
            format!("{id} gets a dependency")
        }
        92..96 => {
            file.spec.deps.clear();
            format!("{id} loses its dependencies")
        }
        _ => {
            world.files.files.remove(&id);
            world.files.see(&id, now, Time(now.0 + rng.ms(0, 400)));
            return did(format!("{id} is deleted"));
        }
    };
    file.changed_at = now;
    world.files.see(&id, now, Time(now.0 + rng.ms(0, 400)));
    did(what)
}

fn touch_repository(world: &mut World, rng: &mut Rng) -> Did {
    let path = format!("a{}", rng.below(8));
    match rng.below(10) {
        0..4 => {
            let content = world.content(0);
            world.edits.insert(path.clone(), content);
            world.checkout.insert(path.clone(), content);
            did(format!("{path} is edited in the checkout"))
        }
        4..7 => {
            clear_checkout(world);
            did("the checkout is cleared")
        }
        7 | 8 => {
            let marks = if rng.percent(45) { BROKEN } else { 0 };
            let content = world.content(marks);
            world.push(path.clone(), content);
            did(format!(
                "someone pushes {path}{}",
                if marks == BROKEN { ", broken" } else { "" }
            ))
        }
        _ => did(mend_target(world).unwrap_or_else(|| "nothing".to_owned())),
    }
}

/// Takes back what was edited in the checkout.
pub(crate) fn clear_checkout(world: &mut World) {
    let tree = world.git.tree(world.git.target()).clone();
    for path in std::mem::take(&mut world.edits).into_keys() {
        match tree.get(&path) {
            Some(content) => world.checkout.insert(path, *content),
            None => world.checkout.remove(&path),
        };
    }
}

/// Pushes what makes the target green again, when it is red.
pub(crate) fn mend_target(world: &mut World) -> Option<String> {
    let mut mended = Vec::new();
    while !green(world.git.tree(world.git.target())) {
        let tree = world.git.tree(world.git.target());
        let path = tree
            .iter()
            .find(|(_, content)| **content & 3 != 0)
            .map(|(path, _)| path.clone())?;
        let content = world.content(0);
        world.push(path.clone(), content);
        mended.push(path);
    }
    (!mended.is_empty()).then(|| format!("someone mends the target: {}", mended.join(", ")))
}

/// A command to crew.
pub(crate) fn command(witness: &Witness, rng: &mut Rng) -> Did {
    let tickets: Vec<&Ticket> = witness.tickets.values().collect();
    let agents: Vec<&AgentName> = witness.audit.project().agents.iter().collect();
    let held: Vec<&&Ticket> = tickets.iter().filter(|t| t.held.is_some()).collect();
    let asks: Vec<&AgentName> = tickets.iter().filter_map(|t| asking(t)).collect();
    let asleep: Vec<&AgentName> = tickets.iter().filter_map(|t| sleeping(t)).collect();
    let Some(ticket) = rng.pick(&tickets).map(|t| t.id.clone()) else {
        return did("nothing");
    };
    let on_held = rng.pick(&held).map_or_else(|| ticket.clone(), |t| t.id.clone());
    let agent = rng.pick(&agents).map(|a| (*a).clone());
    let reason = "because".to_owned();
    let command = match (rng.below(100), agent) {
        (0..14, Some(agent)) => Command::Assign { agent, ticket },
        (14..30, Some(agent)) => Command::Kill { agent },
        (30..33, Some(agent)) => Command::Cleanup { agent },
        // As the web page asks.
        (33..36, Some(agent)) => Command::IfIdle {
            agent: agent.clone(),
            then: Box::new(Command::Cleanup { agent }),
        },
        (36..43, _) => Command::Retry { ticket: on_held },
        (43..50, _) => {
            let Some(seen) = witness.tickets.get(&on_held) else {
                return did("nothing");
            };
            Command::IfSeen {
                seen: late_look(Seen::of(seen), rng),
                then: Box::new(Command::Retry { ticket: on_held }),
            }
        }
        (50..56, _) => Command::Drop { ticket, reason },
        (56..62, _) => Command::Waive {
            ticket: on_held,
            reason,
        },
        (62..66, _) => Command::Approve {
            ticket: on_held,
            tip: None,
        },
        (66..67, _) => Command::Approve { ticket, tip: None },
        (67..68, _) => Command::Reject { ticket, why: reason },
        (68..70, _) => Command::Merge { ticket },
        (70..73, _) => {
            let is_idle = |id: &TicketId| {
                let ticket = tickets.iter().find(|ticket| ticket.id == *id);
                ticket.is_some_and(|ticket| !ticket.is_done() && ticket.live_runs().next().is_none())
            };
            let tips: Vec<_> = witness.tips.iter().filter(|(id, _)| is_idle(id)).collect();
            let Some((ticket, tip)) = rng.pick(&tips) else {
                return did("nothing");
            };
            Command::Rewind {
                ticket: (*ticket).clone(),
                commit: (*tip).clone(),
                at: 1,
            }
        }
        (73, Some(agent)) => Command::Say { agent, text: reason },
        (74, Some(agent)) => Command::Bait { agent },
        (75, Some(agent)) => Command::Reap { agent },
        (76..78, Some(agent)) => Command::SetMode {
            agent,
            mode: *rng.pick(&Mode::ALL).unwrap_or(&Mode::Plan),
        },
        (78..86, other) => match rng.pick(&asks).map(|a| (*a).clone()).or(other) {
            Some(agent) => {
                let question = tickets.iter().find(|t| t.slots().any(|(name, _)| *name == agent));
                let question = question.and_then(|t| Question::of(t));
                Command::Answer {
                    agent,
                    text: "the first".to_owned(),
                    question: question.filter(|_| rng.percent(60)).map(|asked| late(asked, rng)),
                }
            }
            None => return did("nothing"),
        },
        (86..92, other) => match rng.pick(&asleep).map(|a| (*a).clone()).or(other) {
            Some(agent) => Command::Wake { agent },
            None => return did("nothing"),
        },
        (92..94, _) => match AgentName::new(format!("zoe{}", rng.below(3))) {
            Ok(name) => Command::Spawn { name },
            Err(_) => return did("nothing"),
        },
        (94, _) => Command::SpawnMany { count: 2 },
        (95.., _) => Command::Stop {
            running: match rng.below(3) {
                0 => OnStop::Finish,
                1 => OnStop::Leave,
                _ => OnStop::Kill,
            },
        },
        (_, None) => return did("nothing"),
    };
    Did {
        what: format!("asks to {}", asked(&command)),
        command: Some(command),
    }
}

/// The agent that asks a person something.
pub(crate) fn asking(ticket: &Ticket) -> Option<&AgentName> {
    ticket.open_question().map(|open| open.agent)
}

/// The agent that sleeps.
fn sleeping(ticket: &Ticket) -> Option<&AgentName> {
    ticket
        .attempt()
        .filter(|a| matches!(a.state, model::attempt::State::WaitingForWakeup { .. }))
        .map(|a| &a.claim.agent)
}

/// Now and then the answer is to the question before: the person who gave it was slow.
fn late(mut question: Question, rng: &mut Rng) -> Question {
    if rng.percent(30) {
        question.number = question.number.saturating_sub(1);
    }
    question
}

/// Now and then what the person looked at is what was there before the last claim.
fn late_look(mut seen: Seen, rng: &mut Rng) -> Seen {
    if rng.percent(30) {
        seen.fence = Fence(seen.fence.0.saturating_sub(1));
    }
    seen
}

/// The command with which a person who wants the queue to drain helps a ticket; `asked` is the number of
/// times that was done before. A ticket whose file git took away, and a person deleted where git had put it
/// back while no engine looked, waits for a file that does not come.
pub(crate) fn help(ticket: &Ticket, has_file: bool, asked: u32) -> Option<Command> {
    let id = ticket.id.clone();
    if let Some(agent) = asking(ticket) {
        return Some(Command::Answer {
            agent: agent.clone(),
            text: "the first".to_owned(),
            question: None,
        });
    }
    if let State::Done(Done::Failed { .. }) = ticket.state {
        return Some(Command::Drop {
            ticket: id,
            reason: "it cannot be done".to_owned(),
        });
    }
    let is_stranded = |change: &Unheeded| change.asks() || !has_file && !ticket.is_done();
    if ticket.unheeded.as_ref().is_some_and(is_stranded) {
        return Some(Command::Drop {
            ticket: id,
            reason: "its file is gone".to_owned(),
        });
    }
    let held = ticket.held.as_ref().filter(|held| held.retry_at.is_none())?;
    Some(if let Why::Paths { .. } | Why::Secrets { .. } = held.why {
        Command::Approve {
            ticket: id,
            tip: None,
        }
    } else if asked + 1 >= HELPS {
        Command::Drop {
            ticket: id,
            reason: "enough".to_owned(),
        }
    } else {
        Command::Retry { ticket: id }
    })
}

/// Mends what only a person can mend in the files, so that every ticket can come to an end.
pub(crate) fn tidy(world: &mut World, witness: &Witness, rng: &mut Rng) -> Option<String> {
    let ids: Vec<TicketId> = world.files.files.keys().cloned().collect();
    let now = world.now;
    let mut tidied = Vec::new();
    for id in ids {
        let open = witness
            .tickets
            .get(&id)
            .is_some_and(|t| matches!(t.state, State::Open));
        let known = |of: &TicketId| {
            let ticket = witness.tickets.get(of);
            world.files.files.contains_key(of) || ticket.is_some_and(Ticket::is_done)
        };
        let Some(file) = world.files.files.get(&id) else {
            continue;
        };
        let mut new = file.clone();
        new.unreadable = false;
        if open && new.status == FileStatus::InProgress {
            (new.status, new.by_crew) = (FileStatus::Open, false);
        }
        // Dependencies that point backwards only: no dispatcher, and nothing that is not there, nor an epic,
        // which never ends, nor a ticket that was dropped or has failed.
        let epic = |of: &TicketId| world.files.files.get(of).is_some_and(|f| f.spec.kind == "epic");
        let ended_badly = |of: &TicketId| {
            let state = witness.tickets.get(of).map(|ticket| &ticket.state);
            matches!(state, Some(State::Done(done)) if !done.satisfies_dependents())
        };
        // A child that waits for a ticket of the queue keeps its parent's agent waiting, which may be the
        // only one.
        let parent = |of: &TicketId| {
            let delegated = witness.tickets.get(of).and_then(Ticket::delegated);
            delegated.map(|delegated| &delegated.by)
        };
        let is_reachable = |dep: &TicketId| parent(&id).is_none() || parent(dep) == parent(&id);
        new.spec.deps.retain(|dep| {
            is_before(dep, &id) && is_reachable(dep) && known(dep) && !epic(dep) && !ended_badly(dep)
        });
        new.spec.recovers = None;
        if new.unreadable == file.unreadable && new.status == file.status && new.spec == file.spec {
            continue;
        }
        new.changed_at = now;
        world.files.files.insert(id.clone(), new);
        world.files.see(&id, now, Time(now.0 + rng.ms(0, 400)));
        tidied.push(id.to_string());
    }
    (!tidied.is_empty()).then(|| format!("someone tidies {}", tidied.join(", ")))
}

/// The order in which tickets may depend on each other: what a ticket was divided into comes before it.
fn is_before(dep: &TicketId, id: &TicketId) -> bool {
    format!("{dep}~") < format!("{id}~")
}

fn ticket(n: usize) -> Option<TicketId> {
    TicketId::new(format!("t-{n}")).ok()
}
