//! `crew clean`: takes away everything of crew's, and loses nothing of anybody's work.

mod attempts;
mod begun;
mod folder;
mod kept;
mod outputs;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use git::{Lock, Undeletable};
use model::ticket::{Filing, Ticket};
use model::view::Snapshot;
use model::{TicketId, Time};
use store::Ledger;
use tickets::{Folder, Status};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui;
use crate::ui::Style;
use client::documents;
use client::repository::journal;
use client::{clock, follow};
use runtime::Place;

/// Remove everything of crew's here: agents, workspaces, journal; work that did not land is kept under refs
#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Also while there is work that has not landed; with --older, forget the commits that it lists.
    #[arg(short, long)]
    yes: bool,
    /// Only what steps and checks have printed, of tickets that have been closed for longer than this: `30d`,
    /// `12h`.
    ///
    /// Lists the commits that are kept for these tickets, too; `--yes` forgets them.
    #[arg(long, value_name = "SPAN")]
    older: Option<String>,
}

impl Clean {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        if let Some(older) = &self.older {
            return outputs_older(context, &place, older, self.yes).await;
        }
        if let Some(by) = place.lasting_holder(ui::warn).await? {
            return Err(runtime::Error::Held { by }.into());
        }
        // Before the journal is read: what is decided by it must not change any more.
        let lock = Lock::take_for_command(&place.repository.lock_path())?;
        let ledger = journal(&place).await?;
        let crew = follow::present(ledger.as_ref()).await?;
        let unlanded: Vec<&Ticket> = crew
            .tickets
            .values()
            .map(AsRef::as_ref)
            .filter(|ticket| ticket.attempt().is_some())
            .collect();
        if !unlanded.is_empty() && !self.yes {
            let which: Vec<&str> = unlanded.iter().map(|ticket| ticket.id.as_str()).collect();
            let n = which.len();
            return Err(Error::refused(
                format!("there is work that has not landed: {}", which.join(", ")),
                format!(
                    "`crew run --until-idle` lands it; `crew clean --yes` keeps {} under refs/crew/ and goes on",
                    if n == 1 { "it" } else { "them" }
                ),
            ));
        }
        let made = attempts::Made::of(ledger.as_ref(), &crew).await?;
        if let Some(ledger) = ledger {
            ledger.close().await;
        }
        let repository = place.repository.clone().locked(&lock);
        let settings = client::repository::settings(&place)?;
        let workspaces = place.workspaces_dir(&settings)?;
        begun::begin(&place, &crew, &workspaces)?;
        failpoint::hit("clean.begun");
        runtime::end_all_runs(&place)?;
        let target = repository.branch_tip(&git::Branch::parse(&settings.project.target)?)?;
        made.put_away(&repository, &workspaces, target.as_ref())?;
        failpoint::hit("clean.put_away");
        reopen_files(&place, &crew)?;
        failpoint::hit("clean.reopened");
        // The journal goes last: until then, everything above can be done again.
        let attempts::Left { aside, undeletable } = made.sweep(&repository, &workspaces)?;
        failpoint::hit("clean.swept");
        folder::remove(&place)?;
        folder::remove_workspaces(&workspaces)?;
        let kept = repository.kept(None)?;
        let cannot = undeletable_of(&undeletable);
        if context.json {
            // Its document says that all was done.
            cannot?;
            let folder = |folder: &PathBuf| folder.to_string_lossy().into_owned();
            context.out.json(&documents::Clean {
                cleaned: true,
                kept: kept.into_iter().filter_map(documents::Kept::of).collect(),
                aside: aside.iter().map(folder).collect(),
            })?;
            return Ok(Exit::Done);
        }
        context
            .out
            .line("removed the journal, all agents and their workspaces; crew.toml and .tickets/ stay")?;
        if !kept.is_empty() {
            context
                .out
                .line(&format!("kept, since no branch has it ({}):", kept.len()))?;
            for kept in &kept {
                context
                    .out
                    .line(&format!("  {}  {}", kept.commit.short(), kept.name))?;
            }
            context.out.styled(
                "  git log <ref> shows one; git update-ref -d <ref> forgets it",
                Style::Dim,
            )?;
        }
        if !aside.is_empty() {
            context
                .out
                .line("kept as they are, since git cannot save all of it, or it is none of crew's:")?;
            for folder in &aside {
                context.out.line(&format!("  {}", folder.display()))?;
            }
        }
        cannot.map(|()| Exit::Done)
    }
}

