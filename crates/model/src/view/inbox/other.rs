//! Entries of the inbox that belong to no single ticket's state: harnesses, disks, files, locks, effects.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::act::Act;
use super::{BadFile, Behind, Context, Failing, Item, Kind, MEND, Urgency};
use crate::AgentName;
use crate::attempt::{Class, Quiet};
use crate::look::by_itself;
use crate::policy::attention::{Need, Reason, attention};
use crate::policy::review::is_gatekeeper;
use crate::project::HarnessPause;
use crate::settings::FILE_NAME;
use crate::target::Target;
use crate::ticket::{State, Ticket, Why};
use crate::{Look, TicketId, Time};

/// Harnesses that refuse steps until a person has mended that, one entry each: none if the ticket whose step
/// was refused is held for it, since its entry shows the same.
pub(super) fn harnesses(tickets: &BTreeMap<TicketId, Arc<Ticket>>, beside: &Context) -> Vec<Item> {
    let mut items: BTreeMap<&str, Item> = BTreeMap::new();
    for ticket in tickets.values() {
        let facts = beside.facts(&ticket.id);
        let need = attention(ticket, facts);
        let Need::Person(reason @ Reason::Harness { harness, pause }) = &need else {
            continue;
        };
        let refused = tickets.get(&pause.ticket);
        let held = refused.and_then(|refused| refused.held.as_ref());
        if held.is_some_and(|held| held.why == Why::Auth) {
            continue;
        }
        items.entry(harness).or_insert_with(|| Item {
            id: format!("harness:{harness}"),
            kind: Kind::Harness,
            urgency: Urgency::Everyone,
            ticket: None,
            agent: None,
            title: format!("no step is started on {harness}"),
            since: Some(pause.since),
            why: reason.words(),
            printed: None,
            secrets: Vec::new(),
            until: pause.until,
            acts: harness_acts(pause, &ticket.id, beside.engine),
        });
    }
    items.into_values().collect()
}

/// What a person can do about a paused harness, for which a ticket waits.
fn harness_acts(pause: &HarnessPause, ticket: &TicketId, engine: bool) -> Vec<Act> {
    let retry = Act::Retry {
        ticket: ticket.clone(),
    };
    let by_hand = Act::ByHand {
        what: format!(
            "put the program there, or name another one in crew.toml: it goes on {}",
            by_itself(engine)
        ),
    };
    let is_missing = pause.class == Class::NoProgram;
    is_missing.then_some(by_hand).into_iter().chain([retry]).collect()
}

/// A target that does not pass its own checks; none where it does, or they go on.
pub(super) fn target_red(target: &Target, engine: bool) -> Option<Item> {
    let why = target.verdict.fault().filter(|_| !target.anyway)?;
    let by_hand = |what: &str| Act::ByHand {
        what: what.to_owned(),
    };
    // The words have no time.
    let look = Look { now: Time(0), engine };
    let mut acts = vec![
        by_hand(&target.remedy(look).unwrap_or_default()),
        by_hand("or start them all the same: crew run --anyway"),
    ];
    if target.verdict.is_of_checks() {
        acts.push(by_hand("all that the checks printed: crew logs --check"));
    }
    Some(Item {
        id: "target".to_owned(),
        kind: Kind::Target,
        urgency: Urgency::Everyone,
        ticket: None,
        agent: None,
        title: format!("no agent is started on {}", target.commit.short()),
        since: Some(target.since),
        why,
        printed: target.verdict.printed().map(str::to_owned),
        secrets: Vec::new(),
        until: target.retry_at,
        acts,
    })
}

/// A disk that is full or cannot be written, which no ticket is to blame for.
pub(super) fn disk(why: &str, engine: bool) -> Item {
    Item {
        id: Kind::Disk.name().to_owned(),
        kind: Kind::Disk,
        urgency: Urgency::Everyone,
        ticket: None,
        agent: None,
        title: "nothing new can begin".to_owned(),
        since: None,
        why: why.to_owned(),
        printed: None,
        secrets: Vec::new(),
        until: None,
        acts: vec![Act::ByHand {
            what: format!(
                "see that there is room, and that crew may write there: everything goes on {}",
                by_itself(engine)
            ),
        }],
    }
}

