//! Entries of the inbox that belong to one ticket.

use super::super::act::Act;
use super::{Context, Item, Kind, Urgency};
use crate::TicketId;
use crate::command::Question;
use crate::look::by_itself;
use crate::policy::attention::{Facts, Need, Reason, attention};
use crate::policy::route::Refusal;
use crate::ticket::{Held, KeptWork, Ticket, Why, remedy};

/// The entry of a ticket that waits for a person, unless the list has another entry for that.
pub(super) fn of_ticket(ticket: &Ticket, beside: &Context) -> Option<Item> {
    let goes_on = format!("it goes on {}", by_itself(beside.engine));
    // An order that fails has its own entry, beside this one.
    let facts = Facts {
        failure: None,
        ..beside.facts(&ticket.id)
    };
    let Need::Person(reason) = attention(ticket, facts) else {
        return None;
    };
    let item = match &reason {
        Reason::Held(held) => self::held(ticket, held, &goes_on),
        Reason::Question { .. } => question(ticket)?,
        Reason::Edits(waiting) => Item {
            acts: vec![
                Act::ByHand {
                    what: format!("{} there: {goes_on}", remedy(&waiting.paths)),
                },
                Act::Merge {
                    ticket: ticket.id.clone(),
                },
            ],
            ..item(ticket, Kind::Checkout, Urgency::Word)
        },
        Reason::Proposal { request, .. } => Item {
            acts: vec![
                Act::ByHand {
                    what: format!(
                        "review {}, and merge it unless crew does ([land] pr.after): {goes_on}",
                        request.url
                    ),
                },
                Act::Merge {
                    ticket: ticket.id.clone(),
                },
                Act::Drop {
                    ticket: ticket.id.clone(),
                },
            ],
            ..item(ticket, Kind::PullRequest, Urgency::Word)
        },
        Reason::Dependency(refusal) => dependency(ticket, refusal),
        Reason::Impossible(_) => Item {
            acts: vec![
                Act::ByHand {
                    what: "write what it lacks into the ticket, then".to_owned(),
                },
                Act::Reopen {
                    ticket: ticket.id.clone(),
                },
                Act::Drop {
                    ticket: ticket.id.clone(),
                },
            ],
            ..item(ticket, Kind::Impossible, Urgency::Parked)
        },
        // Each has an entry of its own: the effect, the harness, the file, the target.
        Reason::Failure(_) | Reason::Harness { .. } | Reason::File(_) | Reason::Target(_) => return None,
    };
    // What the target's checks printed stands in the target's own entry.
    let has_entry = beside
        .target
        .as_ref()
        .is_some_and(|target| target.verdict.printed().is_some() && !target.anyway);
    let is_of_target = matches!(&reason, Reason::Held(held) if held.why == Why::TargetRed);
    let printed = item.printed.filter(|_| !(is_of_target && has_entry));
    let mut why = vec![reason.words()];
    let is_about_them = matches!(&reason, Reason::Held(held) if matches!(held.why, Why::Commitments { .. }));
    why.extend(ticket.why_promises_wait().filter(|_| !is_about_them));
    why.extend(ticket.waiting_words());
    why.extend(ticket.work_apart().map(KeptWork::words));
    Some(Item {
        why: why.join("; "),
        printed,
        until: reason.until(),
        ..item
    })
}

/// Workspaces that cannot be set up, as a ticket shows whose own could not be.
pub(super) fn no_set_up(ticket: &Ticket, beside: &Context) -> Option<Item> {
    let goes_on = format!("mend that: agents start {}", by_itself(beside.engine));
    let retry = Act::Retry {
        ticket: ticket.id.clone(),
    };
    Some(Item {
        id: "set_up".to_owned(),
        ticket: None,
        agent: None,
        title: "no workspace can be set up: [workspace] setup in crew.toml".to_owned(),
        acts: vec![Act::ByHand { what: goes_on }, retry],
        ..of_ticket(ticket, beside)?
    })
}

