//! The target against the journal: landed work is in it, once, in the order in which it landed, and with the
//! tree that was judged.

use std::collections::{BTreeMap, BTreeSet};

use git::{Branch, LandedMerge, Repository};
use model::{Oid, TicketId};

use crate::finding::{MOST, few};
use crate::{Area, Finding, Subject};
use client::error::Error;

const AREA: Area = Area::Invariants;
/// More merges than any repository has.
const ALL: usize = 1 << 30;
/// The number of merges beyond the latest landings that are examined, where archived tickets are not read.
const LATELY: usize = 1000;
/// The number of the target's commits that are examined, and of those by hand that are named.
const EXAMINED: usize = 1000;
const MOST_BY_HAND: usize = 20;

/// Shows the commits on the target that are not crew's: somebody made or pulled them since the first work
/// began. They are no fault.
pub(super) fn by_hand(subject: &Subject, found: &mut Vec<Finding>) {
    const AREA: Area = Area::Repository;
    let (Some(settings), Some(base)) = (&subject.settings, &subject.begun_on) else {
        return;
    };
    let repository = &subject.place.repository;
    let target = &settings.project.target;
    let tip = Branch::parse(target).and_then(|branch| repository.target(&branch));
    // The part that looks at the invariants names a target or a base that is gone.
    let (Ok(tip), Ok(base)) = (tip, git::Oid::parse(base.as_str())) else {
        return;
    };
    if let Ok(false) = repository.is_ancestor(&base, &tip) {
        found.push(Finding::note(
            AREA,
            format!(
                "{target} was moved away from {}, which the first work began on: by a force-push or a reset",
                short_of(base.as_str())
            ),
            "nothing to do, if that was meant; `git reflog` shows who moved it here",
        ));
    }
    let (Ok(moves), Ok(merges)) = (repository.moves(&base, &tip, EXAMINED), merges(subject, &tip)) else {
        return;
    };
    let landed = subject.audit.landed().map(|(_, commit)| commit.as_str());
    let crews: BTreeSet<&str> = landed
        .chain(merges.iter().map(|merge| merge.commit.as_str()))
        .collect();
    let is_whole = moves.len() < EXAMINED;
    let foreign: Vec<String> = moves
        .iter()
        .filter(|commit| !crews.contains(commit.commit.as_str()))
        .map(|commit| {
            let says = format!(
                "{} {}: {}",
                short_of(commit.commit.as_str()),
                commit.author,
                commit.subject
            );
            text::sanitise::output_line(&says)
        })
        .collect();
    if foreign.is_empty() {
        return;
    }
    let count = match (foreign.len(), is_whole) {
        (1, true) => "1 commit".to_owned(),
        (n, true) => format!("{n} commits"),
        (n, false) => format!("at least {n} commits"),
    };
    let (be, more) = (
        if foreign.len() == 1 { "is" } else { "are" },
        foreign.len() > MOST_BY_HAND,
    );
    let shown = foreign[..foreign.len().min(MOST_BY_HAND)].join("; ");
    let more = if more { "; …" } else { "" };
    found.push(Finding::fine(
        AREA,
        format!("{count} on {target} {be} not crew's: {shown}{more}"),
    ));
}

/// Examines the target; returns false if that was not possible.
pub(super) fn look(subject: &Subject, found: &mut Vec<Finding>) -> bool {
    let Some(settings) = &subject.settings else {
        return false;
    };
    let repository = &subject.place.repository;
    let target = &settings.project.target;
    // A target that is not there is a finding of the part that looks at the repository.
    let Ok(tip) = Branch::parse(target).and_then(|branch| repository.target(&branch)) else {
        return false;
    };
    let merges = match merges(subject, &tip) {
        Ok(merges) => merges,
        Err(error) => {
            found.push(Finding::error(AREA, &Error::Git(error)));
            return false;
        }
    };
    let landed: Vec<&(TicketId, Oid)> = subject.audit.landed().collect();
    let aside = match elsewhere(repository, (&merges, &landed), &tip) {
        Ok(None) => Vec::new(),
        Ok(Some(aside)) => {
            let elsewhere = aside.len();
            found.push(Finding::note(
                AREA,
                format!(
                    "{elsewhere} of the landings came into {target} by a merge from another branch: git log --first-parent does not show it"
                ),
                "nothing to do: somebody merged crew's landings into work of their own, and made that the target",
            ));
            aside
        }
        Err(error) => {
            found.push(Finding::error(AREA, &Error::Git(error)));
            return false;
        }
    };
    let there: BTreeSet<&str> = aside.iter().map(|merge| merge.commit.as_str()).collect();
    // Oldest first, as they landed. Between lines there is no order.
    let place: BTreeMap<&str, usize> = merges
        .iter()
        .rev()
        .enumerate()
        .map(|(n, merge)| (merge.commit.as_str(), n))
        .collect();
    let (mut last, mut lost) = (None, Vec::new());
    for (ticket, commit) in landed {
        match place.get(commit.as_str()) {
            None if there.contains(commit.as_str()) => {}
            None => lost.push((ticket, commit)),
            Some(at) if last.is_some_and(|last| last > at) => found.push(Finding::bug(
                AREA,
                format!(
                    "{ticket} landed as {}, which is in {target} before work that landed earlier",
                    short(commit)
                ),
            )),
            Some(at) => last = Some(at),
        }
    }
    let lost = outside(repository, &tip, lost);
    let lost = without_rewritten(repository, (&tip, target), lost, found);
    let lost = without_other_target(repository, target, lost, found);
    for (ticket, commit) in lost.iter().take(MOST) {
        found.push(gone(repository, ticket, commit, target));
    }
    if let Some(more) = lost.len().checked_sub(MOST).filter(|more| *more > 0) {
        found.push(Finding::wrong(
            AREA,
            format!("and {more} more that landed are no longer in {target}"),
            "`crew queue --landed` lists the landings, with their commits",
        ));
    }
    trees(subject, merges.iter().chain(&aside), found);
    let before = match before(subject) {
        Ok(Some(before)) => before,
        // This journal's own merges cannot be recognised then.
        Ok(None) => {
            found.push(Finding::note(
                AREA,
                format!(
                    "the commit that the first work began on is gone: the history of {target} was rewritten"
                ),
                "nothing to do: whether something has landed twice cannot be looked at",
            ));
            return true;
        }
        Err(error) => {
            found.push(Finding::error(AREA, &Error::Git(error)));
            return false;
        }
    };
    let own: Vec<&LandedMerge> = merges
        .iter()
        .filter(|merge| !before.contains(merge.commit.as_str()))
        .collect();
    twice(&own, target, found);
    // An engine that works may have landed it since the journal was read.
    if subject.holder.is_none() {
        others(subject, &own, target, found);
    }
    true
}

