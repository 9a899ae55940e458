//! A look at the tickets that are not archived, in a journal with many archived ones.

use std::collections::BTreeSet;

use model::journal::Stream;
use model::settings::Settings;
use model::{AgentName, Oid, TicketId};
use runtime::Place;
use store::{Journal as _, Ledger, Seq};

use super::{AREA, Read, damaged, misfolded, pair};
use crate::Finding;
use crate::finding::few;
use client::clock;
use client::error::Result;

/// The number of rows that are read of streams without an end: the last of the journal, and of the project.
const LATELY: u32 = 1000;
/// The number of times that view and streams are read in the hope that nobody writes meanwhile.
const LOOKS: u32 = 3;

/// Names of workspaces and branches that are there. The names of archived tickets belong to nobody any more.
pub(super) fn names(place: &Place, settings: Option<&Settings>) -> BTreeSet<String> {
    let root = settings.and_then(|settings| place.workspaces_dir(settings).ok());
    let folders = root
        .and_then(|root| runtime::folders(&root).ok())
        .unwrap_or_default();
    let folders = folders
        .iter()
        .filter_map(|folder| folder.file_name()?.to_str().map(str::to_owned));
    let branches = place.repository.agent_branches().unwrap_or_default();
    let branches = branches
        .iter()
        .filter_map(|(branch, _)| branch.short().strip_prefix("agent/").map(str::to_owned));
    folders.chain(branches).collect()
}

/// Reads every stream that is not archived, and where one of `names` comes from.
pub(super) async fn read(
    ledger: &Ledger,
    names: &BTreeSet<String>,
    found: &mut Vec<Finding>,
) -> Result<Read> {
    let mut read = Read::default();
    for _ in 0..LOOKS {
        let before = ledger.0.head().await?;
        read = streams(ledger).await?;
        read.is_of_one_moment = before == ledger.0.head().await?;
        if read.is_of_one_moment {
            break;
        }
    }
    few(no_gap(ledger).await?)
        .into_iter()
        .for_each(|says| damaged(says, found));
    read.begun_on = begun_on(ledger).await?;
    for name in names {
        whose(ledger, name, &mut read).await?;
    }
    if read.is_of_one_moment && !is_folded(&read) {
        found.push(misfolded(read.crew.seq));
    }
    let says = match read.crew.archived.tickets.len() {
        1 => "1 ticket is archived, and was not read again: crew doctor --deep reads it".to_owned(),
        n => format!("{n} tickets are archived, and were not read again: crew doctor --deep reads them"),
    };
    found.push(Finding::fine(AREA, says));
    Ok(read)
}

/// The view, and the rows of every stream that is not archived, or whose ticket the view has all the same:
/// the view may have been folded anew only up to there.
async fn streams(ledger: &Ledger) -> Result<Read> {
    let mut read = Read {
        crew: ledger.snapshot(clock::now()).await?,
        ..Read::default()
    };
    let mut unread: BTreeSet<TicketId> = read.crew.tickets.keys().cloned().collect();
    for (stream, version, _) in ledger.streams().await? {
        if let Stream::Ticket(id) = &stream {
            unread.remove(id);
        }
        let from = match stream {
            Stream::Project => version.saturating_sub(LATELY.into()),
            Stream::Ticket(_) => 0,
        };
        let rows = ledger.history_after(&stream, from).await?;
        // An engine may have gone on since the streams were read.
        for fold in rows.iter().take_while(|fold| fold.version <= version) {
            // Rows before the first of them are archived.
            if from > 0 && fold.version == from + 1 {
                read.audit.set_out(&fold.after);
            } else {
                read.row(fold);
            }
        }
    }
    for id in unread {
        let rows = ledger.history(&Stream::Ticket(id)).await?;
        let last = read.crew.seq;
        rows.iter()
            .take_while(|fold| fold.seq <= last)
            .for_each(|fold| read.row(fold));
    }
    Ok(read)
}

/// Compares the snapshot with what the rows give: every ticket that is not archived, and the project.
fn is_folded(read: &Read) -> bool {
    let past = &read.crew.archived.tickets;
    let given = read.audit.tickets().iter().filter(|(id, _)| !past.contains(*id));
    given.eq(&read.crew.tickets) && *read.audit.project() == read.crew.project
}

/// The commit on which the first workspace was made.
async fn begun_on(ledger: &Ledger) -> Result<Option<Oid>> {
    let mut read = Read::default();
    let mut after = 0;
    while read.begun_on.is_none() {
        let page = ledger.tail(after, LATELY).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        page.iter().for_each(|fold| read.begins(fold));
    }
    Ok(read.begun_on)
}

/// The last places in the journal follow each other.
async fn no_gap(ledger: &Ledger) -> Result<Vec<String>> {
    let mut says = Vec::new();
    let head = ledger.0.head().await?;
    let mut before = head.0.saturating_sub(LATELY.into());
    for event in ledger.0.events(Seq(before), LATELY).await? {
        if event.seq.0 != before + 1 {
            says.push(format!("event {} follows event {before}", event.seq));
        }
        before = event.seq.0;
    }
    Ok(says)
}

/// Returns true for a name that an agent and an archived ticket of its give: such a name is known.
async fn whose(ledger: &Ledger, name: &str, read: &mut Read) -> Result<()> {
    for (at, _) in name.match_indices('-') {
        let (agent, ticket) = (&name[..at], &name[at + 1..]);
        let (Ok(agent), Ok(ticket)) = (AgentName::new(agent), TicketId::new(ticket)) else {
            continue;
        };
        if !read.crew.archived.tickets.contains(&ticket) {
            continue;
        }
        let rows = ledger.history(&Stream::Ticket(ticket)).await?;
        let pairs = rows.iter().filter_map(pair);
        read.pairs.extend(pairs.filter(|(of, _)| *of == agent));
    }
    Ok(())
}
