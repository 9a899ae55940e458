//! Review: the pool of gatekeepers, and the one that takes the next review.

use std::collections::BTreeSet;

use crate::AgentName;
use crate::settings::{self, ReviewWhen, Settings};
use crate::ticket::{Candidate, Reviewing, State, Ticket};

/// The beginning of a gatekeeper's name. No worker is called so.
const GATE: &str = "gate-";

/// The name of the `n`-th gatekeeper, from 1.
#[must_use]
pub fn gatekeeper(n: u32) -> Option<AgentName> {
    AgentName::new(format!("{GATE}{n}")).ok()
}

/// True if only a gatekeeper may have this name.
#[must_use]
pub fn is_gatekeeper(name: &AgentName) -> bool {
    let number = name.as_str().to_ascii_lowercase();
    let number = number.strip_prefix(GATE);
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// True if somebody looks at the work on the ticket before it lands: a gatekeeper, or a person who looks at
/// all work. What its candidate changes is known once that is built; before, only its tags count.
#[must_use]
pub fn is_wanted(settings: &Settings, ticket: &Ticket, candidate: Option<&Candidate>) -> bool {
    settings.land.holds_all() || is_by_gatekeeper(settings, ticket, candidate)
}

/// True if a gatekeeper looks at it.
#[must_use]
pub fn is_by_gatekeeper(settings: &Settings, ticket: &Ticket, candidate: Option<&Candidate>) -> bool {
    settings.review.wants(&ticket.spec.tags)
        || settings.review.wants(&ticket.tags_given)
        || ticket
            .doubt
            .as_ref()
            .is_some_and(|doubt| settings.review.wants(&doubt.tags))
        || ticket
            .unified
            .iter()
            .any(|child| settings.review.wants(&child.tags))
        || settings.review.is_by_change() && candidate.is_some_and(|candidate| candidate.review.is_some())
}

/// True if a candidate in review waits for a person: all work does, and no gatekeeper is to look at it.
#[must_use]
pub fn is_for_person(settings: &Settings, ticket: &Ticket, reviewing: &Reviewing) -> bool {
    settings.land.holds_all() && !is_by_gatekeeper(settings, ticket, Some(&reviewing.candidate))
}

/// The reason for which somebody looks at the submitted work on a ticket before it lands, as a clause about
/// it; none where nobody does, or where its tip was let pass already.
#[must_use]
pub fn why(settings: &Settings, ticket: &Ticket) -> Option<String> {
    let State::Verify(verify) = &ticket.state else {
        return None;
    };
    let candidate = ticket.candidate();
    let is_cleared = candidate.is_some_and(|candidate| verify.clearance(&candidate.tip).is_some());
    if is_cleared || !is_wanted(settings, ticket, candidate) {
        return None;
    }
    if !is_by_gatekeeper(settings, ticket, candidate) {
        return Some("a person looks at all work".to_owned());
    }
    let shown = candidate.and_then(|candidate| candidate.review.clone());
    match &settings.review.when {
        ReviewWhen::Never => None,
        ReviewWhen::Always => Some("all work is reviewed".to_owned()),
        ReviewWhen::Some(_) => {
            let tag = settings.review.tag_of(&ticket.spec.tags);
            let of_child = || {
                let tagged = ticket
                    .unified
                    .iter()
                    .map(|child| (child, settings.review.tag_of(&child.tags)));
                tagged.into_iter().find_map(|(child, tag)| {
                    Some(format!("{}, a part of it, has the tag {}", child.id, tag?))
                })
            };
            let doubtful = || {
                let tag = settings.review.tag_of(&ticket.doubt.as_ref()?.tags)?;
                Some(format!(
                    "an agent at work on a ticket with the tag {tag} may have written it"
                ))
            };
            tag.map(|tag| format!("it has the tag {tag}"))
                .or_else(of_child)
                .or_else(doubtful)
                .or(shown)
        }
    }
}

/// The gatekeepers that may review the candidate of a ticket, busy or not: none of them is an author of the
/// work, and none has approved of it already. `waiting`: the number of gatekeepers that wait for a person's
/// answer, which are not busy: for each of them there is one more.
#[must_use]
pub fn eligible(
    review: &settings::Review,
    waiting: usize,
    ticket: &Ticket,
    reviewing: &Reviewing,
) -> Vec<AgentName> {
    let approved: BTreeSet<&AgentName> = reviewing.approvers().collect();
    let more = u32::try_from(waiting).unwrap_or(0);
    let pool = (1..=review.count.saturating_add(more)).filter_map(gatekeeper);
    pool.filter(|name| !ticket.authors.contains(name) && !approved.contains(name))
        .collect()
}

/// The reason for which nobody may review the work on a ticket; none while somebody may.
#[must_use]
pub fn nobody(settings: &Settings, ticket: &Ticket, reviewing: &Reviewing) -> Option<&'static str> {
    if settings.harness_of_new_reviews().is_none() {
        return Some("crew.toml names no harness for gatekeepers: [review] harness");
    }
    eligible(&settings.review, 0, ticket, reviewing)
        .is_empty()
        .then_some("each gatekeeper is an author of the work or has approved of it: [review] count")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fence, samples};

    fn name(text: &str) -> AgentName {
        AgentName::new(text).unwrap()
    }

    #[test]
    fn no_worker_may_have_the_name_of_a_gatekeeper() {
        assert!(is_gatekeeper(&name("gate-12")) && is_gatekeeper(&name("Gate-1")));
        assert!(!is_gatekeeper(&name("gate-")) && !is_gatekeeper(&name("gate-1a")));
        assert!(!is_gatekeeper(&name("ada")));
    }

    #[test]
    fn an_author_and_one_who_has_approved_do_not_review() {
        let review = settings::Review {
            count: 3,
            ..settings::Review::default()
        };
        let mut ticket = samples::ticket::first();
        ticket.authors.insert(name("gate-1"));
        let mut reviewing = Reviewing::new(samples::ticket::candidate());
        let mut approved = samples::ticket::review(name("gate-2"), Fence(2));
        approved.verdict = Some(samples::ticket::approve());
        reviewing.reviews.push(approved);
        assert_eq!(eligible(&review, 0, &ticket, &reviewing), [name("gate-3")]);
        let more = [name("gate-3"), name("gate-4")];
        assert_eq!(
            eligible(&review, 1, &ticket, &reviewing),
            more,
            "one of them waits"
        );
    }
}