/// The merges on the target's first-parent line, newest first: all of them, or as many as the latest landings
/// can be among.
fn merges(subject: &Subject, tip: &git::Oid) -> git::Result<Vec<LandedMerge>> {
    let repository = &subject.place.repository;
    if !subject.is_whole {
        let merges = repository.landed(tip, subject.audit.landed().len() + LATELY)?;
        let there: BTreeSet<&str> = merges.iter().map(|merge| merge.commit.as_str()).collect();
        if subject
            .audit
            .landed()
            .all(|(_, commit)| there.contains(commit.as_str()))
        {
            return Ok(merges);
        }
    }
    repository.landed(tip, ALL)
}

/// Landed work that is in the target, but not on its first-parent line; none when all of it is on that.
fn elsewhere(
    repository: &Repository,
    (merges, landed): (&[LandedMerge], &[&(TicketId, Oid)]),
    tip: &git::Oid,
) -> git::Result<Option<Vec<LandedMerge>>> {
    let on_line: BTreeSet<&str> = merges.iter().map(|merge| merge.commit.as_str()).collect();
    let missing: BTreeSet<&str> = landed
        .iter()
        .map(|(_, commit)| commit.as_str())
        .filter(|commit| !on_line.contains(commit))
        .collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let mut aside = repository.landed_on_any_line(tip, ALL)?;
    aside.retain(|merge| missing.contains(merge.commit.as_str()));
    Ok((!aside.is_empty()).then_some(aside))
}

