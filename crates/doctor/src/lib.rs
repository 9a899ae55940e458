//! The doctor: it examines a repository's settings, journal, processes and leftovers, and describes in words
//! which faults there are and how a person can mend them.
//!
//! Every part of the examination stands for itself and changes only derived data. (A long journal that nobody
//! has folded is folded, as every reader that shows it does.) A fault that can be mended comes with a
//! [`Fix`], which [`mend`] carries out as the holder of the repository.

mod caller;
mod checks;
mod clock;
mod finding;
mod fix;
mod harness;
mod hooks;
mod invariants;
mod journal;
mod leftovers;
mod mend;
mod notifications;
mod objects;
mod pull_requests;
mod repository;
mod secrets;
mod settings;
mod subject;
mod target;
mod tickets;

pub use caller::Caller;
pub use finding::Finding;
pub use fix::Fix;
pub use mend::mend;

use client::documents::{Area, Level};
use client::error::Result;
use journal::Journal;
use subject::Subject;

/// Looks at everything that can be looked at here. A part that cannot be looked at because another is broken
/// is left out. `deep` adds every object of the repository, every row of a long journal and every byte that
/// crew keeps, which may take long.
pub async fn look(caller: &Caller<'_>, deep: bool) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    let Some(place) = repository::find(caller, &mut found) else {
        return Ok(found);
    };
    let settings = settings::look(&place, &mut found);
    repository::look(&place, settings.as_ref(), &mut found);
    if deep {
        objects::look(&place, &mut found);
        secrets::look(caller, &place, &mut found);
    }
    if let Some(settings) = &settings {
        harness::look(caller, &place, settings, &mut found);
        pull_requests::look(caller, &place, settings, &mut found);
        hooks::look(caller, &place, settings, &mut found);
    }
    notifications::look(&place, &mut found);
    tickets::look(&place, &mut found);
    match journal::open(&place, &mut found).await {
        Journal::Open(ledger) => {
            if let Some(subject) = journal::look(place, settings, ledger, deep, &mut found).await? {
                checks::look(caller, &subject, &mut found);
                clock::look(&subject, &mut found).await;
                target::by_hand(&subject, &mut found);
                hooks::undelivered(&subject, &mut found).await;
                judge(subject, &mut found).await?;
            }
        }
        Journal::NotThere => {
            if let Some(settings) = &settings {
                checks::not_run_yet(caller, &place, settings, &mut found);
            }
        }
        Journal::Unreadable => {}
    }
    found.sort_by_key(|finding| finding.area);
    Ok(found)
}

/// Judges the facts that must hold between journal, repository and processes, and finds leftovers that
/// nothing uses any more. While an engine works, these facts are seen at several moments: only faults that a
/// second look finds again, with the journal read anew, are reported.
async fn judge(subject: Subject, found: &mut Vec<Finding>) -> Result<()> {
    let first = looked_over(&subject).await;
    let well = |found: &[Finding]| found.iter().all(|finding| finding.level == Level::Fine);
    // One that began to work since is one that works.
    if well(&first) || (subject.holder.is_none() && subject.place.holder()?.is_none()) {
        found.extend(first);
        return Ok(());
    }
    let (mut unheard, ledger) = (Vec::new(), subject.ledger.clone());
    let (place, settings) = (subject.place.clone(), subject.settings.clone());
    let Some(again) = journal::look(place, settings, ledger, subject.is_whole, &mut unheard).await? else {
        found.extend(first);
        return Ok(());
    };
    let stands =
        |finding: &Finding| finding.level == Level::Fine || first.iter().any(|one| one.says == finding.says);
    found.extend(looked_over(&again).await.into_iter().filter(stands));
    Ok(())
}

async fn looked_over(subject: &Subject) -> Vec<Finding> {
    let mut found = Vec::new();
    invariants::look(subject, &mut found).await;
    leftovers::look(subject, &mut found);
    found
}