/// A settings file that cannot be used: an engine goes on with those that it has.
pub(super) fn settings(why: &str, engine: bool) -> Item {
    let by_hand = |what: String| Act::ByHand { what };
    let until = match engine {
        true => "until then the engine goes on with the last good settings",
        false => "until then no engine starts",
    };
    Item {
        id: Kind::Settings.name().to_owned(),
        kind: Kind::Settings,
        urgency: Urgency::Everyone,
        ticket: None,
        agent: None,
        title: format!("{FILE_NAME} cannot be used"),
        since: None,
        why: why.to_owned(),
        printed: None,
        secrets: Vec::new(),
        until: None,
        acts: vec![
            by_hand(format!("mend the file: {until}")),
            by_hand("all of its faults: crew doctor".to_owned()),
        ],
    }
}

pub(super) fn unwritable(why: &str, engine: bool) -> Item {
    Item {
        id: "files".to_owned(),
        kind: Kind::File,
        urgency: Urgency::Everyone,
        ticket: None,
        agent: None,
        title: "the tickets' files cannot be written".to_owned(),
        since: None,
        why: why.to_owned(),
        printed: None,
        secrets: Vec::new(),
        until: None,
        acts: vec![Act::ByHand {
            what: format!(
                "see that it is there, and that you may write there: crew then writes the files {}",
                by_itself(engine)
            ),
        }],
    }
}

pub(super) fn failing(failing: &Failing, tickets: &BTreeMap<TicketId, Arc<Ticket>>) -> Item {
    let ticket = tickets.get(&failing.ticket);
    Item {
        id: format!(
            "failing:{}:{}-{}",
            failing.ticket, failing.of.seq, failing.of.index
        ),
        kind: Kind::Failing,
        urgency: Urgency::Word,
        ticket: Some(failing.ticket.clone()),
        agent: None,
        title: ticket.map(|ticket| ticket.spec.title.clone()).unwrap_or_default(),
        since: Some(failing.since),
        why: failing.why.clone(),
        printed: None,
        secrets: Vec::new(),
        until: failing.until,
        acts: vec![Act::ByHand {
            what: MEND.to_owned(),
        }],
    }
}

pub(super) fn locked(lock: &str) -> Item {
    Item {
        id: format!("lock:{lock}"),
        kind: Kind::Checkout,
        urgency: Urgency::Word,
        ticket: None,
        agent: None,
        title: "your git is kept out of a checkout".to_owned(),
        since: None,
        why: format!("an engine was killed while it landed, and left {lock}"),
        printed: None,
        secrets: Vec::new(),
        until: None,
        acts: vec![Act::ByHand {
            what: "start an engine: `crew run` ends the landing, and gives it back".to_owned(),
        }],
    }
}

impl Behind {
    /// What is old, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = format!("crew could not write in {} when its branch moved", self.checkout);
        for (what, files) in [("old", &self.old), ("deleted since", &self.deleted)] {
            if !files.is_empty() {
                words.push_str(&format!("\n{what}: {}", files.join(", ")));
            }
        }
        words
    }

    /// What a person can do about it.
    #[must_use]
    pub fn remedies(&self) -> Vec<&'static str> {
        let remedies = [
            (
                self.index,
                "let the git end that holds the index; if none runs, remove its index.lock: `crew run` does the rest",
            ),
            (
                !self.old.is_empty(),
                "see that you may write there, then `git restore` the old files: a commit of them would take back what landed",
            ),
            (
                !self.deleted.is_empty(),
                "delete the files that were deleted since",
            ),
        ];
        let needed = remedies.into_iter().filter(|(is_needed, _)| *is_needed);
        needed.map(|(_, remedy)| remedy).collect()
    }
}

pub(super) fn unwritten(behind: &Behind) -> Item {
    let by_hand = |what: &str| Act::ByHand {
        what: what.to_owned(),
    };
    Item {
        id: format!("unwritten:{}", behind.checkout),
        kind: Kind::Unwritten,
        urgency: Urgency::Word,
        ticket: None,
        agent: None,
        title: "files of a checkout are older than its branch".to_owned(),
        since: None,
        why: behind.words(),
        until: None,
        printed: None,
        secrets: Vec::new(),
        acts: behind.remedies().into_iter().map(by_hand).collect(),
    }
}

/// The act that ends the work of a ticket without a file as it is, where there is one.
fn end_without_file(ticket: &Ticket) -> Option<Act> {
    let id = || ticket.id.clone();
    match &ticket.state {
        State::InProgress(attempt) if attempt.conversation.has_live_worker() => {
            Some(Act::Merge { ticket: id() })
        }
        State::Verify(_) if ticket.held.is_none() => None,
        State::New | State::Open | State::InProgress(_) | State::Verify(_) | State::Done(_) => {
            Some(Act::Close { ticket: id() })
        }
    }
}