/// The merges that were in the target before this journal's first workspace was made; they are those of
/// another journal, such as one that was removed. None where the commit that the workspace was made on is in
/// the repository no more.
fn before(subject: &Subject) -> git::Result<Option<BTreeSet<String>>> {
    let Some(base) = &subject.begun_on else {
        return Ok(Some(BTreeSet::new()));
    };
    let repository = &subject.place.repository;
    let base = git::Oid::parse(base.as_str())?;
    match repository.landed(&base, ALL) {
        Ok(merges) => Ok(Some(
            merges.into_iter().map(|merge| merge.commit.to_string()).collect(),
        )),
        Err(_) if repository.tree_of(&base).is_err() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Merges of crew's that are newer than this journal and not its own. A merge that is just being landed is
/// its own: an engine that was killed has not recorded it yet.
fn others(subject: &Subject, own: &[&LandedMerge], target: &str, found: &mut Vec<Finding>) {
    let landed = subject.audit.landed();
    if landed.len() == 0 {
        return;
    }
    let landing = subject
        .crew
        .tickets
        .values()
        .filter_map(|ticket| ticket.candidate());
    let known: BTreeSet<&str> = landed
        .map(|(_, commit)| commit)
        .chain(landing.map(|candidate| &candidate.commit))
        .map(Oid::as_str)
        .collect();
    // Others have tickets too: crew's merges name an attempt of an agent.
    let is_crews = |merge: &LandedMerge| !merge.agent.is_empty() && merge.attempt.parse::<u32>().is_ok();
    let others = own
        .iter()
        .rev()
        .filter(|merge| is_crews(merge) && !known.contains(merge.commit.as_str()))
        .filter(|merge| !subject.is_unread(&merge.ticket));
    let others = others.map(|merge| {
        format!(
            "{} of {} is in {target}, and this journal has not landed it",
            merge.commit.short(),
            merge.ticket
        )
    });
    for says in few(others.collect()) {
        found.push(Finding::note(
            AREA,
            says,
            "another journal landed it, or this one is older than the repository, as from a backup: the ticket may be done twice",
        ));
    }
}

/// The landings whose commit the target does not contain. It contains one that is no merge of crew's: that of
/// a pull request that was merged at the host.
fn outside<'a>(
    repository: &Repository,
    tip: &git::Oid,
    mut lost: Vec<(&'a TicketId, &'a Oid)>,
) -> Vec<(&'a TicketId, &'a Oid)> {
    let commits = lost.iter().map(|(_, commit)| git::Oid::parse(commit.as_str()));
    let outside = commits
        .collect::<git::Result<Vec<_>>>()
        .and_then(|commits| match commits.is_empty() {
            true => Ok(BTreeSet::new()),
            false => repository.not_in(tip, &commits),
        });
    if let Ok(outside) = outside {
        let outside: BTreeSet<&str> = outside.iter().map(git::Oid::as_str).collect();
        lost.retain(|(_, commit)| outside.contains(commit.as_str()));
    }
    lost
}

/// The landings whose changes are not in the target either. A rebase, as by `git pull --rebase`, puts the
/// changes into other commits, and nothing is lost then.
fn without_rewritten<'a>(
    repository: &Repository,
    (tip, target): (&git::Oid, &str),
    mut lost: Vec<(&'a TicketId, &'a Oid)>,
    found: &mut Vec<Finding>,
) -> Vec<(&'a TicketId, &'a Oid)> {
    let is_there = |(_, commit): &(&TicketId, &Oid)| {
        git::Oid::parse(commit.as_str())
            .and_then(|commit| repository.brings_nothing(tip, &commit))
            .unwrap_or_default()
    };
    let all = lost.len();
    // The latest of them has the changes of those before it.
    match lost.last() {
        Some(latest) if is_there(latest) => lost.clear(),
        _ => {
            let mut asked = 0;
            lost.retain(|one| {
                asked += 1;
                asked > MOST || !is_there(one)
            });
        }
    }
    let rewritten = all - lost.len();
    if rewritten > 0 {
        found.push(Finding::note(
            AREA,
            format!("{rewritten} of the landings are in {target} in other commits: its history was rewritten, as by a rebase"),
            "nothing to do: their changes are there",
        ));
    }
    lost
}

/// The landings that are not on another branch either. That of the settings may have been another when they
/// landed, and nothing is lost then.
fn without_other_target<'a>(
    repository: &Repository,
    target: &str,
    lost: Vec<(&'a TicketId, &'a Oid)>,
    found: &mut Vec<Finding>,
) -> Vec<(&'a TicketId, &'a Oid)> {
    let branch = lost.last().and_then(|(_, latest)| {
        let latest = git::Oid::parse(latest.as_str()).ok()?;
        let branch = repository.branches_with(&latest).ok()?.into_iter().next()?;
        let tip = repository.target(&branch).ok()?;
        Some((branch, tip))
    });
    let Some((branch, tip)) = branch else {
        return lost;
    };
    let all = lost.len();
    let lost = outside(repository, &tip, lost);
    let there = all - lost.len();
    let branch = branch.short();
    found.push(Finding::note(
        AREA,
        format!("{there} of the landings are in {branch}, and not in {target}"),
        format!(
            "nothing to do, if work landed on {branch} then; else {branch} still has what {target} has lost"
        ),
    ));
    lost
}

fn gone(repository: &Repository, ticket: &TicketId, commit: &Oid, target: &str) -> Finding {
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
fn trees<'a>(subject: &Subject, merges: impl Iterator<Item = &'a LandedMerge>, found: &mut Vec<Finding>) {
    for merge in merges {
        let judged = Oid::new(merge.commit.as_str())
            .ok()
            .and_then(|commit| subject.audit.judged().get(&commit));
        if judged.is_some_and(|judged| judged.as_str() != merge.tree.0.as_str()) {
            found.push(Finding::bug(
                AREA,
                format!(
                    "{} of {} has another tree than the one that was checked",
                    merge.commit.short(),
                    merge.ticket
                ),
            ));
        }
    }
}

/// One attempt lands once.
fn twice(merges: &[&LandedMerge], target: &str, found: &mut Vec<Finding>) {
    let mut times: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for merge in merges.iter().filter(|merge| !merge.attempt.is_empty()) {
        *times.entry((&merge.ticket, &merge.attempt)).or_default() += 1;
    }
    for ((ticket, attempt), times) in times {
        if times > 1 {
            found.push(Finding::bug(
                AREA,
                format!("attempt {attempt} of {ticket} is in {target} {times} times"),
            ));
        }
    }
}

fn short(commit: &Oid) -> String {
    short_of(commit.as_str())
}

fn short_of(id: &str) -> String {
    id.chars().take(10).collect()
}
