//! `crew clean`: takes away everything of crew's, and loses nothing of anybody's work.

use std::path::Path;

use clap::Args;
use git::{Identity, Lock, Workspace};
use model::ticket::{Filing, Ticket};
use model::view::Crew;
use process::Run;
use serde_json::{Value, json};
use tickets::{Folder, Status};

use crate::context::{Context, journal};
use crate::doctor::fix::end_run;
use crate::error::{Doing as _, Error, Result};
use crate::exit::Exit;
use crate::follow;
use crate::ui::Style;
use runtime::Place;

/// Remove everything of crew's here: agents, workspaces, journal; work that did not land is kept under refs
#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Also while there is work that has not landed.
    #[arg(short, long)]
    yes: bool,
}

impl Clean {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        if let Some(by) = place.holder()? {
            return Err(runtime::Error::Held { by }.into());
        }
        let ledger = journal(&place).await?;
        let crew = follow::crew(ledger.as_ref()).await?;
        let unlanded: Vec<&Ticket> = crew
            .tickets
            .values()
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
        let lock = Lock::take(&place.repository.lock_path())?;
        if let Some(ledger) = ledger {
            ledger.0.close().await;
        }
        let repository = place.repository.clone().locked(&lock);
        stop_runs(&place)?;
        let settings = crate::context::settings(&place)?;
        let workspaces = place.workspaces_dir(&settings)?;
        for ticket in &unlanded {
            keep(&repository, &workspaces, &settings.project.target, ticket)?;
        }
        reopen_files(&place, &crew)?;
        // What could be kept nowhere else is all there is of it.
        let aside = git::Repository::aside(&workspaces)?;
        // The journal goes last: until then, everything above can be done again.
        if aside.is_empty() {
            remove(&workspaces)?;
        }
        remove(&place.crew_dir)?;
        let kept = repository.kept(None)?;
        if context.json {
            let kept: Vec<Value> = kept
                .iter()
                .map(|kept| json!({ "ref": kept.name, "commit": kept.commit.as_str() }))
                .collect();
            context
                .out
                .json(&json!({ "cleaned": true, "kept": kept, "aside": aside }))?;
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
                .line("kept as they are, since something in them cannot be saved by git:")?;
            for folder in &aside {
                context.out.line(&format!("  {}", folder.display()))?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Ends steps that an engine left running, and whatever they started.
fn stop_runs(place: &Place) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(&place.runs_dir) else {
        return Ok(());
    };
    for entry in entries.flatten() {
        let Ok(run) = Run::open(entry.path()) else {
            continue;
        };
        match run.status()? {
            process::Status::Running { .. } | process::Status::Lost { .. } => end_run(run.dir())?,
            process::Status::NotStarted | process::Status::Ended(_) => {}
        }
    }
    Ok(())
}

/// Keeps what an attempt made, then removes its workspace and branch.
fn keep(repository: &git::Repository, workspaces: &Path, target: &str, ticket: &Ticket) -> Result<()> {
    let Some(attempt) = ticket.attempt() else {
        return Ok(());
    };
    let (agent, id) = (
        git::Id::parse(attempt.agent.as_str())?,
        git::Id::parse(ticket.id.as_str())?,
    );
    let landed = repository.target(&git::Branch::parse(target)?)?;
    let base = match &attempt.base {
        Some(base) => git::Oid::parse(base.as_str())?,
        None => landed.clone(),
    };
    let workspace = Workspace::of(&git::Spec {
        root: workspaces.to_owned(),
        agent,
        ticket: id.clone(),
        attempt: attempt.number,
        start: base.clone(),
        base,
        identity: Identity::new(attempt.agent.as_str(), &format!("{}@crew.invalid", attempt.agent)),
        excludes: Vec::new(),
        instructions: Vec::new(),
    });
    repository.remove(&workspace)?;
    let branch = workspace.branch();
    if let Some(tip) = repository.branch_tip(&branch)? {
        // What the target has needs no other ref.
        if !repository.is_ancestor(&tip, &landed)? {
            repository.keep_attempt(&id, &tip)?;
        }
        repository.delete_branch(&branch, &tip)?;
    }
    repository.unpin(&workspace)?;
    Ok(())
}

/// Gives tickets that crew held back to the queue: nothing would hold them for it any more.
fn reopen_files(place: &Place, crew: &Crew) -> Result<()> {
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
        match folder.mark(&id, status, &[], &tags) {
            // A file that cannot be read is its author's, and stays as it is.
            Ok(()) | Err(tickets::Error::Unreadable(_) | tickets::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).doing("remove", folder),
        Ok(()) | Err(_) => Ok(()),
    }
}
