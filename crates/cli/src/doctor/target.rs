//! The target against the journal: what landed is in it, once, in the order in which it landed, and with the tree that was judged.

use std::collections::BTreeMap;

use git::{Branch, LandedMerge, Repository};
use model::Oid;

use super::invariants::bug;
use super::{Area, Finding, Patient};
use crate::error::Error;

const AREA: Area = Area::Invariants;
/// More merges than any repository has.
const ALL: usize = 1 << 30;

pub(super) fn look(patient: &Patient, found: &mut Vec<Finding>) {
    let Some(settings) = &patient.settings else { return };
    let repository = &patient.place.repository;
    let target = &settings.project.target;
    // A target that is not there is said by the part that looks at the repository.
    let Ok(tip) = Branch::parse(target).and_then(|branch| repository.target(&branch)) else {
        return;
    };
    let merges = match repository.landed(&tip, ALL) {
        Ok(merges) => merges,
        Err(error) => {
            found.push(Finding::error(AREA, &Error::Git(error)));
            return;
        }
    };
    // Oldest first, as they landed.
    let place: BTreeMap<&str, usize> = merges
        .iter()
        .rev()
        .enumerate()
        .map(|(n, merge)| (merge.info.commit.as_str(), n))
        .collect();
    let landed = patient.audit.landed();
    let mut last = None;
    for (ticket, commit) in landed {
        match place.get(commit.as_str()) {
            None => found.push(gone(repository, ticket, commit, target)),
            Some(at) if last.is_some_and(|last| last > at) => found.push(bug(format!(
                "{ticket} landed as {}, which stands in {target} before what landed earlier",
                short(commit)
            ))),
            Some(at) => last = Some(at),
        }
    }
    trees(patient, &merges, found);
    twice(&merges, target, found);
    // What is newer than this journal's first landing, and not its own.
    let first = landed
        .iter()
        .filter_map(|(_, commit)| place.get(commit.as_str()))
        .min();
    // An engine that works may have landed it since the journal was read.
    if let Some(first) = first.filter(|_| patient.holder.is_none()) {
        let known = |merge: &LandedMerge| {
            landed
                .iter()
                .any(|(_, commit)| commit.as_str() == merge.info.commit.as_str())
        };
        for merge in merges.iter().rev().skip(*first).filter(|merge| !known(merge)) {
            found.push(Finding::note(
                AREA,
                format!(
                    "{} of {} is in {target}, and this journal has not landed it",
                    merge.info.commit.short(),
                    merge.ticket
                ),
                "another journal landed it, or this one is older than the repository, as from a backup: the ticket may be done twice",
            ));
        }
    }
}

fn gone(repository: &Repository, ticket: &model::TicketId, commit: &Oid, target: &str) -> Finding {
    let short = short(commit);
    let there = git::Oid::parse(commit.as_str())
        .and_then(|commit| repository.tree_of(&commit))
        .is_ok();
    let hint = if there {
        format!("git merge {short} brings it back; `crew ticket reopen {ticket}` has it done again")
    } else {
        format!(
            "the commit itself is gone from the repository; `crew ticket reopen {ticket}` has it done again"
        )
    };
    Finding::wrong(
        AREA,
        format!("{ticket} landed as {short}, which is no longer in {target}: its history was rewritten"),
        hint,
    )
}

/// The landed tree is the tree that the checks, or a person, let pass.
fn trees(patient: &Patient, merges: &[LandedMerge], found: &mut Vec<Finding>) {
    for merge in merges {
        let judged = Oid::new(merge.info.commit.as_str())
            .ok()
            .and_then(|commit| patient.audit.judged().get(&commit));
        if judged.is_some_and(|judged| judged.as_str() != merge.tree.0.as_str()) {
            found.push(bug(format!(
                "{} of {} has another tree than the one that was checked",
                merge.info.commit.short(),
                merge.ticket
            )));
        }
    }
}

/// One attempt lands once.
fn twice(merges: &[LandedMerge], target: &str, found: &mut Vec<Finding>) {
    let mut times: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for merge in merges.iter().filter(|merge| !merge.attempt.is_empty()) {
        *times.entry((&merge.ticket, &merge.attempt)).or_default() += 1;
    }
    for ((ticket, attempt), times) in times {
        if times > 1 {
            found.push(bug(format!(
                "attempt {attempt} of {ticket} is in {target} {times} times"
            )));
        }
    }
}

fn short(commit: &Oid) -> String {
    commit.as_str().chars().take(10).collect()
}