/// That all is gone but what may not be deleted.
fn undeletable_of(left: &[Undeletable]) -> Result<()> {
    if left.is_empty() {
        return Ok(());
    }
    let (says, hints): (Vec<String>, Vec<String>) = left.iter().map(runtime::undeletable::said).unzip();
    Err(Error::refused(
        says.join("\n"),
        format!("{}\nthen clean again, and nothing is left", hints.join("\n")),
    ))
}

/// Tickets that have been closed for long.
struct Old {
    ledger: Ledger,
    /// Without what was set aside.
    crew: Snapshot,
    before: Time,
}

impl Old {
    /// Whether a ticket was closed before then, and is closed still.
    async fn has(&self, id: &TicketId) -> Result<bool> {
        let is_old = |ticket: &Ticket| ticket.is_done() && ticket.since <= self.before;
        if !self.crew.archived.tickets.contains(id) {
            return Ok(self.crew.tickets.get(id).is_some_and(|ticket| is_old(ticket)));
        }
        let found = self.ledger.archived(&BTreeSet::from([id.clone()])).await?;
        Ok(found.iter().any(|(_, _, ticket)| is_old(ticket)))
    }
}

/// Removes what was printed long ago. An engine may run meanwhile: it reads none of it.
async fn outputs_older(context: &mut Context, place: &Place, older: &str, yes: bool) -> Result<Exit> {
    let span = model::settings::duration(older).map_err(|why| {
        Error::usage(
            format!("`{}` is no span of time: it {why}", ui::clean(older)),
            "such as crew clean --older 30d",
        )
    })?;
    let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    let before = Time(clock::now().0.saturating_sub(millis));
    let (removed, old) = match journal(place).await? {
        Some(ledger) => {
            let old = Old {
                crew: ledger.snapshot(clock::now()).await?,
                ledger,
                before,
            };
            (
                outputs::remove(place, &old).await?,
                kept::old(&place.repository, &old).await?,
            )
        }
        None => (outputs::Removed::default(), Vec::new()),
    };
    let outputs::Removed { steps, checks, bytes } = removed;
    let (forgotten, old) = if yes {
        (kept::forget(&place.repository, old)?, Vec::new())
    } else {
        (Vec::new(), old)
    };
    if context.json {
        context.out.json(&documents::Removed {
            steps,
            checks,
            freed_bytes: bytes,
            forgotten: forgotten.into_iter().filter_map(documents::Kept::of).collect(),
            old: old.into_iter().filter_map(documents::Kept::of).collect(),
        })?;
        return Ok(Exit::Done);
    }
    if steps + checks == 0 {
        let says =
            format!("nothing to remove: no ticket with outputs has been closed for longer than {older}");
        context.out.wrapped(&says, 0, Style::Plain)?;
    } else {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let says = format!(
            "removed the outputs of {} and {}: {} freed",
            count(steps, "step"),
            count(checks, "check"),
            ui::bytes(bytes)
        );
        context.out.wrapped(&says, 0, Style::Plain)?;
    }
    for (commits, says) in [
        (&forgotten, "forgotten, as nobody asked for it since"),
        (&old, "kept for tickets that have been closed for as long"),
    ] {
        if !commits.is_empty() {
            context.out.line(&format!("{says} ({}):", commits.len()))?;
        }
        for kept in commits {
            context
                .out
                .line(&format!("  {}  {}", kept.commit.short(), kept.name))?;
        }
    }
    if !old.is_empty() {
        let says = format!("  git log <ref> shows one; crew clean --older {older} --yes forgets them");
        context.out.styled(&says, Style::Dim)?;
    }
    Ok(Exit::Done)
}

/// Gives tickets that crew held back to the queue: nothing would hold them for it any more.
fn reopen_files(place: &Place, crew: &Snapshot) -> Result<()> {
    let Ok(folder) = Folder::at(&place.tickets_dir) else {
        return Ok(());
    };
    let tags = Filing::all_tags();
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    for ticket in crew.tickets.values().filter(|ticket| !ticket.is_done()) {
        let Ok(id) = tickets::Id::new(ticket.id.as_str()) else {
            continue;
        };
        if !folder.file(&id).is_file() {
            continue;
        }
        let status = ticket.attempt().map(|_| Status::Open);
        match folder.set_status_and_tags(&id, status, &[], &tags) {
            // A file that cannot be read is its author's, and stays as it is.
            Ok(()) | Err(tickets::Error::Unreadable(_) | tickets::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