fn item(ticket: &Ticket, kind: Kind, urgency: Urgency) -> Item {
    let group = match &kind {
        Kind::Held(_) => "held",
        Kind::Question
        | Kind::Checkout
        | Kind::PullRequest
        | Kind::Unwritten
        | Kind::Harness
        | Kind::Dependency
        | Kind::DependencyFailed
        | Kind::Impossible
        | Kind::File
        | Kind::Failing
        | Kind::Target
        | Kind::Disk
        | Kind::Settings
        | Kind::Stuck => kind.name(),
    };
    Item {
        id: format!("{group}:{}", ticket.id),
        kind,
        urgency,
        ticket: Some(ticket.id.clone()),
        agent: ticket.attempt().map(|attempt| attempt.claim.agent.clone()),
        title: ticket.spec.title.clone(),
        since: Some(ticket.since),
        why: String::new(),
        printed: None,
        secrets: Vec::new(),
        until: None,
        acts: Vec::new(),
    }
}

fn question(ticket: &Ticket) -> Option<Item> {
    let open = ticket.open_question()?;
    let mut acts = vec![Act::Answer {
        agent: open.agent.clone(),
        question: Question::of(ticket)?,
    }];
    match ticket.reviewing() {
        // Whoever can answer may also decide.
        Some(_) => acts.extend([
            Act::Approve {
                ticket: ticket.id.clone(),
                tip: ticket.tip_to_approve().cloned(),
            },
            Act::Reject {
                ticket: ticket.id.clone(),
            },
        ]),
        None => acts.push(Act::Kill {
            agent: open.agent.clone(),
        }),
    }
    Some(Item {
        since: Some(open.since),
        agent: Some(open.agent.clone()),
        acts,
        ..item(ticket, Kind::Question, Urgency::Word)
    })
}

/// `goes_on`: when its work goes on once its cause is mended, in words.
fn held(ticket: &Ticket, held: &Held, goes_on: &str) -> Item {
    let id = || ticket.id.clone();
    let approve = || Act::Approve {
        ticket: id(),
        tip: ticket.tip_to_approve().cloned(),
    };
    let by_hand = |what: &str| Act::ByHand {
        what: what.to_owned(),
    };
    let mut acts = match &held.why {
        Why::Commitments { .. } => vec![approve()],
        Why::Paths { .. } | Why::Secrets { .. } | Why::Tests { .. } | Why::Hold => {
            vec![approve(), Act::Reject { ticket: id() }]
        }
        Why::Auth => vec![
            by_hand("mend the agent's login or key, then"),
            Act::Retry { ticket: id() },
        ],
        Why::TargetRed => vec![
            by_hand(&format!("mend the target: {goes_on}")),
            Act::Retry { ticket: id() },
        ],
        Why::Blocked => vec![
            by_hand("write what it lacks into the ticket, then"),
            Act::Retry { ticket: id() },
        ],
        Why::Budget { .. } => vec![
            Act::Retry { ticket: id() },
            by_hand(&format!("or raise `ticket_usd` in crew.toml: {goes_on}")),
        ],
        Why::Landing | Why::Diverged => vec![
            by_hand(&format!("mend what it says: {goes_on}")),
            Act::Retry { ticket: id() },
        ],
        Why::NoProgress if ticket.is_refused() => vec![
            by_hand("do what that says in the folder with the work, then"),
            Act::Retry { ticket: id() },
        ],
        Why::CouldNotRun if ticket.unconfirmed.is_some() => vec![approve(), Act::Retry { ticket: id() }],
        Why::CouldNotRun if ticket.has_unusable_promise() => vec![
            by_hand(&format!(
                "mend the command in the ticket's file, then `crew approve {}`",
                ticket.id
            )),
            Act::Retry { ticket: id() },
        ],
        Why::Failed
        | Why::Killed
        | Why::Reaped
        | Why::CouldNotRun
        | Why::Conflict
        | Why::Closed
        | Why::NoProgress => {
            vec![Act::Retry { ticket: id() }]
        }
        Why::Review => vec![
            approve(),
            Act::Reject { ticket: id() },
            Act::Retry { ticket: id() },
        ],
    };
    // A waiver would skip what an approval decides on.
    let is_approved = matches!(
        held.why,
        Why::Paths { .. }
            | Why::Secrets { .. }
            | Why::Commitments { .. }
            | Why::Tests { .. }
            | Why::Review
            | Why::Hold
    );
    for (nth, one) in ticket.broken_commitments().enumerate() {
        let act = Act::WaiveCommitment {
            ticket: id(),
            number: one.id,
        };
        acts.insert(nth, act);
    }
    if ticket.candidate().is_some() && !is_approved {
        acts.push(Act::Waive { ticket: id() });
    }
    acts.push(Act::Drop { ticket: id() });
    let urgency = match &held.why {
        Why::CouldNotRun | Why::TargetRed | Why::Auth | Why::Diverged => Urgency::Everyone,
        Why::Paths { .. }
        | Why::Secrets { .. }
        | Why::Commitments { .. }
        | Why::Tests { .. }
        | Why::Landing
        | Why::Conflict
        | Why::Review
        | Why::Hold
        | Why::Closed
        | Why::Budget { .. } => Urgency::Word,
        Why::Failed | Why::Blocked | Why::Killed | Why::Reaped | Why::NoProgress => Urgency::Parked,
    };
    Item {
        since: Some(held.since),
        acts,
        printed: held.output.clone(),
        secrets: ticket.secrets_to_approve().to_vec(),
        ..item(ticket, Kind::Held(held.why.name()), urgency)
    }
}

