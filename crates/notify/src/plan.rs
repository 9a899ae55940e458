//! Plan: which messages are due, from the items that wait, what was told and the settings. It has no clock
//! and no I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::Time;
use model::view::{Item, Urgency};

use crate::kept::{Failed, Kept, Outgoing, Told, Way};
use crate::message::{Facts, Message};
use crate::settings::{Settings, To};

/// The shortest time between two messages about one ticket: what comes meanwhile is joined.
const APART: Duration = Duration::from_secs(60);
/// The most messages that one look makes for one way: more are joined to one.
const MOST_AT_ONCE: usize = 5;
/// The pause after the first failure of a program, which doubles, and the longest one.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// A message that nobody has taken for so long is given up.
const GIVEN_UP: Duration = Duration::from_hours(24);
/// When it is looked again whether it is still quiet.
const MINUTE: Duration = Duration::from_secs(60);

/// An item, and since when it waits.
pub(crate) struct Waiting<'a> {
    pub(crate) item: &'a Item,
    pub(crate) since: Time,
}

/// The moment of a look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Time,
    /// The minute of the day, local time.
    pub(crate) minute: u16,
}

/// Notes what is settled, and makes the messages that are due. Gives the time at which another is, if nothing
/// happens until then.
pub(crate) fn plan(
    kept: &mut Kept,
    settings: &Settings,
    items: &[Waiting<'_>],
    facts: &Facts<'_>,
    at: Moment,
) -> Option<Time> {
    kept.to
        .retain(|key, _| settings.to.iter().any(|to| to.key == *key));
    let present: BTreeSet<&str> = items.iter().map(|one| one.item.id.as_str()).collect();
    let mut next = Next(None);
    for to in &settings.to {
        let way = kept.to.entry(to.key.clone()).or_default();
        forget_gone(way, to, &present, facts, at.now);
        due(way, to, items, facts, at, &mut next);
    }
    next.0
}

/// The earliest of some times.
struct Next(Option<Time>);

impl Next {
    fn at(&mut self, time: Time) {
        self.0 = Some(self.0.map_or(time, |known| known.min(time)));
    }
}

/// Forgets what waits no more. What was told is told as settled, where that is wanted.
fn forget_gone(way: &mut Way, to: &To, present: &BTreeSet<&str>, facts: &Facts<'_>, now: Time) {
    // Of one that a program has just now, it is known soon whether it was told.
    let is_gone = |outgoing: &Outgoing| {
        let waits = outgoing.items.iter().any(|id| present.contains(id.as_str()));
        outgoing.message.waits && !outgoing.begun && !waits
    };
    let (gone, waiting): (Vec<Outgoing>, Vec<Outgoing>) = way.waiting.drain(..).partition(is_gone);
    way.waiting = waiting;
    for outgoing in gone.iter().filter(|outgoing| outgoing.unsure) {
        for id in &outgoing.items {
            way.told.insert(id.clone(), outgoing.told(true));
        }
    }
    let gone: BTreeMap<String, Told> = way
        .told
        .extract_if(.., |id, _| !present.contains(id.as_str()))
        .collect();
    let mut settled: BTreeSet<&str> = BTreeSet::new();
    for told in gone.values().filter(|told| to.settled && told.tells_end) {
        let waits_still = way.told.values().any(|other| other.message == told.message);
        if !waits_still && settled.insert(&told.message) {
            way.waiting.push(Outgoing {
                message: Message::settled(told, facts.repository),
                items: Vec::new(),
                since: now.0,
                begun: false,
                unsure: false,
                is_digest: false,
            });
        }
    }
}

/// Makes the messages about items that are told to nobody yet.
fn due(way: &mut Way, to: &To, items: &[Waiting<'_>], facts: &Facts<'_>, at: Moment, next: &mut Next) {
    let now = at.now;
    way.last
        .retain(|_, last| now.since(Time(*last)) < APART && *last <= now.0);
    let is_told = |item: &Item| {
        way.told.contains_key(&item.id) || way.waiting.iter().any(|one| one.items.contains(&item.id))
    };
    let is_quiet = to.quiet.is_some_and(|quiet| quiet.is_at(at.minute));
    let mut subjects: BTreeMap<&str, Vec<&Item>> = BTreeMap::new();
    let mut digest: Vec<&Item> = Vec::new();
    let mut digest_at = None;
    for Waiting { item, since } in items
        .iter()
        .filter(|one| to.wants(one.item) && !is_told(one.item))
    {
        if is_quiet && item.urgency != Urgency::Everyone {
            next.at(now + MINUTE);
            continue;
        }
        let from = *since + to.after;
        if let (Some(every), Urgency::Parked) = (to.digest, item.urgency) {
            let due =
                (*since + every.max(to.after)).max(way.digest.map_or(Time(0), |last| Time(last) + every));
            digest_at = Some(digest_at.map_or(due, |known: Time| known.min(due)));
            if from <= now {
                digest.push(item);
            }
            continue;
        }
        let subject = item
            .ticket
            .as_ref()
            .map_or(item.id.as_str(), |ticket| ticket.as_str());
        let again = way.last.get(subject).map_or(Time(0), |last| Time(*last) + APART);
        if from.max(again) <= now {
            subjects.entry(subject).or_default().push(item);
        } else {
            next.at(from.max(again));
        }
    }
    let mut made = Vec::new();
    let mut make = |of: &str, items: &[&Item], is_digest: bool| {
        let message = match items {
            [item] => facts.single(item),
            items => facts.several(format!("{of}:{}", now.0), items),
        };
        made.push(Outgoing {
            message: if to.brief { message.brief() } else { message },
            items: items.iter().map(|item| item.id.clone()).collect(),
            since: now.0,
            begun: false,
            unsure: false,
            is_digest,
        });
    };
    if subjects.len() > MOST_AT_ONCE {
        let all: Vec<&Item> = subjects.values().flatten().copied().collect();
        make("several", &all, false);
    } else {
        for (subject, items) in &subjects {
            make(&format!("joined:{subject}"), items, false);
        }
    }
    match digest_at {
        Some(due) if due <= now => {
            make("digest", &digest, true);
            way.digest = Some(now.0);
        }
        Some(due) => next.at(due),
        None => {}
    }
    way.last
        .extend(subjects.into_keys().map(|subject| (subject.to_owned(), now.0)));
    way.waiting.extend(made);
}

impl Way {
    /// The place of the message that is delivered next; none where none is, or its time has not come: then
    /// `next` has it. `at_once`: the pause after a failure is not kept.
    fn next(&self, to: &To, at: Moment, at_once: bool, next: &mut Next) -> Option<usize> {
        if let Some(failed) = &self.failed
            && failed.next > at.now.0
            && !at_once
            && !self.waiting.is_empty()
        {
            // A clock that was set back does not make it wait for days.
            next.at(Time(failed.next).min(at.now + LONGEST_PAUSE));
            if Time(failed.next) <= at.now + LONGEST_PAUSE {
                return None;
            }
        }
        let is_quiet = to.quiet.is_some_and(|quiet| quiet.is_at(at.minute));
        let can_go = |outgoing: &Outgoing| !is_quiet || outgoing.message.urgency == "everyone";
        let found = self.waiting.iter().position(can_go);
        if found.is_none() && !self.waiting.is_empty() {
            next.at(at.now + MINUTE);
        }
        found
    }
}

impl Kept {
    /// Takes note that the next message of a way is delivered now, and gives it. `earliest` becomes the time
    /// at which there may be one, if it is earlier.
    pub(crate) fn begin(
        &mut self,
        to: &To,
        at: Moment,
        at_once: bool,
        earliest: &mut Option<Time>,
    ) -> Option<Message> {
        let way = self.to.get_mut(&to.key)?;
        let mut next = Next(*earliest);
        let found = way.next(to, at, at_once, &mut next);
        *earliest = next.0;
        let outgoing = way.waiting.get_mut(found?)?;
        outgoing.begun = true;
        Some(outgoing.message.clone())
    }

    /// Takes note that a message was delivered.
    pub(crate) fn delivered(&mut self, to: &To, message: &Message) {
        let Some(way) = self.to.get_mut(&to.key) else {
            return;
        };
        way.failed = None;
        if let Some(outgoing) = way.remove(message) {
            way.told(&outgoing, true);
        }
    }

    /// Takes note that a message was not taken. Whether it is given up for good.
    pub(crate) fn failed(&mut self, to: &To, message: &Message, why: String, now: Time) -> bool {
        let Some(way) = self.to.get_mut(&to.key) else {
            return false;
        };
        let tries = way.failed.as_ref().map_or(0, |failed| failed.tries);
        let pause = FIRST_PAUSE.saturating_mul(1 << tries.min(10)).min(LONGEST_PAUSE);
        way.failed = Some(Failed {
            since: way.failed.as_ref().map_or(now.0, |failed| failed.since),
            tries: tries.saturating_add(1),
            why,
            next: (now + pause).0,
        });
        let Some(mut outgoing) = way.remove(message) else {
            return false;
        };
        if now.since(Time(outgoing.since)) >= GIVEN_UP {
            way.told(&outgoing, false);
            return true;
        }
        outgoing.begun = false;
        // Another message may go through.
        way.waiting.push(outgoing);
        false
    }

    /// The time of the next try of a way, and the tries that failed.
    pub(crate) fn failure(&self, to: &To) -> Option<&Failed> {
        self.to.get(&to.key)?.failed.as_ref()
    }
}

impl Way {
    fn remove(&mut self, message: &Message) -> Option<Outgoing> {
        let is_it = |one: &Outgoing| one.message.id == message.id && one.message.waits == message.waits;
        let at = self.waiting.iter().position(is_it)?;
        Some(self.waiting.remove(at))
    }

    fn told(&mut self, outgoing: &Outgoing, tells_end: bool) {
        for id in &outgoing.items {
            self.told.insert(id.clone(), outgoing.told(tells_end));
        }
    }
}

#[cfg(test)]
mod tests;
