//! `crew clean`: takes away everything of crew's, and loses nothing of anybody's work.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;
use client::clean::{self, Cleaned, KeptBranch};
use client::clock;
use client::documents::{self, Kept};
use model::Time;
use runtime::Place;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui;
use crate::ui::Style;

/// Remove everything of crew's here: agents, workspaces, journal; work that did not land is kept under refs
#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Do not ask; with --older, forget the commits that it lists.
    #[arg(short, long)]
    yes: bool,
    /// Only what steps and checks have printed, of tickets that have been closed for longer than this: `30d`,
    /// `12h`.
    ///
    /// Lists the commits that are kept for these tickets, too; `--yes` forgets them.
    #[arg(long, value_name = "SPAN")]
    older: Option<String>,
    /// Only the set-up of checks: the next check runs it anew, in an empty checkout.
    ///
    /// Set-up runs anew by itself when a manifest or lock file has changed, or something that [checks]
    /// setup_inputs names. This is for when it depends on something else.
    #[arg(long, conflicts_with_all = ["older", "yes"])]
    checks: bool,
}

impl Clean {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        if self.checks {
            return forget_set_up(context, &place);
        }
        if let Some(older) = &self.older {
            return outputs_older(context, &place, older, self.yes).await;
        }
        if !self.yes && !agreed(context, &place).await? {
            context.out.line("nothing was removed")?;
            return Ok(Exit::Failed);
        }
        let Cleaned {
            kept,
            kept_folders,
            kept_branches,
            reviews,
            undeletable,
        } = clean::everything(place, ui::warn).await?;
        let undeletable = undeletable.map_or(Ok(Exit::Done), |error| Err(error.into()));
        if context.json {
            // Its document says that all was done.
            undeletable?;
            let folder = |folder: &PathBuf| folder.to_string_lossy().into_owned();
            context.out.json(&documents::Clean {
                cleaned: true,
                kept,
                kept_folders: kept_folders.iter().map(folder).collect(),
                kept_branches: kept_branches.into_iter().map(|kept| kept.branch).collect(),
                removed_reviews: reviews,
            })?;
            return Ok(Exit::Done);
        }
        context
            .out
            .line("removed the journal, all agents and their workspaces; crew.toml and .tickets/ stay")?;
        if !reviews.is_empty() {
            let says = format!("removed the checkouts of reviews: {}", reviews.join(", "));
            context.out.wrapped(&ui::clean(&says), 0, Style::Plain)?;
        }
        if !kept.is_empty() {
            list(context, "kept, since no branch has it", &kept)?;
            context.out.styled(
                "  git log <ref> shows one; git update-ref -d <ref> forgets it",
                Style::Dim,
            )?;
        }
        if !kept_folders.is_empty() {
            context
                .out
                .line("kept as they are, since git cannot save all of it, or it is none of crew's:")?;
            for folder in &kept_folders {
                context.out.line(&format!("  {}", folder.display()))?;
            }
        }
        for KeptBranch { branch, is_crews } in &kept_branches {
            let why = match is_crews {
                true => "is checked out in a checkout of yours",
                false => "is not crew's",
            };
            let says = format!("kept: branch {} {why}", ui::clean(branch));
            context.out.wrapped(&says, 0, Style::Plain)?;
        }
        undeletable
    }
}

/// Says what would be lost, and asks whether that is meant. Where nobody can be asked, `--yes` must say it.
async fn agreed(context: &mut Context, place: &Place) -> Result<bool> {
    let loss = clean::loss(place, ui::warn).await?;
    if loss.is_empty() {
        return Ok(true);
    }
    let mut lines: Vec<String> = loss.things.iter().map(|thing| format!("  {thing}")).collect();
    if !loss.unlanded.is_empty() {
        lines.push("work that has not landed, which is kept under refs/crew/:".to_owned());
        lines.extend(loss.unlanded.iter().map(|ticket| format!("  {ticket}")));
    }
    if context.json || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let mut hint = "if that is meant: crew clean --yes".to_owned();
        if !loss.unlanded.is_empty() {
            hint = format!("`crew run --until-idle` lands work; {hint}");
        }
        let what = format!("crew clean removes for good:\n{}", lines.join("\n"));
        return Err(Error::refused(what, hint));
    }
    context.out.styled("crew clean removes for good:", Style::Bold)?;
    for line in lines {
        context.out.wrapped(&line, 4, Style::Plain)?;
    }
    context.out.confirm("Remove all of it? [y/N] ", false)
}

/// Has the next check run its set-up anew.
fn forget_set_up(context: &mut Context, place: &Place) -> Result<Exit> {
    let was_kept = runtime::forget_set_up(place)?;
    if context.json {
        context.out.json(&documents::ForgotSetUp { was_kept })?;
        return Ok(Exit::Done);
    }
    let says = match was_kept {
        true => {
            "the next check runs its set-up anew, in an empty checkout; a target that has failed is checked \
                 again when `crew run` starts"
        }
        false => "no set-up of checks is kept: the next check runs it in any case",
    };
    context.out.wrapped(says, 0, Style::Plain)?;
    Ok(Exit::Done)
}

/// Removes the outputs of tickets that were closed long ago.
async fn outputs_older(context: &mut Context, place: &Place, older: &str, yes: bool) -> Result<Exit> {
    let span = model::settings::duration(older).map_err(|why| {
        Error::usage(
            format!("`{}` is no span of time: it {why}", ui::clean(older)),
            "such as crew clean --older 30d",
        )
    })?;
    let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    let before = Time(clock::now().0.saturating_sub(millis));
    let removed = clean::older(place, before, yes).await?;
    if context.json {
        context.out.json(&removed)?;
        return Ok(Exit::Done);
    }
    if removed.steps + removed.checks == 0 {
        let says =
            format!("nothing to remove: no ticket with outputs has been closed for longer than {older}");
        context.out.wrapped(&says, 0, Style::Plain)?;
    } else {
        let says = format!(
            "removed the outputs of {} and {}: {} freed",
            text::counted(removed.steps, "step"),
            text::counted(removed.checks, "check"),
            ui::bytes(removed.freed_bytes)
        );
        context.out.wrapped(&says, 0, Style::Plain)?;
    }
    if !removed.forgotten.is_empty() {
        list(
            context,
            "forgotten, as nobody asked for it since",
            &removed.forgotten,
        )?;
    }
    if !removed.old.is_empty() {
        list(
            context,
            "kept for tickets that have been closed for as long",
            &removed.old,
        )?;
        let says = format!("  git log <ref> shows one; crew clean --older {older} --yes forgets them");
        context.out.styled(&says, Style::Dim)?;
    }
    Ok(Exit::Done)
}

fn list(context: &mut Context, says: &str, commits: &[Kept]) -> Result<()> {
    context.out.line(&format!("{says} ({}):", commits.len()))?;
    for kept in commits {
        context.out.line(&format!("  {}", kept.line()))?;
    }
    Ok(())
}
