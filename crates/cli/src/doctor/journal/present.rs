//! A look at what goes on, in a journal most of which lies behind.

use std::collections::BTreeSet;

use model::journal::Stream;
use model::settings::Settings;
use model::{AgentName, TicketId};
use runtime::Place;
use store::{Journal as _, Ledger, Seq, Sqlite};

use super::{AREA, Read, damaged, misfolded, pair};
use crate::doctor::{Finding, folders};
use crate::error::Result;

/// How much of what never ends is read: the last rows of the journal, and of the project's.
const LATELY: u32 = 1000;

/// Names of workspaces and branches that are there. Those of tickets that are set aside are nobody's any more.
pub(super) fn names(place: &Place, settings: Option<&Settings>) -> BTreeSet<String> {
    let root = settings.and_then(|settings| place.workspaces_dir(settings).ok());
    let folders = root.map(|root| folders(&root)).unwrap_or_default();
    let folders = folders
        .iter()
        .filter_map(|folder| folder.file_name()?.to_str().map(str::to_owned));
    let branches = place.repository.agent_branches().unwrap_or_default();
    let branches = branches
        .iter()
        .filter_map(|(branch, _)| branch.short().strip_prefix("agent/").map(str::to_owned));
    folders.chain(branches).collect()
}

/// Reads every stream that is not archived, and where one of `names` comes from. `at_rest`: no engine works meanwhile.
pub(super) async fn read(
    ledger: &Ledger<Sqlite>,
    names: &BTreeSet<String>,
    at_rest: bool,
    found: &mut Vec<Finding>,
) -> Result<Read> {
    let mut read = Read {
        crew: ledger.crew().await?,
        ..Read::default()
    };
    no_gap(ledger, found).await?;
    for fold in ledger.tail(0, LATELY).await? {
        read.begins(&fold);
    }
    for (stream, version, state) in ledger.streams().await? {
        let from = match stream {
            Stream::Project => version.saturating_sub(LATELY.into()),
            Stream::Ticket(_) => 0,
        };
        let mut last = None;
        for (expected, fold) in (from + 1..=version).zip(ledger.history_after(&stream, from).await?) {
            if fold.version != expected {
                let (seq, version) = (fold.seq, fold.version);
                let says = format!("event {seq} has version {version} of stream `{stream}`, not {expected}");
                damaged(says, found);
            }
            // What is before the first of them lies behind.
            if from > 0 && last.is_none() {
                read.audit.set_out(&fold.after);
            } else {
                read.row(&fold);
            }
            last = Some((fold.version, fold.after));
        }
        if last != Some((version, state)) {
            damaged(
                format!("the state of stream `{stream}` is not the one after its last event"),
                found,
            );
        }
    }
    for name in names {
        whose(ledger, name, &mut read).await?;
    }
    let is_folded = |(id, ticket)| read.audit.tickets().get(id) == Some(ticket);
    if at_rest && !read.crew.tickets.iter().all(is_folded) {
        found.push(misfolded(read.crew.seq));
    }
    let n = read.crew.past.tickets.len();
    found.push(Finding::fine(
        AREA,
        format!("{n} tickets are set aside, and were not read again: crew doctor --deep does"),
    ));
    Ok(read)
}

/// The last places in the journal follow each other.
async fn no_gap(ledger: &Ledger<Sqlite>, found: &mut Vec<Finding>) -> Result<()> {
    let head = ledger.0.head().await?;
    let mut before = head.0.saturating_sub(LATELY.into());
    for event in ledger.0.events(Seq(before), LATELY).await? {
        if event.seq.0 != before + 1 {
            damaged(format!("event {} follows event {before}", event.seq), found);
        }
        before = event.seq.0;
    }
    Ok(())
}

/// Whether a name is that of an agent and of a ticket of its that is set aside: then it is known.
async fn whose(ledger: &Ledger<Sqlite>, name: &str, read: &mut Read) -> Result<()> {
    for (at, _) in name.match_indices('-') {
        let (agent, ticket) = (&name[..at], &name[at + 1..]);
        let (Ok(agent), Ok(ticket)) = (AgentName::new(agent), TicketId::new(ticket)) else {
            continue;
        };
        if !read.crew.past.tickets.contains(&ticket) {
            continue;
        }
        let rows = ledger.history(&Stream::Ticket(ticket)).await?;
        let pairs = rows.iter().filter_map(pair);
        read.pairs.extend(pairs.filter(|(of, _)| *of == agent));
    }
    Ok(())
}