fn dependency(ticket: &Ticket, refusal: &Refusal) -> Item {
    let undep = |of: &TicketId, on: &TicketId| Act::Undep {
        ticket: of.clone(),
        on: on.clone(),
    };
    let unrecover = |of: &TicketId| Act::ByHand {
        what: format!("remove `recovers` from the file of {of}"),
    };
    let (kind, since, acts) = match refusal {
        Refusal::MissingDependency { id } => (Kind::Dependency, None, vec![undep(&ticket.id, id)]),
        Refusal::MissingRecovered { recovers } => {
            let what = format!(
                "create {recovers}, or remove `recovers` from the file of {}",
                ticket.id
            );
            (Kind::Dependency, None, vec![Act::ByHand { what }])
        }
        Refusal::Cycle { recovering, .. } => {
            let undeps = refusal.dependencies_of_cycle().into_iter();
            let undeps = undeps.map(|(of, on)| undep(of, on));
            (
                Kind::Dependency,
                None,
                undeps.chain(recovering.iter().map(unrecover)).collect(),
            )
        }
        Refusal::DependencyFailed { id, since, .. } => {
            let reopen = Act::Reopen { ticket: id.clone() };
            let acts = vec![
                reopen,
                undep(&ticket.id, id),
                Act::Drop {
                    ticket: ticket.id.clone(),
                },
            ];
            (Kind::DependencyFailed, Some(*since), acts)
        }
        Refusal::Unknown
        | Refusal::Delegated { .. }
        | Refusal::Done { .. }
        | Refusal::InProgress { .. }
        | Refusal::Submitted { .. }
        | Refusal::Held { .. }
        | Refusal::NoFile
        | Refusal::Unreadable
        | Refusal::FileClosed
        | Refusal::FileUnheeded { .. }
        | Refusal::TakenByPerson
        | Refusal::Debouncing { .. }
        | Refusal::Epic
        | Refusal::NotDue { .. }
        | Refusal::DayBudget { .. }
        | Refusal::TargetUnchecked { .. }
        | Refusal::TargetRed { .. }
        | Refusal::NotSetUp { .. }
        | Refusal::WaitsFor { .. }
        | Refusal::RecoveryNotNeededYet { .. }
        | Refusal::RecoveryNotNeeded { .. }
        | Refusal::AssigneeBusy { .. }
        | Refusal::NoAgentFree { .. } => (Kind::Dependency, None, Vec::new()),
    };
    Item {
        since,
        acts,
        ..item(ticket, kind, Urgency::Parked)
    }
}