/// A change of a ticket's file that nobody can explain, and on which nothing is decided before a person
/// speaks.
pub(super) fn unheeded(ticket: &Ticket) -> Option<Item> {
    let change = ticket.unheeded.as_ref().filter(|change| change.asks())?;
    let id = || ticket.id.clone();
    let by_hand = |what: String| Act::ByHand { what };
    let acts = match (&change.renamed, change.says) {
        (Some(renamed), _) => vec![
            by_hand(format!(
                "rename {renamed}.md to {}.md again: it goes on",
                ticket.id
            )),
            Act::Drop { ticket: id() },
        ],
        (None, None) => {
            let id = &ticket.id;
            let by_git = format!("`git stash pop` or `git checkout -- .tickets/{id}.md`");
            let mut acts = vec![
                by_hand(format!(
                    "bring {id}.md back, by {by_git}: it goes on, or have crew write it anew"
                )),
                Act::Reopen { ticket: id.clone() },
            ];
            acts.extend(end_without_file(ticket));
            acts.push(Act::Drop { ticket: id.clone() });
            acts
        }
        // Its work would be paid for and land once more.
        (None, Some(_)) if ticket.is_done() => vec![
            Act::Close { ticket: id() },
            Act::Reopen { ticket: id() },
            Act::Drop { ticket: id() },
        ],
        (None, Some(_)) => vec![
            Act::Reopen { ticket: id() },
            Act::Close { ticket: id() },
            Act::Drop { ticket: id() },
        ],
    };
    Some(Item {
        id: format!("file:{}", ticket.id),
        kind: Kind::File,
        urgency: Urgency::Word,
        ticket: Some(id()),
        agent: ticket.attempt().map(|attempt| attempt.claim.agent.clone()),
        title: ticket.spec.title.clone(),
        since: Some(change.since),
        why: change.words(),
        printed: None,
        secrets: Vec::new(),
        until: None,
        acts,
    })
}

/// The steps of a ticket that show no sign of life: crew ends each by itself if it stays silent.
pub(super) fn quiet(ticket: &Ticket, beside: &Context) -> Vec<Item> {
    let attempts = ticket.attempt().into_iter();
    let attempts = attempts.map(|attempt| (&attempt.claim.agent, &attempt.conversation));
    let reviews = ticket.open_reviews();
    let reviews = reviews.map(|review| (&review.agent, &review.conversation));
    let silent = attempts.chain(reviews).filter_map(|(agent, conversation)| {
        let quiet = conversation.quiet.as_deref()?;
        Some((agent, quiet)).filter(|_| conversation.stopping.is_none())
    });
    let item = |(agent, quiet): (&AgentName, &Quiet)| {
        let ends = match beside.engine {
            true => "otherwise crew ends the step, and repeats it, after as long again",
            false => "otherwise an engine ends the step, and repeats it, after as long again",
        };
        let what = match quiet.how.remedy() {
            Some(remedy) => format!("{remedy}; {ends}"),
            None => format!("look at what it does: `crew peek {agent}`; {ends}"),
        };
        // A gatekeeper is not killed: a person decides in its place.
        let kill = (!is_gatekeeper(agent)).then(|| Act::Kill { agent: agent.clone() });
        Item {
            id: format!("stuck:{}:{agent}", ticket.id),
            kind: Kind::Stuck,
            urgency: Urgency::Word,
            ticket: Some(ticket.id.clone()),
            agent: Some(agent.clone()),
            title: ticket.spec.title.clone(),
            since: Some(quiet.since),
            why: format!("its step is silent: {}", quiet.how),
            printed: None,
            secrets: Vec::new(),
            until: None,
            acts: std::iter::once(Act::ByHand { what }).chain(kill).collect(),
        }
    };
    silent.map(item).collect()
}

pub(super) fn bad(file: &BadFile, tickets: &BTreeMap<TicketId, Arc<Ticket>>) -> Item {
    let known = file.ticket.as_ref().and_then(|id| tickets.get(id));
    Item {
        id: format!("file:{}", file.name),
        kind: Kind::File,
        urgency: Urgency::Parked,
        ticket: file.ticket.clone(),
        agent: None,
        title: known.map_or_else(|| format!("{}.md", file.name), |t| t.spec.title.clone()),
        since: None,
        why: file.what.clone(),
        printed: None,
        secrets: Vec::new(),
        until: None,
        acts: vec![Act::ByHand {
            what: file.hint.clone(),
        }],
    }
}
